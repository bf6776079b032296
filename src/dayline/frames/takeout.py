"""Times of photos in an export of Google Photos (Takeout), which keeps them in a .json file beside each photo."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

__all__ = ["sidecar_name", "taken_time"]

SUPPLEMENT = ".supplemental-metadata"
LONGEST_NAME = 46
"""Characters before ".json"; Takeout cuts longer names."""

MOST_BYTES = 1_000_000
COPY = re.compile(r"(.*)(\(\d+\))", re.DOTALL)
EDITED = re.compile(r"(.*)-(?:edited|bearbeitet|modifié|editado|editada|modificato|bewerkt)", re.DOTALL)
FIRST, LAST = -5_364_662_400, 7_258_118_400
"""Seconds since 1970 of the years 1800 and 2200."""


def sidecar_name(photo: str, names: Collection[str]) -> str | None:
    """Return the name of the .json file that Takeout wrote for a photo, or None.

    IMG_1.jpg has IMG_1.jpg.json or IMG_1.jpg.supplemental-metadata.json, whose names are cut to 46 characters
    before ".json"; IMG_1(1).jpg has IMG_1.jpg(1).json; IMG_1-edited.jpg has that of IMG_1.jpg.

    Parameters
    ----------
    photo : str
        File name of the photo.
    names : collection of str
        Names of the .json files in its folder.
    """
    stem, dot, suffix = photo.rpartition(".")
    tries = [(photo, "")]
    copy = COPY.fullmatch(stem)
    if copy is not None:
        tries.append((copy[1] + dot + suffix, copy[2]))
        stem = copy[1]
    edited = EDITED.fullmatch(stem)
    if edited is not None:
        tries.append((edited[1] + dot + suffix, copy[2] if copy is not None else ""))
    for name, number in tries:
        longer = (name + SUPPLEMENT[:length] for length in range(len(SUPPLEMENT), -1, -1))
        for kept in (*longer, name[:LONGEST_NAME]):
            if f"{kept}{number}.json" in names:
                return f"{kept}{number}.json"
    return None


def taken_time(path: Path) -> float | None:
    """Read when a photo was taken, in seconds since 1970 (UTC); None if the file does not say it.

    Parameters
    ----------
    path : Path
        The .json file, which anyone may have written: it may be large, damaged or something else.
    """
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            return None
        seconds = float(json.loads(text)["photoTakenTime"]["timestamp"])
        return seconds if FIRST <= seconds <= LAST else None
    return None
