"""Write a page to give away: chosen days and events of a result, without what is hidden there.

What the page tells of them is decided in `dayline.album.export.story` (`Telling`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from dayline.album.days import day_folders
from dayline.album.export.folder import replacing_folder
from dayline.album.export.story import SharedDay, Telling, Written, write_story
from dayline.album.hidden import shown_events, shown_frames, without_hidden
from dayline.album.page.overview import overview_data
from dayline.album.page.page import frames_mark, page_data
from dayline.album.pictures import FOLDER as THUMBNAILS
from dayline.album.pictures import GENERATED_NAME
from dayline.album.save import find_source, is_result
from dayline.events import Segmentation, read_events
from dayline.files import UnreadableFileError, read_no_follow
from dayline.media.faces import face_blurrer
from dayline.progress import OnStep, no_report
from dayline.result_folder import EVENTS, MARK, OutputFolderError

PAGES = (".html", ".htm")
OURS = b'<meta name="generator" content="dayline share">'
MEGABYTE = 1e6
EXTENSION = re.compile(r"\.[A-Za-z]\w{1,4}", re.ASCII)
"""Endings of file names; a folder may be called "2023.07" or "St. Ives"."""


def share(
    result: str | Path,
    output: str | Path,
    *,
    days: Sequence[int] = (),
    events: Sequence[int] = (),
    telling: Telling | None = None,
    source: Path | None = None,
    blur_faces: bool = False,
    max_mb: float | None = None,
    force: bool = False,
    on_step: OnStep = no_report,
) -> Written:
    """Write a page with the photos of a result, without those that are hidden.

    Parameters
    ----------
    result : str or Path
        The folder of a result of photos, also of several days.
    output : str or Path
        A file (.html), which contains the pictures, or a folder.
    days : sequence of int
        Numbers of days, from 1, as on the overview; empty for all.
    events : sequence of int
        Numbers of events of one day, from 1, as on its page; empty for all.
    telling : Telling, optional
        What the page says of places, locations and files; nothing by default.
    source : Path, optional
        The photos; if not given, they are searched for next to the result, and if they are not
        there, the small pictures of the result are used.
    blur_faces : bool
        Blur faces (extra "faces"); they are, if they are blurred in the result.
    max_mb : float, optional
        Megabytes that the page may have with its pictures (see `write_story`).
    force : bool
        Replace a file, or a folder, that dayline did not write.
    on_step : callable
        Called as on_step("pictures", done, total).
    """
    result, output = Path(result), Path(output)
    if any((parent / MARK).is_file() for parent in (output, *output.absolute().parents)):
        raise OutputFolderError(
            f"{output}: is within a result, which has hidden photos, too; choose another place (-o)"
        )
    shared = _chosen(result, days, events, source)
    blur_faces = blur_faces or any(day.is_blurred for day in shared)
    blur = face_blurrer() if blur_faces else None

    is_file = output.suffix.lower() in PAGES
    if not is_file and EXTENSION.fullmatch(output.suffix) and not output.is_dir():
        raise ValueError(f"{output}: give a file that ends with .html, or a folder (no extension)")
    if is_file:
        _check_is_ours(output, force=force)
    output.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext() if is_file else replacing_folder(output, force=force) as made:
        if made is not None:
            (made / "pictures").mkdir()
        return write_story(
            shared,
            output if made is None else made / "index.html",
            folder=None if made is None else made / "pictures",
            telling=telling,
            blur=blur,
            max_bytes=None if max_mb is None else max_mb * MEGABYTE,
            on_step=on_step,
        )


def _chosen(
    result: Path, days: Sequence[int], events: Sequence[int], source: Path | None
) -> list[SharedDay]:
    """Return the chosen days with the chosen events."""
    if is_result(result):
        folders = [result]
        if days:
            raise ValueError(f"{result}: is one day; choose its events (--events), not days")
    else:
        folders = day_folders(result)
        for number in days:
            if not 1 <= number <= len(folders):
                last = len(folders)
                raise ValueError(f"--days: there is no day {number}; they are 1 to {last}")
        folders = [folders[number - 1] for number in sorted(set(days))] or folders
        # Days are in folders of the one beside the result that the overview is called by.
        name = Path(str((overview_data(result) or {}).get("title", ""))).name
        beside = result.resolve().parent / name
        source = beside if source is None and name and beside.is_dir() else source
    if events and len(folders) > 1:
        raise ValueError("events are numbered within a day; choose one day, too (--days)")

    found = (_shared_day(folder, events, source) for folder in folders)
    shared = [day for day in found if day is not None]
    if not shared:
        raise ValueError(f"{result}: all photos are hidden; show some on the page first")
    return shared


def _shared_day(folder: Path, events: Sequence[int], source: Path | None) -> SharedDay | None:
    """Return what is shown of the result of a day; None if all of it is hidden."""
    segmentation = read_events(folder / EVENTS)
    if segmentation.clock == "media":
        raise ValueError(
            f"{folder}: is the result of a film; dayline export writes clips and chapters of it"
        )
    visible = shown_events(segmentation)
    for number in events:
        if not 1 <= number <= len(segmentation.events):
            last = len(segmentation.events)
            raise ValueError(f"--events: there is no event {number}; they are 1 to {last}")
        if number - 1 not in visible:
            raise ValueError(
                f"--events: event {number} is hidden; show it on the page, or leave it out"
            )

    numbers = {number - 1 for number in events} or set(visible)
    labels = segmentation.labels.tolist()
    frames = [frame for frame in shown_frames(segmentation) if labels[frame] in numbers]
    hidden = sorted(set(range(segmentation.n_frames)).difference(frames))
    shown = without_hidden(replace(segmentation, hidden=tuple(hidden)))
    if shown is None:
        return None
    small, is_blurred = _small_pictures(folder, segmentation)
    return SharedDay(
        shown,
        find_source(segmentation, folder, source),
        {k: small[frame] for k, frame in enumerate(frames) if frame in small},
        is_blurred,
    )


def _small_pictures(folder: Path, segmentation: Segmentation) -> tuple[dict[int, Path], bool]:
    """Return the pictures on the page of a day by frame, and whether faces are blurred in them."""
    data = page_data(folder / "index.html")
    if data is None or data.get("key") != frames_mark(segmentation):
        raise UnreadableFileError(
            f"{folder / 'index.html'}: not a page of these photos; run dayline segment again"
        )
    found = {}
    for frame, address in enumerate((data.get("pictures") or ())[: segmentation.n_frames]):
        above, _, name = unquote(address or "").rpartition("/")
        if above == THUMBNAILS and GENERATED_NAME.fullmatch(name):
            path = folder / THUMBNAILS / name
            if not path.is_symlink() and not path.parent.is_symlink():
                found[frame] = path
    return found, bool(data["about"].get("blurred"))


def _check_is_ours(path: Path, *, force: bool) -> None:
    """Raise if a page that dayline did not write is in the way."""
    if path.is_dir():
        raise OutputFolderError(f"{path}: is a folder; choose another name")
    if path.exists() and not force and OURS not in (read_no_follow(path) or b"")[:2000]:
        raise OutputFolderError(
            f"{path}: exists, but dayline did not write it; choose another file (-o) or use --force"
        )
