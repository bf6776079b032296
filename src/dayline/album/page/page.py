"""Write the page: one folder that opens from disk, offline, in any browser."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeAlias
from urllib.parse import quote, unquote

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from numpy.typing import NDArray

from dayline.album.pictures import remove_thumbnails
from dayline.arrays import Array, FloatArray, to_numpy
from dayline.events import Segmentation
from dayline.files import (
    UnreadableFileError,
    read_no_follow,
    reading,
    write_text_whole,
    writing_whole,
)


def frames_mark(segmentation: Segmentation) -> str:
    """Return a mark of the recording: pages with the same frames have the same mark, whatever their events.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    s = segmentation
    return _mark([s.source, s.n_frames, s.clock, s.names, s.times, s.digests])


def events_mark(segmentation: Segmentation) -> str:
    """Return a mark of what a person can edit: two results with the same events and places have the same mark.

    Parameters
    ----------
    segmentation : Segmentation
        A result.
    """
    return _mark(
        [
            [asdict(event) for event in segmentation.events],
            [asdict(place) for place in segmentation.places],
        ]
    )


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
    """Return the URLs of files relative to a page in `folder`; None for a file whose address must not be written.

    An address names the folders between the file and the page. It must not say whose computer this
    is: there is none if only the root of the disk, or a folder above the user's own, contains both.

    Parameters
    ----------
    files : sequence of Path
        The files. They are not read, and links among them are not followed.
    folder : Path
        The folder of the page.
    """
    page, home = folder.resolve(), _home()
    folders = {parent: parent.resolve() for parent in {file.parent for file in files}}
    return [_address(folders[file.parent] / file.name, page, home) for file in files]


def _address(path: Path, page: Path, home: Path | None) -> str | None:
    try:
        shared = Path(os.path.commonpath([path, page]))
    except ValueError:  # two drives of Windows
        return None
    if shared == Path(shared.anchor) or (
        home is not None and shared != home and home.is_relative_to(shared)
    ):
        return None
    return quote(os.fsencode(Path(os.path.relpath(path, page)).as_posix()))


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:  # a user without one
        return None


class Drawable(Protocol):
    """A graph too large to hold that can be drawn."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_frames, n_frames)."""

    def picture(self, size: int) -> Array:
        """Average the weights over at most `size` x `size` groups of consecutive frames."""


def graph_image(graph: Array | Drawable, *, size: int = 640) -> bytes:
    """Draw the graph as a PNG, bright where frames are strongly linked.

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames), or Drawable
        Edge weights, non-negative.
    size : int
        Maximum width and height in pixels; a larger graph is reduced to block means.

    Returns
    -------
    bytes
        The PNG file.
    """
    return _png(np.rint(graph_levels(graph, size=size) * 255).astype(np.uint8), _colours())


def graph_levels(graph: Array | Drawable, *, size: int) -> FloatArray:
    """Return the brightness of every pixel of the graph's picture, in [0, 1]; see `graph_image`."""
    small = block_means(_checked(graph.picture(size) if hasattr(graph, "picture") else graph), size)
    # The diagonal links every frame to itself and would dominate the scale.
    apart = small[~np.eye(len(small), dtype=bool)] if len(small) > 1 else small.ravel()
    low, high = (float(q) for q in np.quantile(apart, (0.01, 0.995)))
    return (
        np.clip((small - low) / (high - low), 0.0, 1.0) if high > low else np.full_like(small, 0.5)
    )


def block_means(graph: FloatArray, size: int) -> FloatArray:
    """Shrink a square matrix to at most `size` rows and columns by the means of near-equal blocks."""
    n = len(graph)
    if n <= size:
        return graph
    starts = np.arange(size) * n // size
    counts = np.diff(np.append(starts, n))
    sums = np.add.reduceat(np.add.reduceat(graph, starts, axis=0), starts, axis=1)
    return np.asarray(sums / np.outer(counts, counts))


def _checked(graph: Array) -> FloatArray:
    weights = np.asarray(to_numpy(graph))
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.size == 0:
        raise ValueError(
            f"graph has shape {weights.shape}; it needs one row and one column per frame"
        )
    finite = np.isfinite(weights).all(axis=1)
    if not finite.all():
        raise ValueError(f"row {int(np.argmin(finite))} of the graph holds NaN or infinity")
    return weights.astype(np.float32, copy=False)


def _colours() -> NDArray[np.uint8]:
    """Return 256 colours whose lightness grows evenly in OKLab while the hue turns from blue to yellow."""
    steps = np.linspace(0.0, 1.0, 256)
    lightness = 0.17 + 0.78 * steps
    hue = np.deg2rad(265.0 - 175.0 * steps)
    chroma = 0.05 + 0.10 * np.sin(np.pi * steps)
    return _srgb_from_oklab(
        np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    )


def _png(pixels: NDArray[np.uint8], colours: NDArray[np.uint8]) -> bytes:
    """Encode palette indices as PNG, without an imaging library."""
    height, width = pixels.shape
    # Every row starts with a byte that names its filter; 0 is none.
    rows = np.pad(pixels, ((0, 0), (1, 0))).tobytes()
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": colours.tobytes(),
        b"IDAT": zlib.compress(rows, 9),
        b"IEND": b"",
    }
    parts = (
        struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c))
        for k, c in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _srgb_from_oklab(lab: FloatArray) -> NDArray[np.uint8]:
    to_cones: NDArray[Any] = np.array(
        [
            [1.0, 0.3963377774, 0.2158037573],
            [1.0, -0.1055613458, -0.0638541728],
            [1.0, -0.0894841775, -1.2914855480],
        ]
    )
    to_linear: NDArray[Any] = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip((lab @ to_cones.T) ** 3 @ to_linear.T, 0.0, 1.0)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(encoded * 255), dtype=np.uint8)


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
        later exports blur them too.
    originals : sequence of Path, optional
        The photo of every frame. The page links to it by a relative path, unless that would name
        folders above the user's own (see `dayline.album.page.page`).
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


def _check(
    segmentation: Segmentation, communities: Sequence[int] | None, originals: Sequence[Path] | None
) -> None:
    for what in ("scores", "times"):
        values = np.asarray(getattr(segmentation, what) or (), dtype=float)
        if not np.isfinite(values).all():
            raise ValueError(
                f"frame {int(np.argmin(np.isfinite(values)))} has no finite value in {what}; set"
                f" {what} to None"
            )
    in_years = [-62135596800 <= time < 253402300800 for time in segmentation.times or ()]
    if segmentation.clock == "wall" and not all(in_years):
        raise ValueError(
            f"the time of frame {in_years.index(False)} lies outside the years 1 to 9999; set times"
            " to None"
        )
    if originals is not None and len(originals) != segmentation.n_frames:
        raise ValueError(f"{len(originals)} originals for {segmentation.n_frames} frames")
    if communities is not None and len(communities) != segmentation.n_frames:
        raise ValueError(f"{len(communities)} communities for {segmentation.n_frames} frames")


def day_heading(segmentation: Segmentation) -> str | None:
    """Return the date, or the first and the last one; None if the clock has no date."""
    if not segmentation.is_dated or segmentation.times is None:
        return None
    first, last = (
        EPOCH + timedelta(seconds=t) for t in (min(segmentation.times), max(segmentation.times))
    )
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


def _picture_addresses(
    thumbnails: Pictures | None, n_frames: int, folder: Path
) -> list[str | None] | None:
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
    return (
        "film" if ratio > 1.6 else "wide" if ratio > 1.15 else "square" if ratio > 0.87 else "tall"
    )


def _html(segmentation: Segmentation, data: Mapping[str, Any]) -> str:
    data = {**data, "key": frames_mark(segmentation), "base": events_mark(segmentation)}
    content = {
        "segmentation": segmentation,
        "data": htmlsafe_json_dumps(data, allow_nan=False, separators=(",", ":")),
    }
    return render(
        "page.html", style="style.css", scripts=SCRIPTS, content={**content, **data["about"]}
    )


def render(
    template: str, *, style: str, scripts: Sequence[str] = (), content: Mapping[str, Any]
) -> str:
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
        loader=PackageLoader("dayline.album", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    sheet = _package_text(style)
    script = (
        '"use strict";\n(() => {\n' + "\n".join(_package_text(name) for name in scripts) + "})();\n"
    )
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
    return (files("dayline.album.page") / name).read_text(encoding="utf-8")


def _content_hash(text: str) -> str:
    """Return the hash of a text for the page's content security policy, which then allows nothing else."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode(
        "ascii"
    )
