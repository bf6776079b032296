"""Tables on made sequences: the paper's synthetic example, and the cost of every variant."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np

from dayline.arrays import IntArray
from dayline.estimators import EventSegmenter
from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.datasets.synthetic import make_communities
from dayline.research.reproduce.lifelog import (
    ALWAYS,
    BASELINE_FINDERS,
    COLUMNS,
    CONTROLS,
    VARIANTS,
    Finder,
    make_tasks,
    variant_finder,
)
from dayline.research.reproduce.tables import (
    SYNTHETIC,
    Measured,
    Report,
    RunOptions,
    Table,
    Task,
    choose,
    published_row,
    run_tasks,
    summarize,
)

SYNTHETIC_NOTES = (
    (
        "Every sequence is a new draw; the paper shows one, and does not state its switching rate."
        " Here a visit continues with probability exp(-t / 50) at its frame t. The CES rule on the"
        " points then has a mean F of 0.46 over 40 draws (standard deviation 0.05), 0.55 with 100"
        " in place of 50 and 0.67 with 200; the published 0.59 is in between."
    ),
    (
        "As in the paper, the points themselves are the start (d = 2, no denoising). The default"
        " runs as usual."
    ),
    "F, R, P: the papers' scorer. Interior F: only boundaries strictly inside.",
)


def example_segmenter(iterations: int, *, variant: str = "paper()") -> EventSegmenter:
    """Return the segmenter of the paper's example: the points themselves are the start."""
    make = EventSegmenter.paper if variant == "paper()" else EventSegmenter.authors
    return make(
        n_components=2,
        n_iterations=iterations,
        search_radius=0,
        start="columns",
        n_steps=1,
        embedding_bandwidth=0.3,
    )


def _after_iterations(
    sequence: LabeledSequence, _: int, *, iterations: int, variant: str
) -> IntArray:
    segmenter = example_segmenter(iterations, variant=variant)
    return np.asarray(segmenter.fit(sequence.features).boundaries_)


def synthetic_report(options: RunOptions) -> Report:
    """Measure the synthetic example on `most` sequences (default 20)."""
    made = [make_communities(random_state=k) for k in range(options.most or 20)]
    sequences = [
        LabeledSequence("synthetic", f"draw {k}", m.features, m.boundaries)
        for k, m in enumerate(made)
    ]
    finders: dict[str, Finder] = {
        f"{variant}, iteration {iterations}": partial(
            _after_iterations, iterations=iterations, variant=variant
        )
        for variant in ("paper()", "authors()")
        for iterations in SYNTHETIC
    }
    finders["default"] = variant_finder("default", n_components=2)
    finders |= {name: find for name, find in BASELINE_FINDERS.items() if "kernel" not in name}
    finders |= CONTROLS
    wanted = choose(options.methods, list(finders), what="method")
    chosen = {m: find for m, find in finders.items() if m in wanted or m in ALWAYS}

    settings = {"table": "synthetic", "n_seeds": options.n_seeds}
    tasks = make_tasks(chosen, sequences, seeds=range(options.n_seeds))
    results = run_tasks(tasks, options, settings=settings)

    rows = [
        published_row(f"iteration {iteration}", {"F 5": f}) for iteration, f in SYNTHETIC.items()
    ]
    rows += summarize(results, columns=COLUMNS)
    table = Table(f"synthetic, {len(sequences)} sequences of 350 frames", COLUMNS, tuple(rows))
    return Report("synthetic", (table,), settings | {"n_jobs": options.n_jobs}, SYNTHETIC_NOTES)


COST_COLUMNS = ("CPU s", "CPU s, 20 sequences", "peak MB")
COST_NOTES = (
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


def _measure_cost(variant: str, sequence: LabeledSequence) -> Measured:
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


def cost_report(options: RunOptions) -> Report:
    """Measure the cost of every variant on one made sequence of `most` frames (default 937)."""
    n_frames = options.most or 937
    made = make_communities(n_frames, stay=600.0, n_features=2048)
    sequence = LabeledSequence("cost", f"{n_frames} frames", made.features, made.boundaries)

    # Measure times on every run: a stored time may be from another machine.
    now = str(time.time_ns())
    tasks = [
        Task("cost", sequence.name, variant, partial(_measure_cost, variant, sequence), now)
        for variant in choose(options.methods, VARIANTS, what="method")
    ]
    results = run_tasks(tasks, replace(options, n_jobs=1), settings={"table": "cost"})

    rows = [
        published_row("20 sequences, Titan XP", {"CPU s, 20 sequences": 120.0}),
        *summarize(results, columns=COST_COLUMNS),
    ]
    table = Table(f"cost, {n_frames} frames", COST_COLUMNS, tuple(rows))
    return Report("cost", (table,), {"n_frames": n_frames}, COST_NOTES)
