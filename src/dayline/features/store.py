"""Store features in a file and reuse them for every frame whose file has not changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.features.extract import BATCH_SIZE, Extractor, FrameImage, OnStep, iter_features
from dayline.features.numpy_files import load_npz
from dayline.files import UnreadableFileError, writing_whole


class Named(Protocol):
    """The name of a model and a hash of everything that affects its values."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and preprocessing."""


_FORMAT = "dayline-features-1"
_FIELDS = ("format", "model", "fingerprint", "names", "sizes", "modified", "times", "features")


@dataclass(frozen=True)
class FrameKeys:
    """Identifies frames from one run to the next.

    Attributes
    ----------
    names : tuple of str
        One unique name per frame (file name; for a video, file name and time).
    sizes : tuple of int
        Size of each frame's file in bytes.
    modified : tuple of int
        Modification time of each frame's file in nanoseconds.
    times : tuple of float, optional
        Time of each frame in seconds; stored for readers of the file, not compared.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    modified: tuple[int, ...]
    times: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check that the columns have equal lengths."""
        columns = (
            self.names,
            self.sizes,
            self.modified,
            self.names if self.times is None else self.times,
        )
        if len({len(column) for column in columns}) != 1:
            raise ValueError(
                f"frame keys have columns of {[len(c) for c in columns]} entries; pass one per"
                " frame"
            )

    def identities(self) -> list[tuple[str, int, int]]:
        """Return name, size and modification time of every frame."""
        return list(zip(self.names, self.sizes, self.modified, strict=True))


@dataclass(frozen=True)
class StoredFeatures:
    """Stored features of the requested frames.

    Attributes
    ----------
    indices : ndarray of int
        Frames found, ascending, by their numbers in the requested sequence.
    features : ndarray of float32, (len(indices), n_features)
        Their features.
    reason : str or None
        Why an existing file could not be used; None if it could, or if there is no file.
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
        The file; it may not exist yet.
    """

    path: Path

    def load(self, keys: FrameKeys, extractor: Extractor) -> StoredFeatures:
        """Return the stored features of frames whose files have not changed.

        Parameters
        ----------
        keys : FrameKeys
            The frames of the sequence.
        extractor : Extractor
            The extractor in use; features of another model are ignored.
        """
        nothing = np.empty(0, dtype=np.int64), np.empty((0, extractor.n_features), dtype=np.float32)
        if not os.path.lexists(self.path):
            return StoredFeatures(*nothing)
        if self.path.is_symlink():
            return StoredFeatures(*nothing, f"{self.path.name} is a link to another place")
        try:
            # dayline does not compress its stores, so a compressed file was written by something
            # else.
            fields = load_npz(self.path, _FIELDS, stored=True)
        except UnreadableFileError as error:
            # The features are simply computed again. The reason may be shown to others, so it omits
            # the folder.
            why = str(error).removeprefix(f"{self.path}: ")
            return StoredFeatures(
                *nothing, f"{self.path.name} is not a usable feature store ({why})"
            )
        reason = _mismatch(fields, extractor)
        if reason:
            return StoredFeatures(*nothing, f"{self.path.name} {reason}")
        columns = (fields["names"].tolist(), fields["sizes"].tolist(), fields["modified"].tolist())
        rows = {identity: row for row, identity in enumerate(zip(*columns, strict=True))}
        found = [
            (i, rows[identity]) for i, identity in enumerate(keys.identities()) if identity in rows
        ]
        if not found:
            return StoredFeatures(*nothing, f"{self.path.name} contains other frames")
        indices, stored = np.asarray(found, dtype=np.int64).T
        return StoredFeatures(indices, fields["features"][stored])

    def save(
        self, keys: FrameKeys, extractor: Named, *, indices: IntArray, features: NDArray[np.float32]
    ) -> None:
        """Write the features computed so far; the file is replaced atomically.

        Parameters
        ----------
        keys : FrameKeys
            The frames of the sequence.
        extractor : Extractor
            The extractor that computed the features.
        indices : ndarray of int
            Finished frames, not necessarily all.
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

    def share(self, parts: Iterable[tuple[Path, FrameKeys, FrameKeys]]) -> None:
        """Copy the features of some frames into stores of their own, which then hold no others.

        Parameters
        ----------
        parts : iterable of (Path, FrameKeys, FrameKeys)
            File of the store, and its frames as they are named here and there.
        """
        try:
            fields = load_npz(self.path, _FIELDS, stored=True)
        except (UnreadableFileError, OSError):
            return  # then the features are computed again
        columns = (fields["names"].tolist(), fields["sizes"].tolist(), fields["modified"].tolist())
        rows = {identity: row for row, identity in enumerate(zip(*columns, strict=True))}
        for path, here, there in parts:
            found = [
                (i, rows[identity])
                for i, identity in enumerate(here.identities())
                if identity in rows
            ]
            if not found:
                continue
            indices, chosen = np.asarray(found, dtype=np.int64).T
            about = _Stored(str(fields["model"]), str(fields["fingerprint"]))
            FeatureStore(path).save(
                there, about, indices=indices, features=fields["features"][chosen]
            )


@dataclass(frozen=True)
class _Stored:
    """What a store says about the extractor of its features."""

    name: str
    fingerprint: str


def _mismatch(fields: dict[str, NDArray[Any]], extractor: Extractor) -> str | None:
    """Return why the stored features cannot be used for this extractor, or None."""
    if str(fields["format"]) != _FORMAT:
        return "was written by another version"
    if str(fields["fingerprint"]) != extractor.fingerprint:
        return f"contains features of {fields['model']} with other weights or preprocessing"
    features = fields["features"]
    n_rows = fields["names"].size
    if features.dtype != np.float32 or features.shape != (n_rows, extractor.n_features):
        return "contains features of the wrong shape"
    if any(fields[column].shape != (n_rows,) for column in ("names", "sizes", "modified", "times")):
        return "has columns of different lengths"
    if (
        fields["names"].dtype.kind != "U"
        or fields["sizes"].dtype.kind + fields["modified"].dtype.kind != "ii"
    ):
        return "has columns of the wrong type"
    if not np.isfinite(features).all():
        return "contains values that are not finite"
    return None


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExtractedFeatures:
    """Features of a sequence, and how many were reused.

    Attributes
    ----------
    indices : ndarray of int
        Frames with features, ascending; the others could not be decoded.
    features : ndarray of float32, (len(indices), n_features)
        Their features.
    n_reused : int
        Number of frames loaded from the store.
    reason : str or None
        Why an existing store could not be used.
    """

    indices: IntArray
    features: NDArray[np.float32]
    n_reused: int
    reason: str | None = None


def extract_with_store(
    open_images: Callable[[IntArray], Iterable[tuple[int, FrameImage]]],
    extractor: Extractor,
    *,
    store: FeatureStore,
    keys: FrameKeys,
    batch_size: int = BATCH_SIZE,
    save_every: float = 10.0,
    on_step: OnStep | None = None,
) -> ExtractedFeatures:
    """Compute the features missing from a store, and add them to it.

    Parameters
    ----------
    open_images : function
        Takes the numbers of the missing frames, ascending; yields (number, image) pairs.
    extractor : Extractor
        See `load_extractor`.
    store : FeatureStore
        Where features are stored. If it cannot be written, a warning is logged and the features are
        returned.
    keys : FrameKeys
        Identify frames whose files have not changed.
    batch_size : int
        Images per batch.
    save_every : float
        Seconds between saves; features are always saved at the end, even if the run is interrupted.
    on_step : function, optional
        Called with (frames done, number of frames); stored frames count as done.
    """
    stored = store.load(keys, extractor)
    n_frames, n_reused = len(keys.names), len(stored.indices)
    parts = [(stored.indices, stored.features)]
    needed = np.setdiff1d(np.arange(n_frames), stored.indices)
    if on_step and n_reused:
        on_step(n_reused, n_frames)
    saved_at, n_unsaved = monotonic(), 0

    def report(done: int, n: int) -> None:
        if on_step:
            on_step(n_reused + done, n)

    try:
        images = open_images(needed) if len(needed) else ()
        for part in iter_features(
            images, extractor, n_frames=n_frames, batch_size=batch_size, on_step=report
        ):
            parts.append(part)
            n_unsaved += len(part[0])
            if monotonic() - saved_at > save_every:
                _save(store, keys, extractor, parts)
                saved_at, n_unsaved = monotonic(), 0
    finally:
        if n_unsaved:
            _save(store, keys, extractor, parts)
    indices, features = _joined(parts)
    return ExtractedFeatures(indices, features, n_reused, stored.reason)


def _joined(
    parts: list[tuple[IntArray, NDArray[np.float32]]],
) -> tuple[IntArray, NDArray[np.float32]]:
    indices = np.concatenate([part[0] for part in parts])
    order = np.argsort(indices, kind="stable")
    return indices[order], np.concatenate([part[1] for part in parts])[order]


def _save(
    store: FeatureStore,
    keys: FrameKeys,
    extractor: Extractor,
    parts: list[tuple[IntArray, NDArray[np.float32]]],
) -> None:
    indices, features = _joined(parts)
    try:
        store.save(keys, extractor, indices=indices, features=features)
    except OSError as error:
        _log.warning("%s: features could not be saved (%s)", store.path, error)
