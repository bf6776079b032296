"""Extract only features that are not stored yet, and save them even if the run is interrupted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.features.extract import BATCH_SIZE, Extractor, FrameImage, OnStep, iter_features
from dayline.features.store import FeatureStore, FrameKeys

__all__ = ["ExtractedFeatures", "extract_with_store"]

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
        Where features are stored. If it cannot be written, a warning is logged and the features are returned.
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
        for part in iter_features(images, extractor, n_frames=n_frames, batch_size=batch_size, on_step=report):
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


def _joined(parts: list[tuple[IntArray, NDArray[np.float32]]]) -> tuple[IntArray, NDArray[np.float32]]:
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
