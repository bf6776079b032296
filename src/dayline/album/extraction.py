"""The result of a source, before it is written."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.album.key_photos import MEASURES, measure_photo, photo_quality
from dayline.album.page.graph_picture import Drawable
from dayline.album.pictures import GivenPictures, PictureFolder
from dayline.album.places import EventFeatures
from dayline.arrays import Array, FloatArray, IntArray
from dayline.events import Segmentation
from dayline.features.extract import Extractor
from dayline.features.store import FeatureStore, FrameKeys, extract_with_store
from dayline.media.bursts import signatures_in_bursts
from dayline.media.frame import FrameSequence, drop_frames
from dayline.media.source import images
from dayline.progress import OnStep


@dataclass(frozen=True)
class SourceResult:
    """The events of a source, and what else its page shows.

    Attributes
    ----------
    segmentation : Segmentation
        The events.
    communities : tuple of int or None
        Community of every frame.
    graph : ndarray of shape (n_frames, n_frames), Drawable or None
        The learnt graph; None for baselines.
    sequence : FrameSequence or None
        The frames; None for a feature file.
    keys : FrameKeys or None
        Identifies the frames across runs.
    n_reused : int
        Number of frames whose features an earlier run had stored.
    corrections : tuple of Segmentation
        New corrections of a person, already applied to the events; `write_result` keeps them for
        the next run.
    pictures : GivenPictures or None
        Pictures of a feature file's frames.
    event_features : EventFeatures or None
        What the events look like, to compare them with those of other days; None for a feature
        file.
    """

    segmentation: Segmentation
    communities: tuple[int, ...] | None
    graph: Array | Drawable | None
    sequence: FrameSequence | None = None
    keys: FrameKeys | None = None
    n_reused: int = 0
    corrections: tuple[Segmentation, ...] = ()
    pictures: GivenPictures | None = None
    event_features: EventFeatures | None = None

    def named(self, source: str) -> SourceResult:
        """Return a copy with the name of the source."""
        return replace(self, segmentation=self.segmentation.about(source=source))

    def made_by(self, method: str) -> SourceResult:
        """Return a copy with the name of the method."""
        features = self.segmentation.method
        return replace(
            self,
            segmentation=self.segmentation.about(
                method=f"{method}, {features}" if features else method
            ),
        )


Image = NDArray[np.uint8]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExtractedFrames:
    """Features and quality of the frames of a sequence.

    Attributes
    ----------
    sequence : FrameSequence
        Without the frames that could not be decoded, which its `skipped` lists.
    features : ndarray of shape (n_frames, n_features)
        One row per frame of `sequence`.
    quality : ndarray of shape (n_frames,)
        How worth showing each frame is, in [0, 1]; see `photo_quality`.
    signatures : dict of int to ndarray
        Grey thumbnails of the photos that may belong to a burst.
    n_reused : int
        Number of frames whose features an earlier run had stored.
    """

    sequence: FrameSequence
    features: FloatArray
    quality: FloatArray
    signatures: dict[int, Image]
    n_reused: int


@dataclass(frozen=True)
class _Measures:
    """The measures behind the quality as an extractor, so that they are stored in the same way as features."""

    name: str = "photo measures"
    fingerprint: str = "photo-measures-1"
    n_features: int = len(MEASURES)
    input_size: int = 256

    def prepare(self, image: Image) -> NDArray[Any]:
        return measure_photo(image)

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
    """Compute the features and quality of all frames that an earlier run has not stored.

    Parameters
    ----------
    sequence : FrameSequence
        The frames, as returned by `open_source`.
    extractor : Extractor
        See `dayline.features.extract.load_extractor`.
    store : Path, optional
        Folder for features.npz and sharpness.npz, which are kept even if the run is interrupted.
    pictures : PictureFolder, optional
        Where to write the pictures of a video's frames while they are decoded, so that none is
        decoded twice.
    bursts : bool
        Whether signatures of photos in bursts are needed.
    on_step : callable, optional
        Called as on_step("features", done, total).
    """
    if store is None:
        with tempfile.TemporaryDirectory(prefix="dayline-") as folder:
            return extract_frames(
                sequence,
                extractor,
                store=Path(folder),
                pictures=pictures,
                bursts=bursts,
                on_step=on_step,
            )
    keys = frame_keys(sequence)
    failed: dict[int, str] = {}
    notes: dict[str, None] = {}
    measured: dict[int, NDArray[np.float32]] = {}
    also = (
        pictures.while_decoding(keys) if pictures is not None and sequence.kind == "video" else None
    )

    def decoded(needed: IntArray) -> Iterator[tuple[int, Image]]:
        size = max(extractor.input_size, _Measures.input_size)
        skip, say = failed.__setitem__, notes.setdefault
        frames = images(
            sequence, size=size, indices=needed.tolist(), on_skip=skip, on_note=say, also=also
        )
        for i, image in frames:
            measured[i] = measure_photo(image)
            yield i, image

    # The name is that of 0.1.0, which stored another measure; the values of such a file are
    # computed again.
    measure_store = FeatureStore(store / "sharpness.npz")
    report = _reporter(on_step)
    try:
        found = extract_with_store(
            decoded,
            extractor,
            store=FeatureStore(store / "features.npz"),
            keys=keys,
            on_step=report,
        )
    finally:
        _keep(measure_store, keys, measured)
    if found.reason:
        log.info("%s; features are computed again", found.reason)
    # This decodes nothing unless the file of one of the two stores was lost or is from an older
    # version.
    measures = extract_with_store(
        decoded, _Measures(), store=measure_store, keys=keys, on_step=None
    )
    good = np.intersect1d(found.indices, measures.indices)
    kept = drop_frames(
        sequence, {i: failed.get(i, "cannot be decoded") for i in _others(good, sequence.n_frames)}
    )
    # A photo whose features are stored may have been damaged since; it is skipped as in a first
    # run.
    damaged: dict[int, str] = {}
    signatures = signatures_in_bursts(kept, on_skip=damaged.__setitem__) if bursts else {}
    still = np.asarray(
        _others(np.asarray(list(damaged), dtype=np.int64), kept.n_frames), dtype=np.int64
    )
    good, kept = good[still], drop_frames(kept, damaged)
    return ExtractedFrames(
        sequence=_with_notes(kept, tuple(notes)),
        features=found.features[np.searchsorted(found.indices, good)].astype(np.float64),
        quality=photo_quality(
            measures.features[np.searchsorted(measures.indices, good)].astype(np.float64)
        ),
        signatures={
            place: signatures[i] for place, i in enumerate(still.tolist()) if i in signatures
        },
        n_reused=found.n_reused,
    )


def frame_keys(sequence: FrameSequence) -> FrameKeys:
    """Identify frames across runs by the name, size and modification time of their files."""
    if sequence.kind == "video":
        about = sequence.source.stat()
        names = tuple(
            f"{sequence.source.name} {frame.in_video.stamp}"
            for frame in sequence.frames
            if frame.in_video is not None
        )
        sizes, modified = (about.st_size,) * len(names), (about.st_mtime_ns,) * len(names)
    else:
        stats = [path.stat() for path in sequence.paths]
        names = sequence.names
        sizes, modified = tuple(s.st_size for s in stats), tuple(s.st_mtime_ns for s in stats)
    return FrameKeys(_storable(names), sizes, modified, sequence.times)


def _keep(store: FeatureStore, keys: FrameKeys, measured: dict[int, NDArray[np.float32]]) -> None:
    """Add the measured values to the store."""
    if not measured:
        return
    stored = store.load(keys, _Measures())
    values = dict(zip(stored.indices.tolist(), stored.features, strict=True)) | measured
    indices = np.asarray(sorted(values), dtype=np.int64)
    rows = np.stack([values[i] for i in indices.tolist()])
    try:
        store.save(keys, _Measures(), indices=indices, features=rows)
    except OSError as error:
        log.warning(
            "%s: the quality of photos could not be stored (%s)", store.path, error.strerror
        )


def _reporter(on_step: OnStep | None) -> Callable[[int, int], None] | None:
    return None if on_step is None else lambda done, total: on_step("features", done, total)


def _others(good: IntArray, n_frames: int) -> list[int]:
    return [int(i) for i in np.setdiff1d(np.arange(n_frames), good)]


def _storable(names: tuple[str, ...]) -> tuple[str, ...]:
    # NumPy drops trailing NULs of a string, and lone surrogates cannot be written.
    return tuple(name.encode("utf-8", "backslashreplace").decode() for name in names)


def _with_notes(sequence: FrameSequence, notes: tuple[str, ...]) -> FrameSequence:
    return replace(sequence, notes=(*sequence.notes, *notes)) if notes else sequence
