"""Tables of measured and published figures, as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dayline import __version__
from dayline.io.files import write_text_whole
from dayline.reproduce.tasks import Result

__all__ = [
    "Cell",
    "Report",
    "Row",
    "Table",
    "published",
    "save_report",
    "summarise",
    "to_csv",
    "to_markdown",
    "versions",
]


@dataclass(frozen=True)
class Cell:
    """Mean over sequences and seeds; the spread is the standard deviation over seeds of the mean over sequences."""

    mean: float
    spread: float | None = None
    n_sequences: int | None = None
    n_seeds: int | None = None


@dataclass(frozen=True)
class Row:
    """One method: a cell for each column it fills, and why the others are empty."""

    name: str
    cells: Mapping[str, Cell]
    why_empty: str = ""


@dataclass(frozen=True)
class Table:
    """Methods as rows, scores as columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Report:
    """The tables of one command, with all that is needed to print them again; seconds are CPU time."""

    name: str
    tables: tuple[Table, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


def versions() -> dict[str, str]:
    """Return the versions that figures may depend on; optional packages only if installed."""
    found = {"dayline": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "joblib", "onnxruntime", "ruptures", "torch", "pillow"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def published(name: str, **figures: float) -> Row:
    """Make a row of published figures."""
    return Row(f"published: {name}", {column: Cell(value) for column, value in figures.items()})


def summarise(results: Iterable[Result], *, columns: Sequence[str]) -> list[Row]:
    """Average the results of one group over sequences and seeds, one row per name, in order of appearance.

    Parameters
    ----------
    results : iterable of Result
        Results of one group.
    columns : sequence of str
        Scores to include.
    """
    runs: dict[str, list[list[dict[str, float]]]] = {}
    for result in results:
        for name, seeds in result.rows.items():
            runs.setdefault(name, []).append(seeds)
    rows = []
    for name, sequences in runs.items():
        cells = {}
        for column in columns:
            if column in sequences[0][0]:
                by_seed = np.mean([[seed[column] for seed in seeds] for seeds in sequences], axis=0)
                spread = float(np.std(by_seed, ddof=1)) if len(by_seed) > 1 else None
                cells[column] = Cell(float(np.mean(by_seed)), spread, len(sequences), len(by_seed))
        rows.append(Row(name, cells))
    return rows


def to_markdown(report: Report) -> str:
    """Write the tables as Markdown; a spread follows its mean after ±."""
    lines: list[str] = []
    for table in report.tables:
        lines += [f"### {table.title}", "", f"| method | {' | '.join(table.columns)} |"]
        lines.append("| --- |" + " ---: |" * len(table.columns))
        for row in table.rows:
            cells = (_words(row.cells.get(column)) for column in table.columns)
            lines.append(f"| {row.name} | {' | '.join(cells)} |")
        lines += [""] + [f"- {row.name}: empty, {row.why_empty}" for row in table.rows if row.why_empty]
        if lines[-1]:
            lines.append("")
    lines += [f"- {note}" for note in report.notes]
    return "\n".join(lines).rstrip() + "\n"


def _words(cell: Cell | None) -> str:
    if cell is None:
        return ""
    digits = 3 if abs(cell.mean) < 10 else 1
    spread = f" ± {cell.spread:.{digits}f}" if cell.spread is not None else ""
    return f"{cell.mean:.{digits}f}{spread}"


def to_csv(report: Report) -> str:
    """Write the tables as CSV, one line per cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("table", "method", "column", "mean", "spread", "n_sequences", "n_seeds"))
    for table in report.tables:
        for row in table.rows:
            for column, cell in row.cells.items():
                values = (cell.mean, cell.spread, cell.n_sequences, cell.n_seeds)
                writer.writerow((table.title, row.name, column, *("" if v is None else v for v in values)))
    return text.getvalue()


def save_report(report: Report, folder: Path) -> None:
    """Write NAME.md, NAME.csv and NAME.json, with versions, seeds and settings, into a folder."""
    write_text_whole(folder / f"{report.name}.md", to_markdown(report))
    write_text_whole(folder / f"{report.name}.csv", to_csv(report))
    content = asdict(report) | {"versions": versions()}
    write_text_whole(folder / f"{report.name}.json", json.dumps(content, indent=1))
