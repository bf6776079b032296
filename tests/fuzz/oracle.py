"""What dayline may answer when a file is damaged.

1. What it answers for the whole file; or
2. a ValueError of one line that names the file (or, of photos, the folder); or
3. another answer with a note or a warning that the whole file does not get; or
4. another answer without one, if no reader could know better: the aspects in `FREE` differ and no
   other does, or frames at the start or end of a film are missing, as far as `BLIND` says. A
   frame of a video may be shown a little earlier or later.

Everything else is a fault: any other exception, several lines, a signal, more memory or time than
allowed.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fuzz.readers import Answer, Reading

A_LITTLE = 0.2
"""Seconds between frames of the shortest videos."""

TABLE = frozenset({"values", "dtype"})
FREE: dict[str, frozenset[str] | None] = {
    # A header that says int64 instead of float64 accounts for as many bytes.
    "npy": TABLE,
    "npz": TABLE,
    # The name of the column of times is not covered by a checksum.
    "parquet": frozenset({"values", "has times", "shape"}),
    "onnx": frozenset({"values"}),
    # Also how a photo is turned, and the digits of its capture time. Another order is always said.
    "jpeg": frozenset({"pixels", "sizes", "times"}),
    # As of a JPEG; neither format has checksums of its pixels.
    "gif": frozenset({"pixels", "sizes", "times"}),
    "tiff": frozenset({"pixels", "sizes", "times"}),
    "heic": frozenset({"pixels", "sizes", "times"}),
    # Its index has no checksums.
    "mp4": frozenset({"pixels", "sizes", "times"}),
    "mov": frozenset({"pixels", "sizes", "times"}),
    "fragments.mp4": frozenset({"pixels", "sizes", "times"}),
    "mkv": frozenset({"pixels", "sizes", "times"}),
    "webm": frozenset({"pixels", "sizes", "times"}),
    "avi": frozenset({"pixels", "sizes", "times"}),
    "wmv": frozenset({"pixels", "sizes", "times"}),
    "ts": frozenset({"pixels", "sizes"}),
    # A text that was changed is another text.
    "csv": None,
    "json": None,
    "places": None,
    "learned": None,
    "srt": None,
    "vtt": None,
    "talk.json": None,
    "srv3": None,
}
"""Aspects that may differ without a word, because nothing in the file could tell."""

ONE_FRAME = 0.11
BLIND: dict[str, tuple[float, float] | None] = {
    # A stream does not say how long it is.
    "ts": (0.0, math.inf),
    # An edit list may show a part, as that of a film trimmed on a phone. What it hides between
    # frames that it shows is said.
    "mp4": (0.0, math.inf),
    "mov": (0.0, math.inf),
    # Each fragment is whole without the others, and says nothing of those before and after.
    "fragments.mp4": (math.inf, math.inf),
    # Times count from the first frame that is there, after a header of any length. A length may be
    # that of the sound, or be a little wrong, so an end that is a second early is no damage.
    "mkv": (math.inf, 1.0),
    "webm": (math.inf, 1.0),
    # Some whole files count one frame too many.
    "avi": (ONE_FRAME, ONE_FRAME),
    # Several frames share a packet, whose bytes all count as theirs; the numbers that ASF gives to
    # frames do not pass through FFmpeg.
    "wmv": None,
}
"""Seconds at the start and at the end of a film that may be missing without a word; an endless end
is all after the last frame that is left. None stands for any frames."""


class Fault(NamedTuple):
    """What went wrong.

    Attributes
    ----------
    kind : str
        One of traceback, words, silent, memory, died.
    cause : str
        Where or in what, the same for all damage that meets the same mistake.
    detail : str
        What was said or answered this time.
    """

    kind: str
    cause: str
    detail: str


def judge_error(error: BaseException, path: Path) -> Fault | None:
    """Tell whether an exception is one line that names the file."""
    text = str(error)
    where = _innermost_of_dayline(error)
    if not isinstance(error, ValueError):
        return Fault("traceback", f"{type(error).__name__} at {where}", text)
    if _ran_out_of_memory(error):
        return Fault(
            "memory", f"MemoryError instead of a check of the declared size, at {where}", text
        )
    if "\n" in text or not text:
        return Fault("words", f"not one line, at {where}", repr(text))
    if path.name not in text and path.parent.name not in text:
        return Fault("words", f"the file is not named, at {where}", text)
    return None


def judge_answer(whole: Reading, damaged: Reading, *, kind: str, checked: bool) -> Fault | None:
    """Return a fault unless an answer is that of the whole file, or noted, or not to be known.

    Parameters
    ----------
    whole, damaged : Reading
        What was read from the file before and after the damage.
    kind : str
        The format.
    checked : bool
        Whether checksums cover what was damaged.
    """
    if set(damaged.words) - set(whole.words):
        return None
    differing = [
        aspect for aspect in whole.answer if not _same(aspect, whole.answer, damaged.answer)
    ]
    free = FREE[kind]
    if not differing or free is None or (not checked and set(differing) <= free):
        return None
    only_frames = kind in BLIND and set(differing) <= free | {"n_frames", "times"}
    if only_frames and _may_be_lost(damaged.answer["times"], whole.answer["times"], BLIND[kind]):
        return None
    changes = "; ".join(
        f"{a}: {whole.answer[a]!r:.200} became {damaged.answer[a]!r:.200}" for a in differing
    )
    return Fault("silent", f"other {', '.join(differing)}", changes)


def _same(aspect: str, whole: Answer, damaged: Answer) -> bool:
    one, other = whole[aspect], damaged[aspect]
    if aspect == "times" and whole["clock"] == "media" and one and other:
        return len(one) == len(other) and _is_beginning(other, one)
    return bool(one == other)


def _is_beginning(times: Sequence[float], of: Sequence[float]) -> bool:
    """Tell whether frames are the first of a video, each a little earlier or later at most."""
    return len(times) <= len(of) and all(
        abs(a - b) < A_LITTLE for a, b in zip(times, of, strict=False)
    )


def _may_be_lost(
    times: Sequence[float], of: Sequence[float], blind: tuple[float, float] | None
) -> bool:
    """Tell whether a video lacks no other frames than those of its first and last seconds.

    Times count from the first frame that is left.
    """
    start, end = (math.inf, 0.0) if blind is None else blind
    if math.isinf(end) and _is_beginning(times, of):
        return True
    for first in of if times else ():
        if first - of[0] > start:
            break
        # Some formats keep the time of the first frame that is left.
        for shift in (0.0, first - times[0]):
            shown = [time + shift for time in times]
            lost = [t for t in of if all(abs(t - time) > A_LITTLE / 4 for time in shown)]
            if shown[0] < first - A_LITTLE / 4 or len(shown) + len(lost) > len(of):
                continue
            reached = max(shown) if math.isinf(end) else of[-1] - end
            if blind is None or all(t < first or t > reached for t in lost):
                return True
    return False


def _ran_out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        # PyAV's own error of this name is how FFmpeg refuses a size before it asks for the memory.
        if isinstance(error, MemoryError) and not type(error).__module__.startswith("av."):
            return True
        error = error.__cause__ or error.__context__
    return False


def _innermost_of_dayline(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/dayline/" in frame.filename] or frames
    file = inside[-1].filename.rpartition("/dayline/")[2]
    return f"{file}:{inside[-1].lineno}"
