"""Measure many methods on many sequences: in parallel, resuming where an earlier run stopped."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

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
    """What one task measured, with its wall time and CPU time."""

    group: str
    sequence: str
    method: str
    rows: Measured
    seconds: float
    cpu_seconds: float = 0.0


def choose(wanted: Sequence[str] | None, among: Sequence[str], *, what: str) -> list[str]:
    """Return the wanted names in the order of `among`, or all of them for None."""
    unknown = [name for name in wanted or () if name not in among]
    if unknown:
        raise ValueError(f"{what} {unknown[0]!r} is not known; choose among {'; '.join(among)}")
    return [name for name in among if wanted is None or name in wanted]


def run_tasks(
    tasks: Sequence[Task],
    *,
    store: Path,
    settings: Mapping[str, Any],
    n_jobs: int = 1,
    on_done: OnDone | None = None,
) -> list[Result]:
    """Run all tasks and return their results in the same order.

    Parameters
    ----------
    tasks : sequence of Task
        What to measure.
    store : Path
        Folder for one small file per sequence and method. Results with the same version, settings
        and data are not measured again, so an interrupted run resumes.
    settings : mapping
        What the results depend on besides the data.
    n_jobs : int
        Number of processes, with one BLAS thread each.
    on_done : callable, optional
        Called after every task.
    """
    from joblib import Parallel, delayed

    key = json.loads(json.dumps({"version": __version__, **settings}))
    results: dict[int, Result] = {}
    for k, task in enumerate(tasks):
        kept = _read(_place(store, task), key | {"data": task.data})
        if kept is not None:
            results[k] = kept
    left = [k for k in range(len(tasks)) if k not in results]
    jobs = (delayed(_measure)(k, tasks[k]) for k in left)
    for k, result in Parallel(
        n_jobs=min(n_jobs, max(len(left), 1)), return_as="generator_unordered"
    )(jobs):
        results[k] = result
        path = _place(store, result)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_whole(path, json.dumps({"key": key | {"data": tasks[k].data}, **asdict(result)}))
        if on_done is not None:
            on_done(f"{result.method} on {result.sequence}", len(results), len(tasks))
    return [results[k] for k in range(len(tasks))]


def _measure(k: int, task: Task) -> tuple[int, Result]:
    from threadpoolctl import threadpool_limits

    begin, cpu_begin = time.perf_counter(), time.process_time()
    with threadpool_limits(1):
        try:
            rows = task.measure()
        except ValueError as error:
            raise ValueError(f"{task.method} on {task.group} {task.sequence}: {error}") from error
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu_begin
    return k, Result(task.group, task.sequence, task.method, rows, seconds, cpu_seconds)


def _place(store: Path, of: Task | Result) -> Path:
    names: Iterable[str] = (of.group, of.method, of.sequence)
    group, method, sequence = (re.sub(r"[^\w=.-]+", "_", name).strip(".") for name in names)
    return store / "parts" / group / method / f"{sequence}.json"


def _read(path: Path, key: Mapping[str, Any]) -> Result | None:
    """Read an earlier result; None if there is none, or if its settings differ."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Result(**content) if content.pop("key", None) == key else None
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{path}: damaged; delete it to measure it again") from None
