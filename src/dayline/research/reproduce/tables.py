"""Measure many methods on many sequences, and write the figures as tables.

A run is parallel and resumes where an earlier one stopped. At the end are the figures of the
papers, as printed there: rows and columns of our tables.
"""

from __future__ import annotations

import csv
import io
import json
import platform
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dayline import __version__
from dayline.files import write_text_whole

Figures: TypeAlias = dict[str, float]
"""Scores of one run, by column."""
Measured: TypeAlias = dict[str, list[Figures]]
"""Scores of every row that a method fills, a set for each seed."""
OnDone: TypeAlias = Callable[[str, int, int], None]
"""Called as on_done(what, done, total)."""


@dataclass(frozen=True)
class Task:
    """One method to be measured on one sequence; `measure` must work in another process.

    `data` is a fingerprint of the data: if it changes, the task is measured again.
    """

    group: str
    sequence: str
    method: str
    measure: Callable[[], Measured]
    data: str = ""


@dataclass(frozen=True)
class Result:
    """What one task measured, and its CPU time."""

    group: str
    sequence: str
    method: str
    rows: Measured
    cpu_seconds: float = 0.0


def choose(wanted: Sequence[str] | None, among: Sequence[str], *, what: str) -> list[str]:
    """Return the wanted names in the order of `among`, or all of them for None."""
    unknown = [name for name in wanted or () if name not in among]
    if unknown:
        raise ValueError(f"{what} {unknown[0]!r} is not known; choose among {'; '.join(among)}")
    return [name for name in among if wanted is None or name in wanted]


@dataclass(frozen=True)
class RunOptions:
    """What to measure of a table, and how.

    Attributes
    ----------
    out : Path
        Folder for one small file per sequence and method. Results with the same version, settings
        and data are not measured again, so an interrupted run resumes.
    n_seeds, n_jobs : int
        Seeds 0, 1, ... and processes, with one BLAS thread each.
    methods, only : sequence of str, optional
        Rows to measure, and data sets; None means all.
    most : int, optional
        Maximum number of sequences of each data set; of frames, for the cost.
    on_done : callable, optional
        Called after every sequence and method.
    """

    out: Path
    n_seeds: int = 4
    n_jobs: int = 1
    methods: Sequence[str] | None = None
    only: Sequence[str] | None = None
    most: int | None = None
    on_done: OnDone | None = None


def run_tasks(
    tasks: Sequence[Task], options: RunOptions, *, settings: Mapping[str, Any]
) -> list[Result]:
    """Run all tasks and return their results in the same order.

    Parameters
    ----------
    tasks : sequence of Task
        What to measure.
    options : RunOptions
        Where to keep the results, and the number of processes.
    settings : mapping
        What the results depend on besides the data.
    """
    from joblib import Parallel, delayed

    key = json.loads(json.dumps({"version": __version__, **settings}))
    results: dict[int, Result] = {}
    for k, task in enumerate(tasks):
        kept = _read(_part(options.out, task), key | {"data": task.data})
        if kept is not None:
            results[k] = kept

    left = [k for k in range(len(tasks)) if k not in results]
    n_jobs = min(options.n_jobs, max(len(left), 1))
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for k, result in run(delayed(_measure)(k, tasks[k]) for k in left):
        results[k] = result
        path = _part(options.out, tasks[k])
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_whole(path, json.dumps({"key": key | {"data": tasks[k].data}, **asdict(result)}))
        if options.on_done is not None:
            options.on_done(f"{result.method} on {result.sequence}", len(results), len(tasks))
    return [results[k] for k in range(len(tasks))]


def _measure(k: int, task: Task) -> tuple[int, Result]:
    from threadpoolctl import threadpool_limits

    begin = time.process_time()
    with threadpool_limits(1):
        try:
            rows = task.measure()
        except ValueError as error:
            raise ValueError(f"{task.method} on {task.group} {task.sequence}: {error}") from error
    seconds = time.process_time() - begin
    return k, Result(task.group, task.sequence, task.method, rows, seconds)


def _part(store: Path, task: Task) -> Path:
    names = (task.group, task.method, task.sequence)
    group, method, sequence = (re.sub(r"[^\w=.-]+", "_", name).strip(".") for name in names)
    return store / "parts" / group / method / f"{sequence}.json"


def _read(path: Path, key: Mapping[str, Any]) -> Result | None:
    """Read an earlier result; None if there is none, it is damaged, or its settings differ."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Result(**content) if content.pop("key", None) == key else None
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return None


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
    libraries = "numpy scipy scikit-learn joblib onnxruntime ruptures torch pillow"
    for name in libraries.split():
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def published_row(name: str, figures: Mapping[str, float]) -> Row:
    """Make a row of published figures, by column."""
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
                writer.writerow((table.title, row.name, column, *values))
    return text.getvalue()


def save_report(report: Report, folder: Path) -> None:
    """Write NAME.md, NAME.csv and NAME.json, with versions, seeds and settings, into a folder."""
    write_text_whole(folder / f"{report.name}.md", to_markdown(report))
    write_text_whole(folder / f"{report.name}.csv", to_csv(report))
    content = asdict(report) | {"versions": versions()}
    write_text_whole(folder / f"{report.name}.json", json.dumps(content, indent=1))


def _frp(f: float, r: float, p: float) -> dict[str, float]:
    return {"F 5": f, "R 5": r, "P 5": p}


DAYS: dict[str, dict[str, dict[str, float]]] = {
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

MOTION = {
    "keck": {"TSC": (0.48, 0.71), "LRT": (0.55, 0.82), "MTS": (0.60, 0.83), "DGE": (0.72, 0.83)},
    "mad": {"TSC": (0.56, 0.77), "LRT": (0.60, 0.82), "MTS": (0.62, 0.83), "DGE": (0.67, 0.82)},
}
"""Accuracy and NMI by data set and method."""
