"""Places: contexts of several days that look alike, or that a person gave the same name.

A context of one day is described by the mean direction of its frames' features. How alike two contexts of the same
place are depends on the features, so similarity is measured on a scale that the days themselves provide: contexts of
one day are different, and the median and spread of their similarities are the zero and the unit of the scale.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dayline.arrays import FloatArray

__all__ = ["KnownPlace", "Scale", "Sighting", "find_places", "match_probability", "scale_of", "unit_vector"]

SLOPE, INTERCEPT = 7.0, -16.7
"""Logistic model of "this is the same place", given the standardized similarity of a context to a place. Fitted by
benchmarks/album/places.py on made years; docs/places.md says how it does on others and on a real day."""

ENOUGH = 0.5
"""Probability at which a context is taken for a known place."""

USUAL_CENTRE, USUAL_SPREAD, USUAL_WEIGHT = 0.65, 0.09, 20
"""Similarity of different contexts of a day for features of a network (lite0), which counts as much as this number of
pairs: the first days have few pairs of their own."""

SMALLEST_SPREAD = 0.01
MOST_ROUNDS = 5


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
        Mean direction of its frames, of length 1; empty if only the name of the context is remembered.
    said : str or None
        Name that a person gave it on this day.
    shown : str or None
        Name that the result of this day shows: `said`, or the name that the place has from another day.
    """

    day: str
    community: int
    n_frames: int
    model: str
    features: FloatArray
    said: str | None = None
    shown: str | None = None

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

    centre: float = USUAL_CENTRE
    spread: float = USUAL_SPREAD

    def standardized(self, similarity: FloatArray) -> FloatArray:
        """Return similarities in units of the spread above the centre."""
        return (similarity - self.centre) / self.spread


def unit_vector(vector: FloatArray) -> FloatArray:
    """Return the direction of a vector; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def match_probability(standardized: FloatArray) -> FloatArray:
    """Return the probability that a context shows a place, given their standardized similarity."""
    return np.asarray(1 / (1 + np.exp(-np.clip(SLOPE * standardized + INTERCEPT, -50, 50))))


def scale_of(sightings: Sequence[Sighting]) -> Scale:
    """Measure how similar different contexts of the same day are.

    Parameters
    ----------
    sightings : sequence of Sighting
        Contexts of any number of days, all with features of the same model.
    """
    by_day: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        by_day[sighting.day].append(sighting)
    found = []
    for same_day in by_day.values():
        rows = np.stack([s.features for s in same_day])
        upper = np.triu_indices(len(rows), 1)
        names = [s.said for s in same_day]
        # Contexts that a person gave one name are not different places.
        differ = [names[i] is None or names[i] != names[j] for i, j in zip(*upper, strict=True)]
        found.append((rows @ rows.T)[upper][np.asarray(differ, dtype=bool)])
    pairs = np.concatenate(found) if found else np.empty(0)
    if not len(pairs):
        return Scale()
    centre = float(np.median(pairs))
    spread = 1.4826 * float(np.median(np.abs(pairs - centre)))
    own = len(pairs) / (len(pairs) + USUAL_WEIGHT)
    return Scale(
        own * centre + (1 - own) * USUAL_CENTRE,
        max(own * spread + (1 - own) * USUAL_SPREAD, SMALLEST_SPREAD),
    )


def find_places(sightings: Iterable[Sighting], known: Sequence[KnownPlace] = ()) -> tuple[KnownPlace, ...]:
    """Group contexts of all days into places.

    The result depends on the contexts, not on the order in which they became known: days are taken in the order of
    their names, and then every context is compared again with all others until nothing changes. Contexts with the
    same name are one place; contexts with different names never are. A context like no other is a place of its own.

    Parameters
    ----------
    sightings : iterable of Sighting
        The contexts.
    known : sequence of KnownPlace
        Earlier places; each place keeps the id with which it shares most frames.
    """
    by_model: dict[str, list[Sighting]] = defaultdict(list)
    ordered = sorted(sightings, key=lambda s: (s.day, s.community))
    for sighting in ordered:
        if len(sighting.features):
            by_model[sighting.model].append(sighting)
    looks = [look for model in sorted(by_model) for look in _looks(by_model[model])]
    groups: dict[tuple[str, object], list[Sighting]] = defaultdict(list)
    for number, look in enumerate(looks):
        name = next((s.said for s in look if s.said is not None), None)
        groups[("look", number) if name is None else ("name", name)].extend(look)
    members = [sorted(group, key=lambda s: (s.day, s.community)) for group in groups.values()]
    members.sort(key=lambda group: (group[0].day, group[0].community))
    found = []
    for identity, group in zip(_identities(members, known), members, strict=True):
        name = next((s.said for s in group if s.said is not None), None)
        found.append(KnownPlace(identity, name, tuple(replace(s, shown=name) for s in group)))
    return _with_remembered(found, [s for s in ordered if not len(s.features)], known)


def _with_remembered(
    places: Sequence[KnownPlace], remembered: Sequence[Sighting], known: Sequence[KnownPlace]
) -> tuple[KnownPlace, ...]:
    """Leave sightings without features at the place where they were."""
    was = {s.key: place.id for place in known for s in place.sightings}
    at: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in remembered:
        at[was.get(sighting.key, "")].append(sighting)
    return tuple(
        replace(place, sightings=tuple(sorted((*place.sightings, *at[place.id]), key=lambda s: s.key)))
        if place.id in at
        else place
        for place in places
    )


def _looks(sightings: Sequence[Sighting]) -> list[list[Sighting]]:
    """Group contexts that look alike; a person may still give several groups one name."""
    scale = scale_of(sightings)
    groups = _Groups(np.stack([s.features for s in sightings]), [s.said for s in sightings])
    for i in range(len(sightings)):
        groups.put(i, scale)
    for _ in range(MOST_ROUNDS):
        moved = groups.merge(scale)
        for i in range(len(sightings)):
            moved |= groups.move(i, scale)
        if not moved:
            break
    groups.merge(scale)
    members: dict[int, list[Sighting]] = defaultdict(list)
    for i, sighting in enumerate(sightings):
        members[groups.of[i]].append(sighting)
    return list(members.values())


class _Groups:
    """Groups of rows with the sum of each group.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features)
        Unit vectors.
    said : list of str or None
        Name of each row; rows with different names are never in one group.
    """

    def __init__(self, rows: FloatArray, said: list[str | None]) -> None:
        self.rows, self.said = rows, said
        self.of = [-1] * len(rows)
        self.sums = np.zeros((len(rows), rows.shape[1]))
        self.counts = np.zeros(len(rows), dtype=np.int64)
        self.names: list[list[str]] = [[] for _ in rows]

    def put(self, i: int, scale: Scale) -> None:
        """Put a row into the group that is most like it, or into an empty one if none is like it."""
        group, chance = self._nearest(i, scale)
        self._add(i, group if chance >= ENOUGH else int(np.argmin(self.counts)))

    def move(self, i: int, scale: Scale) -> bool:
        """Move a row to the group that is most like it; return whether that is another one.

        A row stays if no group is like it: its group was like it when it had fewer rows.
        """
        before = self.of[i]
        alone = self.counts[before] == 1
        self._add(i, before, sign=-1)
        group, chance = self._nearest(i, scale)
        stays = group == before or chance < ENOUGH or alone
        self._add(i, before if stays else group)
        return not stays

    def _nearest(self, i: int, scale: Scale) -> tuple[int, float]:
        """Return the group that is most like a row, and the probability that it is the same place."""
        allowed = [g for g in np.flatnonzero(self.counts).tolist() if self._agree([self.said[i]], self.names[g])]
        if not allowed:
            return -1, 0.0
        lengths = np.linalg.norm(self.sums[allowed], axis=1)
        chance = match_probability(scale.standardized(self.sums[allowed] @ self.rows[i] / lengths))
        first = int(np.argmax(chance))
        return allowed[first], float(chance[first])

    def _add(self, i: int, group: int, *, sign: int = 1) -> None:
        """Add a row to a group, or take it out if `sign` is -1."""
        self.sums[group] += sign * self.rows[i]
        self.counts[group] += sign
        name = self.said[i]
        if name is not None and sign > 0:
            self.names[group].append(name)
        elif name is not None:
            self.names[group].remove(name)
        self.of[i] = group if sign > 0 else -1

    def merge(self, scale: Scale) -> bool:
        """Merge groups that are alike, the most similar pair first; return whether there were any."""
        merged = False
        while True:
            used = np.flatnonzero(self.counts)
            means = self.sums[used] / np.linalg.norm(self.sums[used], axis=1, keepdims=True)
            chance = np.triu(match_probability(scale.standardized(means @ means.T)), 1)
            order = np.argsort(-chance, axis=None, kind="stable")
            for flat in order[: int(np.sum(chance >= ENOUGH))].tolist():
                a, b = int(used[flat // len(used)]), int(used[flat % len(used)])
                if self._agree(self.names[a], self.names[b]):
                    self._join(a, b)
                    merged = True
                    break
            else:
                return merged

    def _join(self, a: int, b: int) -> None:
        self.sums[a] += self.sums[b]
        self.counts[a] += self.counts[b]
        self.names[a] += self.names[b]
        self.sums[b], self.counts[b], self.names[b] = 0.0, 0, []
        self.of = [a if group == b else group for group in self.of]

    @staticmethod
    def _agree(some: Sequence[str | None], others: Sequence[str | None]) -> bool:
        return len({name for name in (*some, *others) if name is not None}) <= 1


def _identities(members: Sequence[Sequence[Sighting]], known: Sequence[KnownPlace]) -> list[str]:
    """Return the id of each group: that of the known place with most frames in common, else a new one."""
    was = {s.key: place.id for place in known for s in place.sightings}
    shared: dict[tuple[int, str], int] = defaultdict(int)
    for number, group in enumerate(members):
        for sighting in group:
            if sighting.key in was:
                shared[number, was[sighting.key]] += sighting.n_frames
    names = {place.id: place.name for place in known if place.name is not None}
    found: dict[int, str] = {}
    # A name identifies a place better than the number of frames.
    order = sorted(shared, key=lambda pair: (names.get(pair[1]) != _name(members[pair[0]]), -shared[pair], pair))
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
