"""Recognize the places of many days in places.json (docs/places.md), and name them in results."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dayline.album.edits import kept_edits
from dayline.album.export.table import write_csv
from dayline.album.page.page import renew_page
from dayline.album.places import (
    EventFeatures,
    KnownPlace,
    Sighting,
    find_places,
    packed,
    read_event_features,
    unit_vector,
    unpacked,
)
from dayline.album.write import renew_exports
from dayline.events import Place, Segmentation, read_events
from dayline.files import (
    UnreadableFileError,
    check_against,
    read_json,
    read_no_follow,
    write_text_whole,
)
from dayline.result_folder import EVENTS, MARK, OwnFiles, export_folder, output_folder

PLACES = "places.json"
FORMAT = "dayline-places"
VERSION = 1
NOTHING = np.empty(0)
"""Features that are not remembered."""

MOST_SIGHTINGS = 24
"""Sightings of a place whose features are kept; more would make the file large and hardly help."""


def read_places(path: Path) -> tuple[KnownPlace, ...]:
    """Read the places; none if the file does not exist.

    A name that was changed in the file counts as said by the person, as one changed on a page does.

    Parameters
    ----------
    path : Path
        The file.
    """
    if path.is_dir():
        raise UnreadableFileError(
            f"{path}: is a folder; pass a file of places, such as {path / PLACES}"
        )
    try:
        content = read_json(path, kind="a file of places", form=FORMAT, version=VERSION)
        return () if content is None else _parsed(content)
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}; repair or remove it") from None


def _parsed(content: dict[str, Any]) -> tuple[KnownPlace, ...]:
    schema = (files("dayline") / "places.schema.json").read_text(encoding="utf-8")
    check_against(json.loads(schema), content)
    found = tuple(_place(place) for place in content["places"])

    sightings = [sighting for place in found for sighting in place.sightings]
    keys = {sighting.key for sighting in sightings}
    if len(keys) < len(sightings) or len({place.id for place in found}) < len(found):
        raise ValueError("a place or a context occurs twice")
    sizes: dict[str, int] = {}
    for sighting in sightings:
        size = len(sighting.features)
        if size and sizes.setdefault(sighting.model, size) != size:
            raise ValueError(f"features of {sighting.model} differ in length")
    return found


def _place(content: dict[str, Any]) -> KnownPlace:
    sightings = tuple(
        Sighting(
            **{one.name: s[one.name] for one in fields(Sighting) if one.name in s}
            | {"features": unit_vector(unpacked(s["features"])) if s.get("features") else NOTHING}
        )
        for s in content["sightings"]
    )
    name = content.get("name") or None
    if sightings and name != sightings[0].shown:
        said = {k for k, s in enumerate(sightings) if s.said is not None} or {0}
        sightings = tuple(
            replace(s, said=name) if k in said else s for k, s in enumerate(sightings)
        )
    return KnownPlace(content["id"], name, sightings)


def places_text(places: Sequence[KnownPlace]) -> str:
    """Return the text of places.json."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "places": [
            {"id": p.id, "name": p.name, "sightings": [_sighting(s) for s in _thinned(p.sightings)]}
            for p in places
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def write_places(places: Sequence[KnownPlace], path: Path) -> None:
    """Write places.json unless it already has this content.

    Parameters
    ----------
    places : sequence of KnownPlace
        The places.
    path : Path
        The file.
    """
    text = places_text(places)
    if path.is_symlink() or not path.is_file() or read_no_follow(path) != text.encode("utf-8"):
        write_text_whole(path, text)


def _sighting(sighting: Sighting) -> dict[str, Any]:
    features = packed(sighting.features) if len(sighting.features) else None
    return {**vars(sighting), "features": features}


def _thinned(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Return the sightings with the features of named ones and of others, spread over the days."""
    named = [k for k, s in enumerate(sightings) if s.said is not None]
    others = [k for k, s in enumerate(sightings) if s.said is None and len(s.features)]
    room = max(MOST_SIGHTINGS - len(named), 0)
    if len(others) > room:
        others = [others[k] for k in np.linspace(0, len(others) - 1, room).astype(int)]
    kept = {*named, *others}
    return [s if k in kept else replace(s, features=NOTHING) for k, s in enumerate(sightings)]


@dataclass(frozen=True)
class DescribedDay:
    """A result, and what its events look like.

    Attributes
    ----------
    folder : Path
        The folder of the result.
    segmentation : Segmentation
        Its events.
    features : EventFeatures or None
        What they look like.
    given : tuple of Place or None
        The places that a person gave; those of `segmentation` if None.
    """

    folder: Path
    segmentation: Segmentation
    features: EventFeatures | None
    given: tuple[Place, ...] | None = None

    @property
    def key(self) -> str:
        """The name of the source and its date, which together identify the recording."""
        name = self.segmentation.source or self.folder.name
        days = self.segmentation.date_span
        return name if days is None else f"{days[0]} {name}"


def read_day(folder: Path) -> DescribedDay:
    """Read a result from its folder."""
    segmentation = read_events(folder / EVENTS)
    return DescribedDay(
        folder, segmentation, read_event_features(folder, n_events=len(segmentation.events))
    )


def recognize_places(
    days: Sequence[DescribedDay], path: Path, *, sources: Mapping[Path, Path | None]
) -> tuple[DescribedDay, ...]:
    """Match the contexts of days with the places in a file, and return the days with places.

    Names that a person gave on the page of any day become names of the places, and all days get
    them.

    Parameters
    ----------
    days : sequence of DescribedDay
        The results.
    path : Path
        places.json; created if there is anything to keep in it.
    sources : mapping of Path to Path or None
        The photos or the video of each result, by its folder: exports that show pictures are
        written again if a name changes.
    """
    with _locked(path):
        known = read_places(path)
        before = {sighting.key: sighting for place in known for sighting in place.sightings}
        edits = kept_edits(days[0].folder) if days else ()
        edited = {digest for edit in edits for digest in edit.digests or () if digest}
        fresh = [sighting for day in days for sighting in _sightings(day, before, edited)]
        keys = {day.key for day in days}
        elsewhere = [sighting for sighting in before.values() if sighting.day not in keys]
        places = find_places([*fresh, *elsewhere], known)
        if places or path.exists():
            write_places(places, path)
        return tuple(_with_places(day, places, sources[day.folder]) for day in days)


def places_beside(folder: Path) -> Path | None:
    """Return the places.json of the results that a result is one of, if it has one."""
    path = folder.absolute().parent / PLACES
    return path if path.is_file() and (path.parent / MARK).is_file() else None


def _locked(path: Path) -> AbstractContextManager[object]:
    """Lock the folder of the file: a second run must not read it before this one has written it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_result = (path.parent / MARK).is_file()
    return output_folder(path.parent) if is_result else export_folder(path.parent, force=True)


def _sightings(
    day: DescribedDay, before: dict[tuple[str, int], Sighting], edited: Collection[str]
) -> Iterable[Sighting]:
    """Describe the contexts of a day, with the names that a person gave them."""
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, event in enumerate(day.segmentation.events):
        if event.community is not None:
            numbers[event.community].append(number)
    names = {
        place.community: (place.name or "").strip() or None
        for place in (day.segmentation.places if day.given is None else day.given)
    }
    is_edited = not set(day.segmentation.digests or ()).isdisjoint(edited)

    if day.features is None:
        yield from (s for (_, c), s in before.items() if s.day == day.key and c not in numbers)
    for community, events in numbers.items():
        name, known = names.get(community), before.get((day.key, community))
        said = name
        # Dayline writes names too: those that a place has on another day. They were not said on
        # this one, and neither were old ones that the same edit gives again.
        if known is not None and (
            name in (known.shown, known.given) or (name is None and not is_edited)
        ):
            said = known.said

        if day.features is None:
            # There are other events since they were described, as after a merge on the page: only
            # names change until the next run.
            if known is not None:
                yield replace(known, said=said, given=name)
            continue

        weights = np.asarray(
            [day.segmentation.events[k].n_frames for k in events], dtype=np.float64
        )
        mean = weights @ day.features.means[events] / weights.sum()
        n = int(weights.sum())
        # The squared length of the mean of unit vectors is the mean cosine of all pairs, each
        # vector with itself too.
        likeness = round(float((n * (mean @ mean) - 1) / (n - 1)), 4) if n > 1 else None
        yield Sighting(
            day.key,
            community,
            n,
            day.features.model,
            unit_vector(mean),
            said,
            given=name,
            likeness=likeness,
        )


def _with_places(
    day: DescribedDay, places: Sequence[KnownPlace], source: Path | None
) -> DescribedDay:
    """Write the result of a day again if its places have changed, with page and exports."""
    here = {
        s.community: (s, place) for place in places for s in place.sightings if s.day == day.key
    }
    named = {place.community: place for place in day.segmentation.places if place.name}
    found: tuple[Place, ...] = ()
    for community in dict.fromkeys(event.community for event in day.segmentation.events):
        if community is None:
            continue
        if community not in here:
            # What it looks like is not known before the next run.
            found += (named[community],) if community in named else ()
            continue
        sighting, place = here[community]
        name = place.name if sighting.said is None else sighting.said
        if name is not None or len(place.sightings) > 1:
            found += (Place(community, name, place.id),)
    if found == day.segmentation.places:
        return day

    segmentation = day.segmentation.about(places=found)
    with output_folder(day.folder) as folder:
        own = OwnFiles(folder)
        if own.wrote(EVENTS):  # else a person saved it since it was read; the next run uses it
            if own.wrote("index.html"):
                renew_page(segmentation, folder)
            write_csv(segmentation, folder / "events.csv")
            if any(place.name for place in found):
                # The titles in exports contain names of places.
                _, notes = renew_exports(segmentation, folder, source=source)
                for note in notes:
                    warnings.warn(f"{folder.name}: {note}", stacklevel=2)
            write_text_whole(folder / EVENTS, segmentation.to_json())
    return replace(day, segmentation=segmentation)
