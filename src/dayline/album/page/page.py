"""Write the page of one result: a folder that opens from disk, offline, in any browser."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from dayline.album.calendars import Entry
from dayline.album.hidden import without_hidden
from dayline.album.page.addresses import is_moved, renew_addresses
from dayline.album.page.graph_picture import Drawable, graph_image
from dayline.album.page.template import embedded_data, render
from dayline.album.pictures import remove_thumbnails
from dayline.album.titles import titles_of_levels
from dayline.arrays import Array
from dayline.events import Segmentation
from dayline.files import UnreadableFileError, reading, write_text_whole, writing_whole
from dayline.text import kinds_text

MOST_DAY_TITLES = 3
YEARS_1_TO_9999 = (-62_135_596_800, 253_402_300_800)


def write_page(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    thumbnails: Mapping[int, str] | None = None,
    graph: Array | Drawable | None = None,
    communities: Sequence[int] | None = None,
    blurred: bool = False,
    originals: Sequence[Path] | None = None,
    live: Mapping[int, Path] | None = None,
    film: Path | None = None,
    day_map: Mapping[str, Any] | None = None,
    calendar: Sequence[Entry] = (),
) -> Path:
    """Write `folder`/index.html, where a person sees, corrects, names and saves the events.

    Parameters
    ----------
    segmentation : Segmentation
        The events to show.
    folder : str or Path
        Where to write the page; created if missing.
    thumbnails : mapping of int to str, optional
        The picture of every frame that has one, relative to `folder` (see `PictureFolder`); the
        numbers after the last frame are for the files set aside. If None, the page has no pictures.
        Pictures of an earlier run that the page does not show are removed.
    graph : array of shape (n_frames, n_frames) or Drawable, optional
        Shown as a picture.
    communities : sequence of int, optional
        Community of every frame; an event that a person changes gets the most frequent one of its
        frames.
    blurred : bool
        Whether faces are blurred in all pictures of the result; the page says so if it has any, and
        later runs know it.
    originals : sequence of Path, optional
        The photo of every frame, then those set aside. The page links to it by a relative path,
        unless that would name folders above the user's own (see `relative_addresses`).
    live : mapping of int to Path, optional
        The short video beside the photo of a frame.
    film : Path, optional
        The video that the page plays, found in the same way.
    day_map : mapping, optional
        Where the frames were taken (see `dayline.album.day_map`).
    calendar : sequence of Entry
        Entries of the person's calendar, which the page suggests as names.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    _check(segmentation)
    folder.mkdir(parents=True, exist_ok=True)
    if graph is None:
        (folder / "graph.png").unlink(missing_ok=True)
    else:
        with writing_whole(folder / "graph.png", "wb") as file:
            file.write(graph_image(graph))

    pictures = ratios = None
    if thumbnails:
        frames = range(segmentation.n_frames + len(segmentation.set_aside))
        pictures = [quote(thumbnails[k]) if k in thumbnails else None for k in frames]
        ratios = [_ratio(folder / thumbnails[k]) if k in thumbnails else None for k in frames]
    when = day_heading(segmentation)
    data = {
        "segmentation": json.loads(segmentation.to_json()),
        "pictures": pictures,
        "ratios": ratios,
        "communities": None if communities is None else [int(c) for c in communities],
        "dated": segmentation.is_dated,
        "originals": None if originals is None else relative_addresses(originals, folder),
        "map": day_map,
        "calendar": {
            "entries": [[e.start, e.stop, e.title] for e in calendar if not e.all_day],
            "days": list(dict.fromkeys(e.title for e in calendar if e.all_day)),
        },
        "live": dict(zip(live, relative_addresses([*live.values()], folder), strict=True))
        if live
        else None,
        "film": None if film is None else relative_addresses([film], folder)[0],
        # Within the data, so that the page can be renewed without the photos.
        "about": {
            "heading": when or segmentation.source or "Events",
            "overline": segmentation.source if when else None,
            "blurred": blurred,
            "graph": graph is not None,
        },
    }
    path = folder / "index.html"
    before = page_data(path)
    if (folder.parent / "index.html").is_file():
        # Usually the album around the day is still the same; `put_in_album` follows otherwise.
        data["album"] = (before or {}).get("album")
        above = page_data(folder.parent / "index.html")
        if before is None and above is not None and is_moved(above, segmentation):
            before = above
    data["addresses"] = renew_addresses(segmentation, before)
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
        changed = {
            "segmentation": json.loads(segmentation.to_json()),
            "addresses": renew_addresses(segmentation, data),
        }
        text = _html(segmentation, {**data, **changed})
    write_text_whole(path, text)
    return path


def put_in_album(folder: Path, album: Mapping[str, Any]) -> None:
    """Write the page of a day again if the album around it has changed.

    Parameters
    ----------
    folder : Path
        The folder of the day.
    album : mapping
        See `dayline.album.page.overview.album_data`.
    """
    path = folder / "index.html"
    data = page_data(path)
    if data is None or data.get("album") == album:
        return
    with reading(path, "a page of dayline"):
        segmentation = Segmentation.from_json(json.dumps(data["segmentation"]))
        text = _html(segmentation, {**data, "album": album})
    write_text_whole(path, text)


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
    return None if segmentation.date_span is None else dates_heading(*segmentation.date_span)


def dates_heading(first: date, last: date) -> str:
    """Return one date, or the first and the last one, as a heading."""
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
    """Return a mark of what a person can edit: events, places, favorites and hidden photos.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    events = [asdict(event) for event in segmentation.events]
    marked = [segmentation.favorites, segmentation.hidden]
    return _mark([events, [asdict(place) for place in segmentation.places], *marked])


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


def _check(segmentation: Segmentation) -> None:
    """Raise if the page cannot show scores or times."""
    for what in ("scores", "times"):
        values = getattr(segmentation, what) or ()
        finite = np.isfinite([0.0 if value is None else value for value in values])
        if not finite.all():
            raise ValueError(
                f"frame {int(np.argmin(finite))} has no finite value in {what}; set {what} to None"
            )
    first, end = YEARS_1_TO_9999
    in_years = [time is None or first <= time < end for time in segmentation.times or ()]
    if segmentation.clock == "wall" and not all(in_years):
        raise ValueError(
            f"the time of frame {in_years.index(False)} lies outside the years 1 to 9999; set times"
            " to None"
        )


def _ratio(path: Path) -> float:
    """Return width by height of a picture, for which the page leaves room before it is loaded."""
    from PIL import Image

    with Image.open(path) as picture:
        return round(picture.width / picture.height, 3)


def _html(segmentation: Segmentation, data: Mapping[str, Any]) -> str:
    is_wall = segmentation.clock == "wall"
    is_named = segmentation.names is not None and segmentation.clock != "media"
    is_talk = segmentation.texts is not None and not data["pictures"]
    thing = "photo" if is_wall or is_named else "sentence" if is_talk else "frame"
    data = {
        **data,
        "thing": thing,
        "titles": titles_of_levels(segmentation),
        "key": frames_mark(segmentation),
        "base": events_mark(segmentation),
    }
    shown = without_hidden(segmentation)
    content = {
        "segmentation": segmentation,
        "spoken": segmentation.texts is not None,
        "shown_events": [] if shown is None else shown.events,
        "thing": thing,
        "album": data.get("album"),
        "pictured": bool(data["pictures"]),
        "calendar_days": (data.get("calendar") or {}).get("days", ())[:MOST_DAY_TITLES],
        "aside": kinds_text(file.kind for file in segmentation.set_aside),
        **data["about"],
    }
    return render("page", content, data=data)
