"""Read where shots begin from files of other programs: PySceneDetect's CSV, EDL (CMX 3600)."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Shot
from dayline.media.frame import FrameSequence
from dayline.media.shots import shots_at
from dayline.text import clock_text

MOST_BYTES = 20 * 2**20
MOST_SHOTS = 100_000

TIMECODE = r"(\d{1,2}):(\d\d):(\d\d)[:;.](\d{2,3})"
EDL_EVENT = re.compile(
    rf"\s*\d+\s+\S+\s+(?P<track>\S+)\s+(?P<how>C|D|W\d+|K\S*)\s+(?P<mixed>\d*)\s*"
    rf"{TIMECODE}\s+{TIMECODE}\s+{TIMECODE}\s+{TIMECODE}",
    re.IGNORECASE,
)
HOUR = 3600.0
COLUMNS = frozenset({"Start Time (seconds)", "start_time"})
"""Columns of PySceneDetect's table and of ours."""


def read_cuts(path: Path, sequence: FrameSequence) -> tuple[Shot, ...]:
    """Read the shots of a video.

    Parameters
    ----------
    path : Path
        The list of scenes that PySceneDetect writes (.csv), or an EDL in the times of the video.
    sequence : FrameSequence
        The video.

    Raises
    ------
    ValueError
        If the file is neither, or of another video.
    """
    if not path.is_file():
        raise ValueError(f"{path}: no such file; pass PySceneDetect's CSV or an EDL as --cuts")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path}: over {MOST_BYTES // 2**20} MB, too large for a list of cuts")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; pass PySceneDetect's CSV or an EDL") from None
    if sequence.video is None:
        raise ValueError(f"{sequence.source.name}: not a video")

    index = sequence.video
    seconds = (index.rows[:, 3] * float(index.time_base)) - float(index.start)
    has_events = any(EDL_EVENT.match(line) for line in lines)
    found = _edl_starts(lines, seconds) if has_events else _csv_starts(path, lines)
    if len(found) > MOST_SHOTS:
        raise ValueError(f"{path}: {len(found)} shots; at most {MOST_SHOTS} can be used")
    usual = float(np.median(np.diff(seconds))) if len(seconds) > 1 else 1.0
    late = next((time for time, _ in found if time > seconds[-1] + usual), None)
    if late is not None:
        raise ValueError(
            f"{path}: a shot begins at {clock_text(late)}, but the video ends at"
            f" {clock_text(float(seconds[-1]))}; pass the cuts of this video"
        )
    # Times are rounded in these files.
    nearest = [(int(np.argmin(np.abs(seconds - time))), how) for time, how in found]
    return shots_at(sequence, nearest)


Starts = list[tuple[float, Literal["cut", "dissolve", "fade"]]]


def _csv_starts(path: Path, lines: Sequence[str]) -> Starts:
    """Return the seconds at which the rows of a table begin."""
    rows = list(csv.reader(lines))
    head = next((k for k, row in enumerate(rows) if COLUMNS.intersection(row)), None)
    if head is None:
        raise ValueError(
            f"{path}: neither a column 'Start Time (seconds)', as in PySceneDetect's CSV, nor an"
            " event of an EDL"
        )
    at = next(k for k, name in enumerate(rows[head]) if name in COLUMNS)
    found: Starts = []
    for number, row in enumerate(rows[head + 1 :], start=head + 2):
        if not row:
            continue
        try:
            time = float(row[at])
        except (IndexError, ValueError):
            time = -1.0
        if not 0 <= time < 1e9:
            raise ValueError(f"{path}: line {number} has no start time in seconds")
        found.append((time, "cut"))
    return found


def _edl_starts(lines: Sequence[str], seconds: FloatArray) -> Starts:
    """Return the seconds at which the events of the picture begin in the recording."""
    rate = (len(seconds) - 1) / max(float(seconds[-1] - seconds[0]), 1e-9)
    nominal = max(round(rate), 1)
    is_drop = False
    found: list[tuple[int, Literal["cut", "dissolve"]]] = []
    for line in lines:
        if line.upper().startswith("FCM:"):
            is_drop = "NON" not in line.upper()
        event = EDL_EVENT.match(line)
        if event is None or not event["track"].upper().startswith(("V", "B", "NONE")):
            continue
        hours, minutes, whole, frames = (int(part) for part in event.groups()[11:15])
        total = 60 * hours + minutes
        frame = (60 * total + whole) * nominal + frames
        if is_drop:
            # Two numbers a minute are left out at 29.97 frames a second, but for every tenth.
            frame -= round(nominal / 15) * (total - total // 10)
        mixed = int(event["mixed"] or 0) if event["how"].upper() != "C" else 0
        found.append((frame + mixed // 2, "dissolve" if mixed else "cut"))
    # Many timelines begin at one hour.
    first = found[0][0] if found else 0
    origin = first if first / nominal >= HOUR > float(seconds[-1]) else 0
    return [((frame - origin) / rate, how) for frame, how in sorted(found)]
