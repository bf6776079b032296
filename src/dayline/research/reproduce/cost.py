"""Cost: seconds and memory of every variant, for a sequence of EDUB-Seg's mean length."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.datasets.synthetic import make_communities
from dayline.research.reproduce.lifelog import VARIANTS, variant_finder
from dayline.research.reproduce.report import Report, Table, published, summarize
from dayline.research.reproduce.tasks import Measured, OnDone, Task, choose, run_tasks

COLUMNS = ("CPU s", "CPU s, 20 sequences", "peak MB")
NOTES = (
    (
        "EDUB-Seg has 18,735 frames in 20 sequences, 937 on average, with 2048 features each; the"
        " sequence here is synthetic. Published: about 2 minutes for all on a workstation with one"
        " Titan XP."
    ),
    (
        "One process, one BLAS thread, double precision. Memory is what NumPy allocated, in a"
        " separate run."
    ),
)


def _measure(variant: str, sequence: LabeledSequence) -> Measured:
    find = variant_finder(variant)
    find(replace(sequence, features=np.eye(30, 20)), 0)  # imports what is imported on first use
    begin = time.process_time()
    find(sequence, 0)
    seconds = time.process_time() - begin
    tracemalloc.start()
    find(sequence, 0)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return {variant: [{"CPU s": seconds, "CPU s, 20 sequences": 20 * seconds, "peak MB": peak}]}


def cost_report(
    *,
    out: Path,
    methods: Sequence[str] | None = None,
    most: int | None = None,
    on_done: OnDone | None = None,
) -> Report:
    """Measure the cost of every variant on one made sequence of `most` frames (default 937)."""
    n_frames = most or 937
    made = make_communities(n_frames, stay=600.0, n_features=2048)
    sequence = LabeledSequence("cost", f"{n_frames} frames", made.features, made.boundaries)
    chosen = choose(methods, VARIANTS, what="method")
    # Measure times on every run: a stored time may be from another machine.
    tasks = [
        Task("cost", sequence.name, r, partial(_measure, r, sequence), data=str(time.time_ns()))
        for r in chosen
    ]
    results = run_tasks(tasks, store=out, settings={"table": "cost"}, on_done=on_done)
    rows = [
        published("20 sequences, Titan XP", **{"CPU s, 20 sequences": 120.0}),
        *summarize(results, columns=COLUMNS),
    ]
    return Report(
        "cost",
        (Table(f"cost, {n_frames} frames", COLUMNS, tuple(rows)),),
        {"n_frames": n_frames},
        NOTES,
    )
