"""Walk from a source to its events: frames, features, boundaries, reasons, key photos."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import clone

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.checks import check_times
from dayline.decision.constraints import Frames
from dayline.estimators import EventSegmenter
from dayline.events import Event, Segmentation
from dayline.features import FrameKeys, load_extractor
from dayline.frames import FrameSequence, Pause, find_pauses, open_source
from dayline.io.output_folder import output_folder
from dayline.pipeline.bursts import Moments, expand_segmentation, find_moments, in_words
from dayline.pipeline.corrections import Corrections, apply_corrections, read_corrections
from dayline.pipeline.events_file import kept_corrections
from dayline.pipeline.extraction import Looks, frame_keys, look_at_frames
from dayline.pipeline.key_photos import with_key_photos
from dayline.pipeline.pictures import PictureFolder
from dayline.progress import OnStep
from dayline.text import counted

__all__ = ["Finder", "SourceResult", "segment_source", "segment_table"]

TYPICAL_PHOTO_EVENT = 16 * 60.0
"""Seconds: the EDUB-Seg days have 28 boundaries per 937 photos, one every 30 s. A weak prior (`typical_duration`)."""


CORRECTED = "corrections by hand are kept, also by the next run (--forget-corrections starts anew)"
"""A note of every result that they went into."""

EARLIEST_DATE = 1e8
"""Seconds: no recording lasts three years, so times beyond this count from 1970."""


class Finder(Protocol):
    """What finds events: our `EventSegmenter`, or a `PeerSegmenter` around a baseline."""

    @property
    def communities_(self) -> IntArray:
        """Recurring context of every frame."""

    @property
    def graph_(self) -> Array | None:
        """The learnt graph, where the method learns one."""

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be."""

    def segment(
        self, X: Any, *, times: Any = None, must: Frames = (), must_not: Frames = (), on_step: OnStep | None = None
    ) -> Segmentation:
        """Find the events of one sequence."""


@dataclass(frozen=True)
class SourceResult:
    """The events of a source, and what its page shows besides.

    Attributes
    ----------
    segmentation : Segmentation
        The events.
    communities : tuple of int
        Community of every frame.
    graph : ndarray of shape (n_frames, n_frames) or None
        The learnt graph; baselines learn none.
    sequence : FrameSequence or None
        The frames; None for a feature file.
    keys : FrameKeys or None
        What tells the frames apart from one run to the next.
    n_reused : int
        Frames whose features were stored by an earlier run.
    corrections : Segmentation or None
        What a person corrected; it is in the events already, and `write_result` keeps it for the next run.
    """

    segmentation: Segmentation
    communities: tuple[int, ...]
    graph: FloatArray | None
    sequence: FrameSequence | None = None
    keys: FrameKeys | None = None
    n_reused: int = 0
    corrections: Segmentation | None = None

    def named(self, source: str) -> SourceResult:
        """Return a copy that says what was segmented."""
        return replace(self, segmentation=self.segmentation.about(source=source))

    def made_by(self, method: str) -> SourceResult:
        """Return a copy that says with which settings it was made."""
        features = self.segmentation.method
        return replace(
            self, segmentation=self.segmentation.about(method=f"{method}, {features}" if features else method)
        )


def segment_source(
    source: str | Path,
    *,
    store: str | Path | None = None,
    model: str = "lite0",
    weights: str | Path | None = None,
    every: float | None = None,
    order: Literal["time", "name"] = "time",
    pause_factor: float = 10.0,
    pause_seconds: float = 300.0,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    segmenter: Finder | None = None,
    pictures: PictureFolder | None = None,
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of a folder of photos or of a video.

    Parameters
    ----------
    source : str or Path
        The folder or the video.
    store : str or Path, optional
        Folder in which features are kept for the next run, also when this one is interrupted; that of the
        result will do.
    model, weights : str, and str or Path
        What computes the features (see `dayline.features.load_extractor`).
    every : float, optional
        Seconds between frames of a video; by its length when not given.
    order : {"time", "name"}
        Order of photos.
    pause_factor, pause_seconds : float
        A pause is a gap longer than both: so many usual gaps, and so many seconds. It is a boundary.
    corrections : Segmentation, "kept" or None
        A result that a person corrected; its boundaries and names are kept. "kept" uses what earlier runs or the
        person left in `store`, None uses none.
    segmenter : EventSegmenter or PeerSegmenter, optional
        The method; our default when not given. It is copied, not fitted.
    pictures : PictureFolder, optional
        Where `write_result` will want the pictures; those of a video are written while it is decoded.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    sequence = open_source(source, every=every, order=order)
    extractor = load_extractor(model, weights=None if weights is None else Path(weights))
    with nullcontext() if store is None else output_folder(store) as folder:
        # Corrections of something else are refused now rather than after the features were computed.
        if corrections == "kept":
            corrections = _kept(folder, partial(_located, sequence))
        else:
            _located(sequence, corrections)
        looks = look_at_frames(sequence, extractor, store=folder, pictures=pictures, on_step=on_step)
    sequence = looks.sequence
    pauses = find_pauses(sequence.times, factor=pause_factor, at_least=pause_seconds)
    asked = _located(sequence, corrections)
    # Photos of one burst count as one; a pause, or what a person says, parts them nevertheless.
    opened = {*asked.must, *(pause.before for pause in pauses)}.difference(asked.must_not)
    moments = find_moments(sequence, looks.signatures, opened=opened)
    result = _segment(looks, moments, pauses, asked, segmenter, on_step)
    notes = _notes(sequence, moments, pauses)
    if corrections is not None:
        notes = (*notes, CORRECTED)
    about = {
        "source": sequence.source.resolve().name,
        "sizes": _file_sizes(sequence),
        "method": f"features {extractor.name}",
        "notes": notes,
    }
    return replace(result, segmentation=result.segmentation.about(**about), corrections=corrections)


def _kept(folder: Path | None, locate: Callable[[Segmentation | None], Corrections]) -> Segmentation | None:
    """Return the corrections kept in a folder, if they are of what is segmented now."""
    kept = None if folder is None else kept_corrections(folder)
    try:
        locate(kept)
    except ValueError as error:
        raise ValueError(
            f"{folder}: {error}; or start anew with --forget-corrections, or name another folder (-o)"
        ) from None
    return kept


def _located(sequence: FrameSequence, corrected: Segmentation | None) -> Corrections:
    """Find the corrected events among the frames of a sequence."""
    if corrected is None:
        return Corrections()
    return read_corrections(
        corrected,
        n_frames=sequence.n_frames,
        names=sequence.names,
        times=sequence.times,
        sizes=_file_sizes(sequence),
        source=sequence.source.resolve().name,
    )


def _file_sizes(sequence: FrameSequence) -> tuple[int, ...] | None:
    return tuple(path.stat().st_size for path in sequence.paths) if sequence.kind == "photos" else None


def segment_table(
    features: FloatArray,
    *,
    times: Sequence[float] | FloatArray | None = None,
    source: str | None = None,
    store: str | Path | None = None,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    segmenter: Finder | None = None,
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of features that something else has computed.

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        One row per frame.
    times : sequence of float, optional
        Seconds, one per frame; from 1973 on they are taken for seconds since 1970, and shown as dates.
    source : str, optional
        Name of the recording.
    store : str or Path, optional
        Folder of an earlier result, whose corrections are used again.
    corrections, segmenter, on_step
        As for `segment_source`.
    """

    def locate(corrected: Segmentation | None) -> Corrections:
        if corrected is None:
            return Corrections()
        seconds = check_times(times, len(features))
        return read_corrections(
            corrected, n_frames=len(features), times=None if seconds is None else seconds.tolist(), source=source
        )

    if corrections == "kept":
        corrections = _kept(None if store is None else Path(store), locate)
    asked = locate(corrections)
    segmenter = _chosen(segmenter)
    found = segmenter.segment(features, times=times, must=asked.must, must_not=asked.must_not, on_step=on_step)
    found = apply_corrections(found, asked)
    if found.times is not None and found.times[0] >= EARLIEST_DATE:
        found = found.about(clock="wall")
    found = found.about(source=source, notes=(*found.notes, CORRECTED) if corrections is not None else found.notes)
    values = np.ma.filled(features, np.nan) if isinstance(features, np.ma.MaskedArray) else features
    return SourceResult(
        segmentation=with_key_photos(found, np.nan_to_num(np.asarray(values, dtype=np.float64))),
        communities=tuple(segmenter.communities_.tolist()),
        graph=_graph(segmenter),
        corrections=corrections,
    )


def _chosen(segmenter: Finder | None) -> Finder:
    copy: Finder = EventSegmenter() if segmenter is None else clone(segmenter)
    return copy


def _graph(segmenter: Finder) -> FloatArray | None:
    return None if segmenter.graph_ is None else to_numpy(segmenter.graph_)


def _wants_durations(segmenter: Finder) -> bool:
    return isinstance(segmenter, EventSegmenter) and (
        segmenter.min_duration is not None or segmenter.expected_duration is not None
    )


def _for_photos(segmenter: Finder) -> Finder:
    """Let our method know how long events of a wearable camera's day usually last, unless it was told."""
    if not isinstance(segmenter, EventSegmenter):
        return segmenter
    if segmenter.detector == "partition" and segmenter.typical_duration is None:
        segmenter.set_params(typical_duration=TYPICAL_PHOTO_EVENT)
    return segmenter


def _segment(
    looks: Looks,
    moments: Moments,
    pauses: Sequence[Pause],
    asked: Corrections,
    segmenter: Finder | None,
    on_step: OnStep | None,
) -> SourceResult:
    """Run the method on moments; bring its answer back to frames."""
    sequence = looks.sequence
    times = _usable_times(sequence, moments)
    photos = sequence.clock == "wall" and times is not None
    segmenter = _for_photos(_chosen(segmenter)) if photos else _chosen(segmenter)
    if times is None and sequence.times is not None and _wants_durations(segmenter):
        warnings.warn("the clock runs backwards: durations count photos here, not seconds", stacklevel=2)
    # Who merged two events across a pause knows better.
    opens = {pause.before for pause in pauses} - set(asked.must_not)
    with warnings.catch_warnings():
        # Rows are frames here, whatever a few alike photos look like to the check for transposed tables.
        warnings.filterwarnings("ignore", message=r"\d+ rows and \d+ columns")
        found = segmenter.segment(
            moments.means(looks.features),
            times=times,
            must=moments.numbers({*opens, *asked.must}),
            must_not=moments.numbers(asked.must_not),
            on_step=on_step,
        )
    segmentation = expand_segmentation(found, moments, sequence)
    segmentation = _with_reasons(segmentation, opens)
    segmentation = with_key_photos(apply_corrections(segmentation, asked), looks.features, looks.sharpness)
    of_frame, graph = moments.of_frame, _graph(segmenter)
    return SourceResult(
        segmentation=segmentation,
        communities=tuple(segmenter.communities_[of_frame].tolist()),
        graph=graph[np.ix_(of_frame, of_frame)] if moments.n_bursts and graph is not None else graph,
        sequence=sequence,
        keys=frame_keys(sequence),
        n_reused=looks.n_reused,
    )


def _usable_times(sequence: FrameSequence, moments: Moments) -> FloatArray | None:
    """Give the method times, unless the clock was set back on the way (which is noted)."""
    times = None if sequence.times is None else np.asarray(sequence.times, dtype=np.float64)[moments.firsts]
    return None if times is None or np.any(np.diff(times) < 0) else times


def _with_reasons(segmentation: Segmentation, pauses: Collection[int]) -> Segmentation:
    """Say of each boundary at a pause whether the photos on its two sides look different too.

    They do where the boundary score reaches the lower quartile of that of the boundaries found by looks.
    """
    scores = np.asarray(segmentation.scores if segmentation.scores is not None else np.zeros(segmentation.n_frames))
    by_looks = [scores[b] for b in segmentation.boundaries if b not in pauses]
    enough = float(np.quantile(by_looks, 0.25)) if by_looks else np.inf

    def reasoned(event: Event) -> Event:
        if event.start not in pauses:
            return event
        return replace(event, reason="both" if scores[event.start] >= enough else "pause")

    return replace(segmentation, events=tuple(reasoned(event) for event in segmentation.events))


def _notes(sequence: FrameSequence, moments: Moments, pauses: Sequence[Pause]) -> tuple[str, ...]:
    frames = "frames" if sequence.kind == "video" else "photos"
    notes = [f"{frames} in order {sequence.order}", *sequence.notes]
    if moments.n_bursts:
        notes.append(in_words(moments))
    if pauses:
        longest = max(pause.seconds for pause in pauses)
        notes.append(
            f"{counted(len(pauses), 'pause')} of the camera, the longest {longest / 60:.0f} min: each is a boundary"
        )
    return tuple(notes)
