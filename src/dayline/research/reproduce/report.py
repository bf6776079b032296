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
from dayline.files import write_text_whole
from dayline.research.reproduce.tasks import Result


def _frp(f: float, r: float, p: float, *, tolerance: int = 5) -> dict[str, float]:
    return {f"F {tolerance}": f, f"R {tolerance}": r, f"P {tolerance}": p}


PUBLISHED_DAYS: dict[str, dict[str, dict[str, float]]] = {
    "edub-seg": {
        "k-means smoothed": _frp(0.51, 0.39, 0.82),
        "AC-color": _frp(0.38, 0.25, 0.90),
        "SR-Clustering": _frp(0.53, 0.68, 0.49),
        "KTS": _frp(0.53, 0.40, 0.87),
        "CES-TSC": _frp(0.66, 0.69, 0.67),
        "CES-VCP": _frp(0.69, 0.77, 0.66) | {"F 4": 0.67, "F 3": 0.64, "F 2": 0.59, "F 1": 0.44},
        "CES-DGE": _frp(0.70, 0.70, 0.72) | {"F 4": 0.68, "F 3": 0.65, "F 2": 0.59, "F 1": 0.48},
        "second annotators": _frp(0.72, 0.68, 0.80),
    },
    "edub-seg-desc": {
        "CES-TSC": _frp(0.63, 0.60, 0.70),
        "CES-VCP": _frp(0.57, 0.59, 0.60) | {"F 4": 0.56, "F 3": 0.52, "F 2": 0.49, "F 1": 0.43},
        "CES-DGE": _frp(0.65, 0.67, 0.65) | {"F 4": 0.63, "F 3": 0.60, "F 2": 0.54, "F 1": 0.45},
    },
}
ABLATION = {
    "CES-raw": _frp(0.52, 0.56, 0.56),
    "CES-NLmeans-1D": _frp(0.60, 0.63, 0.61),
    "CES-Embedding": _frp(0.61, 0.61, 0.65),
    "CES-DGE": _frp(0.70, 0.70, 0.72),
}
CORE_ABLATION = {"full": 0.70, "alpha = 0": 0.69, "p = 0": 0.69, "eta = 0": 0.68, "mu = 0": 0.67}
# fmt: off
GRID: dict[str, tuple[str, dict[float, float]]] = {
    "d": ("n_components", {5: 0.59, 7: 0.61, 10: 0.65, 15: 0.70, 20: 0.69, 25: 0.68, 35: 0.67,
                           45: 0.68, 100: 0.65, 150: 0.64}),
    "K": ("n_iterations", {1: 0.66, 2: 0.70, 3: 0.68, 4: 0.67, 5: 0.66}),
    "alpha": ("initial_graph_weight", {0.05: 0.679, 0.1: 0.70, 0.2: 0.69, 0.3: 0.69, 0.4: 0.68}),
    "p": ("smoothing_width", {2: 0.69, 3: 0.70, 4: 0.69, 5: 0.69, 6: 0.68}),
    "eta": ("temporal_prior", {0.01: 0.69, 0.1: 0.69, 0.3: 0.70, 0.4: 0.69, 0.6: 0.67}),
    "mu": ("semantic_prior", {0.03: 0.68, 0.05: 0.70, 0.1: 0.70, 0.2: 0.69, 0.3: 0.67}),
    "N_C": ("n_communities", {3: 0.65, 4: 0.66, 6: 0.67, 8: 0.68, 10: 0.70, 12: 0.69, 14: 0.69,
                              16: 0.68, 18: 0.67, 20: 0.68}),
}
# fmt: on
SYNTHETIC = {0: 0.59, 1: 0.62, 3: 0.64, 10: 0.67}
"""F by iteration of the loop."""


@dataclass(frozen=True)
class Cell:
    """Mean over sequences and seeds, and the standard deviation over seeds of the mean."""

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
    """The tables of one command, with all that is needed to print them again."""

    name: str
    tables: tuple[Table, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


def versions() -> dict[str, str]:
    """Return the versions that figures may depend on; optional packages only if installed."""
    found = {"dayline": __version__, "python": platform.python_version()}
    for name in (
        "numpy",
        "scipy",
        "scikit-learn",
        "joblib",
        "onnxruntime",
        "ruptures",
        "torch",
        "pillow",
    ):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def published(name: str, **figures: float) -> Row:
    """Make a row of published figures."""
    return Row(f"published: {name}", {column: Cell(value) for column, value in figures.items()})


def summarize(results: Iterable[Result], *, columns: Sequence[str]) -> list[Row]:
    """Average the results of one group over sequences and seeds, one row per name.

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
        lines += [""] + [
            f"- {row.name}: empty, {row.why_empty}" for row in table.rows if row.why_empty
        ]
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
                writer.writerow(
                    (table.title, row.name, column, *("" if v is None else v for v in values))
                )
    return text.getvalue()


def save_report(report: Report, folder: Path) -> None:
    """Write NAME.md, NAME.csv and NAME.json, with versions, seeds and settings, into a folder."""
    write_text_whole(folder / f"{report.name}.md", to_markdown(report))
    write_text_whole(folder / f"{report.name}.csv", to_csv(report))
    content = asdict(report) | {"versions": versions()}
    write_text_whole(folder / f"{report.name}.json", json.dumps(content, indent=1))
