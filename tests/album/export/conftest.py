"""A film of four events with titles that try to break every format, and FFmpeg to read it."""

from __future__ import annotations

import re
import subprocess
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from dayline.events import Event, Segmentation

NASTY = 'a=b; c#d \\ e\\\n--> <b>"x"</b> & \x07\x00\u2028y \u05e9\u05dc\u05d5\u05dd'
NASTY_ON_ONE_LINE = 'a=b; c#d \\ e\\ --> <b>"x"</b> & y \u05e9\u05dc\u05d5\u05dd'
TITLES = [NASTY_ON_ONE_LINE, "Event 2", "=1+1", "Event 4"]
STARTS = [0.0, 20.5, 41.0, 61.25]
END = 82.25  # the last frame at 80.75, and the median distance of 1.5 s after it


def ffmpeg(*arguments: str | Path) -> bytes:
    """Run FFmpeg; return what it prints."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""
    return done.stdout


@pytest.fixture
def film() -> Segmentation:
    """Media clock; events at 0, 20.5, 41 and 61.25 s, frames 1.5 s apart in the median."""
    times = [*np.arange(14) * 1.5, *(20.5 + np.arange(13) * 1.5), *(41 + np.arange(13) * 1.5)]
    times += [*(61.25 + np.arange(14) * 1.5)]
    events = (
        Event(0, 14, community=7, key_frame=3, reason="start", name=NASTY),
        Event(14, 27, community=2, confidence=0.75, reason="content"),
        Event(27, 40, community=7, name="=1+1"),
        Event(40, 54),
    )
    return Segmentation(events, times=tuple(map(float, times)), clock="media", source="my film.mp4")


@pytest.fixture(scope="session")
def ffmpeg_chapters():
    """Read the chapters of any file with the FFmpeg program: (start, end, title) in seconds."""

    def read(path: Path, *arguments: str) -> list[tuple[float, float, str]]:
        text = ffmpeg(*arguments, "-i", path, "-f", "ffmetadata", "-").decode()
        found = []
        for block in text.split("[CHAPTER]\n")[1:]:
            base, start, end, title = re.match(
                r"TIMEBASE=(\S+)\nSTART=(\d+)\nEND=(\d+)\n(?:title=(.*))?", block, re.DOTALL
            ).groups()
            unit = Fraction(base)
            plain = re.sub(r"\\(.)", r"\1", title.rstrip("\n"))
            found.append((float(int(start) * unit), float(int(end) * unit), plain))
        return found

    return read


@pytest.fixture
def expected_chapters() -> list[tuple[float, float, str]]:
    return list(zip(STARTS, [*STARTS[1:], END], TITLES, strict=True))
