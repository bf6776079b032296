"""The table of the README, from the full tables in docs/: accuracy, time and controls in one place.

    python benchmarks/summary.py [--write]

Measures nothing. Every figure is copied from the table that its script printed: results.md (F1, and
the seconds of 40,000 frames) and scale.md (CPU seconds per 1,000 frames). A row or column that is
gone is an error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from dayline.files import write_text_whole

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- summary.py -->", "<!-- end of summary.py -->"
HEADS = ("", "F1, 32 kinds", "F1, six kinds", "CPU s per 1,000 frames", "s for 40,000 frames")
COSINE, RBF = "kernel change points, cosine", "kernel change points, rbf"
# Row here, and the rows of held-out F1, of published methods on six kinds, of the frontier and of
# speed.
ROWS = {
    "**dayline**": ("**dayline, held out**", "", "dayline, not held out", "**dayline**"),
    "dayline, `fast()`": (
        "dayline, `fast()`, held out",
        "",
        "dayline, fast(), not held out",
        "dayline, `fast()`",
    ),
    "window difference": ("window difference (16 frames)", "", "window difference", ""),
    COSINE: (COSINE, "", COSINE, COSINE),
    RBF: (RBF, "", RBF, RBF),
    "TW-FINCH": ("", "TW-FINCH", "TW-FINCH", ""),
    "KTS": ("", "KTS", "KTS", ""),
    "the published method, `paper()`": ("", "`paper()`", "paper()", ""),
    "the published method, `authors()`": ("", "`authors()`", "authors()", ""),
    "*random cuts, as many as dayline found*": (
        "random cuts, as many as dayline found",
        "",
        "",
        "",
    ),
    "*equal pieces, true number given*": ("", "equal pieces, true number given", "", ""),
    "*dayline, true number given*": ("dayline, true number given", "", "", ""),
    f"*{RBF}, true number given*": (f"{RBF}, true number given", "", "", ""),
}


def read_table(text: str, heading: str, corner: str) -> dict[str, dict[str, str]]:
    """Return the first table below a heading that has this column, as rows of cells by name."""
    part = text[text.index(f"\n{heading}\n") if heading else 0 :]
    lines = part.splitlines()
    heads = next(
        k for k, line in enumerate(lines) if line.startswith("|") and f"| {corner} |" in line
    )
    names = [cell.strip() for cell in lines[heads].strip("|").split("|")]
    rows = {}
    for line in lines[heads + 2 :]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = dict(zip(names[1:], cells[1:], strict=True))
    return rows


def summary(results: str, scale: str) -> str:
    """Return the table as Markdown."""
    held_out = read_table(results, "", "all 32 kinds")
    published = read_table(results, "", "mocap6")
    frontier = read_table(scale, "## Time against F1", "CPU s per 1,000 frames")
    speed = read_table(results, "## Speed", "40,000 x 512")
    lines = [f"| {' | '.join(HEADS)} |", "| --- |" + " --- |" * (len(HEADS) - 1)]
    for name, (own, other, cost, seconds) in ROWS.items():
        all_kinds = held_out[own]["all 32 kinds"] if own else ""
        six = held_out[own]["six kinds, used for 0.1.0"] if own else published[other]["mean"]
        cells = [all_kinds, six, frontier[cost]["CPU s per 1,000 frames"] if cost else ""]
        cells.append(speed[seconds]["40,000 x 512"] if seconds else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    options = parser.parse_args()
    results, scale = (
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("results.md", "scale.md")
    )
    table = summary(results, scale)
    print(table)
    if options.write:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        head, tail = readme.split(BEGIN)[0], readme.split(END)[1]
        write_text_whole(ROOT / "README.md", f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}")


if __name__ == "__main__":
    main()
