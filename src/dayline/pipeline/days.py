"""A folder with one folder per day: one result per day, and a page that leads to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from dayline.events import Segmentation
from dayline.files import output_folder
from dayline.frames.names import shown_name
from dayline.report.overview import Day, write_overview

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
        Why it has no result; empty where it has one.
    pictures : mapping of int to str
        Picture of every frame, within `folder`.
    """

    source: Path
    folder: Path
    segmentation: Segmentation | None = None
    why: str = ""
    pictures: Mapping[int, str] = field(default_factory=dict)


def segment_days(
    days: Sequence[Path], folder: str | Path, *, segment_day: SegmentDay, title: str
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
    """
    with output_folder(folder) as folder:
        results = tuple(_day(day, folder / day.name, segment_day) for day in days)
        if all(result.segmentation is None for result in results):
            raise ValueError(f"none of {len(results)} days could be used; the first: {results[0].why}")
        rows = [Day(shown_name(r.source.name), r.folder.name, r.segmentation, r.why, r.pictures) for r in results]
        write_overview(rows, folder, title=title)
    return results


def _day(day: Path, folder: Path, segment_day: SegmentDay) -> DayResult:
    try:
        segmentation, pictures = segment_day(day, folder)
    except ValueError as error:
        # The page may be shared; where the photos lie on this machine is not for it.
        return DayResult(day, folder, why=str(error).removeprefix(f"{shown_name(day)}: "))
    except (FileNotFoundError, PermissionError) as error:
        # Photos that vanish, or may not be read, on the way.
        return DayResult(day, folder, why=f"{shown_name(Path(error.filename or day).name)}: {error.strerror}")
    return DayResult(day, folder, segmentation, pictures=pictures)
