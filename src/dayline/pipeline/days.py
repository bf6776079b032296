"""A folder with one folder per day: one result per day, and a page that leads to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from dayline.events import Segmentation
from dayline.frames.names import shown_name
from dayline.io.files import refuse_link
from dayline.io.output_folder import OutputFolderError, output_folder
from dayline.pipeline.outputs import remove_other_pictures
from dayline.report.overview import Day, write_overview
from dayline.report.thumbnails import remove_thumbnails

__all__ = ["DayResult", "segment_days"]


SegmentDay: TypeAlias = Callable[[Path, Path], tuple[Segmentation, Mapping[int, str]]]


@dataclass(frozen=True)
class DayResult:
    """One day: its folder of photos, its result, or why it has none.

    Attributes
    ----------
    source : Path
        The folder of its photos.
    folder : Path
        Where its result lies.
    segmentation : Segmentation or None
        Its events.
    why : str
        Why it has no result; empty if it has one.
    why_on_page : str
        The same without paths of this machine and names of files that are not photos.
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
    days: Sequence[Path], folder: str | Path, *, segment_day: SegmentDay, title: str, thumbnails: bool = True
) -> tuple[DayResult, ...]:
    """Segment each day into a folder of its own and write `folder`/index.html, which leads to them.

    A day whose photos cannot be used is named on the page, and the others go on.

    Parameters
    ----------
    days : sequence of Path
        Folders of photos (see `dayline.frames.day_folders`).
    folder : str or Path
        Where the results go.
    segment_day : callable
        Called with a day's folder and the folder of its result; writes the
        result and returns its events and the picture of every frame.
    title : str
        Heading of the page.
    thumbnails : bool
        Whether the pages show photos. If not, pictures of days that are no longer among `days` are removed, too.
    """
    with output_folder(folder) as folder:
        results = tuple(_day(day, folder, segment_day) for day in days)
        if all(result.segmentation is None for result in results):
            raise ValueError(f"none of {len(results)} days could be used; the first: {results[0].why}")
        rows = [
            Day(shown_name(r.source.name), r.folder.name, r.segmentation, r.why_on_page, r.pictures) for r in results
        ]
        write_overview(rows, folder, title=title)
        # The page that showed them was that of an earlier run without days.
        remove_thumbnails(folder)
        if not thumbnails:
            remove_other_pictures(folder, days=[day.name for day in days])
    return results


def _day(day: Path, output: Path, segment_day: SegmentDay) -> DayResult:
    folder = output / day.name
    try:
        refuse_link(folder)
        segmentation, pictures = segment_day(day, folder)
    except OutputFolderError as error:
        # Its message names what else is in the folder; that is for the person who runs this, not for the page.
        return DayResult(day, folder, why=str(error), why_on_page="its result could not be written")
    except ValueError as error:
        why = str(error).removeprefix(f"{shown_name(day)}: ")
        return DayResult(day, folder, why=why, why_on_page=_without_places(why, day, output))
    except (FileNotFoundError, PermissionError) as error:
        # Photos that vanish, or may not be read, on the way.
        why = f"{shown_name(Path(error.filename or day).name)}: {error.strerror}"
        return DayResult(day, folder, why=why, why_on_page=why)
    return DayResult(day, folder, segmentation, pictures=pictures)


def _without_places(text: str, day: Path, output: Path) -> str:
    """Cut a message's paths down to names: where files lie on this machine is not for a page to share."""
    places = {place for path in (day.parent, output) for place in (path, path.resolve(), path.absolute())}
    for place in sorted((shown_name(p) for p in places if p != Path()), key=len, reverse=True):
        text = text.replace(f"{place}/", "").replace(place, "")
    return text
