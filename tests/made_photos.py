"""Small made photos: each scene has its own colours, so that --model color can tell them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import av
import numpy as np
from PIL import Image

from made_films import X264

COLOURS = {
    "red": (200, 40, 30),
    "green": (30, 170, 60),
    "blue": (40, 60, 210),
    "sand": (220, 190, 120),
}
MORNING = 9 * 3600


def scene(colour: str, seed: int, *, side: int = 64) -> np.ndarray:
    """One picture per colour, full of fine detail; the seed changes it by a breath."""
    shape = (side * 3 // 4, side, 3)
    detail = np.random.default_rng(list(COLOURS).index(colour)).normal(scale=25, size=shape)
    breath = np.random.default_rng(seed).integers(-1, 2, shape)
    return np.clip(np.asarray(COLOURS[colour]) + detail + breath, 0, 255).astype(np.uint8)


def name_at(seconds: int, *, day: str = "20150312") -> str:
    return f"{day}_{seconds // 3600:02d}{seconds // 60 % 60:02d}{seconds % 60:02d}.png"


def save(pixels: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        Image.fromarray(pixels).save(file, "PNG")


def save_with_exif(
    pixels: np.ndarray,
    path: Path,
    *,
    taken: str | None = None,
    offset: str | None = None,
    camera: str | None = None,
    comment: str | None = None,
) -> Path:
    """Save a photo in the format of its name; `taken` as 2023:07:15 10:11:12."""
    exif = Image.Exif()
    inner = exif.get_ifd(0x8769)
    for tag, value in ((0x9003, taken), (0x9011, offset)):
        if value is not None:
            inner[tag] = value
    if comment is not None:
        inner[0x9286] = b"ASCII\0\0\0" + comment.encode()
    if camera is not None:
        exif[0x0110] = camera
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, exif=exif.tobytes())
    return path


def write_pictures(pictures: Iterable[tuple[int, np.ndarray]], folder: Path) -> dict[int, str]:
    """A JPEG per frame for the page in a folder, with a name as of a run; returns the addresses."""
    (folder / "thumbnails").mkdir(parents=True, exist_ok=True)
    addresses = {}
    for frame, pixels in pictures:
        addresses[frame] = f"thumbnails/{frame:020d}.jpg"
        Image.fromarray(pixels).save(folder / addresses[frame])
    return addresses


def make_day(
    folder: Path,
    scenes: Sequence[tuple[str, int]] = (("red", 12), ("green", 14), ("red", 12)),
    *,
    day: str = "20150312",
    pause_before: int | None = None,
) -> list[Path]:
    """A photo every 30 s; over an hour of pause before one scene, where asked for."""
    paths = []
    moment = MORNING
    for k, (colour, n) in enumerate(scenes):
        moment += 4000 if k == pause_before else 0
        for _ in range(n):
            paths.append(folder / name_at(moment, day=day))
            # Photos of two days are never the same; those of the usual day have seeds 1, 2, ...
            seed = len(paths) + (0 if day == "20150312" else int(day) * 1000)
            save(scene(colour, seed), paths[-1])
            moment += 30
    return paths


def make_film(path: Path, scenes: Sequence[tuple[str, int]] = (("red", 50), ("blue", 60))) -> Path:
    """Ten frames a second."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options=X264)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        k = 0
        for colour, n in scenes:
            for _ in range(n):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(scene(colour, k), "rgb24")))
                k += 1
        container.mux(stream.encode())
    return path
