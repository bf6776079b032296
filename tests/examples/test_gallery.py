"""The gallery shows what its scripts say and print."""

from __future__ import annotations

import importlib.util
import re
import sys
from itertools import zip_longest
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "gallery"
SCRIPTS = sorted(
    path for path in (ROOT / "examples" / "gallery").glob("*.py") if path.stem != "build"
)
OUTPUT = re.compile(r"^```text\n(.*?)\n```\n\n", re.MULTILINE | re.DOTALL)
IMPORTED = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
SECONDS = re.compile(r"[\d.]+ s$", re.MULTILINE)


@pytest.fixture(scope="module")
def build() -> ModuleType:
    place = ROOT / "examples" / "gallery" / "build.py"
    spec = importlib.util.spec_from_file_location("build_gallery", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks for the module that defines it.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_script_has_a_page_and_every_page_a_script(build):
    names = [path.stem for path in SCRIPTS]
    assert sorted(build.ORDER) == names
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted([*names, "index"])
    pictures = {f"{name}{size}.png" for name in names for size in ("", "-small")}
    assert {path.name for path in (PAGES / "images").iterdir()} == pictures


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_page_has_the_prose_and_the_code_of_its_script(build, path):
    script = build.read_script(path)
    page = (PAGES / f"{path.stem}.md").read_text(encoding="utf-8")
    expected = build.page_text(script, [""] * len(script.cells))
    assert OUTPUT.sub("", page) == expected, "run `make gallery`"


def test_the_index_has_the_titles_and_summaries_of_the_scripts(build):
    scripts = [build.read_script(build.HERE / f"{name}.py") for name in build.ORDER]
    assert (PAGES / "index.md").read_text(encoding="utf-8") == build.index_text(scripts), (
        "run `make gallery`"
    )


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_links_of_the_gallery_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (page.parent / link).is_file()] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_figures_are_small_enough_for_git(build, path):
    figure = PAGES / "images" / f"{path.stem}.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert 5_000 < figure.stat().st_size <= build.MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_its_page_shows(build, path):
    for package in dict.fromkeys(IMPORTED.findall(path.read_text(encoding="utf-8"))):
        pytest.importorskip(package)
    printed, figure = build.run_script(build.read_script(path))
    assert figure.startswith(b"\x89PNG")
    shown = OUTPUT.findall((PAGES / f"{path.stem}.md").read_text(encoding="utf-8"))
    for now, then in zip_longest([text for text in printed if text], shown):
        assert_says_the_same(now, then)


def assert_says_the_same(now: str, then: str) -> None:
    """Numbers may differ a little, seconds by any amount, words not at all."""
    # Columns keep their width if a digit changes, not if a sign or a decimal appears.
    parts = [
        re.split(r"([+-]?\d+(?:\.\d+)?)", " ".join(SECONDS.sub("N s", text).split()))
        for text in (now, then)
    ]
    assert [part.strip() for part in parts[0][::2]] == [part.strip() for part in parts[1][::2]]
    assert [float(x) for x in parts[0][1::2]] == pytest.approx(
        [float(x) for x in parts[1][1::2]], rel=0.02, abs=0.02
    )


def test_a_script_that_hides_code_before_its_first_cell_is_refused(build, tmp_path):
    script = tmp_path / "hidden.py"
    script.write_text(
        '"""Title.\n\nSummary.\n\nFigure: One.\n"""\n\nimport math\n\n# %%\nprint(math.pi)\n'
    )
    with pytest.raises(ValueError, match="before the first"):
        build.read_script(script)


def test_what_each_cell_prints_stands_below_its_code(build, tmp_path):
    path = tmp_path / "made.py"
    about = '"""Made.\n\nOf two cells.\n\nFigure: Nothing.\n"""\n\n'
    cells = (
        '# %%\n# Some *prose*\n# in two lines.\nx = 3\nprint(x + 4)\n\n# %%\nopen("made.png",'
        ' "wb").close()\n'
    )
    path.write_text(about + cells)
    script = build.read_script(path)
    printed, _ = build.run_script(script)
    assert printed == ["7", ""]
    text = build.page_text(script, printed)
    assert (
        "Some *prose*\nin two lines.\n\n```python\nx = 3\nprint(x +"
        " 4)\n```\n\n```text\n7\n```\n\n```python" in text
    )
    assert not (Path.cwd() / "made.png").exists()
