"""Measured figures in README and docs come from scripts that exist, and agree with each other."""

from __future__ import annotations

import csv
import datetime
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
SCRIPT = re.compile(r"(?:benchmarks|examples)/[\w/]+\.py|dayline reproduce\s+\w+")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
NOT_MEASURED = {"docs/models.md": "values with which networks of others were trained"}

CODE = re.compile(
    r"```.*?```|<!-- (\w+\.py) -->.*?<!-- end of \1 -->|<!-- not run.*?-->|^\|[^\n]*$|^ {4}[^\n]*$", re.M | re.S
)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
IN_PROSE = re.compile(
    r"""(?<![\w.])[+-]?0?\.\d{2,3}(?!\d)                              # a score: .585, 0.46
    | (?<![\w.])\d[\d,.]*(?:-fold|\s(?:%|times|m?s|seconds?|minutes?|hours?|[MG]B)(?!\w))  # 12.0 s, 86 %, 7.7-fold
    | \d+\sof\s\d+\b                                              # 27 of 32""",
    re.VERBOSE,
)
"""What measured figures look like in a text. So do some limits and parameters, which are listed below."""
NO_MEASUREMENTS = {
    # Constants of the program.
    "docs/batch.md": ("20 seconds",),
    "docs/how-it-decides.md": ("8 times", "99 %", "0.65", "16 minutes", "43 seconds"),
    "docs/photos-and-video.md": (
        *("0.5 s", "0.2 s", "100,000 s", "600 MB", "400 times"),
        *("5 minutes", "10 times", "2 s", "10 s", "12 of 255", "70 %", "0.05"),
    ),
    # An example, which says that its figures are made up; a version of a package; how a network was trained.
    "docs/citing.md": ("10 s", ".48", ".17", ".28"),
    "docs/demo-photographs.md": ("0.26",),
    "docs/models.md": ("0.875",),
}
"""Figures that look measured and are not."""


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


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Heading and text of every section, without those below it."""
    heads = list(HEADING.finditer(text))
    for head, stop in zip(heads, [*(one.start() for one in heads[1:]), len(text)], strict=True):
        yield head[1], text[head.end() : stop]


def flat(name: str) -> str:
    """The text of a page in one line."""
    return " ".join(text_of(name).split())


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


def test_figures_in_a_text_are_told_from_other_numbers():
    for text in (
        "has .585 now",
        "from 0.46 on",
        "take 12.0 s,",
        "86 % of them",
        "grows 7.7-fold",
        "in 27 of 32 kinds",
    ):
        assert IN_PROSE.search(text), text
    for text in ("32 kinds", "`level=1`", "2026-11-17", "1,500 frames", "Eq. 3", "Python 3.11", "a 512 x 512 graph"):
        assert not IN_PROSE.search(text), text


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_section_with_figures_in_its_text_names_a_script_and_a_date(path):
    """Or quotes them from a table of figures, on this page or on one that it links to there."""
    text, others = path.read_text(encoding="utf-8"), set(NO_MEASUREMENTS.get(name_of(path), ()))
    found, nameless = set(), {}
    for heading, section in sections(text):
        figures = set(IN_PROSE.findall(CODE.sub("", section)))
        found |= figures
        figures -= others | quotable(path, section)
        if figures and not (SCRIPT.search(section) and DATE.search(section)):
            nameless[heading] = figures
    assert nameless == {}
    assert others <= found, "listed, but not on the page any more"


def quotable(path: Path, section: str) -> set[str]:
    """The scores in the tables of a page, and of those that a section links to, with two digits and with three."""
    links = [path.parent / link for link in re.findall(r"\]\(([\w./-]+\.md)", section)]
    texts = [one.read_text(encoding="utf-8") for one in (path, *links) if one.is_file()]
    cells = [cell.strip("*()") for text in texts for _, rows in tables(text) if is_measured(rows) for row in rows
             for whole in row[1:] for cell in re.split(r" / | ± ", whole)]  # fmt: skip
    scores = [float(cell) for cell in cells if re.fullmatch(r"0?\.\d{3}", cell)]
    exact = {f"{score:.{digits}f}" for score in scores for digits in (2, 3)}
    return exact | {score.removeprefix("0") for score in exact}


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_scripts_that_a_page_names_exist_and_dates_are_past(path):
    text = path.read_text(encoding="utf-8")
    scripts = {
        one.name for folder in ("benchmarks", "examples", "tests", "docs") for one in (ROOT / folder).rglob("*.py")
    }
    for name in re.findall(r"(?:benchmarks|examples)/[\w/]+\.py", text):
        assert (ROOT / name).is_file(), name
    for name in re.findall(r"`(\w+\.py)\b", CODE.sub("", text)):
        assert name in scripts or list((ROOT / "src").rglob(name)), name
    for day in DATE.findall(text):
        assert datetime.date.fromisoformat(day) <= datetime.datetime.now(datetime.UTC).date(), day


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


def held_out() -> dict[str, dict[str, str]]:
    return load("summary.py").read_table(text_of("docs/how-it-decides.md"), "## Held out", "found / true")


def test_means_are_those_of_the_rows():
    rows = held_out()
    means = rows.pop("**mean of 32**")
    assert len(rows) == 32
    for column in ("dayline, held out", "`fast()`", "number given", "random cuts", "window difference"):
        values = [float(row[column]) for row in rows.values()]
        assert np.mean(values) == pytest.approx(float(means[column].strip("*")), abs=0.001), column


def test_results_agree_with_the_table_of_kinds():
    means = held_out()["**mean of 32**"]
    results = load("summary.py").read_table(text_of("docs/results.md"), "", "all 32 kinds")
    pairs = {
        "**dayline, held out**": "dayline, held out",
        "dayline, `fast()`, held out": "`fast()`",
        "window difference (16 frames)": "window difference",
        "random cuts, as many as dayline found": "random cuts",
        "dayline, true number given": "number given",
    }
    for row, column in pairs.items():
        assert results[row]["all 32 kinds"].strip("*") == means[column].strip("*"), row


def assert_told(page: str, sentence: str, *values: float) -> None:
    """The sentence, with a number in place of every {}, stands on the page and tells these values."""
    pattern = re.escape(sentence).replace(r"\{\}", r"([+-]?[\d.]*\d)")
    found = re.findall(pattern, flat(page))
    assert len(found) == 1, f"{page} does not have: {sentence}"
    told = [float(one) for one in (found if isinstance(found[0], str) else found[0])]
    # Means of rounded rows, told with three digits.
    assert told == pytest.approx(values, abs=0.0011), sentence


def test_what_the_text_says_of_the_held_out_table_is_so():
    rows = held_out()
    means = rows.pop("**mean of 32**")
    ours, fast, window = ({kind: float(row[column]) for kind, row in rows.items()}
                          for column in ("dayline, held out", "`fast()`", "window difference"))  # fmt: skip
    before = {kind: float(row["0.1.0"].strip("*")) for kind, row in rows.items()}
    best = {kind: float(row["best baseline of this kind"].split()[0]) for kind, row in rows.items()}
    new = [kind for kind, row in rows.items() if not row["0.1.0"].endswith("*")]
    six = ["bbc", "gtea", "sensecam", "mocap6", "keck", "mad"]

    def mean(scores: dict[str, float], kinds: list[str]) -> float:
        return float(np.mean([scores[kind] for kind in kinds]))

    decides, results = "docs/how-it-decides.md", "docs/results.md"
    n_better = sum(ours[kind] > before[kind] for kind in new)
    sentence = "On the {} others this version is better in {}, {} against {}."
    assert_told(decides, sentence, len(new), n_better, mean(ours, new), mean(before, new))
    sentence = "on the {} it did not know, it has {} and this version {}."
    assert_told(results, sentence, len(new), mean(before, new), mean(ours, new))
    assert_told(decides, "it is worse, {} against {}, and", mean(ours, six), mean(before, six))
    ahead = sum(ours[kind] > window[kind] for kind in rows)
    assert_told(decides, "window difference, in {} of {} kinds", ahead, len(rows))
    assert_told(results, "ahead of the window difference in {} of {} kinds", ahead, len(rows))
    n_ahead_of_best = sum(ours[kind] > best[kind] for kind in rows)
    assert_told(decides, "if the best of six baselines were known for each kind, in {}.", n_ahead_of_best)
    pair = [float(means[column].strip("*")) for column in ("dayline, held out", "number given")]
    assert_told(decides, "With the number given, F1 rises from {} to {};", *pair)
    pair = [float(means[column].strip("*")) for column in ("`fast()`", "dayline, held out")]
    assert_told("docs/scale.md", "its F1 is {} instead of {}", *pair)
    assert_told("CHANGELOG.md", "F1 {} instead of {}, held out.", *pair)
    frontier = [row[0] for _, table in tables(text_of("docs/scale.md")) for row in table if row[0] in rows]
    sentence = (
        f"the same {len(frontier)} groups, the default has {{}}, `fast()` {{}} and the window difference {{}} ("
    )
    assert_told("docs/scale.md", sentence, *(mean(scores, frontier) for scores in (ours, fast, window)))


def test_what_the_text_says_of_fast_is_so():
    rows = held_out()
    del rows["**mean of 32**"]
    gain = {kind: float(row["`fast()`"]) - float(row["dayline, held out"]) for kind, row in rows.items()}
    values, random = np.asarray(list(gain.values())), np.random.default_rng(0)
    low, high = np.quantile([random.choice(values, len(values)).mean() for _ in range(4000)], [0.05, 0.95])
    sentence = "It loses {} in the mean (90 % interval over kinds {} to {})"
    assert_told("docs/how-it-decides.md", sentence, -values.mean(), -high, -low)
    n_worse, n_better = sum(values < 0), sum(values > 0)
    sentence = "It is worse in {} of {} kinds, by up to {}, and better in {}, by up to {}."
    assert_told("docs/results.md", sentence, n_worse, len(rows), -values.min(), n_better, values.max())
    match = re.search(r"It is worse in (\d+) kinds \(most in (.*?)\) and better in (\d+) \(most in (.*?)\)",
                      flat("docs/how-it-decides.md"))  # fmt: skip
    assert match is not None
    assert (int(match[1]), int(match[3])) == (n_worse, n_better)
    for named, sign in ((match[2], 1), (match[4], -1)):
        told = {name.lower(): float(value) for name, value in (one.split() for one in named.split(", "))}
        most = sorted(gain, key=lambda kind: sign * gain[kind])[: len(told)]
        assert list(told) == most
        assert list(told.values()) == pytest.approx([gain[kind] for kind in most], abs=0.0011)


def test_what_the_text_says_of_the_confidence_is_so():
    section = dict(sections(text_of("docs/how-it-decides.md")))["How good is the confidence?"]
    rows = [
        [float(value) for value in row] for row in re.findall(r"^ +(\d+)" + r" +(\.\d+)" * 4, section, re.MULTILINE)
    ]
    assert len(rows) > 5
    most = max(abs(stated - right) for _, stated, right, _, _ in rows)
    assert_told("docs/how-it-decides.md", "stated and right differ by at most {}.", most)


def test_the_table_for_other_papers_has_the_means_of_the_results():
    """The two were not always written on the same day."""
    scores: dict[tuple[str, str], list[float]] = {}
    with (ROOT / "docs" / "results.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            scores.setdefault((row["method"], row["number_given"]), []).append(float(row["f1"]))
    results = load("summary.py").read_table(text_of("docs/results.md"), "", "all 32 kinds")
    names = {
        ("dayline", "no"): "**dayline, held out**",
        ("dayline (fast)", "no"): "dayline, `fast()`, held out",
        ("window difference (16 frames)", "no"): "window difference (16 frames)",
        ("window difference (8 frames)", "no"): "window difference (8 frames)",
        ("kernel change points (cosine)", "no"): "kernel change points, cosine",
        ("kernel change points (rbf)", "no"): "kernel change points, rbf",
        ("CES rule (raw features)", "no"): "CES rule, raw features",
        ("CES rule (denoised features)", "no"): "CES rule, denoised",
        ("dayline", "yes"): "dayline, true number given",
        ("kernel change points (rbf)", "yes"): "kernel change points, rbf, true number given",
    }
    for key, row in names.items():
        assert float(results[row]["all 32 kinds"].strip("*")) == pytest.approx(np.mean(scores[key]), abs=0.0006), row


def test_what_the_text_says_of_the_linear_form_is_so():
    scale = text_of("docs/scale.md")
    start = scale.index("| group | sequences |")
    groups = next(rows for begin, rows in tables(scale) if begin == start)
    counts = load("summary.py").read_table(
        scale, "## How close the linear form is to the dense form", "agreement, worst sequence"
    )["**320 and 384**"]
    told = [float(cell.strip("*")) for cell in counts.values()]
    agreement, worst, linear, dense = (np.asarray([float(row[k]) for row in groups]) for k in (3, 4, 5, 6))
    assert told == pytest.approx([agreement.mean(), worst.min(), (linear - dense).mean()], abs=0.0011)


def test_what_the_text_says_of_speed_is_so():
    page, scale = "docs/scale.md", text_of("docs/scale.md")
    growth = [float(one) for one in re.findall(r"^dayline, \w+, growth .*: ([\d.]+)-fold", scale, re.MULTILINE)]
    assert_told(page, "the time of the default grows {}- to {}-fold.", min(growth), max(growth))
    ratios = load("summary.py").read_table(
        scale[scale.index("| wall-clock time as a multiple of |") :], "", "kernel change points, rbf"
    )

    def ratio(method: str, kind: str, shape: str, kernel: str) -> float:
        return float(ratios[f"{method}, {kind}, {shape} x 512"][f"kernel change points, {kernel}"])

    rbf = [
        sorted(ratio("dayline", kind, shape, "rbf") for kind in ("clear", "noisy")) for shape in ("4,000", "8,000")
    ]
    spans = ["{} to {}" if pair[0] < pair[1] else "{}" for pair in rbf]
    sentence = f"It takes {spans[0]} of the time of the rbf kernel at 4,000 frames and {spans[1]} at 8,000."
    assert_told(page, sentence, *sorted(set(rbf[0])), *sorted(set(rbf[1])))
    clear = {
        name: [
            float(row["kernel change points, cosine"])
            for key, row in ratios.items()
            if key.startswith(f"{name}, clear")
        ]
        for name in ("dayline", "dayline, `fast()`")
    }
    sentence = (
        "The cosine kernel is {} to {} times as fast as the default if events are clear "
        "({} at 4,000 frames, {} at 8,000, {} at 100,000)"
    )
    at = [ratio("dayline", "clear", shape, "cosine") for shape in ("4,000", "8,000", "100,000")]
    assert_told(page, sentence, min(clear["dayline"]), max(clear["dayline"]), *at)
    noisy = [ratio("dayline", "noisy", shape, "cosine") for shape in ("4,000", "8,000")]
    assert_told(page, "if they are not, the default takes {} of its time at 4,000 frames and {} at 8,000.", *noisy)
    fast = clear["dayline, `fast()`"]
    assert_told(
        page,
        "`fast()` takes {} to {} times as long as the cosine kernel on clear events",
        min(fast),
        max(fast),
    )


def test_how_much_the_time_of_a_kernel_depends_on_the_data_is_told_right():
    scale = text_of("docs/scale.md")
    clear, noisy = (
        load("summary.py").read_table(scale[scale.index(f"| {kind} | ") :], "", "40,000 x 512")[
            "kernel change points, cosine"
        ]
        for kind in ("clear", "noisy")
    )
    seconds = {shape: [float(row[shape].split(" / ")[0]) for row in (clear, noisy)] for shape in clear
               if noisy[shape] != "-"}  # fmt: skip
    least = min(slow / quick for quick, slow in seconds.values())
    # More than the 60 s at which methods.py gives up.
    most = 60 / float(clear["40,000 x 512"].split(" / ")[0])
    assert noisy["40,000 x 512"] == "-"
    assert_told("docs/scale.md", "that of its cosine kernel by a factor of {} to over {}:", round(least), most)


def test_what_the_text_says_of_stages_is_so():
    stages = load("summary.py").read_table(
        text_of("docs/scale.md"), "## Comparison with other methods", "linking frames"
    )
    shares = [int(row["decision"].strip("%")) for row in stages.values()]
    assert len(shares) == 12
    sentence = "it takes {} to {} % of the time of the default from 1,000 to 100,000 frames"
    assert_told("docs/how-it-decides.md", sentence, min(shares), max(shares))


def test_what_the_text_says_of_the_synthetic_example_is_so():
    from dayline import make_communities, score_boundaries
    from dayline.baselines.ces import ContextualSegmenter

    def scores(stay: float) -> list[float]:
        made = [make_communities(stay=stay, random_state=seed) for seed in range(40)]
        return [score_boundaries(ContextualSegmenter().fit(one.features).boundaries_, one.boundaries, tolerance=5,
                                 n_frames=len(one.features), protocol="ces").f1 for one in made]  # fmt: skip

    means = [round(float(np.mean(scores(stay))), 2) for stay in (50.0, 100.0, 200.0)]
    sentence = "a mean F of {} over 40 draws (standard deviation 0.05), {} with 100, {} with 200;"
    assert_told("docs/paper.md", sentence, *means)


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
        "kernel change points, rbf": "kernel change points, rbf",
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
