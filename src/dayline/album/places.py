"""Places: contexts of several days that look alike, or that a person gave the same name."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dayline.album.page.overview import EventNumber
from dayline.arrays import FloatArray, unit_rows
from dayline.events import Segmentation
from dayline.files import read_json, write_text_whole

EVENT_FEATURES = "event-features.json"
FORMAT = "dayline-event-features"
VERSION = 1
MOST_FEATURES = 100_000


@dataclass(frozen=True)
class EventFeatures:
    """Mean directions of the frames of each event.

    Attributes
    ----------
    model : str
        What computed the features; those of different models are never compared.
    means : ndarray of shape (n_events, n_features)
        Mean of the unit vectors of an event's frames; shorter than 1 where the frames differ.
    """

    model: str
    means: FloatArray

    def write(self, folder: Path) -> None:
        """Write the file of a result."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "events": [packed(m) for m in self.means],
        }
        write_text_whole(folder / EVENT_FEATURES, json.dumps(content, indent=1) + "\n")


def event_features(segmentation: Segmentation, features: FloatArray, model: str) -> EventFeatures:
    """Average the directions of the frames of each event.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    features : ndarray of shape (n_frames, n_features)
        One row per frame.
    model : str
        What computed them.
    """
    directions = unit_rows(np.asarray(features, dtype=np.float64))
    return EventFeatures(
        model, np.stack([directions[e.start : e.stop].mean(axis=0) for e in segmentation.events])
    )


def read_event_features(folder: Path, *, n_events: int) -> EventFeatures | None:
    """Read the file of a result; None if it is missing, damaged or of other events.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    n_events : int
        Number of events of the result.
    """
    path = folder / EVENT_FEATURES
    try:
        content = read_json(path, kind="features of events", form=FORMAT, version=VERSION) or {}
        rows = [unpacked(text) for text in content["events"]]
        is_whole = len(rows) == n_events and isinstance(content["model"], str)
        return EventFeatures(content["model"], np.stack(rows)) if is_whole else None
    except (OSError, ValueError, TypeError, KeyError):
        return None  # it is written again with the next result


def packed(vector: FloatArray) -> str:
    """Return a vector as text: its largest value, and every value in 1/127 of it.

    Two such vectors have the same similarity as before within about 0.001.
    """
    largest = float(np.max(np.abs(vector), initial=0.0))
    steps = np.rint(vector * (127 / largest) if largest > 0 else vector).astype(np.int8)
    return f"{largest:.6g} {base64.b64encode(steps.tobytes()).decode('ascii')}"


def unpacked(text: str) -> FloatArray:
    """Return the vector of a text from `packed`; raise ValueError if it is not one."""
    largest, _, steps = str(text).partition(" ")
    if len(steps) > 2 * MOST_FEATURES:
        raise ValueError(f"more than {MOST_FEATURES} features")
    try:
        values = np.frombuffer(base64.b64decode(steps, validate=True), dtype=np.int8)
    except binascii.Error:
        raise ValueError("features are not in base64") from None
    scale = float(largest)
    if not 0 <= scale <= 1e6 or not len(values):
        raise ValueError("features without values, or too large")
    return values.astype(np.float64) * (scale / 127)


MOST_SIMILAR = 6
MOST_EVENTS = 30_000
"""Beyond that, comparing all pairs would take minutes."""

ROWS_AT_ONCE = 1024


def similar_events(
    days: Sequence[EventFeatures | None],
) -> dict[EventNumber, tuple[EventNumber, ...]]:
    """Find for every event those that look most like it, the most similar first.

    Parameters
    ----------
    days : sequence of EventFeatures or None
        What the events of each day look like; None if it is unknown. Only features of the same
        model are compared.
    """
    by_model: dict[str, list[int]] = defaultdict(list)
    for number, day in enumerate(days):
        if day is not None:
            by_model[day.model].append(number)

    found: dict[EventNumber, tuple[EventNumber, ...]] = {}
    for numbers in by_model.values():
        rows = [days[number].means for number in numbers]  # type: ignore[union-attr]
        events = [
            (number, k)
            for number, means in zip(numbers, rows, strict=True)
            for k in range(len(means))
        ]
        if not 1 < len(events) <= MOST_EVENTS:
            continue

        directions = unit_rows(np.concatenate(rows)).astype(np.float32)
        n_similar = min(MOST_SIMILAR, len(events) - 1)
        for start in range(0, len(events), ROWS_AT_ONCE):
            block = directions[start : start + ROWS_AT_ONCE] @ directions.T
            own = np.arange(len(block))
            block[own, start + own] = -np.inf
            # A stable order, so that events that are alike do not change places from run to run.
            nearest = np.argsort(-block, axis=1, kind="stable")[:, :n_similar]
            for row, others in enumerate(nearest.tolist()):
                found[events[start + row]] = tuple(events[other] for other in others)
    return found


SLOPE, EVEN, EVEN_OF_MANY = 18.0, 0.6, 0.8
"""Logistic model of "this is the same place", given the closeness of two groups of contexts.

The closeness is their mean similarity divided by the similarity within the place. A single context
that is closer than 0.6 is taken for the place; means of many contexts vary less, and must be
closer. Chosen with benchmarks/album/places.py on made years; docs/places.md says how it does on
others and on a real day.
"""

USUAL_WITHIN, WITHIN_WEIGHT = 2.8, 3
"""Standardized similarity of contexts of one place; it counts as much as this number of pairs."""

TWICE, FEW_DAYS = 0.12, 10
"""Share of the days of a place on which it has two contexts (0.08 to 0.09 in made years).

So many days without any place are added to those known that a few days say nothing.
"""

ENOUGH = 0.5
"""Probability at which a context is taken for a known place."""

USUAL_CENTER, USUAL_SPREAD, USUAL_WEIGHT = 0.65, 0.09, 20
"""Similarity of different contexts of a day for features of a network (lite0).

It counts as much as this number of pairs: the first days have few pairs of their own.
"""

MIXED, ENOUGH_CONTEXTS = 6.0, 20
"""Spreads by which a context is less alike than the median one if it shows several places.

It is not matched, if so many contexts are known. Chosen on three made years; docs/places.md has
them.
"""

SMALLEST_SPREAD = 0.01
AT_ONCE = 4000
"""Contexts compared with each other at a time; more would take too much memory."""


@dataclass(frozen=True)
class Sighting:
    """One context of one day.

    Attributes
    ----------
    day : str
        Identifies the recording.
    community : int
        The context within it.
    n_frames : int
        Number of its frames.
    model : str
        What computed the features; those of different models are never compared.
    features : ndarray of shape (n_features,)
        Mean direction of its frames, of length 1; empty if only the name of the context is
        remembered.
    said : str or None
        Name that a person gave it on this day.
    shown : str or None
        Name that the result of this day shows: `said`, or the name that the place has from another
        day.
    given : str or None
        Name that it had when it was last compared with other days.
    likeness : float or None
        Mean cosine between two of its frames; None if it is not known, as for a single frame.
    """

    day: str
    community: int
    n_frames: int
    model: str
    features: FloatArray
    said: str | None = None
    shown: str | None = None
    given: str | None = None
    likeness: float | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Identifies the sighting."""
        return self.day, self.community


@dataclass(frozen=True)
class KnownPlace:
    """A place and the contexts that show it.

    Attributes
    ----------
    id : str
        Stays the same while most of its sightings stay together.
    name : str or None
        Given by a person on the page of any day.
    sightings : tuple of Sighting
        In order of days.
    """

    id: str
    name: str | None
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True)
class Scale:
    """Median and spread of the similarity of different contexts of one day."""

    center: float = USUAL_CENTER
    spread: float = USUAL_SPREAD

    def standardized(self, similarity: FloatArray) -> FloatArray:
        """Return similarities in units of the spread above the center."""
        return (similarity - self.center) / self.spread


def unit_vector(vector: FloatArray) -> FloatArray:
    """Return the direction of a vector; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def match_probability(
    closeness: FloatArray, n_contexts: FloatArray, log_odds: FloatArray | float = 0.0
) -> FloatArray:
    """Return the probability that two groups of contexts show the same place.

    Parameters
    ----------
    closeness : ndarray
        Their mean similarity, divided by that within the place.
    n_contexts : ndarray
        Number of contexts in the smaller group.
    log_odds : ndarray or float
        What else is known; see `log_odds_of_days`.
    """
    even = EVEN + (EVEN_OF_MANY - EVEN) * (1 - 1 / n_contexts)
    return np.asarray(1 / (1 + np.exp(-np.clip(SLOPE * (closeness - even) + log_odds, -50, 50))))


def log_odds_of_days(
    shared: FloatArray, fewer: FloatArray, more: FloatArray, n_days: int
) -> FloatArray:
    """Return how much the days of two groups of contexts say for one place: 0 or more.

    Two groups that show one place share few days. Two places share as many as chance has it, so
    that groups on many days that share hardly any are one place that looks different now and then.
    Shared days say nothing against it: a kitchen may have two contexts on every day.

    Parameters
    ----------
    shared, fewer, more : ndarray
        Days of both groups, of the group that has fewer, and of the group that has more.
    n_days : int
        Days of all groups.
    """
    rate = np.clip(more / (n_days + FEW_DAYS), TWICE, 1 - TWICE)
    return np.maximum(
        shared * np.log(TWICE / rate) + (fewer - shared) * np.log((1 - TWICE) / (1 - rate)), 0.0
    )


def scale_of(sightings: Sequence[Sighting]) -> Scale:
    """Measure how similar different contexts of the same day are.

    Names do not count, so that naming a place leaves all places as they are.

    Parameters
    ----------
    sightings : sequence of Sighting
        Contexts of any number of days, all with features of the same model.
    """
    by_day: dict[str, list[FloatArray]] = defaultdict(list)
    for sighting in sightings:
        by_day[sighting.day].append(sighting.features)
    found = []
    for same_day in by_day.values():
        rows = np.stack(same_day)
        found.append((rows @ rows.T)[np.triu_indices(len(rows), 1)])
    pairs = np.concatenate(found) if found else np.empty(0)
    if not len(pairs):
        return Scale()
    center = float(np.median(pairs))
    spread = 1.4826 * float(np.median(np.abs(pairs - center)))
    own = len(pairs) / (len(pairs) + USUAL_WEIGHT)
    return Scale(
        own * center + (1 - own) * USUAL_CENTER,
        max(own * spread + (1 - own) * USUAL_SPREAD, SMALLEST_SPREAD),
    )


def find_places(
    sightings: Iterable[Sighting], known: Sequence[KnownPlace] = ()
) -> tuple[KnownPlace, ...]:
    """Group contexts of all days into places.

    The result depends on the contexts, not on the order in which they became known. Contexts with
    the same name are one place; contexts with different names never are. A context like no other is
    a place of its own.

    Parameters
    ----------
    sightings : iterable of Sighting
        The contexts.
    known : sequence of KnownPlace
        Earlier places; each place keeps the id with which it shares most frames.
    """
    by_model: dict[str, list[Sighting]] = defaultdict(list)
    ordered = sorted(sightings, key=lambda s: s.key)
    for sighting in ordered:
        if len(sighting.features):
            by_model[sighting.model].append(sighting)
    alike = [group for model in sorted(by_model) for group in _alike(by_model[model])]
    groups: dict[tuple[str, object], list[Sighting]] = defaultdict(list)
    for number, group in enumerate(alike):
        name = _name(group)
        groups[("unnamed", number) if name is None else ("named", name)].extend(group)
    members = [sorted(group, key=lambda s: s.key) for group in groups.values()]
    members.sort(key=lambda group: group[0].key)

    # Sightings without features stay at the place where they were.
    was = {s.key: place.id for place in known for s in place.sightings}
    remembered: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in ordered:
        if not len(sighting.features):
            remembered[was.get(sighting.key, "")].append(sighting)

    found = []
    for identity, group in zip(_identities(members, known), members, strict=True):
        name = _name(group)
        here = [*(replace(s, shown=name) for s in group), *remembered[identity]]
        found.append(KnownPlace(identity, name, tuple(sorted(here, key=lambda s: s.key))))
    return tuple(found)


def _alike(sightings: Sequence[Sighting]) -> list[list[Sighting]]:
    """Group contexts that look alike; a person may still give several groups one name."""
    scale, mixed = scale_of(sightings), _mixed(sightings)
    # The name of a mixed context is its own: those that it looks like were shown as another place.
    said = [None if is_mixed else s.said for s, is_mixed in zip(sightings, mixed, strict=True)]
    groups = _Groups(np.stack([s.features for s in sightings]), said, [s.day for s in sightings])
    for start in range(0, len(sightings), AT_ONCE):
        groups.join_similar(range(start, min(start + AT_ONCE, len(sightings))), scale)
    groups.merge(scale)

    members: dict[int, list[int]] = defaultdict(list)
    for k, number in enumerate(groups.of):
        members[number].append(k)
    alike = []
    for group in members.values():
        # Mixed ones help to see that two groups are one place, but nobody knows which of their
        # places is meant.
        alike += [[sightings[k]] for k in group if mixed[k]]
        alike += [pure] if (pure := [sightings[k] for k in group if not mixed[k]]) else []
    return alike


def _mixed(sightings: Sequence[Sighting]) -> list[bool]:
    """Return which contexts show several places, because no boundary was found between them."""
    known = np.asarray([s.likeness for s in sightings if s.likeness is not None])
    if len(known) < ENOUGH_CONTEXTS:
        return [False] * len(sightings)
    middle = float(np.median(known))
    spread = max(1.4826 * float(np.median(np.abs(known - middle))), SMALLEST_SPREAD)
    return [s.likeness is not None and s.likeness < middle - MIXED * spread for s in sightings]


class _Groups:
    """Groups of rows with the sum of each group.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features)
        Unit vectors.
    said : list of str or None
        Name of each row; rows with different names are never in one group.
    days : list of str
        Day of each row.
    """

    def __init__(self, rows: FloatArray, said: list[str | None], days: list[str]) -> None:
        self.rows = rows
        self.of = list(range(len(rows)))
        self.sums = np.array(rows, dtype=np.float64)
        self.counts = np.ones(len(rows), dtype=np.int64)
        self.names: list[set[str]] = [set() if name is None else {name} for name in said]
        number = {day: k for k, day in enumerate(sorted(set(days)))}
        self.n_days = len(number)
        self.days = [{number[day]} for day in days]

    def join_similar(self, rows: range, scale: Scale) -> None:
        """Join rows by average linkage, the most similar first, while one place is likely."""
        if len(rows) < 2:
            return
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        distances = 1 - np.clip(
            self.rows[rows.start : rows.stop] @ self.rows[rows.start : rows.stop].T, -1, 1
        )
        np.fill_diagonal(distances, 0.0)
        tree = linkage(squareform(distances, checks=False), method="average")
        group: list[int | None] = list(
            rows
        )  # of each node of the tree; None if its rows are not one place
        for left, right in tree[:, :2].astype(int).tolist():
            a, b = group[left], group[right]
            if (
                a is None
                or b is None
                or self._chance([a, b], scale)[0, 1] < ENOUGH
                or not self._agree(a, b)
            ):
                group.append(None)
                continue
            self._join(a, b)
            group.append(a)

    def _within(self, groups: Sequence[int], scale: Scale) -> FloatArray:
        """Return the standardized similarity of the rows of each group."""
        counts = self.counts[groups].astype(np.float64)
        pairs = counts * (counts - 1) / 2
        lengths = np.einsum("ij,ij->i", self.sums[groups], self.sums[groups])
        within = scale.standardized((lengths - counts) / np.maximum(2 * pairs, 1))
        found = (WITHIN_WEIGHT * USUAL_WITHIN + pairs * within) / (WITHIN_WEIGHT + pairs)
        return np.asarray(np.maximum(found, USUAL_WITHIN / 2))

    def merge(self, scale: Scale) -> None:
        """Merge groups that are likely to be one place, the most likely pair first."""
        while True:
            used = np.flatnonzero(self.counts)
            chance = np.triu(self._chance(used.tolist(), scale), 1)
            order = np.argsort(-chance, axis=None, kind="stable")[: int(np.sum(chance >= ENOUGH))]
            pairs = (
                (int(used[flat // len(used)]), int(used[flat % len(used)]))
                for flat in order.tolist()
            )
            pair = next((pair for pair in pairs if self._agree(*pair)), None)
            if pair is None:
                return
            self._join(*pair)

    def _chance(self, groups: Sequence[int], scale: Scale) -> FloatArray:
        """Return the probability of each pair of groups that they are one place."""
        counts, within = self.counts[groups], self._within(groups, scale)
        means = self.sums[groups] / counts[:, None]
        # What a place looks like is known best from the larger group.
        expected = np.where(counts[:, None] > counts, within[:, None], within)
        expected = np.where(
            counts[:, None] == counts, np.minimum(within[:, None], within), expected
        )
        smaller = np.minimum(counts[:, None], counts).astype(np.float64)
        has_day = np.zeros((len(groups), self.n_days), dtype=np.float32)
        for row, group in zip(has_day, groups, strict=True):
            row[list(self.days[group])] = 1.0
        shared, n_days = has_day @ has_day.T, has_day.sum(axis=1)
        days = np.minimum(n_days[:, None], n_days), np.maximum(n_days[:, None], n_days)
        together = log_odds_of_days(shared.astype(np.float64), *days, self.n_days)
        return match_probability(scale.standardized(means @ means.T) / expected, smaller, together)

    def _join(self, a: int, b: int) -> None:
        self.sums[a] += self.sums[b]
        self.counts[a] += self.counts[b]
        self.names[a] |= self.names[b]
        self.days[a] |= self.days[b]
        self.sums[b], self.counts[b], self.names[b], self.days[b] = 0.0, 0, set(), set()
        self.of = [a if group == b else group for group in self.of]

    def _agree(self, a: int, b: int) -> bool:
        return len(self.names[a] | self.names[b]) <= 1


def _identities(members: Sequence[Sequence[Sighting]], known: Sequence[KnownPlace]) -> list[str]:
    """Return the id of each group: of the known place with most frames in common, or a new one."""
    was = {s.key: place.id for place in known for s in place.sightings}
    shared: dict[tuple[int, str], int] = defaultdict(int)
    for number, group in enumerate(members):
        for sighting in group:
            if sighting.key in was:
                shared[number, was[sighting.key]] += sighting.n_frames
    names = {place.id: place.name for place in known if place.name is not None}
    found: dict[int, str] = {}
    # A name identifies a place better than the number of frames.
    order = sorted(
        shared,
        key=lambda pair: (names.get(pair[1]) != _name(members[pair[0]]), -shared[pair], pair),
    )
    for number, identity in order:
        if number not in found and identity not in found.values():
            found[number] = identity
    taken = set(was.values()) | set(found.values())
    for number, group in enumerate(members):
        if number not in found:
            found[number] = _new_identity(group[0], taken)
            taken.add(found[number])
    return [found[number] for number in range(len(members))]


def _name(group: Sequence[Sighting]) -> str | None:
    return next((s.said for s in group if s.said is not None), None)


def _new_identity(first: Sighting, taken: set[str]) -> str:
    """Derive an id from the first sighting, so that the same days give the same ids."""
    for attempt in range(len(taken) + 1):
        text = f"{first.model}\0{first.day}\0{first.community}\0{attempt}"
        identity = "p" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
        if identity not in taken:
            return identity
    raise AssertionError("every id is taken")
