"""Find the days in a folder, and write one result per day and an overview that links to them."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, unquote_to_bytes

from dayline.album.corrections import warn_of_absent_events
from dayline.album.edits import kept_edits, marks_of, note_unused_downloads, take_in_all
from dayline.album.extraction import (
    features_of,
    forget_read,
    frame_reader,
    source_digests,
    source_kind,
)
from dayline.album.page.addresses import kept_addresses
from dayline.album.page.overview import (
    Day,
    album_data,
    find_album_places,
    overview_data,
    write_overview,
)
from dayline.album.page.page import events_mark, page_data, put_in_album
from dayline.album.pictures import remove_thumbnails
from dayline.album.places import similar_events
from dayline.album.recognize import (
    PLACES,
    DescribedDay,
    places_beside,
    read_day,
    recognize_places,
)
from dayline.album.settings import Settings
from dayline.album.taught import CORRECTIONS, with_taught
from dayline.album.trips import name_trip
from dayline.album.unchanged import day_key, places_if_unchanged, said_at_the_end
from dayline.album.write import SegmentedDay, refuse_other_result, remove_other_pictures
from dayline.events import Segmentation, read_events
from dayline.files import UnreadableFileError, parse_json, reading, refuse_link
from dayline.installation import needs_extra
from dayline.media.clocks import with_one_clock
from dayline.media.frame import FrameSequence, shown_name
from dayline.media.walk import holds_only_folders
from dayline.progress import OnStep
from dayline.result_folder import (
    EVENTS,
    MARK,
    LockedFolderError,
    OutputFolderError,
    OwnFiles,
    inner_results,
    output_folder,
)


@dataclass(frozen=True)
class PhotoDay:
    """The photos of one day.

    Attributes
    ----------
    name : str
        The date, or the name of its folder; the name of the folder of its result.
    sequence : FrameSequence
        Its photos.
    """

    name: str
    sequence: FrameSequence


@dataclass(frozen=True)
class FoundDays:
    """What is in a folder: several days, or one sequence.

    Attributes
    ----------
    days : tuple of PhotoDay
        The days; empty if the source is one sequence.
    whole : FrameSequence or None
        All photos, if those of several folders are of one day; None if the source is read as it is.
    notes : tuple of str
        How the photos were grouped, and what was left out.
    """

    days: tuple[PhotoDay, ...] = ()
    whole: FrameSequence | None = None
    notes: tuple[str, ...] = ()


@needs_extra("photos", "reading photos")
def find_days(
    source: Path,
    settings: Settings,
    *,
    by_folder: bool = False,
    forget: bool = False,
    store: Path | None = None,
    on_step: OnStep | None = None,
) -> FoundDays:
    """Find the days in a folder.

    The photos in a folder and all its subfolders are grouped by day (see
    `dayline.media.group_days.group_by_day`).

    Parameters
    ----------
    source : Path
        A folder; any other source is one sequence.
    settings : Settings
        How photos are read.
    by_folder : bool
        Each subfolder is a day, whatever the times of its photos. A folder that contains photos
        itself is one sequence then.
    forget : bool
        The result of another recording may be replaced.
    store : Path, optional
        Folder of the results. If given, every photo is read once, with its features, which are kept
        there, and the clocks of several cameras are compared. Otherwise only headers are read. It
        must not hold the result of another source, unless that may be replaced.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    in_folders = holds_only_folders(source)
    # The times of a camera whose photos are wanted in the order of names are wrong.
    if not source.is_dir() or not (in_folders or (settings.order == "time" and not by_folder)):
        return FoundDays()
    from dayline.media.group_days import (
        group_by_day,
        group_by_folder,
        with_aside,
        without_loose_videos,
    )
    from dayline.media.photos import photo_sequence, read_photos, with_clocks, without_copies

    read = partial(
        read_photos,
        source,
        timezone=settings.timezone,
        keep_screenshots=settings.keep_screenshots,
    )
    if store is None:
        photos = read(on_step=on_step)
    else:
        name = shown_name(source.resolve().name)
        if in_folders or not forget:
            kind: Literal["days", "recording"] = "days" if in_folders else "recording"
            refuse_other_result(store, kind, name, source_digests(source))
        with output_folder(store) as folder:
            reader = frame_reader(settings, folder, on_step)
            photos = read(read_files=reader.read_files)

    if in_folders and not by_folder:
        photos = without_copies(photos)
    photos, notes = with_clocks(photos, offsets=dict(settings.offsets), order=settings.order)
    whole = photo_sequence(photos)
    if store is not None and whole.times is not None:
        frames, wrong = with_one_clock(whole, features_of(whole))
        photos, notes = replace(photos, frames=frames), (*notes, *wrong)
    photos = replace(photos, frames=tuple(replace(f, clock="") for f in photos.frames))

    if by_folder:
        photos = without_loose_videos(photos)
    groups, undated = group_by_folder(photos) if by_folder else group_by_day(photos)
    groups = with_aside(groups, photos.aside)
    if len(groups) == 1 and groups[0][1].root == photos.root:
        one = photo_sequence(photos, order=settings.order, notes=(*notes, *photos.notes))
        return FoundDays(whole=one)
    if store is not None and (above := overview_above(store)) is not None:
        raise OutputFolderError(
            f"{store}: one of the days of {above}, and these are photos of {len(groups)} days;"
            f" choose another folder (-o {above})"
        )
    days = tuple(
        PhotoDay(name, photo_sequence(group, order=settings.order, notes=notes))
        for name, group in groups
    )
    return FoundDays(days, notes=(*notes, *photos.notes, *undated))


def segment_recording(
    source: Path | FrameSequence,
    output: Path | None,
    settings: Settings,
    *,
    corrections: Segmentation | None = None,
    forget: bool = False,
    places: Path | None = None,
    on_step: OnStep | None = None,
) -> SegmentedDay:
    """Segment one recording, write its result, and give it the names of places of other days.

    Parameters
    ----------
    source : Path or FrameSequence
        A folder of photos, a video, a feature file, or photos already in order.
    output : Path or None
        Folder of the result; None writes nothing.
    settings : Settings
        How to segment, and what to write.
    corrections : Segmentation, optional
        A result that a person corrected. If None, the corrections of earlier runs are used.
    forget : bool
        Do not use the corrections of earlier runs.
    places : Path, optional
        The file of places that recur; by default places.json beside the results of several days.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    key, result = "", None
    if isinstance(source, FrameSequence) and output is not None and corrections is None:
        key = "" if forget else day_key(source, output, settings, kept_edits(output))
        result = _unchanged(source, output, settings, key)
    if result is None:
        # Imported here, since scikit-learn takes longer than all that an unchanged result needs.
        from dayline.album.segment import segment_and_write

        result = segment_and_write(
            source,
            output,
            settings,
            corrections=corrections,
            forget=forget,
            key=key,
            on_step=on_step,
        )
    known = None if output is None else places or places_beside(output)
    if (
        output is None
        or known is None
        or (isinstance(source, Path) and source_kind(source) in ("features", "talk"))
    ):
        return result
    path = source if isinstance(source, Path) else source.source
    described = replace(read_day(output), given=result.given)
    (day,) = recognize_places([described], known, sources={output: path})
    if (above := overview_above(output)) is not None:
        renew_overview(above)
    return replace(result, segmentation=day.segmentation)


def segment_days(
    days: Sequence[PhotoDay],
    output: Path,
    settings: Settings,
    *,
    source: Path,
    forget: bool = False,
    forget_learned: bool = False,
    places: Path | None = None,
    on_step: OnStep | None = None,
) -> Iterator[SegmentedDay]:
    """Segment each day into a folder of its own and write `output`/index.html, which links to them.

    A day whose photos cannot be used is named on the page; the other days are still segmented.

    Parameters
    ----------
    days : sequence of PhotoDay
        See `find_days`.
    output : Path
        Where the results go.
    settings : Settings
        How to segment, and what to write.
    source : Path
        The folder that holds the days.
    forget : bool
        Do not use the corrections of earlier runs.
    forget_learned : bool
        Do not use what they teach about days that were not corrected: how fine events should be.
    places : Path, optional
        The file of places that recur on several days; `output`/places.json by default.
    on_step : callable, optional
        Called as on_step(what, done, total).

    Yields
    ------
    SegmentedDay
        Each day as it ends. Names of places follow once all have ended.
    """
    with output_folder(output) as folder:
        take_in_all(folder)
        results = []
        edits = None if forget else kept_edits(folder)
        taught = settings if forget_learned else with_taught(settings, edits or ())
        if taught is not settings:
            method: Any = taught.segmenter
            warnings.warn(f"learned from {CORRECTIONS}: {method.learned}", stacklevel=2)
        corrected = {mark for edit in edits or () for mark in marks_of(edit.digests)}
        for number, day in enumerate(days, start=1):
            prefix = f"day {number} of {len(days)}: "
            own = marks_of([frame.digest for frame in day.sequence.frames])
            # What a person has settled is as it was.
            used = settings if own <= corrected else taught
            results.append(_day(day, folder, used, edits, prefix, on_step))
            yield results[-1]

        if all(result.segmentation is None for result in results):
            raise ValueError(
                f"none of the {len(results)} days could be used; the first: {results[0].why}"
            )
        described = recognize_places(
            [
                replace(read_day(result.folder), given=result.given)
                for result in results
                if result.segmentation is not None
            ],
            folder / PLACES if places is None else places,
            sources={folder / day.name: day.sequence.source for day in days},
        )
        known = {day.folder: day for day in described}
        _write_overview(
            folder,
            shown_name(source.resolve().name),
            [(r.folder.name, known.get(r.folder, r.why_on_page)) for r in results],
        )

        # They belong to the page of an earlier run without days, which has just been replaced.
        remove_thumbnails(folder)
        if not settings.thumbnails:
            remove_other_pictures(
                folder, days=[r.folder.name for r in results if r.segmentation is not None]
            )
        if settings.private:
            forget_read(folder)
        _tidy_gone_days(folder, {result.folder.name for result in results})
        if edits := kept_edits(folder):
            found = [result.segmentation for result in results if result.segmentation is not None]
            digests_here = {digest for one in found for digest in one.digests or ()}
            warn_of_absent_events(edits, digests_here)


def _day(
    day: PhotoDay,
    output: Path,
    settings: Settings,
    edits: Sequence[Segmentation] | None,
    prefix: str,
    on_step: OnStep | None,
) -> SegmentedDay:
    """Segment a day; an error becomes the reason why it has no result."""
    folder = output / day.name
    source = day.sequence.source

    def step(what: str, done: int, total: int) -> None:
        if on_step is not None:
            on_step(prefix + what, done, total)

    try:
        refuse_link(folder)
        key = "" if edits is None else day_key(day.sequence, folder, settings, edits)
        with said_at_the_end(shown_name(day.name)):
            result = _unchanged(day.sequence, folder, settings, key)
            if result is None:
                from dayline.album.segment import segment_and_write

                forget = edits is None
                result = segment_and_write(
                    day.sequence, folder, settings, forget=forget, key=key, on_step=step
                )
        failures = (f"{shown_name(day.name)}: {failure}" for failure in result.failures)
        return replace(result, failures=tuple(failures))
    except OutputFolderError as error:
        # The message names other files in the folder: fine for the person who runs this, but not
        # for the page.
        return SegmentedDay(folder, why=str(error), why_on_page="its result could not be written")
    except ValueError as error:
        why = str(error).removeprefix(f"{shown_name(source)}: ")
        return SegmentedDay(folder, why=why, why_on_page=without_places(why, source.parent, output))
    except (FileNotFoundError, PermissionError) as error:
        # A photo was removed during the run, or its permissions forbid reading it.
        why = f"{shown_name(Path(error.filename or source).name)}: {error.strerror}"
        return SegmentedDay(folder, why=why, why_on_page=why)


def _unchanged(
    photos: FrameSequence, folder: Path, settings: Settings, key: str
) -> SegmentedDay | None:
    """Return the result in a folder, if it is what a run would write; without a key, never."""
    given = places_if_unchanged(folder, key, photos, settings) if key else None
    if given is None:
        return None
    note_unused_downloads(folder, command="the same command with")
    return SegmentedDay(folder, read_events(folder / EVENTS), given=given)


def _write_overview(
    folder: Path, title: str, days: Sequence[tuple[str, DescribedDay | str]]
) -> None:
    """Write the overview of the results in a folder.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    title : str
        Heading.
    days : sequence of (str, DescribedDay or str)
        Folder of each day, and its result or why it has none.
    """
    rows: list[Day] = []
    albums: dict[str, Any] = {}
    for name, day in days:
        if isinstance(day, str):
            rows.append(Day(shown_name(name), name, None, day))
            continue
        page = page_data(folder / name / "index.html") or {}
        pictures, ratios = _pictures(page)
        addresses = kept_addresses(page)
        rows.append(
            Day(
                shown_name(name),
                name,
                day.segmentation,
                pictures=pictures,
                ratios=ratios,
                addresses=addresses,
                entries=[str(entry) for entry in (page.get("calendar") or {}).get("days", ())],
            )
        )
        albums[name] = page.get("album")

    places = find_album_places(rows, before=overview_data(folder))
    for number, row in enumerate(rows):
        if row.segmentation is None:
            continue
        album = album_data(rows, number, places, title=title)
        if album == albums[row.folder]:
            continue
        with suppress(LockedFolderError), output_folder(folder / row.folder) as inner:
            # A page that a person changed stays as it is.
            if OwnFiles(inner).wrote("index.html"):
                put_in_album(inner, album)
    looks = [None if isinstance(day, str) else day.features for _, day in days]
    write_overview(rows, folder, title=title, places=places, similar=similar_events(looks))


def _tidy_gone_days(output: Path, days: Collection[str]) -> None:
    """Clean up after killed runs in the results of days that no longer exist."""
    for folder in inner_results(output):
        if folder.name not in days:
            with suppress(OutputFolderError), output_folder(folder):  # another run may be using it
                pass


def without_places(text: str, *folders: Path) -> str:
    """Remove these folders from the paths in a message, since a page may be shared."""
    places = {place for path in folders for place in (path, path.resolve(), path.absolute())}
    for place in sorted((shown_name(p) for p in places if p != Path()), key=len, reverse=True):
        # A short relative name, such as "out", may be part of another word.
        end = "/?" if place.startswith("/") else r"(?:/|(?![\w.-]))"
        text = re.sub(rf"(?<![\w./-]){re.escape(place)}{end}", "", text)
    return text


def overview_above(folder: Path) -> Path | None:
    """Return the folder whose overview shows the result of a day, or None.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    """
    folder = folder.absolute()
    above = folder.parent
    data = _overview(above)
    is_shown = data is not None and folder.name in [name for name, _, _ in _days(above, data)]
    return above if is_shown else None


def overview_is_current(folder: Path) -> bool:
    """Whether the overview in a folder, if there is one, shows the events of all days.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    """
    data = _overview(folder)
    for name, shown, _ in () if data is None else _days(folder, data):
        if not (folder / name).is_dir():
            return False
        if shown is not None and shown.get("base") != events_mark(
            read_events(folder / name / EVENTS)
        ):
            return False
    return True


def renew_overview(folder: Path) -> None:
    """Write the overview of several days again, without those whose results were removed.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    """
    with output_folder(folder):
        data = _overview(folder)
        if data is None:
            raise UnreadableFileError(
                f"{folder / 'index.html'}: not an overview of days; run dayline segment again"
            )
        days: list[tuple[str, DescribedDay | str]] = []
        for name, shown, why in _days(folder, data):
            if shown is None:
                days.append((name, str(why)))
            elif (folder / name).is_dir():
                refuse_link(folder / name)
                days.append((name, read_day(folder / name)))
        _write_overview(folder, str(data["title"]), days)


def save_trip_name(folder: Path, text: str) -> None:
    """Keep the name that a person gave to a trip, and show it on the overview.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    text : str
        As JSON, the days of the trip, as the overview names them, and the name; an empty one takes
        it back.
    """
    content = parse_json(text)
    if not isinstance(content, dict):
        raise ValueError("a trip must be an object")
    name, addresses = content.get("name"), content.get("days")
    if not isinstance(name, str) or not isinstance(addresses, list):
        raise ValueError("a trip needs its days and a name")
    with output_folder(folder):
        data = _overview(folder) or {"folders": (), "days": (), "why": ()}
        known = dict(zip(data["folders"], _days(folder, data), strict=True))
        if not addresses or not {str(one) for one in addresses} <= known.keys():
            raise ValueError("the overview no longer shows these days; reload the page")
        days = [read_events(folder / known[str(one)][0] / EVENTS) for one in addresses]
        name_trip(folder, days, name)
        renew_overview(folder)


def renew_places(
    folder: Path, sources: Callable[[DescribedDay], Path | None]
) -> tuple[DescribedDay, ...]:
    """Give the places of all days the names that a person gave on the page of any of them.

    Parameters
    ----------
    folder : Path
        The folder of all days, with the file of their places.
    sources : callable
        Returns the photos of a day, if they are found.
    """
    with output_folder(folder):
        found = _days(folder, _overview(folder) or {"folders": (), "days": (), "why": ()})
        days = [read_day(folder / name) for name, shown, _ in found if shown is not None]
        return recognize_places(
            days, folder / PLACES, sources={day.folder: sources(day) for day in days}
        )


def day_folders(folder: Path) -> list[Path]:
    """Return the results of the days in a folder, in the order of its overview.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    """
    data = _overview(folder)
    if data is None:
        raise UnreadableFileError(f"{folder}: not a result of photos; run dayline segment first")
    return [folder / name for name, shown, _ in _days(folder, data) if shown is not None]


def _overview(folder: Path) -> dict[str, Any] | None:
    is_own = (folder / MARK).is_file() and not (folder / "index.html").is_symlink()
    return overview_data(folder) if is_own else None


def _days(folder: Path, data: dict[str, Any]) -> list[tuple[str, dict[str, Any] | None, str]]:
    """Return each day's folder, what the overview shows of it, and why it has no result."""
    page = folder / "index.html"
    with reading(page, "an overview of days"):
        names = [os.fsdecode(unquote_to_bytes(address)) for address in data["folders"]]
        if any(name == ".." or Path(name).name != name for name in names):
            raise ValueError("a day is in another folder")
        if any(shown is not None and not isinstance(shown, dict) for shown in data["days"]):
            raise ValueError("a day is not an object")
        return list(zip(names, data["days"], data["why"], strict=True))


def _pictures(data: dict[str, Any]) -> tuple[dict[int, str], dict[int, float]]:
    """Return the pictures that the page of a day shows, and their width by height, by frame."""
    addresses = enumerate(data.get("pictures") or ())
    ratios = enumerate(data.get("ratios") or ())
    return (
        {frame: unquote(address) for frame, address in addresses if address is not None},
        {frame: float(ratio) for frame, ratio in ratios if ratio is not None},
    )
