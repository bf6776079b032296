"""Calibrate and judge how places are recognized across days.

    python benchmarks/album/made_year.py made1 --days 30 --one-camera --seed 1
    dayline segment made1 -o result1 -q
    (both again for made2 and result2, with seed 2)
    python benchmarks/album/places.py --calibrate result1 made1-truth.json
        --judge result2 made2-truth.json [--real RESULT_OF_DAY1]

Calibration fits the logistic model of `dayline.album.places`: for every context, its closeness to
each place on other days; once with its own place among them, once without, as if it were new.
Judging groups all contexts of other made days into places with the constants in the package. The
controls show what chance gives: the same contexts with their places shuffled, and one context of
each place, of which none may match.

A context counts as matched if it is in the largest group of its place, as wrong if most of its
group is another place. The real day (../shared/data/photos/day1) has no second day: each of its
events is cut in two halves, which count as two days; the places were labeled by eye.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from dayline.album.places import (
    USUAL_WITHIN,
    WITHIN_WEIGHT,
    Sighting,
    find_places,
    scale_of,
    unit_vector,
)
from dayline.album.recognize import read_day
from dayline.events import read_events

REAL_PLACES = {
    "street": ((0, 18), (47, 187), (195, 263), (308, 325)),
    "terrace with a tree": ((18, 47),),
    "shop": ((187, 195),),
    "cafe": ((263, 276),),
    "lunch": ((276, 308),),
    "car": ((325, 353), (503, 528)),
    "beach": ((353, 379), (399, 413), (490, 497)),
    "sunset": ((379, 399),),
    "cafe at the road": ((413, 490),),
    "palms": ((497, 503),),
    "kitchen": ((528, 555),),
    "living room": ((555, 583),),
    "street at night": ((583, 586),),
}
"""Frames of ../shared/data/photos/day1."""


@dataclass(frozen=True)
class Labeled:
    """A context, the place that most of its photos show, and the share of these photos."""

    sighting: Sighting
    place: str
    share: float


def made_contexts(result: Path, truth: Path) -> list[Labeled]:
    """Read the contexts of all days of a result, with the true places of their photos."""
    photos = json.loads(truth.read_text(encoding="utf-8"))["photos"]
    place_of = {}
    for photo in photos:
        _, name = photo["photo"].split("/")
        place_of[photo["day"], photo["photo"]] = place_of[photo["day"], name] = str(photo["place"])
    found = []
    for folder in sorted(path for path in result.iterdir() if (path / "events.json").is_file()):
        day = read_day(folder)
        if day.features is None or day.segmentation.names is None:
            continue
        date = day.key[:10]
        places = [place_of[date, name] for name in day.segmentation.names]
        for community in sorted(
            {e.community for e in day.segmentation.events if e.community is not None}
        ):
            numbers = [k for k, e in enumerate(day.segmentation.events) if e.community == community]
            events = [day.segmentation.events[k] for k in numbers]
            weights = np.asarray([e.n_frames for e in events], dtype=float)
            mean = weights @ day.features.means[numbers] / weights.sum()
            n = weights.sum()
            likeness = float((n * (mean @ mean) - 1) / (n - 1)) if n > 1 else None
            counts = Counter(places[f] for e in events for f in range(e.start, e.stop))
            place, many = counts.most_common(1)[0]
            sighting = Sighting(
                day.key, community, int(n), day.features.model, unit_vector(mean), likeness=likeness
            )
            found.append(Labeled(sighting, place, many / weights.sum()))
    return found


def real_contexts(result: Path) -> list[Labeled]:
    """Cut each event of the real day in two halves, which count as contexts of two days."""
    segmentation = read_events(result / "events.json")
    with np.load(result / "features.npz") as stored:
        rows = dict(zip(stored["names"].tolist(), stored["features"].astype(float), strict=True))
    frames = np.stack([unit_vector(rows[name]) for name in segmentation.names or ()])
    labels = {
        f: place for place, spans in REAL_PLACES.items() for a, b in spans for f in range(a, b)
    }
    found = []
    for number, event in enumerate(segmentation.events):
        middle = (event.start + event.stop) // 2
        for half, (start, stop) in enumerate(((event.start, middle), (middle, event.stop))):
            if stop > start:
                place, many = Counter(labels[f] for f in range(start, stop)).most_common(1)[0]
                mean = unit_vector(frames[start:stop].mean(axis=0))
                sighting = Sighting(f"half {half}", number, stop - start, "lite0", mean)
                found.append(Labeled(sighting, place, many / (stop - start)))
    return found


def judge(contexts: Sequence[Labeled]) -> tuple[float, float, int, int]:
    """Return shares of recurring contexts matched and wrong, and numbers of contexts and groups."""
    place_of = {c.sighting.key: c.place for c in contexts}
    days = defaultdict(set)
    for context in contexts:
        days[context.place].add(context.sighting.day)
    places = find_places([c.sighting for c in contexts])
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    for place in places:
        for sighting in place.sightings:
            sizes[place.id][place_of[sighting.key]] += sighting.n_frames
    main = {identity: counts.most_common(1)[0][0] for identity, counts in sizes.items()}
    largest = {}
    for name in days:
        largest[name] = max(
            (counts[name], identity) for identity, counts in sizes.items() if name in counts
        )[1]
    matched = wrong = total = 0
    for place in places:
        for sighting in place.sightings:
            name = place_of[sighting.key]
            if len(days[name]) > 1:
                total += 1
                wrong += main[place.id] != name
                matched += main[place.id] == name and largest[name] == place.id
    return matched / max(total, 1), wrong / max(total, 1), total, len(places)


def calibrate(contexts: Sequence[Labeled]) -> tuple[float, float]:
    """Return slope and middle of the probability that a context shows its nearest place."""
    scale = scale_of([c.sighting for c in contexts])
    rows = np.stack([c.sighting.features for c in contexts])
    similarity = scale.standardized(rows @ rows.T)
    days = np.asarray([c.sighting.day for c in contexts])
    names = np.asarray([c.place for c in contexts])
    values, right = [], []
    for i, context in enumerate(contexts):
        if context.share < 0.9:
            continue  # two places in one context: neither answer is right
        closeness = {}
        for name in set(names.tolist()):
            others = np.flatnonzero((names == name) & (days != days[i]))
            if len(others):
                pairs = similarity[np.ix_(others, others)][np.triu_indices(len(others), 1)]
                within = (WITHIN_WEIGHT * USUAL_WITHIN + pairs.sum()) / (WITHIN_WEIGHT + len(pairs))
                closeness[name] = float(similarity[i, others].mean() / within)
        for known in (
            closeness,
            {name: value for name, value in closeness.items() if name != context.place},
        ):
            best = max(known, key=known.__getitem__)
            values.append([known[best]])
            right.append(best == context.place)
    model = LogisticRegression(C=100).fit(np.asarray(values), right)
    return float(model.coef_[0, 0]), float(-model.intercept_[0] / model.coef_[0, 0])


def show(what: str, contexts: Sequence[Labeled]) -> None:
    matched, wrong, total, groups = judge(contexts)
    truth = len({c.place for c in contexts})
    print(
        f"{what}: {total} contexts, {truth} places, {groups} found, {matched:.1%} matched,"
        f" {wrong:.1%} wrong"
    )


def controls(contexts: Sequence[Labeled], seed: int = 0) -> None:
    random = np.random.default_rng(seed)
    shuffled = random.permutation([c.place for c in contexts])
    show(
        "  control, places shuffled",
        [replace(c, place=str(p)) for c, p in zip(contexts, shuffled, strict=True)],
    )
    joined = tried = 0
    for _ in range(100):
        by_place: dict[str, list[Labeled]] = defaultdict(list)
        for context in contexts:
            if context.share == 1:
                by_place[context.place].append(context)
        one = [list_[int(random.integers(len(list_)))].sighting for list_ in by_place.values()]
        # The scale is that of all days, as in a year; only the places are new.
        found = find_places(
            [*one, *(replace(s, said=f"other {k}") for k, s in enumerate(_others(contexts, one)))]
        )
        keys = {s.key for s in one}
        for place in found:
            new = [s for s in place.sightings if s.key in keys]
            joined += len(new) if len(new) > 1 else 0
        tried += len(one)
    print(
        f"  control, every place seen once: {joined / tried:.1%} of {tried} contexts joined with"
        " another place"
    )


def _others(contexts: Sequence[Labeled], one: Sequence[Sighting]) -> list[Sighting]:
    """Return contexts of two days, to be given names of their own.

    The scale has pairs, but nothing matches them.
    """
    keys = {s.key for s in one}
    days = sorted({c.sighting.day for c in contexts})[:2]
    return [c.sighting for c in contexts if c.sighting.day in days and c.sighting.key not in keys]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--calibrate", type=Path, nargs=2, metavar=("RESULT", "TRUTH"), action="append", default=[]
    )
    parser.add_argument(
        "--judge", type=Path, nargs=2, metavar=("RESULT", "TRUTH"), action="append", default=[]
    )
    parser.add_argument("--real", type=Path, metavar="RESULT")
    chosen = parser.parse_args()
    for result, truth in chosen.calibrate:
        contexts = made_contexts(result, truth)
        slope, even = calibrate(contexts)
        print(f"{result.name}: slope {slope:.1f}, even chance at a closeness of {even:.2f}")
        show("  calibration", contexts)
    for result, truth in chosen.judge:
        contexts = made_contexts(result, truth)
        show(f"made days, {result.name}", contexts)
        show("  those that show one place only", [c for c in contexts if c.share == 1])
        controls(contexts)
    if chosen.real:
        show("real day in halves", real_contexts(chosen.real))


if __name__ == "__main__":
    main()
