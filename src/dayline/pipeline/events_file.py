"""events.json of a result, written so that nothing a person changed in it is lost."""

from __future__ import annotations

import hashlib
import warnings
from itertools import count
from pathlib import Path

from dayline.events import Segmentation
from dayline.files import MARK, write_text_whole

__all__ = ["write_events"]


def write_events(segmentation: Segmentation, folder: Path) -> None:
    """Write `folder`/events.json; one that is not as we left it, and says other things, is kept beside it.

    The page lets people save their corrections, and the folder of the result is where they may put them. What we
    write ourselves is known again by its hash, in the file that marks the folder as ours.
    """
    path, mark = folder / "events.json", folder / MARK
    text = segmentation.to_json()
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
    known = mark.read_text(encoding="ascii", errors="replace") if mark.is_file() else ""
    if before is not None and known and _hash(before) != known and not _says_the_same(before, segmentation):
        aside = next(p for k in count(1) if not (p := folder / _name(k)).exists())
        write_text_whole(aside, before)
        warnings.warn(
            f"the corrected events of before are kept as {aside}; pass them with --corrections", stacklevel=3
        )
    write_text_whole(path, text)
    write_text_whole(mark, _hash(text))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _name(number: int) -> str:
    return "events-corrected.json" if number == 1 else f"events-corrected-{number}.json"


def _says_the_same(text: str, segmentation: Segmentation) -> bool:
    try:
        before = Segmentation.from_json(text)
    except ValueError:
        return False
    said = [[(e.start, e.stop, e.name) for e in one.events] for one in (before, segmentation)]
    return said[0] == said[1]
