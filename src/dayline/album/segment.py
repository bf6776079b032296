"""From a source to its events: read, segment, refine."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from dayline.album.corrections import (
    Corrections,
    Edit,
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
from dayline.album.pictures import PictureFolder
from dayline.album.places import event_features
from dayline.album.settings import (
    Segmenter,
    Settings,
    copied_segmenter,
    learned_graph,
    requests_of,
    wants_durations,
)
from dayline.arrays import FloatArray
from dayline.checks import TransposedWarning, check_times
from dayline.events import Event, Segmentation
from dayline.features.extract import load_extractor
from dayline.media.breaks import Jump, Pause, find_jumps, find_pauses
from dayline.media.bursts import FrameGroups, group_frames
from dayline.media.clocks import with_one_clock
from dayline.media.frame import FrameSequence
from dayline.progress import OnStep
from dayline.result_folder import output_folder
from dayline.text import counted, duration_text

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
        A distance of more than this many kilometers between two photos, far longer than those
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
    settings = Settings(
        method="",
        segmenter=segmenter,
        order=order,
        every=every,
        model=model,
        pause_seconds=pause_seconds,
        pause_factor=pause_factor,
        jump_km=jump_km,
        offsets=tuple((offsets or {}).items()),
        timezone=timezone,
    )
    return segment_frames(
        source, settings, store=store, corrections=corrections, pictures=pictures, on_step=on_step
    )


def segment_frames(
    source: str | Path | FrameSequence,
    settings: Settings,
    *,
    store: str | Path | None = None,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    pictures: PictureFolder | None = None,
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of a folder of photos or of a video; see `segment_source`."""
    # Read: every frame once, with its features; then put the clocks of all cameras right.
    extractor = load_extractor(settings.model, threads=1)
    kept: tuple[Edit, ...] = ()
    with nullcontext() if store is None else output_folder(store) as folder:
        reader = FrameReader(extractor, folder, pictures, on_step)
        sequence = read_source(source, reader, settings)
        if folder is not None and corrections is not None:
            kept = kept_edits(folder)
    sequence = with_one_clock(sequence, features_of(sequence))
    features, digests = features_of(sequence), sequence.digests

    # What a person corrected, and where the recording breaks off.
    new: tuple[Segmentation, ...] = ()
    if isinstance(corrections, Segmentation):
        names, times = sequence.names, sequence.times
        new = (with_digests(corrections, digests, names=names, times=times),)
    edits = (*new, *kept)
    located = find_corrections(edits, digests, sequence.times)
    _warn_of_corrections(located, settings.segmenter)
    if folder is None or corrections_folder(folder) == folder:
        warn_of_absent_events(edits, digests)
    pauses = find_pauses(
        sequence.times, factor=settings.pause_factor, at_least=settings.pause_seconds
    )
    jumps = find_jumps(sequence.locations, sequence.times, at_least=settings.jump_km)
    # A person who merged two events across a pause or jump overrules it.
    breaks = {pause.before for pause in pauses} | {jump.before for jump in jumps}
    breaks -= set(located.must_not)

    # Segment: photos of one burst count as one frame, but breaks and corrections split them.
    opened = {*located.must, *breaks}.difference(located.must_not)
    if sequence.kind == "photos":
        groups = group_frames(sequence.times, signatures_of(sequence), opened=opened)
    else:
        groups = FrameGroups(np.arange(sequence.n_frames))
    moments = _usable_times(sequence, groups, settings.segmenter)
    segmenter = copied_segmenter(
        settings.segmenter, clock=None if moments is None else sequence.clock
    )
    with warnings.catch_warnings():
        # Rows are frames here; the check for transposed tables would misjudge a few photos.
        warnings.simplefilter("ignore", TransposedWarning)
        found = segmenter.segment(
            groups.means(features),
            times=moments,
            must=groups.numbers(opened),
            must_not=groups.numbers(located.must_not),
            on_step=on_step,
        )

    # Refine: events of frames, corrections, exact cuts, key photos, locations.
    communities = with_saved_contexts(segmenter.communities_[groups.of_frame].tolist(), located)
    scores = groups.expand_scores(found.scores)
    events = _with_times(groups.expand_events(found.events), sequence.times)
    segmentation = Segmentation(
        events=_with_reasons(events, scores, breaks),
        scores=scores,
        times=sequence.times,
        clock=sequence.clock,
        names=sequence.names,
        digests=digests,
        source=sequence.source.resolve().name,
        method=", ".join(filter(None, (settings.method, f"features {extractor.name}"))),
        skipped=sequence.skipped,
        notes=found.notes,
        levels=groups.expand_levels(found.levels),
    )
    segmentation = apply_corrections(segmentation, located, communities)
    if sequence.kind == "video":
        from dayline.media.cuts import with_exact_cuts

        segmentation = with_exact_cuts(
            segmentation,
            sequence,
            fixed=located.must,
            forbidden=located.must_not,
            known=located.cuts,
            sampled=located.sampled,
            on_step=on_step,
        )
    quality = photo_quality(measures_of(sequence))
    events = with_key_photos(segmentation.events, features, quality)
    notes = _notes(sequence, groups, pauses, jumps, events)
    corrected = (CORRECTED,) if located.events else ()
    segmentation = segmentation.about(
        events=with_locations(events, sequence.locations),
        notes=(*notes, *segmentation.notes, *corrected),
    )
    return SourceResult(
        segmentation=segmentation,
        communities=communities,
        graph=learned_graph(segmenter, groups.of_frame if groups.n_bursts else None),
        sequence=sequence,
        corrections=new,
        event_features=event_features(
            segmentation, features, f"{extractor.name} {extractor.fingerprint[:16]}"
        ),
    )


def _usable_times(
    sequence: FrameSequence, groups: FrameGroups, segmenter: Segmenter | None
) -> FloatArray | None:
    """Return the times of the groups, or None if the clock was set back (which a note says)."""
    if sequence.times is None:
        return None
    times = np.asarray(sequence.times, dtype=np.float64)[groups.firsts]
    if np.all(np.diff(times) >= 0):
        return times
    if wants_durations(segmenter):
        warnings.warn(
            "the clock runs backwards; durations are in photos, not seconds", stacklevel=3
        )
    return None


def _with_times(events: Sequence[Event], times: Sequence[float] | None) -> tuple[Event, ...]:
    """Give each event the times of its first and its last frame."""
    if times is None:
        return tuple(events)
    return tuple(
        replace(event, start_time=times[event.start], stop_time=times[event.stop - 1])
        for event in events
    )


def _with_reasons(
    events: Sequence[Event], scores: Sequence[float] | None, breaks: Collection[int]
) -> tuple[Event, ...]:
    """Record for each boundary at a pause or jump whether the frames on its two sides also differ.

    They do if its score reaches the lower quartile of the scores of the boundaries found by
    content.
    """
    if scores is None:
        scores = [0.0] * events[-1].stop
    by_content = [scores[event.start] for event in events[1:] if event.start not in breaks]
    enough = float(np.quantile(by_content, 0.25)) if by_content else np.inf
    return tuple(
        event
        if event.start not in breaks
        else replace(event, reason="both" if scores[event.start] >= enough else "pause")
        for event in events
    )


def _notes(
    sequence: FrameSequence,
    groups: FrameGroups,
    pauses: Sequence[Pause],
    jumps: Sequence[Jump],
    events: Sequence[Event],
) -> tuple[str, ...]:
    """Say how the frames were ordered, and which bursts, pauses and jumps were found."""
    frames = "frames" if sequence.kind == "video" else "photos"
    notes = [f"{frames} in order {sequence.order}", *sequence.notes]
    if groups.n_bursts:
        notes.append(
            f"{counted(groups.n_bursts, 'burst')} of near-identical photos ({groups.n_in_bursts}"
            " photos): each counts as one frame"
        )
    # A correction may have joined the events on both sides of a pause or jump.
    starts = {event.start for event in events}
    lengths = [pause.seconds for pause in pauses if pause.before in starts]
    if lengths:
        notes.append(
            f"{counted(len(lengths), 'pause')} of the camera, the longest"
            f" {duration_text(max(lengths))}: each is a boundary"
        )
    ways = [jump.kilometers for jump in jumps if jump.before in starts]
    if ways:
        notes.append(
            f"{counted(len(ways), 'move')} of the camera by kilometers between two photos, the"
            f" longest {max(ways):.0f} km: each is a boundary"
        )
    return tuple(notes)


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
    method: str | None = None,
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
    method : str, optional
        Name of the method.
    """
    digests, given = row_digests(features), check_times(times, len(features))
    moments = None if given is None else given.seconds.tolist()
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
    values = np.ma.filled(features, np.nan) if isinstance(features, np.ma.MaskedArray) else features
    rows = np.nan_to_num(np.asarray(values, dtype=np.float64))
    found = found.about(
        events=with_key_photos(found.events, rows),
        clock=clock or found.clock,
        source=source,
        method=method,
        digests=digests,
        notes=(*found.notes, CORRECTED) if located.events else found.notes,
    )
    return SourceResult(found, communities, learned_graph(segmenter), corrections=new)


def row_digests(features: FloatArray) -> tuple[str, ...]:
    """Return a hash of every row of features: what the row is, wherever it stands."""
    rows = np.ascontiguousarray(np.ma.filled(features, np.nan), dtype=np.float64)
    return tuple(hashlib.sha256(row.tobytes()).hexdigest()[:32] for row in rows)
