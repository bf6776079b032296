"""The tables of F1 in the README and docs, from the scores that were measured.

    python benchmarks/summary.py            # print them
    python benchmarks/summary.py --write    # put them into the pages
    python benchmarks/summary.py --check    # fail if a page shows something else

Measures nothing. docs/results.csv has the held-out scores of 39 kinds (fit_decision.py writes it),
docs/kept-back.csv those that dayline of 25945c2 had on 17 kinds that nobody who worked on it had
seen, and docs/scale.md the seconds (methods.py and frontier.py write them).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import mean

from dayline.files import write_text_whole

DOCS = Path(__file__).parents[1] / "docs"

# A row of the tables: its name, the method in results.csv, the column of kept-back.csv without and
# with the true number, and the rows of scale.md that have its seconds.
COSINE, RBF = "kernel change points, cosine", "kernel change points, rbf"
METHODS = (
    ("**dayline**", "dayline", "default", "true number", "dayline"),
    ("dayline, `fast()`", "dayline (fast)", "fast", "", "dayline, `fast()`"),
    (
        "window difference",
        "window difference (16 frames)",
        "window difference",
        "",
        "window difference",
    ),
    (COSINE, "kernel change points (cosine)", "kernel cosine", "kernel cosine true number", COSINE),
    (
        f"{COSINE}, standardized columns",
        "kernel change points (cosine on standardized columns)",
        "kernel cosine standardized",
        "",
        "",
    ),
    (RBF, "kernel change points (rbf)", "kernel rbf", "kernel rbf true number", RBF),
    (
        f"{RBF}, standardized columns",
        "kernel change points (rbf on standardized columns)",
        "kernel rbf standardized",
        "",
        "",
    ),
    ("*random cuts, as many as dayline found*", "random cuts", "random cuts", "", ""),
    ("*equal pieces*", "equal pieces", "", "equal pieces true number", ""),
)
BASELINES = (
    "window difference (8 frames)",
    "window difference (16 frames)",
    "kernel change points (cosine)",
    "kernel change points (rbf)",
    "kernel change points (cosine on standardized columns)",
    "kernel change points (rbf on standardized columns)",
    "CES rule (raw features)",
    "CES rule (denoised features)",
)
PUBLISHED = {
    "appliances", "digits", "exercises", "eyes", "files", "fmri", "genomes", "languages", "motions",
    "nights", "photos", "proteins", "seasons", "speakers", "tunes", "verses", "vowels",
}  # fmt: skip
"""Kinds that accuracy/other_kinds.py makes of published data, most of them joined from parts. All
others are natural: people marked the events of recordings as they are."""
SIX = ("bbc", "gtea", "sensecam", "mocap6", "keck", "mad")
"""Kinds on which the published methods were measured, too."""

Rows = list[dict[str, str]]


def read_rows(name: str) -> Rows:
    """Return the rows of a table in docs/."""
    with (DOCS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known_scores(rows: Rows, method: str, *, given: bool) -> dict[str, float]:
    """Return the F1 of one method by kind; random cuts are as many as dayline found."""
    if method == "random cuts":
        some = [r for r in rows if r["method"] == "dayline" and r["number_given"] == "no"]
        return {r["data_set"]: float(r["f1"]) - float(r["above_chance"]) for r in some}

    number = "yes" if given else "no"
    some = [r for r in rows if r["method"] == method and r["number_given"] == number]
    return {r["data_set"]: float(r["f1"]) for r in some}


def score(values: Iterable[float]) -> str:
    """Return a mean as a cell, empty if nothing was measured."""
    some = list(values)
    return f"{mean(some):.3f}".removeprefix("0") if some else ""


def apart(scores: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the scores of natural kinds and those of published ones."""
    natural, published = (
        {kind: value for kind, value in scores.items() if (kind in PUBLISHED) == is_published}
        for is_published in (False, True)
    )
    return natural, published


def markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table."""
    names = list(heads)
    lines = [f"| {' | '.join(names)} |", "| --- |" + " --- |" * (len(names) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def page_table(page: str, heading: str, corner: str) -> dict[str, dict[str, str]]:
    """Return the first table below a heading that has this column, as rows of cells by name."""
    lines = page[page.index(f"\n{heading}\n") :].splitlines()
    first = next(k for k, one in enumerate(lines) if one.startswith("|") and f"| {corner} |" in one)

    def cells(line: str) -> list[str]:
        return [cell.strip() for cell in line.strip("|").split("|")]

    names, rows = cells(lines[first]), {}
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        row = cells(line)
        rows[row[0].strip("*")] = dict(zip(names[1:], row[1:], strict=True))
    return rows


def readme_table() -> str:
    """Return F1 and time; F1 with the true number of events in parentheses."""
    known, unseen = read_rows("results.csv"), read_rows("kept-back.csv")[-1]  # the means
    scale = (DOCS / "scale.md").read_text(encoding="utf-8")
    cost = page_table(scale, "## Time against F1", "CPU s per 1,000 frames")
    ours = {
        "dayline": "dayline, not held out",
        "dayline, `fast()`": "dayline, fast(), not held out",
    }

    def both(found: str, given: str) -> str:
        return f"{found} ({given})".strip() if given else found

    rows = []
    for name, method, found, given, seconds in METHODS:
        scores = apart(known_scores(known, method, given=False))
        with_number = apart(
            known_scores(known, method, given=True) if method != "random cuts" else {}
        )
        row = [
            both(score(some.values()), score(more.values()))
            for some, more in zip(scores, with_number, strict=True)
        ]
        row.append(both(*(score([float(unseen[key])] if key else []) for key in (found, given))))
        spent = cost[ours.get(seconds, seconds)]["CPU s per 1,000 frames"] if seconds else ""
        rows.append([name, *row, spent])

    n_natural, n_published = map(len, apart(known_scores(known, "dayline", given=False)))
    heads = (
        "F1 (number of events given)",
        f"{n_natural} natural kinds",
        f"{n_published} published kinds",
        "17 kinds kept back, as measured at 25945c2",
        "CPU s per 1,000 frames",
    )
    return markdown(heads, rows)


def unseen_table() -> str:
    """Return F1 of the 17 kinds that nobody had seen, by kind."""
    columns = {
        "kind": "kind",
        "sequences": "sequences",
        "dayline": "default",
        "`fast()`": "fast",
        "window difference": "window difference",
        "cosine kernel": "kernel cosine",
        "cosine kernel, standardized": "kernel cosine standardized",
        "random cuts": "random cuts",
        "found / true": "found / true",
        "dayline, number given": "true number",
        "rbf kernel, number given": "kernel rbf true number",
        "cosine kernel, number given": "kernel cosine true number",
        "equal pieces, number given": "equal pieces true number",
    }
    *rows, means = read_rows("kept-back.csv")
    plain = ("kind", "sequences", "found / true")

    cells = [
        [row[key] if key in plain else score([float(row[key])]) for key in columns.values()]
        for row in [*rows, means]
    ]
    cells[-1][0] = "**mean**"
    simple, kernel = (
        sum(float(row["default"]) > float(row[other]) for row in rows)
        for other in ("window difference", "kernel cosine standardized")
    )
    return (
        markdown(columns, cells)
        + f"\n\ndayline is ahead of the window difference in {simple} of {len(rows)} kinds, and of"
        + f" the\ncosine kernel on standardized columns in {kernel}."
    )


def known_table(*, published: bool) -> str:
    """Return F1 of the natural kinds or of the published ones, by kind, each held out."""
    rows = [row for row in read_rows("results.csv") if (row["data_set"] in PUBLISHED) == published]
    default, fast = (known_scores(rows, one, given=False) for one in ("dayline", "dayline (fast)"))
    given = known_scores(rows, "dayline", given=True)
    chance = known_scores(rows, "random cuts", given=False)
    others = {one: known_scores(rows, one, given=False) for one in BASELINES}
    window = others["window difference (16 frames)"]
    kernel = others["kernel change points (cosine on standardized columns)"]
    ratio = {
        row["data_set"]: f"{int(row['n_found']) / int(row['n_true']):.1f}"
        for row in rows
        if row["method"] == "dayline" and row["number_given"] == "no"
    }

    cells, first = [], 0
    for kind in sorted(default):
        best = max(others, key=lambda one, kind=kind: others[one][kind])
        first += default[kind] > others[best][kind]
        cells.append(
            [
                kind,
                *(score([one[kind]]) for one in (default, fast, given, chance)),
                ratio[kind],
                *(score([one[kind]]) for one in (window, kernel)),
                f"{score([others[best][kind]])} {best}",
            ]
        )
    means = [score(one.values()) for one in (default, fast, given, chance)]
    cells.append(["**mean**", *means, "", *(score(one.values()) for one in (window, kernel)), ""])

    heads = (
        "kind",
        "dayline, held out",
        "`fast()`",
        "number given",
        "random cuts",
        "found / true",
        "window difference",
        "cosine kernel, standardized",
        "best baseline of this kind",
    )
    ahead = [sum(default[kind] > one[kind] for kind in default) for one in (window, kernel)]
    return (
        markdown(heads, cells)
        + f"\n\ndayline is ahead of the window difference in {ahead[0]} of {len(default)} kinds,"
        + f" of the\ncosine kernel on standardized columns in {ahead[1]}, and of the best of"
        + f" {len(BASELINES)} baselines, if it\nwere known for each kind, in {first}."
    )


def group_table() -> str:
    """Return F1 of every method on natural and published kinds and on the published methods' six."""
    rows = read_rows("results.csv")
    cells = []
    for method in [*dict.fromkeys(row["method"] for row in rows), "random cuts"]:
        found = known_scores(rows, method, given=False)
        given = {} if method == "random cuts" else known_scores(rows, method, given=True)
        groups = [apart(one) for one in (found, given)]
        means = [score(one.values()) for pair in zip(*groups, strict=True) for one in pair]
        six = [score(one[kind] for kind in SIX if one) for one in (found, given)]
        cells.append([method, *means, *six])
    names = ("22 natural kinds", "17 published kinds", "six kinds")
    heads = [f"{name}{end}" for name in names for end in ("", ", number given")]
    return markdown(["", *heads], cells)


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "summary: readme": ("../README.md", readme_table),
    "summary: groups": ("results.md", group_table),
    "summary: natural kinds": ("results.md", partial(known_table, published=False)),
    "summary: published kinds": ("results.md", partial(known_table, published=True)),
    "summary: 17 kinds": ("results.md", unseen_table),
}
"""Name of the marks around a table, its page, and what makes it."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    parser.add_argument("--check", action="store_true", help="fail if a page shows something else")
    options = parser.parse_args()

    wrong = []
    for name, (page, make) in TABLES.items():
        table = make()
        path = DOCS / page
        before, begin, rest = path.read_text(encoding="utf-8").partition(f"<!-- {name} -->")
        shown, end, after = rest.partition(f"<!-- end of {name} -->")
        if not (begin and end):
            sys.exit(f"{path.name} has no marks for the table {name!r}")
        if shown.strip() != table:
            wrong.append(name)
        if options.write:
            write_text_whole(path, f"{before}{begin}\n\n{table}\n\n{end}{after}")
        elif not options.check:
            print(f"{name}\n\n{table}\n")

    if options.check and wrong:
        sys.exit(f"run `python benchmarks/summary.py --write`: not as measured: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
