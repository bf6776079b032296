"""A folder with one folder per day: one result per day, and a page that links to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from dayline.events import Segmentation
from dayline.frames.names import shown_name
from dayline.io.files import refuse_link
from dayline.io.output_folder import MARK, OutputFolderError, output_folder
from dayline.pipeline.earlier_result import refuse_other_result
from dayline.pipeline.outputs import remove_other_pictures
from dayline.pipeline.photo_days import PhotoDay
from dayline.pipeline.places_file import PLACES
from dayline.pipeline.recognise import DescribedDay, Rewrite, read_day, recognise_places
from dayline.pipeline.similar import similar_events
from dayline.report.overview import Day, write_overview
from dayline.report.thumbnails import remove_thumbnails

__all__ = ["DayResult", "segment_days", "without_places"]


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
        Whether the pages show photos. If not, pictures of days that are gone or cannot be used are removed, too.
    places : Path, optional
        The file of places that recur on several days; `folder`/places.json by default.
    rewrite : callable, optional
        See `recognise_places`.
    """
    if source is not None:
        refuse_other_result(Path(folder), "days", source)
    with output_folder(folder) as folder:
        results = tuple(_day(day, folder, segment_day) for day in days)
        if all(result.segmentation is None for result in results):
            raise ValueError(f"none of the {len(results)} days could be used; the first: {results[0].why}")
        results, described = _with_places(results, folder / PLACES if places is None else places, rewrite)
        rows = [
            Day(shown_name(r.folder.name), r.folder.name, r.segmentation, r.why_on_page, r.pictures) for r in results
        ]
        looks = [described[r.folder].features if r.folder in described else None for r in results]
        write_overview(rows, folder, title=title, similar=similar_events(looks))
        # They belong to the page of an earlier run without days, which has just been replaced.
        remove_thumbnails(folder)
        if not thumbnails:
            remove_other_pictures(folder, days=[r.folder.name for r in results if r.segmentation is not None])
        _tidy_gone_days(folder, {result.folder.name for result in results})
    return results


def _with_places(
    results: Sequence[DayResult], path: Path, rewrite: Rewrite | None
) -> tuple[tuple[DayResult, ...], dict[Path, DescribedDay]]:
    """Recognize the places of all days that have a result; return also what their events look like."""
    used = [read_day(result.folder) for result in results if result.segmentation is not None]
    found = {day.folder: day for day in recognise_places(used, path, rewrite=rewrite)}
    named = (
        replace(result, segmentation=found[result.folder].segmentation) if result.folder in found else result
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
        # The message names other files in the folder: fine for the person who runs this, but not for the page.
        return DayResult(source, folder, why=str(error), why_on_page="its result could not be written")
    except ValueError as error:
        why = str(error).removeprefix(f"{shown_name(source)}: ")
        return DayResult(source, folder, why=why, why_on_page=without_places(why, source.parent, output))
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
