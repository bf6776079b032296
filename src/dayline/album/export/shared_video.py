"""Encode a video anew, small and without its metadata, so that it can be given away."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from dayline.media.film_decode import opened_video, refuse_huge_frames

SIDE, LONGER_SIDE = 720, 1600
"""Pixels of the shorter and of the longer side, at most."""

LONGEST = 180.0
"""Seconds; the picture of a longer one stands for it."""

OPTIONS = {"crf": "25", "preset": "veryfast", "maxrate": "2500k", "bufsize": "5000k"}
"""Two and a half megabits a second at most: LONGEST takes 60 MB."""

MOST_FRAMES = 31
"""A second; of slow motion, the others are left out."""

SOUND_RATE = 48_000


def write_small_video(source: Path, path: Path) -> None:
    """Write a video as H.264 and AAC, upright, without tags: those may say where it was taken.

    Parameters
    ----------
    source : Path
        The video.
    path : Path
        The new file (.mp4).

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    options = {"movflags": "faststart", "fflags": "+bitexact"}
    with (
        opened_video(source) as video,
        av.open(str(path), "w", format="mp4", options=options) as made,
    ):
        refuse_huge_frames(source, video)
        sounds = [one for one in video.container.streams.audio if one.codec_context is not None]
        picture = made.add_stream("libx264", 30, options=dict(OPTIONS))
        sound: Any = made.add_stream("aac", SOUND_RATE, layout="stereo") if sounds else None
        resampler = av.AudioResampler("fltp", "stereo", SOUND_RATE) if sounds else None
        picture.pix_fmt = "yuv420p"

        last = -np.inf
        streams: list[Any] = [video.stream, *sounds[:1]]
        for frame in video.container.decode(streams):
            if isinstance(frame, av.AudioFrame):
                for part in resampler.resample(frame) if resampler is not None else ():
                    made.mux(sound.encode(part))
                continue
            if not isinstance(frame, av.VideoFrame) or frame.time is None:
                continue
            if frame.time < last + 1 / MOST_FRAMES:
                continue
            upright = _upright(frame)
            if last == -np.inf:
                picture.width, picture.height = _size(upright)
                picture.codec_context.time_base = Fraction(1, 90_000)
            last = frame.time
            small = upright.reformat(picture.width, picture.height, "yuv420p")
            small.pts, small.time_base = round(frame.time * 90_000), Fraction(1, 90_000)
            small.pict_type = av.video.frame.PictureType.NONE
            made.mux(picture.encode(small))
        if last == -np.inf:
            raise ValueError("no picture can be decoded")
        made.mux(picture.encode())
        if resampler is not None:
            for part in resampler.resample(None):
                made.mux(sound.encode(part))
            made.mux(sound.encode())


def _upright(frame: av.VideoFrame) -> av.VideoFrame:
    """Turn a picture as the camera was held."""
    turns = round(frame.rotation / 90) % 4
    if not turns:
        return frame
    pixels = np.rot90(frame.to_ndarray(format="rgb24"), turns)
    return av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels, dtype=np.uint8), "rgb24")


def _size(frame: av.VideoFrame) -> tuple[int, int]:
    sides = frame.width, frame.height
    scale = min(1.0, SIDE / min(sides), LONGER_SIDE / max(sides))
    width, height = (max(2, round(side * scale / 2) * 2) for side in sides)
    return width, height
