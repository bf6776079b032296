"""Find the sequences below a folder, and name their results."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dayline.album.export.formats import Kind
from dayline.album.extraction import is_table, source_kind
from dayline.arrays import FloatArray
from dayline.features.tables import FeatureTable
from dayline.media.frame import VIDEO_SUFFIXES, natural_key, shown_name
from dayline.media.talk import talks_among
from dayline.media.walk import (
    CAMERA_FOLDER,
    entries_of,
    find_files,
    is_folder,
    is_passed_over,
    is_photo,
    refuse_result,
)

Sources: TypeAlias = str | Path | Sequence[str | Path] | Mapping[str, Any]
"""A folder to search, the paths of single sequences, or features in memory by name."""


@dataclass(frozen=True)
class Source:
    """One sequence.

    Attributes
    ----------
    name : str
        Its path below the root, or the name it was given; safe to display.
    folder : str
        Name of the folder of its result.
    kind : {"photos", "video", "features", "talk"}
        A folder of photos, a video, features in a file or in memory, or a transcript.
    data : Path or FeatureTable
        Where it is.
    """

    name: str
    folder: str
    kind: Kind
    data: Path | FeatureTable


def given_sources(sources: Sources, *, only: Kind | None = None) -> list[Source]:
    """Return the sequences that a caller named.

    Parameters
    ----------
    sources : str, Path, sequence of them, or mapping of str to array
        A folder is searched (see `find_sources`); each path of a sequence is one sequence, as for
        `dayline segment`.
    only : {"photos", "video", "features", "talk"}, optional
        Leave out what is not of this kind, such as tables beside films.
    """
    if isinstance(sources, Mapping):
        found = _from_arrays(sources)
    elif not isinstance(sources, str | Path):
        found = _from_paths([Path(path) for path in sources])
    elif is_folder(Path(sources)):
        found = find_sources(Path(sources))
    else:
        found = _from_paths([Path(sources)])
    return [source for source in found if only in (None, source.kind)]


def find_sources(root: Path) -> list[Source]:
    """Find all sequences below a folder in natural order, and warn of photos that are left out.

    - A folder with photos is one sequence, including the photos in its subfolders. So is a folder
      whose subfolders are those of a camera (100CANON, 101CANON).
    - Each video is one sequence, but for the clip of a live photo (IMG_1.MOV beside IMG_1.HEIC).
    - Each feature file is one sequence, but for tables in a photo folder, which describe the
      photos.
    - Each transcript is one sequence, but for the subtitles of a film beside them.
    - Hidden files and results of dayline are passed over. Photos directly in the root are left
      out with a note.

    Parameters
    ----------
    root : Path
        The folder.
    """
    refuse_result(root)
    found = sorted(
        _below(root, root, set()),
        key=lambda item: natural_key(shown_name(item[1].relative_to(root))),
    )
    loose = sum(is_photo(path) for path in entries_of(root))
    if not found:
        hint = "; it holds photos itself, so run dayline segment on it" if loose else ""
        raise ValueError(
            f"{shown_name(root)}: contains no photo folder, video, transcript or feature file{hint}"
        )
    if loose:
        warnings.warn(
            f"photos directly in {shown_name(root)} are left out ({loose}); move them to a folder"
            " of their own",
            stacklevel=2,
        )

    names = [path.relative_to(root) for _, path in found]
    folders = folder_names([os.fsencode(name.as_posix()) for name in names])
    return [
        Source(shown_name(name), folder, kind, path.absolute())
        for (kind, path), name, folder in zip(found, names, folders, strict=True)
    ]


def _below(folder: Path, root: Path, been: set[tuple[int, int]]) -> Iterator[tuple[Kind, Path]]:
    about = folder.stat()
    if (about.st_dev, about.st_ino) in been:
        return  # a link leads back here
    been.add((about.st_dev, about.st_ino))

    entries = entries_of(folder)
    subfolders = [path for path in entries if is_folder(path) and not is_passed_over(path)]
    photos = {path.stem.casefold() for path in entries if is_photo(path)}
    if folder != root and (photos or _is_camera(subfolders)):
        yield "photos", folder
        found = find_files(folder)
        live = {(path.parent, path.stem.casefold()) for path in found.photos}
        for path in found.videos:
            if (path.parent, path.stem.casefold()) not in live:
                yield "video", path
        return

    files = [path for path in entries if not is_folder(path)]
    talks = set(talks_among(files))
    for path in files:
        if path.name.startswith("."):
            continue
        if path in talks:
            yield "talk", path
        elif is_table(path):
            yield "features", path
        elif path.suffix.lower() in VIDEO_SUFFIXES and path.stem.casefold() not in photos:
            yield "video", path
    for path in subfolders:
        yield from _below(path, root, been)


def _is_camera(subfolders: Sequence[Path]) -> bool:
    """Whether the subfolders with photos are those that a camera starts every thousand photos."""
    if not any(CAMERA_FOLDER.fullmatch(path.name) for path in subfolders):
        return False
    with_photos = [path for path in subfolders if find_files(path).photos]
    return bool(with_photos) and all(CAMERA_FOLDER.fullmatch(path.name) for path in with_photos)


def _from_paths(paths: Sequence[Path]) -> list[Source]:
    if not paths:
        raise ValueError("there are no sequences; pass at least one path")
    for path in paths:
        if not path.exists():
            raise ValueError(f"{shown_name(path)}: no such file or folder")
    whole = [path.resolve() for path in paths]
    twice = next((path for k, path in enumerate(whole) if path in whole[:k]), None)
    if twice is not None:
        raise ValueError(f"{shown_name(twice)}: is given twice; leave one out")

    folders = folder_names(
        [os.fsencode(path.name) for path in whole], [os.fsencode(path) for path in whole]
    )
    return [
        Source(shown_name(path.name), folder, source_kind(path), path)
        for path, folder in zip(whole, folders, strict=True)
    ]


def _from_arrays(arrays: Mapping[str, Any]) -> list[Source]:
    if not arrays:
        raise ValueError("there are no sequences; pass at least one array")
    folders = folder_names([name.encode("utf-8", "surrogatepass") for name in arrays])
    return [
        Source(shown_name(name), folder, "features", FeatureTable(_matrix(name, values)))
        for (name, values), folder in zip(arrays.items(), folders, strict=True)
    ]


def _matrix(name: str, values: Any) -> FloatArray:
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{shown_name(name)}: an array of shape {array.shape} and type {array.dtype}; "
            "pass a matrix of real numbers with one row per frame"
        )
    return array


SEPARATOR = "--"
"""Stands for the slash in the name of the result of day/film.mp4, day--film.mp4."""

LONGEST = 100
UNSAFE = re.compile(r'[<>:"\\|?*]')
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
OURS = {"index.html", "batch.jsonl", "thumbnails", "photos"}
"""Names of files and folders that stand beside results, or that the page of photos has."""


def folder_names(paths: Sequence[bytes], identities: Sequence[bytes] | None = None) -> list[str]:
    """Return a folder name for each path: the path where it is safe, else with a hash at its end.

    Parameters
    ----------
    paths : sequence of bytes
        Paths with forward slashes.
    identities : sequence of bytes, optional
        What tells paths apart, and is hashed; the paths themselves if not given.
    """
    identities = paths if identities is None else identities
    safe = [_safe(path) for path in paths]
    # Names that differ in case only are one name on some file systems.
    counts = Counter(name.casefold() for name, _ in safe)
    return [
        (
            name
            if is_same and counts[name.casefold()] == 1
            else f"{name}-{hashlib.sha256(identity).hexdigest()[:8]}"
        )
        for (name, is_same), identity in zip(safe, identities, strict=True)
    ]


def _safe(path: bytes) -> tuple[str, bool]:
    """Return a safe name, and whether no other path can have the same one."""
    parts = path.decode("utf-8", "replace").split("/")
    joined = SEPARATOR.join(parts)
    name = unicodedata.normalize("NFC", joined)
    name = "".join(c if c.isprintable() and c != "\ufffd" else "_" for c in UNSAFE.sub("_", name))
    name = name[:LONGEST].lstrip(".-~ ").rstrip(". ")
    name = name.encode("utf-8")[: 2 * LONGEST].decode("utf-8", "ignore")
    if DEVICES.fullmatch(name) or name.casefold() in OURS or not name:
        return f"_{name}", False

    clear = not any(
        SEPARATOR in part or part.startswith("-") or part.endswith("-") for part in parts
    )
    return name, clear and name == joined
