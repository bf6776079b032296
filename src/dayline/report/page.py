"""Write the page: one folder that opens from disk, offline, in any browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from dayline.arrays import Array
from dayline.events import Segmentation
from dayline.io.files import read_no_follow, write_text_whole, writing_whole
from dayline.io.untrusted import UnreadableFileError, reading
from dayline.report.graph_picture import Drawable, graph_image
from dayline.report.marks import events_mark, frames_mark
from dayline.report.originals import relative_addresses
from dayline.report.thumbnails import remove_thumbnails

__all__ = ["day_heading", "embedded_data", "page_data", "render", "renew_page", "write_page"]

PicturePath: TypeAlias = str | Path
Pictures: TypeAlias = Mapping[int, PicturePath] | Callable[[int], PicturePath | None]

DATA = re.compile(r'<script type="application/json" id="data">([^<]*)</script>')
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Classic scripts, in this order: browsers do not load modules from disk.
SCRIPTS = (
    "clock.js",
    "letters.js",
    "edits.js",
    "changes.js",
    "store.js",
    "save.js",
    "contexts.js",
    "place_names.js",
    "timeline.js",
    "rows.js",
    "viewer.js",
    "film.js",
    "chooser.js",
    "key_photo.js",
    "levels.js",
    "filter.js",
    "help.js",
    "anchor.js",
    "page.js",
)


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
    """Write `folder`/index.html, which shows the events and lets a person correct, name and save them.

    Parameters
    ----------
    segmentation : Segmentation
        The events to show.
    folder : str or Path
        Where to write the page; created if missing.
    thumbnails : mapping or callable, optional
        Maps frame numbers to pictures, as `write_thumbnails` returns: paths in `folder`, relative to it
        or absolute. Frames may be missing (a callable then returns None). If None, the page has no
        pictures. Pictures of an earlier run that the page does not show are removed.
    graph : array of shape (n_frames, n_frames) or Drawable, optional
        Shown as a picture.
    communities : sequence of int, optional
        Community of every frame; an event that a person changes gets the most frequent one of its frames.
    title : str, optional
        Heading; by default the date or the name of the source.
    blurred : bool
        Whether faces are blurred in all pictures of the result; the page says so if it has any, and later exports
        blur them too.
    originals : sequence of Path, optional
        The photo of every frame. The page links to it by a relative path, unless that would name folders above the
        user's own (see `dayline.report.originals`).
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
    data = {
        "segmentation": json.loads(segmentation.to_json()),
        "pictures": pictures,
        "communities": None if communities is None else [int(c) for c in communities],
        "dated": segmentation.is_dated,
        "originals": None if originals is None else relative_addresses(originals, folder),
        "film": None if film is None else relative_addresses([film], folder)[0],
    }
    # Within the data, so that the page can be renewed without the photos.
    data["about"] = {
        **_headings(segmentation, title),
        "blurred": blurred,
        "shape": _shape(pictures, folder),
        "graph": graph is not None,
    }
    path = folder / "index.html"
    write_text_whole(path, _html(segmentation, data))
    # Only now: if the page cannot be written, the previous one keeps its pictures.
    remove_thumbnails(folder, keep={address for address in pictures or () if address})
    return path


def renew_page(segmentation: Segmentation, folder: str | Path) -> Path:
    """Write `folder`/index.html again with other events of the same frames; nothing else on it changes.

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
            raise UnreadableFileError(f"{path}: not a page of these frames; run dayline segment again")
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


def embedded_data(path: Path) -> dict[str, Any] | None:
    """Return the data that the script of a page reads; None if the file has none.

    Parameters
    ----------
    path : Path
        The page.
    """
    text = (read_no_follow(path) or b"").decode("utf-8", "replace")
    found = DATA.search(text)
    try:
        data = None if found is None else json.loads(found[1])
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _check(segmentation: Segmentation, communities: Sequence[int] | None, originals: Sequence[Path] | None) -> None:
    for what in ("scores", "times"):
        values = np.asarray(getattr(segmentation, what) or (), dtype=float)
        if not np.isfinite(values).all():
            raise ValueError(
                f"frame {int(np.argmin(np.isfinite(values)))} has no finite value in {what}; set {what} to None"
            )
    in_years = [-62135596800 <= time < 253402300800 for time in segmentation.times or ()]
    if segmentation.clock == "wall" and not all(in_years):
        raise ValueError(
            f"the time of frame {in_years.index(False)} lies outside the years 1 to 9999; set times to None"
        )
    if originals is not None and len(originals) != segmentation.n_frames:
        raise ValueError(f"{len(originals)} originals for {segmentation.n_frames} frames")
    if communities is not None and len(communities) != segmentation.n_frames:
        raise ValueError(f"{len(communities)} communities for {segmentation.n_frames} frames")


def day_heading(segmentation: Segmentation) -> str | None:
    """Return the date, or the first and the last one; None if the clock has no date."""
    if not segmentation.is_dated or segmentation.times is None:
        return None
    first, last = (EPOCH + timedelta(seconds=t) for t in (min(segmentation.times), max(segmentation.times)))
    if (last.year, last.month) != (first.year, first.month):
        year = "" if last.year == first.year else f" {first:%Y}"
        return f"{first.day} {first:%B}{year} – {last.day} {last:%B %Y}"
    if last.day != first.day:
        return f"{first.day}–{last.day} {last:%B %Y}"
    return f"{first:%A} {first.day} {first:%B %Y}"


def _headings(segmentation: Segmentation, title: str | None) -> dict[str, str | None]:
    """Return the heading and the line above it: the date of a day, the name of anything else."""
    when = day_heading(segmentation)
    named = title or segmentation.source
    if title is None and when is not None:
        return {"heading": when, "overline": named}
    return {"heading": named or "Events", "overline": when}


def _picture_addresses(thumbnails: Pictures | None, n_frames: int, folder: Path) -> list[str | None] | None:
    """Return the URL of every picture relative to the page; those outside the folder could not be shared with it."""
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
        if not whole.is_relative_to(inside) or not whole.is_file():
            raise ValueError(f"frame {frame}: picture {path} is not a file in {folder}; write it there first")
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
    return "film" if ratio > 1.6 else "wide" if ratio > 1.15 else "square" if ratio > 0.87 else "tall"


def _html(segmentation: Segmentation, data: Mapping[str, Any]) -> str:
    data = {**data, "key": frames_mark(segmentation), "base": events_mark(segmentation)}
    content = {
        "segmentation": segmentation,
        "data": htmlsafe_json_dumps(data, allow_nan=False, separators=(",", ":")),
    }
    return render("page.html", style="style.css", scripts=SCRIPTS, content={**content, **data["about"]})


def render(template: str, *, style: str, scripts: Sequence[str] = (), content: Mapping[str, Any]) -> str:
    """Render a template of this package; all values are escaped.

    Parameters
    ----------
    template, style : str
        File names of the template and of its style sheet.
    scripts : sequence of str
        File names of the parts of its script.
    content : mapping
        Values of the template's variables.
    """
    environment = Environment(
        loader=PackageLoader("dayline", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    sheet = _package_text(style)
    script = '"use strict";\n(() => {\n' + "\n".join(_package_text(name) for name in scripts) + "})();\n"
    text = environment.get_template(template).render(
        style=Markup(sheet),  # noqa: S704 - our own file
        style_hash=_content_hash(sheet),
        script=Markup(script),  # noqa: S704 - our own files
        script_hash=_content_hash(script),
        **content,
    )
    # A file name of invalid UTF-8 contains lone surrogates, which cannot be encoded.
    return text.encode("utf-8", "replace").decode("utf-8")


def _package_text(name: str) -> str:
    return (files("dayline.report") / name).read_text(encoding="utf-8")


def _content_hash(text: str) -> str:
    """Return the hash of a text for the page's content security policy, which then allows nothing else."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
