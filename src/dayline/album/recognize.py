"""Recognize the places of many days, and give their results the names."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from dayline.album.corrections import kept_edits
from dayline.album.export.table import write_csv
from dayline.album.page.page import renew_page
from dayline.album.places import (
    EventFeatures,
    KnownPlace,
    Sighting,
    find_places,
    read_event_features,
    unit_vector,
)
from dayline.album.places_file import PLACES, read_places, write_places
from dayline.album.write import renew_exports
from dayline.events import Place, Segmentation, read_events
from dayline.files import write_text_whole
from dayline.result_folder import EVENTS, MARK, OwnFiles, export_folder, output_folder

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    """

    folder: Path
    segmentation: Segmentation
    features: EventFeatures | None

    @property
    def key(self) -> str:
        """The name of the source and its date, which together identify the recording."""
        name = self.segmentation.source or self.folder.name
        times = self.segmentation.times
        if not self.segmentation.is_dated or times is None:
            return name
        return f"{(EPOCH + timedelta(seconds=times[0])):%Y-%m-%d} {name}"


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
    if day.features is None:
        # Without features nothing can be compared; names stay as they are known.
        yield from (sighting for key, sighting in before.items() if key[0] == day.key)
        return
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, event in enumerate(day.segmentation.events):
        if event.community is not None:
            numbers[event.community].append(number)
    names = {
        place.community: (place.name or "").strip() or None for place in day.segmentation.places
    }
    is_edited = not set(day.segmentation.digests or ()).isdisjoint(edited)
    for community, events in numbers.items():
        weights = np.asarray(
            [day.segmentation.events[k].n_frames for k in events], dtype=np.float64
        )
        mean = weights @ day.features.means[events] / weights.sum()
        name, known = names.get(community), before.get((day.key, community))
        said = name
        # Dayline writes names too: those that a place has on another day. They were not said on
        # this one, and neither were old ones that the same edit gives again.
        if known is not None and (
            name in (known.shown, known.given) or (name is None and not is_edited)
        ):
            said = known.said
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
    here = {s.community: place for place in places for s in place.sightings if s.day == day.key}
    order = dict.fromkeys(e.community for e in day.segmentation.events if e.community is not None)
    found = tuple(
        Place(community, here[community].name, here[community].id)
        for community in order
        if community in here
        and (here[community].name is not None or len(here[community].sightings) > 1)
    )
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
