"""Keep what was seen of every frame in a file, and reuse it while the frame is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.features.extract import Extractor
from dayline.features.numpy_files import load_npz
from dayline.files import UnreadableFileError, reading, writing_whole
from dayline.media.frame import Camera, CaptureTime, Frame, Seen, shown_name

Key: TypeAlias = tuple[str, int, int, int]
"""Name of a frame; size in bytes, time of modification and of any change (`st_ctime_ns`), both in
nanoseconds, of its file. Some programs set the time of modification back; nobody sets the other."""

FORMAT = "dayline-features-6"
COLUMNS = ("names", "sizes", "modified", "changed", "features", "signatures", "measures")
ABOUT = ("digest", "taken", "camera", "location", "duration", "live", "aside")


def load_seen(path: Path, extractor: Extractor) -> tuple[dict[Key, Frame], str]:
    """Return the frames that an earlier run saw, and why an existing file cannot be used.

    Parameters
    ----------
    path : Path
        The file; it may not exist.
    extractor : Extractor
        Features of another one are not used.
    """
    if not os.path.lexists(path):
        return {}, ""
    if path.is_symlink():
        return {}, f"{path.name} is a link to another place"
    try:
        fields = load_npz(path, ("format", "model", "fingerprint", "about", *COLUMNS))
        with reading(path, "a feature store"):
            return _frames(fields, extractor)
    except UnreadableFileError as error:
        # The frames are simply looked at again. The reason may be shown to others, so it omits the
        # folder.
        why = str(error).removeprefix(f"{path}: ")
        return {}, f"{path.name} is not a usable feature store ({why})"


def _frames(
    fields: Mapping[str, NDArray[Any]], extractor: Extractor
) -> tuple[dict[Key, Frame], str]:
    """Check and read a store, which may have been damaged or written by anyone."""
    if str(fields["format"]) != FORMAT:
        return {}, "features.npz was written by another version"
    if str(fields["fingerprint"]) != extractor.fingerprint:
        model = f"{fields['model']} with other weights or preprocessing"
        return {}, f"features.npz contains features of {model}"
    n = fields["names"].size
    about = json.loads(fields["about"].astype(np.uint8).tobytes())
    shapes = [(n,), (n,), (n,), (n,), (n, extractor.n_features), (n, 256), (n, 3)]
    kinds = "".join(fields[column].dtype.kind for column in COLUMNS)
    if [fields[column].shape for column in COLUMNS] != shapes or len(about) != n:
        raise ValueError("columns of different lengths")
    if kinds != "Uiiifuf" or not np.isfinite(fields["features"]).all():
        raise ValueError("values of the wrong kind")

    found = {}
    for *key, features, signature, measures, row in zip(
        *(fields[column].tolist() for column in COLUMNS[:4]),
        fields["features"].astype(np.float32, copy=False),
        fields["signatures"].astype(np.uint8, copy=False),
        fields["measures"].astype(np.float32, copy=False),
        about,
        strict=True,
    ):
        name, size, modified, changed = key
        seen = Seen(features, signature, measures)
        found[name, size, modified, changed] = _frame(dict(zip(ABOUT, row, strict=True)), seen)
    return found, ""


def _frame(about: dict[str, Any], seen: Seen) -> Frame:
    digest, taken, camera, location, duration, live, aside = (about[name] for name in ABOUT)
    if taken is not None:
        taken = CaptureTime(
            seconds=_number(taken["seconds"]),
            offset=None if taken["offset"] is None else _number(taken["offset"]),
            is_utc=bool(taken["is_utc"]),
        )
    if location is not None:
        latitude, longitude = map(_number, location)
        location = (latitude, longitude)
    camera = Camera(str(camera["model"]), str(camera["serial"]))
    return Frame(
        "",
        Path(),
        str(digest),
        taken=taken,
        camera=camera,
        location=location,
        duration=None if duration is None else _number(duration),
        live=None if live is None else Path(str(live)),
        aside=str(aside),
        seen=seen,
    )


def _number(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{number} is not a number")
    return number


def save_seen(path: Path, extractor: Extractor, frames: Mapping[Key, Frame]) -> None:
    """Write what was seen so far; the file is replaced as a whole.

    Parameters
    ----------
    path : Path
        The file.
    extractor : Extractor
        What computed the features.
    frames : mapping of Key to Frame
        Frames that were seen.
    """
    about = [
        (
            frame.digest,
            None if frame.taken is None else asdict(frame.taken),
            asdict(frame.camera),
            frame.location,
            frame.duration,
            None if frame.live is None else shown_name(frame.live.name),
            frame.aside,
        )
        for frame in frames.values()
    ]
    seen = [frame.seen for frame in frames.values() if frame.seen is not None]
    names, sizes, modified, changed = zip(*frames, strict=True)

    with writing_whole(path, "wb") as file:
        np.savez(
            file,
            format=np.asarray(FORMAT),
            model=np.asarray(extractor.name),
            fingerprint=np.asarray(extractor.fingerprint),
            names=np.asarray(names, dtype=np.str_),
            sizes=np.asarray(sizes, dtype=np.int64),
            modified=np.asarray(modified, dtype=np.int64),
            changed=np.asarray(changed, dtype=np.int64),
            features=np.stack([one.features for one in seen]),
            signatures=np.stack([one.signature for one in seen]),
            measures=np.stack([one.measures for one in seen]),
            about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        )
