"""Write the page of one result: a folder that opens from disk, offline, in any browser."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

import numpy as np

from dayline.album.page.graph_picture import Drawable, graph_image
from dayline.album.page.template import embedded_data, render
from dayline.album.pictures import remove_thumbnails
from dayline.arrays import Array
from dayline.events import Segmentation
from dayline.files import UnreadableFileError, reading, write_text_whole, writing_whole

PicturePath: TypeAlias = str | Path
Pictures: TypeAlias = Mapping[int, PicturePath] | Callable[[int], PicturePath | None]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEARS_1_TO_9999 = (-62_135_596_800, 253_402_300_800)


def write_page(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    thumbnails: Pictures | None = None,
    graph: Array | Drawable | None = None,
    communities: Sequence[int] | None = None,
    title: str | None = None,
    blurred: bool = False,
    originals: Sequence[Path] | None = None,
    film: Path | None = None,
) -> Path:
    """Write `folder`/index.html, where a person sees, corrects, names and saves the events.

    Parameters
    ----------
    segmentation : Segmentation
        The events to show.
    folder : str or Path
        Where to write the page; created if missing.
    thumbnails : mapping or callable, optional
        Maps frame numbers to pictures, as `write_thumbnails` returns: paths in `folder`, relative
        to it or absolute. Frames may be missing (a callable then returns None). If None, the page
        has no pictures. Pictures of an earlier run that the page does not show are removed.
    graph : array of shape (n_frames, n_frames) or Drawable, optional
        Shown as a picture.
    communities : sequence of int, optional
        Community of every frame; an event that a person changes gets the most frequent one of its
        frames.
    title : str, optional
        Heading; by default the date or the name of the source.
    blurred : bool
        Whether faces are blurred in all pictures of the result; the page says so if it has any, and
        later runs know it.
    originals : sequence of Path, optional
        The photo of every frame. The page links to it by a relative path, unless that would name
        folders above the user's own (see `relative_addresses`).
    film : Path, optional
        The video that the page plays, found in the same way.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    _check(segmentation, communities, originals)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = _picture_addresses(thumbnails, segmentation.n_frames, folder)
    _write_graph(graph, segmentation.n_frames, folder)

    when, named = day_heading(segmentation), title or segmentation.source
    is_day = title is None and when is not None
    data = {
        "segmentation": json.loads(segmentation.to_json()),
        "pictures": pictures,
        "communities": None if communities is None else [int(c) for c in communities],
        "dated": segmentation.is_dated,
        "originals": None if originals is None else relative_addresses(originals, folder),
        "film": None if film is None else relative_addresses([film], folder)[0],
        # Within the data, so that the page can be renewed without the photos.
        "about": {
            "heading": when if is_day else named or "Events",
            "overline": named if is_day else when,
            "blurred": blurred,
            "shape": _shape(pictures, folder),
            "graph": graph is not None,
        },
    }
    path = folder / "index.html"
    write_text_whole(path, _html(segmentation, data))
    # Only now: if the page cannot be written, the previous one keeps its pictures.
    remove_thumbnails(folder, keep={address for address in pictures or () if address})
    return path


def renew_page(segmentation: Segmentation, folder: str | Path) -> Path:
    """Write `folder`/index.html again with other events of the same frames; the rest stays.

    Parameters
    ----------
    segmentation : Segmentation
        The events to show.
    folder : str or Path
        The folder of a page that `write_page` wrote.

    Raises
    ------
    ValueError
        If there is no such page, or it is about other frames.
    """
    path = Path(folder) / "index.html"
    data = page_data(path)
    with reading(path, "a page of dayline"):
        shown = None if data is None else Segmentation.from_json(json.dumps(data["segmentation"]))
        if data is None or shown is None or frames_mark(shown) != frames_mark(segmentation):
            raise UnreadableFileError(
                f"{path}: not a page of these frames; run dayline segment again"
            )
        text = _html(segmentation, {**data, "segmentation": json.loads(segmentation.to_json())})
    write_text_whole(path, text)
    return path


def page_data(path: Path) -> dict[str, Any] | None:
    """Return the data in a page that `write_page` wrote; None if it is another file.

    Parameters
    ----------
    path : Path
        The page.
    """
    data = embedded_data(path)
    return data if data is not None and isinstance(data.get("about"), dict) else None


def day_heading(segmentation: Segmentation) -> str | None:
    """Return the date, or the first and the last one; None if the clock has no date."""
    if not segmentation.is_dated or segmentation.times is None:
        return None
    first = EPOCH + timedelta(seconds=min(segmentation.times))
    last = EPOCH + timedelta(seconds=max(segmentation.times))
    if (last.year, last.month) != (first.year, first.month):
        year = "" if last.year == first.year else f" {first:%Y}"
        return f"{first.day} {first:%B}{year} – {last.day} {last:%B %Y}"
    if last.day != first.day:
        return f"{first.day}–{last.day} {last:%B %Y}"
    return f"{first:%A} {first.day} {first:%B %Y}"


def frames_mark(segmentation: Segmentation) -> str:
    """Return a mark of the recording, the same for all pages with the same frames.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    s = segmentation
    if s.digests is not None:
        return _mark([s.clock, s.digests])
    return _mark([s.source, s.n_frames, s.clock, s.names, s.times])


def events_mark(segmentation: Segmentation) -> str:
    """Return a mark of what a person can edit, the events and the places.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    events = [asdict(event) for event in segmentation.events]
    return _mark([events, [asdict(place) for place in segmentation.places]])


def _mark(content: object) -> str:
    return hashlib.sha256(json.dumps(_as_floats(content)).encode("ascii")).hexdigest()[:24]


def _as_floats(value: Any) -> Any:
    """Make all numbers floats: a browser writes 3.0 as 3."""
    if isinstance(value, dict):
        return {key: _as_floats(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_floats(inner) for inner in value]
    return float(value) if isinstance(value, int) else value


def relative_addresses(files: Sequence[Path], folder: Path) -> list[str | None]:
    """Return the URLs of files relative to a page in `folder`; None for one that must not be named.

    An address names the folders between the file and the page. It must not say whose computer this
    is: there is none if only the root of the disk, or a folder above the user's own, contains both.

    Parameters
    ----------
    files : sequence of Path
        The files. They are not read, and links among them are not followed.
    folder : Path
        The folder of the page.
    """
    page = folder.resolve()
    try:
        above_home = set(Path.home().resolve().parents)
    except RuntimeError:  # a user without a home
        above_home = set()
    folders = {parent: parent.resolve() for parent in {file.parent for file in files}}

    addresses: list[str | None] = []
    for file in files:
        path = folders[file.parent] / file.name
        try:
            shared = Path(os.path.commonpath([path, page]))
        except ValueError:  # two drives of Windows
            shared = Path(path.anchor)
        if shared == Path(shared.anchor) or shared in above_home:
            addresses.append(None)
        else:
            addresses.append(quote(os.fsencode(Path(os.path.relpath(path, page)).as_posix())))
    return addresses


def _check(
    segmentation: Segmentation, communities: Sequence[int] | None, originals: Sequence[Path] | None
) -> None:
    for what in ("scores", "times"):
        finite = np.isfinite(np.asarray(getattr(segmentation, what) or (), dtype=float))
        if not finite.all():
            raise ValueError(
                f"frame {int(np.argmin(finite))} has no finite value in {what}; set {what} to None"
            )
    first, end = YEARS_1_TO_9999
    in_years = [first <= time < end for time in segmentation.times or ()]
    if segmentation.clock == "wall" and not all(in_years):
        raise ValueError(
            f"the time of frame {in_years.index(False)} lies outside the years 1 to 9999; set times"
            " to None"
        )
    for name, values in (("originals", originals), ("communities", communities)):
        if values is not None and len(values) != segmentation.n_frames:
            raise ValueError(f"{len(values)} {name} for {segmentation.n_frames} frames")


def _picture_addresses(
    thumbnails: Pictures | None, n_frames: int, folder: Path
) -> list[str | None] | None:
    """Return the URL of every picture relative to the page; it must lie in the folder."""
    if thumbnails is None:
        return None
    path_of = thumbnails.get if isinstance(thumbnails, Mapping) else thumbnails
    addresses: list[str | None] = []
    inside = folder.resolve()
    for frame in range(n_frames):
        path = path_of(frame)
        if path is None:
            addresses.append(None)
            continue
        whole = (inside / path).resolve()
        # A picture elsewhere could not be shared with the page.
        if not whole.is_relative_to(inside) or not whole.is_file():
            raise ValueError(
                f"frame {frame}: picture {path} is not a file in {folder}; write it there first"
            )
        addresses.append(quote(str(PurePosixPath(whole.relative_to(inside)))))
    return addresses if any(addresses) else None


def _write_graph(graph: Array | Drawable | None, n_frames: int, folder: Path) -> None:
    if graph is None:
        (folder / "graph.png").unlink(missing_ok=True)
        return
    if tuple(graph.shape) != (n_frames, n_frames):
        raise ValueError(f"graph has shape {tuple(graph.shape)}, but there are {n_frames} frames")
    with writing_whole(folder / "graph.png", "wb") as file:
        file.write(graph_image(graph))


def _shape(pictures: list[str | None] | None, folder: Path) -> str:
    """Return the aspect of the pictures, so that the page reserves the right space for them."""
    first = next((unquote(address) for address in pictures or () if address), None)
    if first is None:
        return "none"
    from PIL import Image, UnidentifiedImageError

    with reading(first, "a picture"):
        try:
            with Image.open(folder / first) as picture:
                ratio = picture.width / picture.height
        except UnidentifiedImageError:
            # Pillow's own message contains the whole path.
            raise UnreadableFileError(f"{first}: not a picture; write it again") from None
    for shape, least in (("film", 1.6), ("wide", 1.15), ("square", 0.87)):
        if ratio > least:
            return shape
    return "tall"


def _html(segmentation: Segmentation, data: Mapping[str, Any]) -> str:
    data = {**data, "key": frames_mark(segmentation), "base": events_mark(segmentation)}
    return render("page", {"segmentation": segmentation, **data["about"]}, data=data)
