"""From a source to its events: frames, features, boundaries, reasons, key photos."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import clone

from dayline.album.corrections import (
    Corrections,
    apply_corrections,
    find_corrections,
    warn_of_absent_events,
    with_saved_contexts,
)
from dayline.album.earlier import (
    corrections_folder,
    kept_edits,
    with_digests,
    with_renewed_rows,
    without_replaced,
)
from dayline.album.extraction import (
    FrameReader,
    SourceResult,
    features_of,
    measures_of,
    read_source,
    signatures_of,
)
from dayline.album.key_photos import photo_quality, with_key_photos, with_locations
from dayline.album.page.graph_picture import Drawable
from dayline.album.pictures import PictureFolder
from dayline.album.places import event_features
from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.checks import TransposedWarning, check_times, times_clock
from dayline.decision.decide import Frames
from dayline.estimators import EventSegmenter
from dayline.events import Event, Segmentation
from dayline.features.extract import load_extractor
from dayline.media.breaks import Jump, Pause, find_jumps, find_pauses
from dayline.media.bursts import FrameGroups, describe_bursts, expand_segmentation, group_frames
from dayline.media.clocks import with_one_clock
from dayline.media.cuts import with_exact_cuts
from dayline.media.frame import FrameSequence
from dayline.method.linear import LinearGraph
from dayline.progress import OnStep
from dayline.result_folder import output_folder
from dayline.text import counted, duration_text

REQUESTS = ("n_events", "min_duration", "expected_duration", "level")
"""Parameters that change the number or the length of events."""

TYPICAL_EVENT = {"wall": 16 * 60.0, "media": 43.0}
"""Seconds, a weak prior (`typical_duration`). Photos: the EDUB-Seg days have 28 boundaries per 937 photos, one every
30 s. Films: the place changes 169 times in the 7,237 s of the studyforrest annotations."""


class Segmenter(Protocol):
    """What `EventSegmenter` and `BaselineSegmenter` have in common."""

    @property
    def communities_(self) -> IntArray:
        """Recurring context of every frame."""

    @property
    def graph_(self) -> Array | None:
        """The learnt graph, or None if the method learns none."""

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""

    def segment(
        self,
        X: Any,
        *,
        times: Any = None,
        must: Frames = (),
        must_not: Frames = (),
        on_step: OnStep | None = None,
    ) -> Segmentation:
        """Find the events of one sequence."""


def copied_segmenter(segmenter: Segmenter | None) -> Segmenter:
    """Return an unfitted copy, or the default method if there is none."""
    copy: Segmenter = EventSegmenter() if segmenter is None else clone(segmenter)
    return copy


def learnt_graph(segmenter: Segmenter) -> FloatArray | LinearGraph | None:
    """Return the graph of the rows that the method was given, on the host; None if it learns none."""
    graph = segmenter.graph_
    return graph if graph is None or isinstance(graph, LinearGraph) else to_numpy(graph)


@dataclass(frozen=True)
class _GraphOfAllFrames:
    """The graph of bursts, drawn as one of all their frames."""

    graph: LinearGraph
    of_frame: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.of_frame), len(self.of_frame)

    def picture(self, size: int) -> Array:
        return self.graph.picture(size, rows=self.of_frame)


def graph_of_frames(segmenter: Segmenter, of_frame: IntArray) -> FloatArray | Drawable | None:
    """Return the graph of all frames if the rows were bursts; `of_frame` is the row of every frame."""
    graph = learnt_graph(segmenter)
    if graph is None:
        return None
    return (
        _GraphOfAllFrames(graph, of_frame)
        if isinstance(graph, LinearGraph)
        else graph[np.ix_(of_frame, of_frame)]
    )


def wants_durations(segmenter: Segmenter) -> bool:
    """Return whether a parameter of the method is a duration."""
    return isinstance(segmenter, EventSegmenter) and (
        segmenter.min_duration is not None or segmenter.expected_duration is not None
    )


def requests_of(segmenter: Segmenter | None) -> str:
    """Return the requests about number and length of the events that are not the usual ones, for a message."""
    if not isinstance(segmenter, EventSegmenter):
        return ""
    usual = EventSegmenter()
    changed = [name for name in REQUESTS if getattr(segmenter, name) != getattr(usual, name)]
    return " and ".join(f"{name}={getattr(segmenter, name)}" for name in changed)


def with_typical_duration(segmenter: Segmenter, clock: str) -> Segmenter:
    """Set the typical duration of events in photos of a day or in a film, unless it is set already."""
    if not isinstance(segmenter, EventSegmenter):
        return segmenter
    if segmenter.detector == "partition" and segmenter.typical_duration is None:
        segmenter.set_params(typical_duration=TYPICAL_EVENT[clock])
    return segmenter


CORRECTED = (
    "your corrections are included, and later runs use them too (unless --forget-corrections is"
    " given)"
)
"""Note of every result that contains corrections."""


def segment_source(
    source: str | Path | FrameSequence,
    *,
    store: str | Path | None = None,
    model: str = "lite0",
    every: float | None = None,
    order: Literal["time", "name"] = "time",
    offsets: Mapping[str, float] | None = None,
    timezone: str | None = None,
    pause_factor: float = 10.0,
    pause_seconds: float = 300.0,
    jump_km: float = 2.0,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    segmenter: Segmenter | None = None,
    pictures: PictureFolder | None = None,
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of a folder of photos or of a video.

    Parameters
    ----------
    source : str, Path or FrameSequence
        The folder or the video, or photos that were already put in order (see
        `dayline.album.photo_days.find_days`).
    store : str or Path, optional
        Folder in which features are kept for the next run, even if this one is interrupted; usually
        the folder of the result.
    model : str
        What computes the features (see `dayline.features.extract.load_extractor`).
    every : float, optional
        Seconds between frames of a video; depends on its length by default.
    order : {"time", "name"}
        Order of photos.
    offsets, timezone : mapping of str to float, and str
        Corrections of cameras' clocks, and the time zone of photos without one (see
        `dayline.media.source.read_photo_folder`).
    pause_factor, pause_seconds : float
        A gap longer than both `pause_factor` typical gaps (2 hours at most) and `pause_seconds` is
        a pause. A pause is a boundary.
    jump_km : float > 0
        A distance of more than this many kilometres between two photos, far longer than those
        nearby, is a boundary too (see `dayline.media.breaks.find_jumps`).
    corrections : Segmentation, "kept" or None
        A result that a person corrected; its boundaries and names are kept. "kept" uses the
        corrections that earlier runs or the person left in `store`; None uses none.
    segmenter : EventSegmenter or BaselineSegmenter, optional
        The method; `EventSegmenter()` by default. It is copied, not fitted.
    pictures : PictureFolder, optional
        Where `write_result` will put the pictures; those of a video are written while it is
        decoded.
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    extractor = load_extractor(model, threads=1)
    with nullcontext() if store is None else output_folder(store) as folder:
        reader = FrameReader(extractor, folder, pictures, on_step)
        sequence = read_source(
            source, reader, every=every, order=order, offsets=offsets, timezone=timezone
        )
        sequence = with_one_clock(sequence, features_of(sequence))
        kept = () if folder is None or corrections is None else kept_edits(folder)
        new: tuple[Segmentation, ...] = ()
        if isinstance(corrections, Segmentation):
            digests, names, times = sequence.digests, sequence.names, sequence.times
            new = (with_digests(corrections, digests, names=names, times=times),)
    features = features_of(sequence)
    pauses = find_pauses(sequence.times, factor=pause_factor, at_least=pause_seconds)
    jumps = find_jumps(sequence.locations, sequence.times, at_least=jump_km)
    breaks = {*(pause.before for pause in pauses), *(jump.before for jump in jumps)}
    edits = (*new, *kept)
    located = find_corrections(edits, sequence.digests, sequence.times)
    _warn_of_corrections(located, segmenter)
    if folder is None or corrections_folder(folder) == folder:
        warn_of_absent_events(edits, sequence.digests)
    # Photos of one burst count as one frame, but pauses, jumps and corrections still split them.
    opened = {*located.must, *breaks}.difference(located.must_not)
    if sequence.kind == "photos":
        groups = group_frames(sequence.times, signatures_of(sequence), opened=opened)
    else:
        groups = FrameGroups(np.arange(sequence.n_frames))
    result = _segment(sequence, features, groups, breaks, located, segmenter, on_step)
    # A correction may have joined the events on both sides of one.
    starts = {event.start for event in result.segmentation.events}
    noted = (
        [pause for pause in pauses if pause.before in starts],
        [jump for jump in jumps if jump.before in starts],
    )
    notes = (*_notes(sequence, groups, *noted), *result.segmentation.notes)
    if located.events:
        notes = (*notes, CORRECTED)
    about = {
        "source": sequence.source.resolve().name,
        "digests": sequence.digests,
        "method": f"features {extractor.name}",
        "notes": notes,
    }
    return replace(
        result,
        segmentation=result.segmentation.about(**about),
        corrections=new,
        event_features=event_features(
            result.segmentation,
            features,
            f"{extractor.name} {extractor.fingerprint[:16]}",
        ),
    )


def _warn_of_corrections(corrections: Corrections, segmenter: Segmenter | None) -> None:
    requests = requests_of(segmenter)
    if corrections.events and requests:
        warnings.warn(
            f"{requests} cannot change events that your corrections contain; --forget-corrections"
            " leaves them out",
            stacklevel=3,
        )


def segment_table(
    features: FloatArray,
    *,
    times: Sequence[float] | FloatArray | None = None,
    clock: Literal["wall", "media"] | None = None,
    source: str | None = None,
    store: str | Path | None = None,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    segmenter: Segmenter | None = None,
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of precomputed features.

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        One row per frame.
    times : sequence of float, optional
        Seconds or dates, one per frame. Seconds of at least 1e8 (in 1973) count from 1970 and are
        shown as dates.
    clock : {"wall", "media"}, optional
        What the times are (see `Segmentation`), if their values do not say so.
    source : str, optional
        Name of the recording.
    store : str or Path, optional
        Folder of an earlier result whose corrections are used.
    corrections, segmenter, on_step
        As for `segment_source`.
    """
    digests, seconds = row_digests(features), check_times(times, len(features))
    moments = None if seconds is None else seconds.tolist()
    folder = None if store is None else Path(store)
    kept = () if folder is None or corrections is None else kept_edits(folder)
    new: tuple[Segmentation, ...] = ()
    if isinstance(corrections, Segmentation):
        new = (with_digests(corrections, digests, times=moments, source=source),)
    elif not find_corrections(kept, digests).events:
        new = with_renewed_rows(kept, digests, source)
    edits = without_replaced((*new, *kept))
    located = find_corrections(edits, digests, moments)
    _warn_of_corrections(located, segmenter)
    if folder is None or corrections_folder(folder) == folder:
        warn_of_absent_events(edits, digests)
    segmenter = copied_segmenter(segmenter)
    found = segmenter.segment(
        features, times=times, must=located.must, must_not=located.must_not, on_step=on_step
    )
    communities = with_saved_contexts(segmenter.communities_.tolist(), located)
    found = apply_corrections(found, located, communities)
    found = found.about(clock=clock or times_clock(times))
    found = found.about(
        source=source,
        digests=digests,
        notes=(*found.notes, CORRECTED) if located.events else found.notes,
    )
    values = np.ma.filled(features, np.nan) if isinstance(features, np.ma.MaskedArray) else features
    return SourceResult(
        segmentation=with_key_photos(found, np.nan_to_num(np.asarray(values, dtype=np.float64))),
        communities=communities,
        graph=learnt_graph(segmenter),
        corrections=new,
    )


def row_digests(features: FloatArray) -> tuple[str, ...]:
    """Return a hash of every row of features; it identifies the row if others are added or removed."""
    rows = np.ascontiguousarray(np.ma.filled(features, np.nan), dtype=np.float64)
    return tuple(hashlib.sha256(row.tobytes()).hexdigest()[:32] for row in rows)


def _segment(
    sequence: FrameSequence,
    features: FloatArray,
    groups: FrameGroups,
    breaks: Collection[int],
    located: Corrections,
    segmenter: Segmenter | None,
    on_step: OnStep | None,
) -> SourceResult:
    """Run the method on groups of frames and expand its result to frames."""
    times = _usable_times(sequence, groups)
    segmenter = copied_segmenter(segmenter)
    if sequence.clock is not None and times is not None:
        segmenter = with_typical_duration(segmenter, sequence.clock)
    if times is None and sequence.times is not None and wants_durations(segmenter):
        warnings.warn(
            "the clock runs backwards; durations are in photos, not seconds", stacklevel=2
        )
    # A person who merged two events across a pause or jump overrules it.
    opens = set(breaks) - set(located.must_not)
    with warnings.catch_warnings():
        # Rows are frames here; the check for transposed tables would misjudge a few photos.
        warnings.simplefilter("ignore", TransposedWarning)
        found = segmenter.segment(
            groups.means(features),
            times=times,
            must=groups.numbers({*opens, *located.must}),
            must_not=groups.numbers(located.must_not),
            on_step=on_step,
        )
    segmentation = expand_segmentation(found, groups, sequence)
    of_frame = groups.of_frame
    communities = with_saved_contexts(segmenter.communities_[of_frame].tolist(), located)
    segmentation = apply_corrections(_with_reasons(segmentation, opens), located, communities)
    segmentation = with_exact_cuts(
        segmentation,
        sequence,
        fixed=located.must,
        forbidden=located.must_not,
        known=located.cuts,
        sampled=located.sampled,
        on_step=on_step,
    )
    segmentation = with_key_photos(segmentation, features, photo_quality(measures_of(sequence)))
    segmentation = with_locations(segmentation, sequence.locations)
    return SourceResult(
        segmentation=segmentation,
        communities=communities,
        graph=graph_of_frames(segmenter, of_frame) if groups.n_bursts else learnt_graph(segmenter),
        sequence=sequence,
    )


def _usable_times(sequence: FrameSequence, groups: FrameGroups) -> FloatArray | None:
    """Return the times of the groups, or None if the clock was set back (which a note says)."""
    times = (
        None
        if sequence.times is None
        else np.asarray(sequence.times, dtype=np.float64)[groups.firsts]
    )
    return None if times is None or np.any(np.diff(times) < 0) else times


def _with_reasons(segmentation: Segmentation, pauses: Collection[int]) -> Segmentation:
    """Record for each boundary at a pause or jump whether the photos on its two sides also look different.

    Both are a time without photos; the page, older versions and other readers know only "pause" and
    "both". They do if its score reaches the lower quartile of the scores of the boundaries found by
    appearance.
    """
    scores = np.asarray(
        segmentation.scores if segmentation.scores is not None else np.zeros(segmentation.n_frames)
    )
    by_appearance = [scores[b] for b in segmentation.boundaries if b not in pauses]
    enough = float(np.quantile(by_appearance, 0.25)) if by_appearance else np.inf

    def reasoned(event: Event) -> Event:
        if event.start not in pauses:
            return event
        return replace(event, reason="both" if scores[event.start] >= enough else "pause")

    return replace(segmentation, events=tuple(reasoned(event) for event in segmentation.events))


def _notes(
    sequence: FrameSequence, groups: FrameGroups, pauses: Sequence[Pause], jumps: Sequence[Jump]
) -> tuple[str, ...]:
    frames = "frames" if sequence.kind == "video" else "photos"
    notes = [f"{frames} in order {sequence.order}", *sequence.notes]
    if groups.n_bursts:
        notes.append(describe_bursts(groups))
    if pauses:
        longest = max(pause.seconds for pause in pauses)
        notes.append(
            f"{counted(len(pauses), 'pause')} of the camera, the longest {duration_text(longest)}:"
            " each is a boundary"
        )
    if jumps:
        furthest = max(jump.kilometres for jump in jumps)
        notes.append(
            f"{counted(len(jumps), 'move')} of the camera by kilometres between two photos, the"
            f" longest {furthest:.0f} km: each is a boundary"
        )
    return tuple(notes)
