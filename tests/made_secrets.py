"""A trip with photos that a person hides, and a search for anything of them in any file."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from dayline.events import Place, Segmentation, read_events
from made_locations import photo_at

LISBON, REYKJAVIK = (38.7169, -9.1399), (64.1466, -21.9426)
NAME, PLACE, FILE = "Surprise for Zoe", "Hideaway Kappa", "verboten"
WORDS = (NAME, "for Zoe", PLACE, "Kappa", FILE, "Reykjav", "Iceland")
MAGENTA = (230, 20, 230)
DEGREES = ("64.14", "64.146", "21.94")


def make_trip(folder: Path) -> Path:
    """Two days: red, magenta and blue photos, one magenta among the red; and green ones."""
    for k in range(30):
        secret = 10 <= k < 20 or k == 4
        path = folder / "2015-03-12" / f"{FILE if secret else 'photo'}-{k:02d}.jpg"
        colour = "red" if k < 20 else "blue"
        photo_at(path, 60 * k, REYKJAVIK if secret else LISBON, colour=colour)
        if secret:
            paint(path, k)
    for k in range(12):
        photo_at(
            folder / "2015-03-13" / f"photo-{k:02d}.jpg", 86400 + 60 * k, LISBON, colour="green"
        )
    return folder


def paint(path: Path, seed: int) -> None:
    """Make a photo magenta; its tags stay."""
    with Image.open(path) as photo:
        exif, (width, height) = photo.info["exif"], photo.size
    noise = np.random.default_rng(seed).integers(-12, 13, (height, width, 3))
    pixels = np.clip(np.asarray(MAGENTA) + noise, 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(path, exif=exif, quality=95)


def hide(result: Path) -> Segmentation:
    """Save what the page saves after a person named an event and its place, and hid the photos."""
    found = read_events(result / "events.json")
    hidden = tuple(k for k, name in enumerate(found.names or ()) if FILE in name)
    events = tuple(
        replace(event, name=NAME) if event.start >= 10 and event.stop <= 20 else event
        for event in found.events
    )
    assert sum(event.name == NAME for event in events) == 1
    secret = next(event.community for event in events if event.name == NAME)
    edited = replace(found, events=events, hidden=hidden, places=(Place(secret or 0, PLACE),))
    (result / "events.json").write_text(edited.to_json(), encoding="utf-8")
    return edited


EMBEDDED = re.compile(rb"data:[\w/+.-]+;base64,([A-Za-z0-9+/=]+)")


def pieces(content: bytes) -> Iterator[bytes]:
    """The content of a file, and what is embedded in it: as text, it may say any short word."""
    text = EMBEDDED.sub(b"", content)
    yield text
    yield html.unescape(text.decode("utf-8", "replace")).encode()
    for found in EMBEDDED.finditer(content):
        yield from pieces(base64.b64decode(found[1]))


def traces(content: bytes, hidden: Segmentation) -> list[str]:
    """What of the hidden photos is in a file: words, digests, coordinates, pixels."""
    digests = [(hidden.digests or ())[k] for k in hidden.hidden]
    found = []
    for piece in pieces(content):
        text = piece.decode("latin-1").casefold()
        spoken = piece.decode("utf-8", "replace").casefold()
        found += [w for w in WORDS if w.casefold() in text or w.casefold() in spoken]
        found += [f"digest {d}" for d in digests if d[:16].casefold() in text]
        try:
            with Image.open(io.BytesIO(piece)) as picture:
                picture.load()
                pixels = np.asarray(picture.convert("RGB"), dtype=int)
                if picture.getexif():
                    found.append("exif")
        except (UnidentifiedImageError, OSError, ValueError):
            found += [degrees for degrees in DEGREES if degrees in text]
            continue
        magenta = np.abs(pixels - MAGENTA).max(axis=2) < 60
        if magenta.mean() > 0.02:
            found.append("picture")
    return found


def traces_below(folder: Path, hidden: Segmentation, *, but: tuple[str, ...] = ()) -> list[str]:
    """The same for all files below a folder, each with its path; `but` are names left out."""
    return [
        f"{path.relative_to(folder)}: {trace}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part in but for part in path.relative_to(folder).parts)
        for trace in [*traces(path.read_bytes(), hidden), *traces(path.name.encode(), hidden)]
    ]
