"""Measured figures in README and docs come from scripts that exist, and agree with each other."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from doc_blocks import ROOT, name_of, pages

MARK = re.compile(r"<!-- ([\w]+\.py) -->")
FIGURE = re.compile(
    r"[*~]*-?\d*\.\d+( [±/].*)?[*]*|[\d.]+ / [\d.]+ s,.*|\d+(\.\d+)?(, \d+(\.\d+)?)?|over \d+|\(\.\d+\)"
)
SCRIPT = re.compile(r"(?:benchmarks|examples)/[\w/]+\.py|dayline reproduce \w+")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
NOT_MEASURED = {"docs/models.md": "values with which networks of others were trained"}


def load(name: str) -> object:
    """A script of benchmarks/ as a module."""
    before = sys.path.copy()
    sys.path.insert(0, str((ROOT / "benchmarks" / name).parent))
    try:
        return __import__(Path(name).stem)
    finally:
        sys.path[:] = before


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tables(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """Where every table starts, and the cells of its rows below the head."""
    for match in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = match[0].splitlines()[2:]
        yield match.start(), [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def is_measured(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row[1:] if cell]
    figures = [cell for cell in cells if FIGURE.fullmatch(cell)]
    return len(figures) > 3 and 2 * len(figures) > len(cells)


def names_its_script(text: str, start: int) -> bool:
    """Whether the table is between marks, or its section, or the opening of the page, names a script and a date."""
    before = text[:start]
    if len(MARK.findall(before)) > before.count("<!-- end of "):
        return True
    opening = text[: re.search(r"^## |\Z", text, re.MULTILINE).start()]
    heading = max(before.rfind("\n## "), before.rfind("\n### "), 0)
    section = before[heading:] + text[start:].split("\n## ")[0]
    return any(SCRIPT.search(part) and DATE.search(part) for part in (section, opening))


def test_tables_of_figures_are_told_from_others():
    assert is_measured([["dayline", ".585", "**.431**", ""], ["KTS", ".265", "0.1", "-"]])
    assert not is_measured([["`--level`", "1", "finer"], ["`--n-events`", "12", "as many"]])


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_table_of_figures_names_its_script_and_date(path):
    if name_of(path) in NOT_MEASURED:
        return
    text = path.read_text(encoding="utf-8")
    nameless = [text[start:].splitlines()[0] for start, rows in tables(text) if is_measured(rows)
                and not names_its_script(text, start)]  # fmt: skip
    assert nameless == []


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_marks_name_a_script_that_writes_between_them(path):
    for name in MARK.findall(path.read_text(encoding="utf-8")):
        assert path.read_text(encoding="utf-8").count(f"<!-- end of {name} -->") == 1
        (script,) = (ROOT / "benchmarks").rglob(name)
        source = script.read_text(encoding="utf-8")
        assert f"<!-- {name} -->" in source
        assert '"--write"' in source


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_picture_comes_from_a_script(path):
    scripts = [one.read_text(encoding="utf-8") for folder in ("examples", "benchmarks") for one in
               (ROOT / folder).rglob("*.py")]  # fmt: skip
    makefile = text_of("Makefile")
    for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        picture = (path.parent / link).resolve()
        assert picture.is_file()
        below = picture.relative_to(ROOT / "docs" / "images").as_posix()
        named = {f"docs/images/{below}", f"docs/images/{Path(below).parent}".removesuffix("/.")} - {"docs/images"}
        drawn_by_name = any(f'"{picture.name}"' in source for source in scripts)
        assert drawn_by_name or any(name in source for name in named for source in [*scripts, makefile]), link


def test_the_table_of_the_readme_is_that_of_its_script():
    summary = load("summary.py")
    made = summary.summary(text_of("docs/results.md"), text_of("docs/scale.md"))
    written = text_of("README.md").split(summary.BEGIN)[1].split(summary.END)[0]
    assert written.strip() == made


def left_out() -> dict[str, dict[str, str]]:
    return load("summary.py").read_table(text_of("docs/how-it-decides.md"), "## Left out", "found / true")


def test_means_are_those_of_the_rows():
    rows = left_out()
    means = rows.pop("**mean of 32**")
    assert len(rows) == 32
    for column in ("dayline, left out", "`fast()`", "number given", "random cuts", "window difference"):
        values = [float(row[column]) for row in rows.values()]
        assert np.mean(values) == pytest.approx(float(means[column].strip("*")), abs=0.001), column


def test_results_agree_with_the_table_of_kinds():
    means = left_out()["**mean of 32**"]
    results = load("summary.py").read_table(text_of("docs/results.md"), "", "all 32 kinds")
    pairs = {
        "**dayline, left out**": "dayline, left out",
        "dayline, `fast()`, left out": "`fast()`",
        "window difference (16 frames)": "window difference",
        "random cuts, as many as dayline found": "random cuts",
        "dayline, true number given": "number given",
    }
    for row, column in pairs.items():
        assert results[row]["all 32 kinds"].strip("*") == means[column].strip("*"), row


def test_the_tables_of_speed_agree():
    """The seconds in results.md are those of the full tables in scale.md, which methods.py writes."""
    summary, scale = load("summary.py"), text_of("docs/scale.md")
    short = summary.read_table(text_of("docs/results.md"), "## Speed", "40,000 x 512")
    full = [
        summary.read_table(scale[scale.index(f"| {kind} | ") :], "", "40,000 x 512") for kind in ("clear", "noisy")
    ]
    names = {
        "**dayline**": "dayline",
        "dayline, `fast()`": "dayline, `fast()`",
        "ruptures, rbf kernel": "ruptures, rbf",
    }
    for row, name in names.items():
        for shape, cell in short[row].items():
            measured = [table[name][shape].split(" / ")[0] for table in full]
            expected = "over 60" if measured == ["-", "-"] else measured
            seconds = cell if cell == "over 60" else [float(part) for part in cell.split(", ")]
            assert seconds == (expected if cell == "over 60" else pytest.approx([float(one) for one in expected]))


def test_scores_in_the_text_of_short_pages_stand_in_a_table():
    """README, start, how-to and benchmarks quote scores that the full tables have; nothing is rounded by hand."""
    known = {cell.strip("*()") for path in pages() for _, rows in tables(path.read_text(encoding="utf-8"))
             for row in rows for whole in row for cell in [whole, *whole.split(" / ")]}  # fmt: skip
    quoting = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("index.md", "benchmarks.md"))]
    for path in [*quoting, *sorted((ROOT / "docs" / "how-to").glob("*.md"))]:
        prose = re.sub(r"^\|[^\n]*$|^    [^\n]*$|```.*?```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        scores = re.findall(r"(?<![\w.])[01]?\.\d{3}(?!\d)", prose)
        assert [score for score in scores if score not in known] == [], path


def test_frames_from_which_the_graph_is_linear_are_told_right():
    from dayline.method.dge import LINEAR_FROM

    for name in ("README.md", "docs/scale.md"):
        assert set(re.findall(r"[Ff]rom ([\d,]+) frames on", text_of(name))) == {f"{LINEAR_FROM:,}"}
