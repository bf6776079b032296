"""A folder with one folder per day: one result per day, and an overview that links to them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, unquote_to_bytes

from dayline.album.corrections import warn_of_absent_events
from dayline.album.earlier import (
    EVENTS,
    kept_edits,
    refuse_other_result,
    source_digests,
    take_in_all,
)
from dayline.album.page.overview import Day, overview_data, write_overview
from dayline.album.page.page import events_mark, page_data
from dayline.album.photo_days import PhotoDay
from dayline.album.pictures import remove_thumbnails
from dayline.album.places import EventFeatures, similar_events
from dayline.album.places_file import PLACES
from dayline.album.recognize import DescribedDay, Rewrite, read_day, recognise_places
from dayline.album.write import remove_other_pictures
from dayline.events import Segmentation, read_events
from dayline.files import UnreadableFileError, reading, refuse_link
from dayline.media.frame import shown_name
from dayline.result_folder import MARK, OutputFolderError, output_folder

SegmentDay: TypeAlias = Callable[[Any, Path], tuple[Segmentation, Mapping[int, str]]]
"""Called with a day, as a folder of photos or as a `PhotoDay`, and the folder of its result."""


@dataclass(frozen=True)
class DayResult:
    """One day: its folder of photos and its result, or the reason why it has none.

    Attributes
    ----------
    source : Path
        The folder of its photos; that of all days if they share folders.
    folder : Path
        Folder of its result, which has the name of the day.
    segmentation : Segmentation or None
        Its events.
    why : str
        Why it has no result; empty if it has one.
    why_on_page : str
        The same without local paths and names of files that are not photos.
    pictures : mapping of int to str
        Picture of every frame, within `folder`.
    """

    source: Path
    folder: Path
    segmentation: Segmentation | None = None
    why: str = ""
    why_on_page: str = ""
    pictures: Mapping[int, str] = field(default_factory=dict)


def segment_days(
    days: Sequence[Path | PhotoDay],
    folder: str | Path,
    *,
    segment_day: SegmentDay,
    title: str,
    source: Path | None = None,
    thumbnails: bool = True,
    places: Path | None = None,
    rewrite: Rewrite | None = None,
) -> tuple[DayResult, ...]:
    """Segment each day into a folder of its own and write `folder`/index.html, which links to them.

    A day whose photos cannot be used is named on the page; the other days are still segmented.

    Parameters
    ----------
    days : sequence of Path or PhotoDay
        Folders of photos, or days found by the times of photos (see `find_days`).
    folder : str or Path
        Where the results go.
    segment_day : callable
        Called with a day, as it is in `days`, and the folder of its result; writes the
        result and returns the events and the picture of every frame.
    title : str
        Heading of the page.
    source : Path, optional
        The folder that holds the days. If given, `folder` must not hold the result of another one.
    thumbnails : bool
        Whether the pages show photos. If not, pictures of days that are gone or cannot be used are
        removed, too.
    places : Path, optional
        The file of places that recur on several days; `folder`/places.json by default.
    rewrite : callable, optional
        See `recognise_places`.
    """
    if source is not None:
        name = shown_name(source.resolve().name)
        refuse_other_result(Path(folder), "days", name, source_digests(source))
    with output_folder(folder) as folder:
        take_in_all(folder)
        results = tuple(_day(day, folder, segment_day) for day in days)
        if all(result.segmentation is None for result in results):
            raise ValueError(
                f"none of the {len(results)} days could be used; the first: {results[0].why}"
            )
        results, described = _with_places(
            results, folder / PLACES if places is None else places, rewrite
        )
        rows = [
            Day(shown_name(r.folder.name), r.folder.name, r.segmentation, r.why_on_page, r.pictures)
            for r in results
        ]
        looks = [described[r.folder].features if r.folder in described else None for r in results]
        write_overview(rows, folder, title=title, similar=similar_events(looks))
        # They belong to the page of an earlier run without days, which has just been replaced.
        remove_thumbnails(folder)
        if not thumbnails:
            remove_other_pictures(
                folder, days=[r.folder.name for r in results if r.segmentation is not None]
            )
        _tidy_gone_days(folder, {result.folder.name for result in results})
        if edits := kept_edits(folder):
            found = [day.segmentation.digests or () for day in described.values()]
            warn_of_absent_events(edits, {digest for digests in found for digest in digests})
    return results


def _with_places(
    results: Sequence[DayResult], path: Path, rewrite: Rewrite | None
) -> tuple[tuple[DayResult, ...], dict[Path, DescribedDay]]:
    """Recognize the places of all days that have a result; return also what their events look like."""
    used = [read_day(result.folder) for result in results if result.segmentation is not None]
    found = {day.folder: day for day in recognise_places(used, path, rewrite=rewrite)}
    named = (
        (
            replace(result, segmentation=found[result.folder].segmentation)
            if result.folder in found
            else result
        )
        for result in results
    )
    return tuple(named), found


def _tidy_gone_days(output: Path, days: Collection[str]) -> None:
    """Clean up after killed runs in the results of days that no longer exist."""
    for folder in output.iterdir():
        if folder.name not in days and not folder.is_symlink() and (folder / MARK).is_file():
            with suppress(OutputFolderError), output_folder(folder):  # another run may be using it
                pass


def _day(day: Path | PhotoDay, output: Path, segment_day: SegmentDay) -> DayResult:
    folder = output / day.name
    source = day if isinstance(day, Path) else day.sequence.source
    try:
        refuse_link(folder)
        segmentation, pictures = segment_day(day, folder)
    except OutputFolderError as error:
        # The message names other files in the folder: fine for the person who runs this, but not
        # for the page.
        return DayResult(
            source, folder, why=str(error), why_on_page="its result could not be written"
        )
    except ValueError as error:
        why = str(error).removeprefix(f"{shown_name(source)}: ")
        return DayResult(
            source, folder, why=why, why_on_page=without_places(why, source.parent, output)
        )
    except (FileNotFoundError, PermissionError) as error:
        # A photo was removed during the run, or its permissions forbid reading it.
        why = f"{shown_name(Path(error.filename or source).name)}: {error.strerror}"
        return DayResult(source, folder, why=why, why_on_page=why)
    return DayResult(source, folder, segmentation, pictures=pictures)


def without_places(text: str, *folders: Path) -> str:
    """Remove these folders from the paths in a message: a page that is shared must not reveal local paths."""
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
    return data is None or all(
        (folder / name).is_dir() and (shown is None or shown.get("base") == _mark(folder / name))
        for name, shown, _ in _days(folder, data)
    )


def renew_overview(folder: Path) -> None:
    """Write the overview of several days again: the same days, less those whose results were removed.

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
        days: list[Day] = []
        looks: list[EventFeatures | None] = []
        for name, shown, why in _days(folder, data):
            result = folder / name
            if shown is not None and not result.is_dir():
                continue
            refuse_link(result)
            found = None if shown is None else read_day(result)
            segmentation = None if found is None else found.segmentation
            days.append(
                Day(
                    shown_name(name),
                    name,
                    segmentation,
                    why,
                    {} if found is None else _pictures(result),
                )
            )
            looks.append(None if found is None else found.features)
        write_overview(days, folder, title=str(data["title"]), similar=similar_events(looks))


def _overview(folder: Path) -> dict[str, Any] | None:
    is_own = (folder / MARK).is_file() and not (folder / "index.html").is_symlink()
    return overview_data(folder) if is_own else None


def _days(folder: Path, data: dict[str, Any]) -> list[tuple[str, dict[str, Any] | None, str]]:
    """Return the name of each day's folder, what the overview shows of it, and why it has no result."""
    page = folder / "index.html"
    if "folders" not in data:
        raise UnreadableFileError(
            f"{page}: written by an earlier version; run dayline segment again"
        )
    with reading(page, "an overview of days"):
        names = [os.fsdecode(unquote_to_bytes(address)) for address in data["folders"]]
        if any(name == ".." or Path(name).name != name for name in names):
            raise ValueError("a day is in another folder")
        if any(shown is not None and not isinstance(shown, dict) for shown in data["days"]):
            raise ValueError("a day is not an object")
        return list(zip(names, data["days"], data["why"], strict=True))


def _mark(folder: Path) -> str:
    return events_mark(read_events(folder / EVENTS))


def _pictures(folder: Path) -> dict[int, str]:
    """Return the pictures that the page of a day shows, by the number of their frame."""
    addresses = (page_data(folder / "index.html") or {}).get("pictures") or ()
    return {
        frame: unquote(address) for frame, address in enumerate(addresses) if address is not None
    }
