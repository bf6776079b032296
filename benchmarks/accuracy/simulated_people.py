"""Measure whether the fourth day is better for simulated people who correct three days.

    python benchmarks/accuracy/simulated_people.py [--people 20]

The days are made: scenes that have parts, which differ less from each other than scenes do. Some
people want an event for each scene, some for each part, and some want what they get, but merge two
events by accident. Each person corrects three days of an album; prints what the corrections teach,
and the mean F1 of the fourth day without and with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dayline import EventSegmenter, Segmentation, score_boundaries
from dayline.album.settings import Settings
from dayline.album.taught import doublings_taught, with_taught

KINDS = ("an event for each scene", "an event for each part", "as found, two merged by accident")


def made_day(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, and the boundaries of scenes and of all parts."""
    rows, scenes, parts = [], [], []
    n = 0
    for _ in range(random.integers(6, 11)):
        scene = random.normal(size=24)
        scenes.append(n)
        for _ in range(random.integers(2, 5)):
            parts.append(n)
            length = int(random.integers(8, 25))
            part = scene + random.uniform(0.3, 1.0) * random.normal(size=24)
            rows.append(part + 0.5 * random.normal(size=(length, 24)))
            n += length
    return np.concatenate(rows), np.asarray(scenes[1:]), np.asarray(parts[1:])


def corrected(found: Segmentation, boundaries: Sequence[int]) -> Segmentation:
    """Return a day as a person saves it."""
    made = Segmentation.from_boundaries(boundaries, found.n_frames)
    events = tuple(
        event if event.start in (0, *found.boundaries) else replace(event, reason="required")
        for event in made.events
    )
    return replace(made, events=events, n_events_found=len(found.events))


def simulate(kind: str, seed: int) -> tuple[float, float, float]:
    """Return the factors of two that one person taught, and the F1 of day four without and with it."""
    random = np.random.default_rng(seed)
    edits = []
    for day in range(4):
        x, scenes, parts = made_day(random)
        segmenter = EventSegmenter.fast()
        found = segmenter.segment(x)
        wanted = {KINDS[0]: scenes, KINDS[1]: parts, KINDS[2]: np.asarray(found.boundaries)}[kind]
        if day < 3 and kind != KINDS[2]:
            edits.append(corrected(found, wanted.tolist()))
        elif day < 2:
            merged = random.integers(len(wanted))
            edits.append(corrected(found, np.delete(wanted, merged).tolist()))
    taught = with_taught(Settings(segmenter=EventSegmenter.fast()), edits).segmenter
    assert isinstance(taught, EventSegmenter)
    with_it = taught.segment(x).boundaries
    before, after = (
        score_boundaries(b, wanted, tolerance=2).f1 for b in (found.boundaries, with_it)
    )
    return doublings_taught(edits), before, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=20)
    people = parser.parse_args().people
    print(
        "| people who want | taught: times as many events | F1 without | F1 with | better, worse |"
    )
    print("| --- | --- | --- | --- | --- |")
    for kind in KINDS:
        results = np.asarray([simulate(kind, seed) for seed in range(people)])
        doublings, before, after = results.mean(axis=0)
        changes = (
            f"{np.sum(results[:, 2] > results[:, 1])}, {np.sum(results[:, 2] < results[:, 1])}"
        )
        print(f"| {kind} | {2**doublings:.2f} | {before:.3f} | {after:.3f} | {changes} |")


if __name__ == "__main__":
    main()
