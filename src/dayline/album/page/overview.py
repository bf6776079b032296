"""Write the pages of many results: of days with a calendar, and of the sequences of a batch."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dayline.album.hidden import key_shown, shown_events, shown_frames, without_hidden
from dayline.album.page.addresses import event_numbers, is_moved, photo_numbers
from dayline.album.page.page import dates_heading, day_heading, events_mark, page_data
from dayline.album.page.template import embedded_data, render
from dayline.album.trips import Trip, find_trips, named_days, read_trip_names
from dayline.events import Segmentation, frames_text
from dayline.files import write_text_whole
from dayline.text import clock_text, context_letter, counted, duration_text

MOST_PICTURES = 8
MOST_TOWNS = 4
PICTURE_HEIGHT = 480
"""Pixels, if a picture has as many; the page shows it smaller."""


N_COLORS = 12

EventNumber = tuple[int, int]
"""An event of one of several days: number of the day and of the event, both from 0."""


@dataclass(frozen=True)
class Day:
    """One day on the page.

    Attributes
    ----------
    name : str
        Name of the folder of its photos.
    folder : str
        Folder of its result, relative to the page.
    segmentation : Segmentation or None
        Its events; None if it could not be used.
    why : str
        Why it could not be used.
    pictures : mapping of int to str
        Picture of every frame, relative to `folder`.
    ratios : mapping of int to float
        Width by height of these pictures.
    addresses : mapping, optional
        See `dayline.album.page.addresses.renew_addresses`.
    entries : sequence of str
        Entries of the person's calendar for the whole day.
    """

    name: str
    folder: str
    segmentation: Segmentation | None
    why: str = ""
    pictures: Mapping[int, str] = field(default_factory=dict)
    ratios: Mapping[int, float] = field(default_factory=dict)
    addresses: Mapping[str, Any] | None = None
    entries: Sequence[str] = ()

    @cached_property
    def shown(self) -> Segmentation | None:
        """The events without hidden photos; None if there are none, or the day has no result."""
        return None if self.segmentation is None else without_hidden(self.segmentation)

    @cached_property
    def event_numbers(self) -> Sequence[int]:
        """The number of every shown event among all of the day, from 0."""
        return () if self.segmentation is None else shown_events(self.segmentation)

    @property
    def address(self) -> str:
        """The URL of the folder, relative to the page."""
        # A folder's name may be any bytes, so the URL is built from bytes.
        return quote(os.fsencode(self.folder))


def write_overview(
    days: Sequence[Day],
    folder: str | Path,
    *,
    title: str,
    places: AlbumPlaces | None = None,
    similar: Mapping[EventNumber, Sequence[EventNumber]] | None = None,
) -> Path:
    """Write `folder`/index.html: calendar, time per place, search, and the events of every day.

    Parameters
    ----------
    days : sequence of Day
        The days, in the order shown.
    folder : str or Path
        The folder that contains the days' folders.
    title : str
        Heading.
    places : AlbumPlaces, optional
        The places of all days, if they are known already.
    similar : mapping, optional
        For each event, others that look like it, the most similar first.
    """
    path = Path(folder) / "index.html"
    shown, names = [day.shown for day in days], read_trip_names(path.parent)
    trips = find_trips(shown, names)
    names_of_days = named_days(shown, names, trips)
    rows = [_day_row(day) | {"name": names_of_days.get(k)} for k, day in enumerate(days)]

    data = {
        "title": title,
        "moved": _moved(path, days),
        **_data(days, similar or {}, places or find_album_places(days)),
        # So that the page can be written again after the events of a day were saved.
        "folders": [day.address for day in days],
        "why": [day.why for day in days],
        "trips": [[trip.name, trip.title, trip.days] for trip in trips],
        "named": names_of_days,
    }
    content = {
        "rows": rows,
        "trips": [_trip_row(trip, days, rows) for trip in trips],
        "trip_of": {
            k: {
                "number": number,
                "day": nth,
                "n_days": len(trip.days),
                "name": trip.name or trip.title,
            }
            for number, trip in enumerate(trips)
            for nth, k in enumerate(trip.days, start=1)
        },
        "title": title,
        # Where some photos are hidden, they are not told of.
        "skipped": [
            {"name": file.name, "why": file.why, "address": f"{day.address}/index.html#about"}
            for day in days
            for file in (day.shown.skipped if day.shown else ())
        ],
        "n_days": len(days),
        "n_events": sum(len(day.event_numbers) for day in days),
    }
    write_text_whole(path, render("overview", content, data=data))
    return path


def _moved(path: Path, days: Sequence[Day]) -> str | None:
    """Return the page of the day that the overview replaced, or an earlier one did."""
    before = page_data(path)
    if before is None:
        return (overview_data(path.parent) or {}).get("moved")
    addresses = (d.address for d in days if d.segmentation and is_moved(before, d.segmentation))
    address = next(addresses, None)
    return None if address is None else f"{address}/index.html"


def overview_data(folder: Path) -> dict[str, Any] | None:
    """Return the data in `folder`/index.html if `write_overview` wrote it, else None.

    Parameters
    ----------
    folder : Path
        The folder that contains the days' folders.
    """
    data = embedded_data(folder / "index.html")
    return data if data is not None and isinstance(data.get("days"), list) else None


def _trip_row(trip: Trip, days: Sequence[Day], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the page shows of a trip; `rows` are those of all days."""
    inside = [day for k in trip.days if (day := days[k].shown) is not None]
    spans = [day.date_span for day in inside if day.date_span is not None]
    more = f" and {len(trip.towns) - MOST_TOWNS} more" if len(trip.towns) > MOST_TOWNS else ""
    facts = [
        dates_heading(spans[0][0], spans[-1][1]) if spans else "",
        counted(len(inside), "day"),
        counted(sum(day.n_frames for day in inside), "photo"),
        ", ".join(trip.towns[:MOST_TOWNS]) + more,
    ]
    pictures = [rows[k]["pictures"][0] for k in trip.days if rows[k].get("pictures")]
    return {
        "name": trip.name or trip.title,
        "first": trip.days[0] + 1,
        "facts": " · ".join(filter(None, facts)),
        "pictures": pictures[:MOST_PICTURES],
    }


def _day_row(day: Day) -> dict[str, Any]:
    """Return what the page shows of a day without its script."""
    row: dict[str, Any] = {"heading": day.name, "overline": None, "why": day.why, "address": None}
    if day.segmentation is None:
        return row
    heading = day_heading(day.segmentation)

    events = [day.segmentation.events[k] for k in day.event_numbers]
    longest = sorted(events, key=lambda e: -e.n_frames)[:MOST_PICTURES]
    keys = (key_shown(day.segmentation, event) for event in longest)
    inside = sorted(key for key in keys if key is not None and key in day.pictures)
    names, numbers = day.segmentation.names, photo_numbers(day.segmentation, day.addresses)

    towns = list(dict.fromkeys(event.town for event in events if event.town))
    n_hidden = len(day.segmentation.hidden)
    facts = [
        ", ".join(towns[:MOST_TOWNS]),
        frames_text(day.segmentation, shown_frames(day.segmentation)),
        counted(len(events), "event") if events else f"{n_hidden} hidden",
    ]
    return {
        "heading": heading or day.name,
        "overline": None if heading is None or _date(day.segmentation) == day.name else day.name,
        "why": "",
        "entries": " · ".join(day.entries),
        "address": f"{day.address}/index.html",
        "pictures": [
            {
                "address": f"{day.address}/{quote(day.pictures[frame])}",
                "width": round(PICTURE_HEIGHT * day.ratios.get(frame, 4 / 3)),
                "height": PICTURE_HEIGHT,
                "photo": f"#photo-{numbers[frame]}",
                "label": f"frame {frame}" if names is None else names[frame],
            }
            for frame in inside
        ],
        "facts": " · ".join(filter(None, facts)),
    }


@dataclass(frozen=True)
class AlbumPlaces:
    """The places of all days, with the same label and color on every page.

    Attributes
    ----------
    labels : tuple of str
        Name or letter of each place; the place where most time was spent comes first.
    named : tuple of bool
        Whether a person named it.
    letters : tuple of int
        Number of the letter of each place, from which its color follows; it never changes.
    of_day : tuple of mapping of int to int
        For each day, the place of each context; contexts seen once are none.
    """

    labels: tuple[str, ...]
    named: tuple[bool, ...]
    letters: tuple[int, ...]
    of_day: tuple[Mapping[int, int], ...]


def find_album_places(days: Sequence[Day], before: Mapping[str, Any] | None = None) -> AlbumPlaces:
    """Find the places of all days: contexts with a name, of several days, or of several events.

    Parameters
    ----------
    days : sequence of Day
        The days.
    before : mapping, optional
        The data of the overview that is replaced: its places keep their letters.
    """
    names: dict[tuple[str, str], str | None] = {}
    marks: list[dict[int, tuple[str, str]]] = []
    amounts: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    seen_on: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, day in enumerate(days):
        here: dict[int, tuple[str, str]] = {}
        marks.append(here)
        if day.shown is None:
            continue
        counts = Counter(event.community for event in day.shown.events)
        for community, n_events in counts.items():
            if community is not None and n_events > 1:
                here[community] = ("day", f"{number} {community}")
        for place in day.shown.places:
            name = (place.name or "").strip()
            mark = ("name", name) if name else ("id", place.id or f"{number} {place.community}")
            here[place.community] = mark
            names[mark] = name or None

        starts, stops = day.shown.start_times, day.shown.stop_times
        for event, start, stop in zip(day.shown.events, starts, stops, strict=True):
            if event.community in here:
                known = here[event.community]
                amounts[known][0] += max(0.0, (stop or 0.0) - (start or 0.0))
                amounts[known][1] += event.n_frames
                seen_on[known].add(number)

    ranked = sorted(amounts, key=lambda mark: (-amounts[mark][0], -amounts[mark][1]))
    # The first letters are those of places that recur on other days. Places with a name have
    # letters, too: the others keep theirs when a person names one.
    lettered = sorted(ranked, key=lambda mark: len(seen_on[mark]) == 1)
    letters = _letters(days, marks, lettered, before or {})
    rank = {mark: k for k, mark in enumerate(ranked)}
    return AlbumPlaces(
        labels=tuple(
            names.get(mark) or f"Place {context_letter(letters[mark])}" for mark in ranked
        ),
        named=tuple(bool(names.get(mark)) for mark in ranked),
        letters=tuple(letters[mark] for mark in ranked),
        of_day=tuple(
            {community: rank[mark] for community, mark in here.items() if mark in rank}
            for here in marks
        ),
    )


def _letters(
    days: Sequence[Day],
    marks: Sequence[Mapping[int, tuple[str, str]]],
    lettered: Sequence[tuple[str, str]],
    before: Mapping[str, Any],
) -> dict[tuple[str, str], int]:
    """Give each place the first letter that one of its contexts had, or the next that is new."""
    earlier: dict[str, dict[str, int]] = {}
    for address, known in zip(before.get("folders", ()), before.get("letters", ()), strict=False):
        if isinstance(known, dict):
            earlier[address] = {c: letter for c, letter in known.items() if isinstance(letter, int)}
    had: dict[tuple[str, str], int] = {}
    for day, here in zip(days, marks, strict=True):
        for community, mark in here.items():
            letter = earlier.get(day.address, {}).get(str(community))
            if letter is not None:
                had[mark] = min(letter, had.get(mark, letter))

    letters: dict[tuple[str, str], int] = {}
    taken: set[int] = set()
    for mark in lettered:
        if mark in had and had[mark] not in taken:
            letters[mark] = had[mark]
            taken.add(had[mark])
    new = count(1 + max((k for known in earlier.values() for k in known.values()), default=-1))
    return letters | {mark: next(new) for mark in lettered if mark not in letters}


def album_data(
    days: Sequence[Day], number: int, places: AlbumPlaces, *, title: str
) -> dict[str, Any]:
    """Return what the page of a day shows of the album: the ways to other pages, and the places.

    Parameters
    ----------
    days : sequence of Day
        All days, in the order of the overview.
    number : int
        The day.
    places : AlbumPlaces
        The places of all days.
    title : str
        Heading of the overview.
    """
    usable = [k for k, day in enumerate(days) if day.segmentation is not None]
    before, after = [k for k in usable if k < number], [k for k in usable if k > number]
    return {
        "title": title,
        "overview": f"../index.html#day-{number + 1}",
        "previous": _way_to(days[before[-1]]) if before else None,
        "next": _way_to(days[after[0]]) if after else None,
        # Rounded up, so that a place on another day does not change this page.
        "n_letters": 1 << max(places.letters, default=0).bit_length(),
        "places": {
            str(community): {
                "label": places.labels[k],
                "named": places.named[k],
                "color": places.letters[k] % N_COLORS,
            }
            for community, k in sorted(places.of_day[number].items())
        },
    }


def _way_to(day: Day) -> dict[str, str]:
    first, last = (day.segmentation and day.segmentation.date_span) or (None, None)
    name = day.name if first is None else f"{first:%a} {first.day} {first:%B}"
    if first is not None and last is not None and last != first:
        name = f"{first.day} {first:%B} – {last.day} {last:%B}"
    return {"name": name, "address": f"../{day.address}/index.html"}


def _data(
    days: Sequence[Day],
    similar: Mapping[EventNumber, Sequence[EventNumber]],
    places: AlbumPlaces,
) -> dict[str, Any]:
    """Return what the script needs, as short as possible: a year has thousands of events."""
    numbers: dict[EventNumber, int] = {}
    for number, day in enumerate(days):
        for k in day.event_numbers:
            numbers[number, k] = len(numbers)

    towns: dict[tuple[str | None, str | None], int] = {(None, None): -1}
    written: list[dict[str, Any] | None] = []
    for number, day in enumerate(days):
        if day.segmentation is None:
            written.append(None)
            continue
        shown = day.shown
        starts, stops = ((), ()) if shown is None else (shown.start_times, shown.stop_times)
        events, here = [], places.of_day[number]
        for i, (k, event) in enumerate(
            zip(day.event_numbers, () if shown is None else shown.events, strict=True)
        ):
            key = key_shown(day.segmentation, day.segmentation.events[k])
            others = similar.get((number, k), ())
            events.append(
                [
                    event.name,
                    -1 if event.community is None else here.get(event.community, -1),
                    event.n_frames,
                    None if starts[i] is None else round(starts[i] or 0.0),
                    None if stops[i] is None else round(stops[i] or 0.0),
                    quote(day.pictures[key]) if key is not None and key in day.pictures else None,
                    [numbers[other] for other in others if other in numbers],
                    towns.setdefault((event.town, event.country), len(towns) - 1),
                ]
            )
        written.append(
            {
                "name": day_heading(day.segmentation) or day.name,
                "folder": day.address,
                "date": _date(day.segmentation),
                "clock": day.segmentation.clock if day.segmentation.times is not None else None,
                "events": events,
                "files": shown.names if shown is not None and shown.clock != "media" else None,
                "event_numbers": _those(
                    event_numbers(day.segmentation, day.addresses), day.event_numbers
                ),
                "photo_numbers": _those(
                    photo_numbers(day.segmentation, day.addresses), shown_frames(day.segmentation)
                ),
                "base": events_mark(day.segmentation),
                "entries": day.entries,
                # Where some photos are hidden, they are not told of.
                "aside": [[f.kind, f.name] for f in (shown.set_aside if shown else ())],
            }
        )
    return {
        "places": list(zip(places.labels, places.named, places.letters, strict=True)),
        "letters": [
            {str(community): places.letters[k] for community, k in here.items()}
            for here in places.of_day
        ],
        "towns": [town for town, number in towns.items() if number >= 0],
        "days": written,
    }


def _those(numbers: Sequence[int], shown: Sequence[int]) -> list[int] | None:
    """Return the numbers of what is shown; None if they count from 1."""
    found = [numbers[k] for k in shown]
    return None if found == list(range(1, len(found) + 1)) else found


def _date(segmentation: Segmentation) -> str | None:
    return None if segmentation.date_span is None else str(segmentation.date_span[0])


@dataclass(frozen=True)
class EventTitle:
    """A named event of a sequence.

    Attributes
    ----------
    number : int
        In the address of the event on its page.
    title : str
        Its name or title.
    start : float or None
        When it starts in a film, in seconds; None if the sequence is none.
    """

    number: int
    title: str
    start: float | None = None


@dataclass(frozen=True)
class SequenceRow:
    """One sequence on the page.

    Attributes
    ----------
    name : str
        What it is called.
    folder : str or None
        Folder of its result, relative to the page; None if it has none.
    n_frames, n_events : int or None
        Of its result.
    length : float or None
        Seconds that a film lasts.
    seconds : float or None
        What it took to compute.
    pictures : sequence of str
        Some of its pictures, relative to `folder`.
    titles : sequence of EventTitle
        Its named events.
    why : str
        Why it failed; empty if it did not.
    """

    name: str
    folder: str | None
    n_frames: int | None = None
    n_events: int | None = None
    seconds: float | None = None
    length: float | None = None
    pictures: Sequence[str] = ()
    titles: Sequence[EventTitle] = ()
    why: str = ""


def write_sequences(
    rows: Sequence[SequenceRow],
    folder: str | Path,
    *,
    title: str,
    n_total: int,
    thing: str = "sequence",
) -> Path:
    """Write `folder`/index.html with a row per sequence: counts, some pictures, or why it failed.

    Parameters
    ----------
    rows : sequence of SequenceRow
        The sequences, in the order shown.
    folder : str or Path
        The folder that contains the folders of the results.
    title : str
        Heading.
    n_total : int
        Number of all sequences, also of those that are not computed yet.
    thing : str
        What a sequence is called.
    """
    n_failed = sum(bool(row.why) for row in rows)
    facts = [
        counted(n_total, thing),
        counted(sum(row.n_events or 0 for row in rows), "event"),
        *([f"{n_failed} failed"] if n_failed else []),
        *([f"{n_total - len(rows)} not computed yet"] if len(rows) < n_total else []),
    ]
    content = {
        "rows": [_sequence_row(row) for row in rows],
        "title": title,
        "facts": " · ".join(facts),
    }
    path = Path(folder) / "index.html"
    write_text_whole(path, render("sequences", content))
    return path


def _sequence_row(row: SequenceRow) -> dict[str, object]:
    if row.folder is None or row.n_frames is None or row.n_events is None:
        empty = {"facts": "", "pictures": [], "titles": []}
        return {"name": row.name, "address": None, "why": row.why, **empty}
    folder = quote(os.fsencode(row.folder))
    size = counted(row.n_frames, "frame") if row.length is None else duration_text(row.length)
    time = "" if row.seconds is None else f" · computed in {duration_text(row.seconds)}"
    return {
        "name": row.name,
        "address": f"{folder}/index.html",
        "facts": f"{size} · {counted(row.n_events, 'event')}{time}",
        "pictures": [f"{folder}/{quote(picture)}" for picture in row.pictures],
        "titles": [
            {
                "title": event.title,
                "time": ""
                if event.start is None
                else clock_text(max(event.start, 0.0), short=True),
                "address": f"{folder}/index.html#event-{event.number}",
            }
            for event in row.titles
        ],
        "why": row.why,
    }
