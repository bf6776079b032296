"""Decode every frame once, and compute its features and sharpness."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray
from dayline.features import Extractor, FeatureStore, FrameKeys, extract_with_store
from dayline.frames import FrameSequence, drop_frames, images
from dayline.pipeline.bursts import signatures_in_bursts
from dayline.pipeline.pictures import PictureFolder
from dayline.progress import OnStep

__all__ = ["ExtractedFrames", "extract_frames", "frame_keys", "sharpness"]

Image = NDArray[np.uint8]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExtractedFrames:
    """Features and sharpness of the frames of a sequence.

    Attributes
    ----------
    sequence : FrameSequence
        Without the frames that could not be decoded, which its `skipped` lists.
    features : ndarray of shape (n_frames, n_features)
        One row per frame of `sequence`.
    sharpness : ndarray of shape (n_frames,)
        High for sharp frames; comparable only within an event.
    signatures : dict of int to ndarray
        Grey thumbnails of the photos that may belong to a burst.
    n_reused : int
        Number of frames whose features an earlier run had stored.
    """

    sequence: FrameSequence
    features: FloatArray
    sharpness: FloatArray
    signatures: dict[int, Image]
    n_reused: int


@dataclass(frozen=True)
class _Sharpness:
    """Sharpness as an extractor, so that it is stored in the same way as features."""

    name: str = "sharpness"
    fingerprint: str = "sharpness-1"
    n_features: int = 1
    input_size: int = 256

    def prepare(self, image: Image) -> NDArray[Any]:
        return np.asarray([sharpness(image)], dtype=np.float32)

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return np.asarray(batch, dtype=np.float32)


def extract_frames(
    sequence: FrameSequence,
    extractor: Extractor,
    *,
    store: Path | None = None,
    pictures: PictureFolder | None = None,
    bursts: bool = True,
    on_step: OnStep | None = None,
) -> ExtractedFrames:
    """Compute the features and sharpness of all frames that an earlier run has not stored.

    Parameters
    ----------
    sequence : FrameSequence
        The frames, as returned by `open_source`.
    extractor : Extractor
        See `dayline.features.load_extractor`.
    store : Path, optional
        Folder for features.npz and sharpness.npz, which are kept even if the run is interrupted.
    pictures : PictureFolder, optional
        Where to write the pictures of a video's frames while they are decoded, so that none is decoded twice.
    bursts : bool
        Whether signatures of photos in bursts are needed.
    on_step : callable, optional
        Called as on_step("features", done, total).
    """
    if store is None:
        with tempfile.TemporaryDirectory(prefix="dayline-") as folder:
            return extract_frames(
                sequence, extractor, store=Path(folder), pictures=pictures, bursts=bursts, on_step=on_step
            )
    keys = frame_keys(sequence)
    failed: dict[int, str] = {}
    notes: dict[str, None] = {}
    measured: dict[int, float] = {}
    also = pictures.while_decoding(keys) if pictures is not None and sequence.kind == "video" else None

    def decoded(needed: IntArray) -> Iterator[tuple[int, Image]]:
        size = max(extractor.input_size, _Sharpness.input_size)
        skip, say = failed.__setitem__, notes.setdefault
        frames = images(sequence, size=size, indices=needed.tolist(), on_skip=skip, on_note=say, also=also)
        for i, image in frames:
            measured[i] = sharpness(image)
            yield i, image

    sharp_store = FeatureStore(store / "sharpness.npz")
    report = _reporter(on_step)
    try:
        found = extract_with_store(
            decoded, extractor, store=FeatureStore(store / "features.npz"), keys=keys, on_step=report
        )
    finally:
        _keep(sharp_store, keys, measured)
    if found.reason:
        log.info("%s; features are computed again", found.reason)
    # This decodes nothing unless the file of one of the two stores was lost.
    sharp = extract_with_store(decoded, _Sharpness(), store=sharp_store, keys=keys, on_step=None)
    good = np.intersect1d(found.indices, sharp.indices)
    kept = drop_frames(sequence, {i: failed.get(i, "cannot be decoded") for i in _others(good, sequence.n_frames)})
    # A photo whose features are stored may have been damaged since; it is skipped as in a first run.
    damaged: dict[int, str] = {}
    signatures = signatures_in_bursts(kept, on_skip=damaged.__setitem__) if bursts else {}
    still = np.asarray(_others(np.asarray(list(damaged), dtype=np.int64), kept.n_frames), dtype=np.int64)
    good, kept = good[still], drop_frames(kept, damaged)
    return ExtractedFrames(
        sequence=_with_notes(kept, tuple(notes)),
        features=found.features[np.searchsorted(found.indices, good)].astype(np.float64),
        sharpness=sharp.features[np.searchsorted(sharp.indices, good), 0].astype(np.float64),
        signatures={place: signatures[i] for place, i in enumerate(still.tolist()) if i in signatures},
        n_reused=found.n_reused,
    )


def frame_keys(sequence: FrameSequence) -> FrameKeys:
    """Identify frames across runs by the name, size and modification time of their files."""
    if sequence.kind == "video":
        about = sequence.source.stat()
        names = tuple(f"{sequence.source.name} {frame.stamp}" for frame in sequence.video_frames)
        sizes, modified = (about.st_size,) * len(names), (about.st_mtime_ns,) * len(names)
    else:
        stats = [path.stat() for path in sequence.paths]
        names = sequence.names
        sizes, modified = tuple(s.st_size for s in stats), tuple(s.st_mtime_ns for s in stats)
    return FrameKeys(_storable(names), sizes, modified, sequence.times)


def sharpness(image: Image) -> float:
    """Measure how much fine detail an image has: the variance of its Laplacian."""
    grey = image.astype(np.float32) @ np.asarray([0.299, 0.587, 0.114], dtype=np.float32)
    if min(grey.shape) < 3:
        return 0.0
    middle = grey[1:-1, 1:-1]
    return float(np.var(grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:] - 4 * middle))


def _keep(store: FeatureStore, keys: FrameKeys, measured: dict[int, float]) -> None:
    """Add the measured values to the store."""
    if not measured:
        return
    stored = store.load(keys, _Sharpness())
    values = dict(zip(stored.indices.tolist(), stored.features[:, 0].tolist(), strict=True)) | measured
    indices = np.asarray(sorted(values), dtype=np.int64)
    column = np.asarray([[values[i]] for i in indices.tolist()], dtype=np.float32)
    try:
        store.save(keys, _Sharpness(), indices=indices, features=column)
    except OSError as error:
        log.warning("%s: sharpness could not be stored (%s)", store.path, error.strerror)


def _reporter(on_step: OnStep | None) -> Callable[[int, int], None] | None:
    return None if on_step is None else lambda done, total: on_step("features", done, total)


def _others(good: IntArray, n_frames: int) -> list[int]:
    return [int(i) for i in np.setdiff1d(np.arange(n_frames), good)]


def _storable(names: tuple[str, ...]) -> tuple[str, ...]:
    # NumPy drops trailing NULs of a string, and lone surrogates cannot be written.
    return tuple(name.encode("utf-8", "backslashreplace").decode() for name in names)


def _with_notes(sequence: FrameSequence, notes: tuple[str, ...]) -> FrameSequence:
    return replace(sequence, notes=(*sequence.notes, *notes)) if notes else sequence
