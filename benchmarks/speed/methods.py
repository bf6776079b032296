"""Time, memory and F1 of dayline beside other methods, on the same made sequences in one run.

    python benchmarks/speed/methods.py [--frames 1000 4000 8000 40000 100000] [--features 512]
        [--limit 120] [--memory 8] [--methods default fast ...] [--kinds clear noisy] [--wide]
        [--million] [--write docs/scale.md OUT.json] [--read OUT.json ...]

Every measurement runs in a process of its own, with two threads, on a memory-mapped file of single
precision: least wall-clock and CPU seconds of up to three fits (one if it takes over two seconds),
the most memory beyond the input, and interior F1 at a tolerance of 5 frames. Two kinds of
sequences, both of 40 contexts that recur:

    clear   contexts and noise of variance 1, around 0; events of 20 to 100 frames
    noisy   `made_sequence` of made.py: all features are positive, so that all frames are alike;
    events of 5 to 44

The time of ruptures depends on such differences by a factor of 10 to 100, because its pruning does.
Its kernels have min_size=2 and pen=log N. A method is left out (-) from the length on at which it
is expected to take longer than --limit seconds or more than --memory GB, if time and memory grow
with the square of the length (the length, for the linear forms of dayline), and stopped if it takes
longer anyway. The notebook's formulas with automatic differentiation are run for 1 and 6 steps per
embedding and scaled to 150.

Also prints the share of each stage of the default. --wide adds 1,000 x 2,048, and --million
1,000,000 x 64, dayline alone, without a limit of time. --write puts the tables between the marks of
a Markdown file, and all numbers into a JSON file; --read takes the numbers of earlier runs instead
of measuring. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from made import autograd_run, broadcast_cosines, made_sequence

TOLERANCE = 5
WIDE, MILLION = (1000, 2048), (1_000_000, 64)
BEGIN, END = "<!-- methods.py -->", "<!-- end of methods.py -->"
NOTES = {
    "autograd": "notebook's formulas, autograd",
    "default": "dayline",
    "dense": "dayline, dense",
    "fast": "dayline, `fast()`",
    "rbf": "kernel change points, rbf",
    "cosine": "kernel change points, cosine",
    "linear": "kernel change points, linear",
    "tw-finch": "TW-FINCH",
    "kts": "KTS",
}
LONGEST = {"dense": 8000, "autograd": 1000}
"""Frames beyond which a method is not tried."""
LINEAR = ("default", "fast")
"""Methods whose cost grows with the number of frames."""
STAGES = (
    "checks",
    "denoising",
    "linking frames",
    "embedding",
    "iteration 1",
    "iteration 2",
    "decision",
)
"""Stages as the method reports them."""
SMALL = 120
"""Frames of the fit that loads all libraries before anything is measured."""


@dataclass(frozen=True)
class Cell:
    """One method on one sequence; `why` says why nothing was measured."""

    method: str
    kind: str
    n_frames: int
    n_features: int
    wall: float = math.nan
    cpu: float = math.nan
    megabytes: float = math.nan
    f1: float = math.nan
    stages: dict[str, float] = field(default_factory=dict)
    why: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Of the features."""
        return self.n_frames, self.n_features


def clear_sequence(n_frames: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features of recurring events of 20 to 100 frames in noise, and the true boundaries."""
    random = np.random.default_rng(0)
    contexts = random.standard_normal((40, n_features), dtype=np.float32)
    n_events = n_frames // 20 + 1
    # Steps of 1 to 39 among 40 contexts: no event has the context of the one before.
    order = np.cumsum(random.integers(1, 40, n_events)) % 40
    labels = np.repeat(np.arange(n_events), random.integers(20, 101, n_events))[:n_frames]
    features = random.standard_normal((n_frames, n_features), dtype=np.float32)
    for begin in range(0, n_frames, 10_000):
        features[begin : begin + 10_000] += contexts[order[labels[begin : begin + 10_000]]]
    return features, np.flatnonzero(np.diff(labels)) + 1


KINDS: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "clear": clear_sequence,
    "noisy": made_sequence,
}


def make_fit(method: str) -> Callable[..., np.ndarray | None]:
    """Return a function from features to boundaries."""
    if method in ("default", "dense", "fast"):
        from dayline import DynamicGraphEmbedding, EventSegmenter
        from dayline.progress import no_report

        class Announced(DynamicGraphEmbedding):
            """The embedding, which says when it is done.

            The segmenter does not announce its decision.
            """

            def learn(self, features: Any, on_step: Any = no_report) -> None:
                super().learn(features, on_step)
                on_step("decision", 1, 1)

        def segmenter() -> EventSegmenter:
            if method == "fast":
                return EventSegmenter.fast()
            return EventSegmenter(Announced(graph_form="dense" if method == "dense" else "auto"))

        return lambda x, on_step=None: segmenter().fit(x, on_step=on_step).boundaries_
    if method in ("tw-finch", "kts"):
        from dayline.research.baselines.catalogue import make_baseline

        return lambda x, on_step=None: make_baseline(method).fit(x).boundaries_  # noqa: ARG005
    import ruptures

    def changes(x: np.ndarray, on_step: None = None) -> np.ndarray:  # noqa: ARG001
        kernel = ruptures.KernelCPD(kernel=method, min_size=2)
        return np.asarray(kernel.fit(np.asarray(x)).predict(pen=math.log(len(x)))[:-1])

    return changes


def autograd_seconds(
    x: np.ndarray, times: Callable[[], tuple[float, float]]
) -> tuple[float, float]:
    """Wall-clock and CPU seconds of 150 steps per embedding, from those of 1 and of 6."""
    taken = []
    for n_steps in (1, 6):
        begin = times()
        autograd_run(x, broadcast_cosines, n_steps)
        taken.append([after - before for before, after in zip(begin, times(), strict=True)])
    wall, cpu = (one + (six - one) * 149 / 5 for one, six in zip(*taken, strict=True))
    return wall, cpu


def measure(asked: dict[str, Any]) -> dict[str, Any]:
    """Fit and score in this process; called in one of its own."""
    x = np.load(asked["features"], mmap_mode="r")
    method = asked["method"]

    def times() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    if method == "autograd":
        import torch

        torch.set_num_threads(asked["threads"])
        autograd_run(np.asarray(x[:SMALL]), broadcast_cosines, 1)
        before = resident_bytes("self")
        wall, cpu = autograd_seconds(np.asarray(x), times)
        return {"wall": wall, "cpu": cpu, "before": before}
    fit = make_fit(method)
    fit(np.asarray(x[:SMALL]))
    gc.collect()
    before = resident_bytes("self")
    limit_memory(asked["memory"])
    runs: list[tuple[float, float]] = []
    while len(runs) < 3 and sum(wall for wall, _ in runs) < 2:
        marks: list[tuple[str, float]] = [("checks", time.perf_counter())]
        begin = times()
        found = fit(
            x,
            on_step=lambda what, _done, _total, marks=marks: marks.append(
                (what, time.perf_counter())
            ),
        )
        runs.append((times()[0] - begin[0], times()[1] - begin[1]))
    marks.append(("", time.perf_counter()))
    stages = {name: stop - start for (name, start), (_, stop) in pairwise(marks)}  # of the last run

    from dayline import score_boundaries

    true = np.load(asked["boundaries"])
    f1 = score_boundaries(found, true, tolerance=TOLERANCE, n_frames=len(x)).f1
    wall, cpu = (min(values) for values in zip(*runs, strict=True))
    return {
        "wall": wall,
        "cpu": cpu,
        "f1": f1,
        "before": before,
        "stages": stages if len(marks) > 2 else {},
    }


def resident_bytes(process: str) -> int:
    """Return the memory of a process that is not a mapped file; 0 if it has ended."""
    try:
        return status_bytes(process, "RssAnon:", "RssShmem:")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def status_bytes(process: str, *names: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(names))


def limit_memory(gigabytes: float) -> None:
    """Let this process allocate so much more.

    A method that needs the whole machine would stop all others.
    """
    limit = status_bytes("self", "VmData:") + int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def run_cell(
    cell: Cell, files: dict[str, str], *, limit: float, memory: float, threads: int
) -> Cell:
    """Measure in a new process, and watch its memory from this one."""
    asked = {"method": cell.method, "memory": memory, "threads": threads, **files}
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    command = [sys.executable, __file__, "--measure", json.dumps(asked)]
    # The fits may take the limit; libraries are loaded before.
    deadline = time.monotonic() + limit + 20
    peak = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=environment)
        try:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    return Cell(**asdict(cell) | {"why": f"over {limit:.0f} s"})
                peak = max(peak, resident_bytes(str(process.pid)))
                time.sleep(0.02)
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            last = (errors.read().strip().splitlines() or ["no message"])[-1]
            why = f"over {memory:g} GB" if "MemoryError" in last else last[:100]
            return Cell(**asdict(cell) | {"why": why})
        got = json.loads(out.read().splitlines()[-1])
    megabytes = max(0, peak - got.pop("before")) / 1e6
    return Cell(**asdict(cell) | got | {"megabytes": megabytes})


def forecast(cell: Cell, before: Cell | None, *, limit: float, memory: float) -> str:
    """Say why a measurement is not worth a try, judged from the next shorter sequence."""
    if cell.n_frames > LONGEST.get(cell.method, cell.n_frames):
        return "not tried"
    if before is None:
        return ""
    if before.why:
        return before.why
    if cell.method == "autograd":
        return ""
    growth = (cell.n_frames / before.n_frames) ** (1 if cell.method in LINEAR else 2)
    if before.wall * growth > limit:
        return f"over {limit:.0f} s expected"
    # Small sizes are mostly what libraries take.
    if before.megabytes > 50 and before.megabytes * growth > 1000 * memory:
        return f"over {memory:g} GB expected"
    return ""


@contextmanager
def made_files(kind: str, n_frames: int, n_features: int) -> Iterator[dict[str, str]]:
    """Write features and boundaries to a temporary folder.

    This runs in a process of its own, which keeps this one small.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / f"{name}.npy") for name in ("features", "boundaries")}
        asked = {"kind": kind, "shape": [n_frames, n_features], **files}
        subprocess.run([sys.executable, __file__, "--make", json.dumps(asked)], check=True)
        yield files


def make(asked: dict[str, Any]) -> None:
    features, boundaries = KINDS[asked["kind"]](*asked["shape"])
    np.save(asked["features"], features.astype(np.float32, copy=False))
    np.save(asked["boundaries"], boundaries)


def short(value: float) -> str:
    """Two or three digits; small ratios as fractions."""
    if value < 0.01:
        return f"1/{1 / value:.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def shown(cell: Cell) -> str:
    """One cell of the table."""
    if cell.why:
        return "-"
    f1 = "" if math.isnan(cell.f1) else f", {cell.f1:.3f}"
    wall, cpu = (f"{value:.3f}" if value < 0.1 else short(value) for value in (cell.wall, cell.cpu))
    return f"{wall} / {cpu} s, {cell.megabytes:.0f} MB{f1}"


def table(cells: list[Cell], kind: str) -> str:
    """Methods by lengths, of one kind of sequence."""
    some = [c for c in cells if c.kind == kind]
    shapes = sorted({c.shape for c in some})
    heads = " | ".join(f"{n:,} x {width:,}" for n, width in shapes)
    lines = [f"| {kind} | {heads} |", "| --- |" + " --- |" * len(shapes)]
    for method in [m for m in NOTES if any(c.method == m for c in some)]:
        own = {c.shape: shown(c) for c in some if c.method == method}
        lines.append(
            f"| {NOTES[method]} | " + " | ".join(own.get(shape, "-") for shape in shapes) + " |"
        )
    return "\n".join(lines)


def stage_table(cells: list[Cell]) -> str:
    """Shares of the stages of the default."""
    some = [c for c in cells if c.method == "default" and c.stages]
    lines = [
        "| default | " + " | ".join(STAGES) + " | all |",
        "| --- |" + " --- |" * (len(STAGES) + 1),
    ]
    for cell in some:
        total = sum(cell.stages.values())
        shares = " | ".join(f"{cell.stages.get(name, 0) / total:.0%}" for name in STAGES)
        lines.append(
            f"| {cell.kind}, {cell.n_frames:,} x {cell.n_features:,} | {shares} |"
            f" {short(total)} s |"
        )
    return "\n".join(lines)


def ratios(cells: list[Cell]) -> list[str]:
    """Return the growth of dayline, and its wall-clock time beside that of others."""
    found = {(c.method, c.kind, c.shape): c for c in cells if not c.why}
    lines = []
    for method, kind in [(m, k) for m in LINEAR for k in KINDS]:
        for width in sorted({c.n_features for c in cells}):
            few, many = (found.get((method, kind, (n, width))) for n in (4000, 40_000))
            if few and many:
                lines.append(
                    f"{NOTES[method]}, {kind}, growth from 4,000 to 40,000:"
                    f" {many.wall / few.wall:.1f}-fold (CPU time {many.cpu / few.cpu:.1f}-fold)"
                )
    compared = ("rbf", "cosine", "linear", "autograd")
    lines += [
        "",
        f"| wall-clock time as a multiple of | {' | '.join(NOTES[other] for other in compared)} |",
    ]
    lines.append("| --- | --- | --- | --- | --- |")
    for method, kind in [(m, k) for m in LINEAR for k in KINDS]:
        for shape in sorted({c.shape for c in cells}):
            own = found.get((method, kind, shape))
            others = [found.get((other, kind, shape)) for other in compared]
            if own and any(others):
                values = " | ".join(short(own.wall / c.wall) if c else "-" for c in others)
                lines.append(f"| {NOTES[method]}, {kind}, {shape[0]:,} x {shape[1]:,} | {values} |")
    return lines


def report(cells: list[Cell]) -> str:
    parts = [table(cells, kind) for kind in dict.fromkeys(c.kind for c in cells)]
    parts.append(stage_table(cells))
    parts.append("\n".join(ratios(cells)))
    reasons = dict.fromkeys((c.method, c.kind, c.why) for c in cells if c.why)
    left_out = [f"{NOTES[method]}, {kind}: {why}" for method, kind, why in reasons]
    if left_out:
        parts.append("Left out (-): " + "; ".join(left_out) + ".")
    return "\n\n".join(part for part in parts if part)


def write(path: Path, cells: list[Cell]) -> None:
    from dayline.files import write_text_whole

    if path.suffix == ".json":
        write_text_whole(path, json.dumps([asdict(cell) for cell in cells], indent=1) + "\n")
        return
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"{path} has no {BEGIN} and {END}")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    write_text_whole(path, f"{head}{BEGIN}\n\n{report(cells)}\n\n{END}{tail}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--frames", type=int, nargs="+", default=[1000, 4000, 8000, 40_000, 100_000]
    )
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds that a measurement may take"
    )
    parser.add_argument("--memory", type=float, default=8, help="GB that a method may take")
    parser.add_argument("--methods", nargs="+", default=list(NOTES), choices=list(NOTES))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--write", type=Path, nargs="+", default=[])
    parser.add_argument("--read", type=Path, nargs="+", default=[])
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    options = parser.parse_args()

    if options.measure:
        print(json.dumps(measure(json.loads(options.measure))))
        return
    if options.make:
        make(json.loads(options.make))
        return
    limits = {"limit": options.limit, "memory": options.memory}
    # A later file replaces what it has measured again.
    read = [Cell(**row) for path in options.read for row in json.loads(path.read_text())]
    cells = sorted(
        {(c.shape, c.kind, c.method): c for c in read}.values(),
        key=lambda c: (c.n_features, c.shape),
    )
    if options.read:
        for path in options.write:
            write(path, cells)
        print(report(cells))
        return
    shapes = [(n, options.features, options.methods, limits) for n in sorted(options.frames)]
    if options.wide:
        shapes.insert(0, (*WIDE, options.methods, limits))
    if options.million:
        shapes.append(
            (*MILLION, [m for m in LINEAR if m in options.methods], limits | {"limit": 3600})
        )
    latest: dict[tuple[str, str, int], Cell] = {}
    for n_frames, n_features, methods, own_limits in shapes:
        # One kind of a million: the other needs 25 times as many labels as frames.
        for kind in options.kinds if n_frames < MILLION[0] else options.kinds[:1]:
            with made_files(kind, n_frames, n_features) as files:
                for method in methods:
                    cell = Cell(method, kind, n_frames, n_features)
                    why = forecast(cell, latest.get((method, kind, n_features)), **own_limits)
                    if why:
                        cell = Cell(method, kind, n_frames, n_features, why=why)
                    else:
                        cell = run_cell(cell, files, threads=options.threads, **own_limits)
                    latest[method, kind, n_features] = cell
                    cells.append(cell)
                    words = f"{n_frames} x {n_features}, {kind}, {NOTES[method]}"
                    print(f"{words}: {cell.why or shown(cell)}", flush=True)
                    for path in options.write:
                        write(path, cells)
    print(f"\nEach cell: wall / CPU seconds, memory beyond the input, F1\n\n{report(cells)}")
    print(
        "\nclaspy is left out: its releases exclude the versions of NumPy, SciPy and scikit-learn"
        " that dayline has."
    )


if __name__ == "__main__":
    main()
