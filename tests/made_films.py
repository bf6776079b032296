"""Made films: moving scenes with cuts and dissolves at known frames."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT, RATE = 160, 90, 25
MILLISECOND = Fraction(1, 1000)
CODECS = {".webm": "libvpx", ".avi": "mpeg4", ".wmv": "wmv2"}
X264 = {"x264-params": "mbtree=0"}
"""Options with which x264 encodes the same frames alike each time; with mbtree, it may not."""

FAST = {"libx264": {"preset": "ultrafast"}, "libvpx": {"deadline": "realtime", "cpu-used": "8"}}


class OpenedFilm:
    """An open film of which a test replaces methods."""

    def __init__(self, container: av.container.InputContainer) -> None:
        self.container = container

    def __getattr__(self, name: str) -> object:
        return getattr(self.container, name)

    def __enter__(self) -> OpenedFilm:
        return self

    def __exit__(self, *why: object) -> None:
        self.container.close()


def moving_frame(scene: int, number: int) -> np.ndarray:
    """Draw one frame of a scene: its own colors, a camera that pans, a thing that crosses."""
    rng = np.random.default_rng(scene)
    colors = [
        np.asarray(colorsys.hsv_to_rgb((0.29 * scene + d) % 1, 0.8, 0.7)) * 255 for d in (0.0, 0.08)
    ]
    waves = rng.uniform(8, 25, 2)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    shift = 12 * np.sin(number / rng.uniform(15, 40))
    share = 0.5 + 0.25 * (np.sin((columns + shift) / waves[0]) + np.cos((rows - shift) / waves[1]))
    pixels = colors[0] + share[..., None] * (colors[1] - colors[0])
    left = int(rng.uniform(0, WIDTH) + 1.5 * number) % WIDTH
    pixels[30:50, left : left + 20] = 240
    pixels += np.random.default_rng([scene, number]).normal(scale=4, size=pixels.shape)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def film_frames(
    scenes: Sequence[int], *, dissolves: dict[int, int] | None = None
) -> Iterator[np.ndarray]:
    """Yield the frames of scenes; scene k of `dissolves` fades in over so many frames."""
    fades = {} if dissolves is None else dissolves
    number = 0
    for k, length in enumerate(scenes):
        for i in range(length):
            pixels = moving_frame(k, number)
            if i < fades.get(k, 0):
                share = (i + 1) / (fades[k] + 1)
                pixels = ((1 - share) * moving_frame(k - 1, number) + share * pixels).astype(
                    np.uint8
                )
            yield pixels
            number += 1


def make_moving_film(
    path: Path,
    scenes: Sequence[int],
    *,
    dissolves: dict[int, int] | None = None,
    times_ms: Sequence[int] | None = None,
    options: dict[str, str] | None = None,
    pictures: Iterable[np.ndarray] | None = None,
    tags: dict[str, str] | None = None,
) -> Path:
    """Write a film at 25 frames a second, or with frames at given times.

    Other pictures may be given instead of scenes, and tags as phones write them.
    """
    codec = CODECS.get(path.suffix, "libx264")
    if options is None or codec != "libx264":
        options = {**FAST.get(codec, {}), **(options or {})}
    if codec == "libx264":
        options = X264 | options
    is_movie = path.suffix.lower() in (".mp4", ".mov")
    index_first = {"movflags": "faststart+use_metadata_tags"} if is_movie else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", options=index_first) as container:
        container.metadata.update(tags or {})
        stream = container.add_stream(codec, rate=RATE, options=options)
        if codec != "libx264":
            stream.bit_rate = 400_000
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        if times_ms is not None:
            stream.codec_context.time_base = stream.time_base = MILLISECOND
        made = film_frames(scenes, dissolves=dissolves) if pictures is None else pictures
        for i, pixels in enumerate(made):
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24")
            if times_ms is not None:
                frame.pts, frame.time_base = times_ms[i], MILLISECOND
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def change_stamp(content: bytes, number: int, change: Callable[[int], int]) -> bytes:
    """Change the time stamp of one frame of a transport stream, in units of 1/90000 s."""
    places = []
    for start in range(0, len(content), 188):
        packet = content[start : start + 188]
        opens_a_frame, is_video = packet[1] & 0x40, (packet[1] & 0x1F, packet[2]) == (1, 0)
        if opens_a_frame and is_video:
            header = 5 + packet[4] if packet[3] & 0x20 else 4
            places.append(start + header + 9)
    at = places[number]
    a, b, c, d, e = content[at : at + 5]
    stamp = change((a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1)
    parts = (
        a & 0xF1 | stamp >> 30 << 1,
        stamp >> 22 & 255,
        stamp >> 15 << 1 & 254 | 1,
        stamp >> 7 & 255,
    )
    return content[:at] + bytes((*parts, stamp << 1 & 254 | 1)) + content[at + 5 :]
