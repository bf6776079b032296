"""Features kept in a file, reused for every frame whose file has not changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.features.extract import Extractor
from dayline.io.files import writing_whole
from dayline.io.numpy_files import load_npz
from dayline.io.untrusted import UnreadableFileError

__all__ = ["FeatureStore", "FrameKeys", "StoredFeatures"]

_FORMAT = "dayline-features-1"
_FIELDS = ("format", "model", "fingerprint", "names", "sizes", "modified", "times", "features")


@dataclass(frozen=True)
class FrameKeys:
    """What tells frames apart from one run to the next.

    Attributes
    ----------
    names : tuple of str
        One name per frame, different from all others (file name; for a video, file name and time).
    sizes : tuple of int
        Size of each frame's file in bytes.
    modified : tuple of int
        When each frame's file was last modified, in nanoseconds.
    times : tuple of float, optional
        Time of each frame in seconds; kept for readers of the file, no part of the comparison.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    modified: tuple[int, ...]
    times: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check that the columns have equal lengths."""
        columns = (self.names, self.sizes, self.modified, self.names if self.times is None else self.times)
        if len({len(column) for column in columns}) != 1:
            raise ValueError(f"frame keys have columns of {[len(c) for c in columns]} entries; give one per frame")

    def identities(self) -> list[tuple[str, int, int]]:
        """Return name, size and time of modification of every frame."""
        return list(zip(self.names, self.sizes, self.modified, strict=True))


@dataclass(frozen=True)
class StoredFeatures:
    """What a store had for the frames asked for.

    Attributes
    ----------
    indices : ndarray of int
        Frames that were found, ascending, by their numbers in the sequence asked for.
    features : ndarray of float32, (len(indices), n_features)
        Their features.
    reason : str or None
        Why nothing of an existing file could be used; None if it could, or if there is none.
    """

    indices: IntArray
    features: NDArray[np.float32]
    reason: str | None = None


@dataclass(frozen=True)
class FeatureStore:
    """A file of features (.npz without pickles: names, sizes, modified, times, model, fingerprint, features).

    Attributes
    ----------
    path : Path
        The file; it need not exist.
    """

    path: Path

    def load(self, keys: FrameKeys, extractor: Extractor) -> StoredFeatures:
        """Return the stored features of frames whose files have not changed since.

        Parameters
        ----------
        keys : FrameKeys
            The frames of the sequence.
        extractor : Extractor
            What would compute the features; those of another model are not used.
        """
        nothing = np.empty(0, dtype=np.int64), np.empty((0, extractor.n_features), dtype=np.float32)
        if not os.path.lexists(self.path):
            return StoredFeatures(*nothing)
        if self.path.is_symlink():
            return StoredFeatures(*nothing, f"{self.path.name} is a link to another place")
        try:
            # We store plainly, so a compressed file is not ours.
            fields = load_npz(self.path, _FIELDS, stored=True)
        except UnreadableFileError as error:
            # It only costs computing again. The reason may be shown to others, so it does not say in which folder.
            why = str(error).removeprefix(f"{self.path}: ")
            return StoredFeatures(*nothing, f"{self.path.name} is not a usable feature store ({why})")
        reason = _mismatch(fields, extractor)
        if reason:
            return StoredFeatures(*nothing, f"{self.path.name} {reason}")
        columns = (fields["names"].tolist(), fields["sizes"].tolist(), fields["modified"].tolist())
        rows = {identity: row for row, identity in enumerate(zip(*columns, strict=True))}
        found = [(i, rows[identity]) for i, identity in enumerate(keys.identities()) if identity in rows]
        if not found:
            return StoredFeatures(*nothing, f"{self.path.name} holds other frames")
        indices, stored = np.asarray(found, dtype=np.int64).T
        return StoredFeatures(indices, fields["features"][stored])

    def save(
        self, keys: FrameKeys, extractor: Extractor, *, indices: IntArray, features: NDArray[np.float32]
    ) -> None:
        """Write the features computed so far; the file changes whole or not at all.

        Parameters
        ----------
        keys : FrameKeys
            The frames of the sequence.
        extractor : Extractor
            What computed the features.
        indices : ndarray of int
            Frames that are done; need not be all.
        features : ndarray of float32, (len(indices), n_features)
            Their features.
        """
        times = keys.times if keys.times is not None else (np.nan,) * len(keys.names)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with writing_whole(self.path, "wb") as file:
            np.savez(
                file,
                format=np.asarray(_FORMAT),
                model=np.asarray(extractor.name),
                fingerprint=np.asarray(extractor.fingerprint),
                names=np.asarray([keys.names[i] for i in indices], dtype=np.str_),
                sizes=np.asarray([keys.sizes[i] for i in indices], dtype=np.int64),
                modified=np.asarray([keys.modified[i] for i in indices], dtype=np.int64),
                times=np.asarray([times[i] for i in indices], dtype=np.float64),
                features=features.astype(np.float32, copy=False),
            )


def _mismatch(fields: dict[str, NDArray[Any]], extractor: Extractor) -> str | None:
    """Say why the stored features cannot stand for those of the extractor."""
    if str(fields["format"]) != _FORMAT:
        return "was written by another version"
    if str(fields["fingerprint"]) != extractor.fingerprint:
        return f"holds features of {fields['model']} with other weights or preprocessing"
    features = fields["features"]
    n_rows = fields["names"].size
    if features.dtype != np.float32 or features.shape != (n_rows, extractor.n_features):
        return "holds features of a wrong shape"
    if any(fields[column].shape != (n_rows,) for column in ("names", "sizes", "modified", "times")):
        return "has columns of different lengths"
    if fields["names"].dtype.kind != "U" or fields["sizes"].dtype.kind + fields["modified"].dtype.kind != "ii":
        return "has columns of a wrong type"
    if not np.isfinite(features).all():
        return "holds values that are not finite"
    return None
