"""From a source to its folder of results: read, extract, segment, refine, write."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.base import clone

from dayline.album.calendars import calendar_entries
from dayline.album.corrections import (
    Corrections,
    load_corrections,
    needed_frames,
    with_added_hidden,
    with_saved_contexts,
    with_saved_details,
    with_saved_levels,
)
from dayline.album.day_map import day_map
from dayline.album.edits import forget_corrections, note_unused_downloads
from dayline.album.extraction import (
    features_of,
    forget_read,
    frame_reader,
    is_table,
    measures_of,
    read_source,
    row_digests,
    sentence_digests,
    signatures_of,
    source_digests,
)
from dayline.album.key_photos import photo_quality, with_key_photos, with_locations
from dayline.album.page.graph_picture import graph_of_frames
from dayline.album.people import find_people
from dayline.album.places import event_features
from dayline.album.settings import Segmenter, Settings
from dayline.album.titles import with_titles
from dayline.album.unchanged import forget_day, record_day, said_at_the_end
from dayline.album.where import with_towns
from dayline.album.write import (
    ExportError,
    SegmentedDay,
    SourceResult,
    private_copy,
    refuse_other_result,
    write_result,
)
from dayline.arrays import FloatArray
from dayline.checks import TransposedWarning, check_times, is_whole
from dayline.decision.pauses import find_pauses
from dayline.estimators import EventSegmenter
from dayline.events import Event, Segmentation, SetAside, Shot, last_time
from dayline.features.tables import FeatureTable, read_features
from dayline.features.talk import talk_features, texts_of_frames, with_talk
from dayline.media.breaks import (
    FrameGroups,
    find_dates,
    find_jumps,
    group_frames,
    takes_photos_by_itself,
)
from dayline.media.clocks import with_one_clock
from dayline.media.cuts import (
    UNBROKEN,
    frames_within_shots,
    group_by_shots,
    with_exact_cuts,
)
from dayline.media.frame import FrameSequence, MissingFrames, shown_name
from dayline.media.talk import Talk, is_talk, read_talk, sentences, talk_beside
from dayline.progress import OnStep
from dayline.result_folder import output_folder
from dayline.text import counted, duration_text, kinds_text

CORRECTED_NOTE = (
    "your corrections are included, and later runs use them too (unless --forget-corrections is"
    " given)"
)
"""Note of every result that contains corrections."""

WORN_CAMERA_EVENT = 16 * 60.0
"""Seconds that events of a worn camera last, on average (`typical_duration`): the EDUB-Seg days
have 28 boundaries per 937 photos, one every 30 s."""

REQUESTS = ("n_events", "min_duration", "expected_duration", "level")
"""Parameters that change the number or the length of events."""


def segment_and_write(
    source: Path | FeatureTable | FrameSequence | Talk,
    folder: Path | None,
    settings: Settings,
    *,
    name: str | None = None,
    corrections: Segmentation | None = None,
    forget: bool = False,
    key: str = "",
    on_step: OnStep | None = None,
) -> SegmentedDay:
    """Find the events of a source and write the result.

    Parameters
    ----------
    source : Path, FeatureTable, FrameSequence or Talk
        A folder of photos, a video, a transcript, a feature file, features in memory, or photos
        already in order.
    folder : Path or None
        Where to write; None writes nothing.
    settings : Settings
        How to segment, and what to write.
    name : str, optional
        Name of features in memory.
    corrections : Segmentation, optional
        A result that a person corrected. If None, the corrections in `folder` are used.
    forget : bool
        Do not use the corrections in `folder`, in this run or a later one.
    key : str
        What the next run knows an unchanged result by (see `dayline.album.unchanged`).
    on_step : callable, optional
        Called as on_step(what, done, total).
    """
    if isinstance(source, Path) and is_table(source):
        name = source.name
        source = read_features(source, key=settings.key, transpose=settings.transpose)
    elif not isinstance(source, FeatureTable):
        path = source if isinstance(source, Path) else source.source
        name = path.resolve().name
        # Before the folder is compared: a path with a typo is no other recording.
        if isinstance(source, Path) and not source.exists():
            raise ValueError(f"{shown_name(source)}: no such file or folder")
        if isinstance(source, Path) and is_talk(source):
            source = read_talk(source)
    if folder is not None and not forget:
        refuse_other_result(folder, "recording", name, source_digests(source))

    used: Segmentation | Literal["kept"] | None = "kept" if corrections is None else corrections
    if forget:
        used = None
    locked = nullcontext() if folder is None else output_folder(folder)
    lasting: Sequence[warnings.WarningMessage] = ()
    with locked as folder, said_at_the_end() as said:
        if folder is not None:
            forget_day(folder)  # a run may be stopped halfway
        if isinstance(source, FeatureTable):
            result = segment_table(
                source.features,
                times=source.times,
                clock=source.clock,
                source=name,
                store=folder,
                corrections=used,
                segmenter=settings.segmenter,
                method=settings.method,
                on_step=on_step,
            )
        elif isinstance(source, Talk):
            result = segment_talk(source, settings, folder, corrections=used, on_step=on_step)
        else:
            with said_at_the_end() as lasting:  # of these photos, not of what was in the folder
                result = segment_frames(source, settings, folder, corrections=used, on_step=on_step)
        if settings.private:
            result = private_copy(result)
        if folder is None:
            return SegmentedDay(Path(), result.segmentation)

        if forget:
            # Before an export can fail: the next run must not use forgotten corrections.
            forget_corrections(folder, result.segmentation.digests or ())
        failures: tuple[str, ...] = ()
        try:
            written = write_result(
                result,
                folder,
                thumbnails=settings.thumbnails,
                blur_faces=settings.blur_faces,
                formats=settings.formats,
                shots=settings.shots,
                with_chapters=settings.write_chapters,
                private=settings.private,
                on_step=on_step,
            )
        except ExportError as error:
            # Page, JSON, table and all other exports are written.
            written, failures = error.written, error.failures
        if settings.private:
            forget_read(folder)
        if key and len(said) == len(lasting) and not failures:
            texts = [str(one.message) for one in lasting]
            record_day(folder, key, result.segmentation.places, texts)
        if corrections is None:
            note_unused_downloads(folder, command="the same command with")
    return SegmentedDay(folder, result.segmentation, written, failures)


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
    keep_screenshots: bool = False,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    segmenter: Segmenter | None = None,
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of a folder of photos or of a video.

    Parameters
    ----------
    source : str, Path or FrameSequence
        The folder or the video, or photos that were already put in order (see
        `dayline.album.days.find_days`).
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
        `dayline.media.photos.read_photo_folder`).
    pause_factor, pause_seconds : float
        A gap longer than both `pause_factor` typical gaps (2 hours at most) and `pause_seconds` is
        a pause. A pause is a boundary.
    jump_km : float > 0
        A distance of more than this many kilometers between two photos, far longer than those
        nearby, is a boundary too (see `dayline.media.breaks.find_jumps`).
    keep_screenshots : bool
        Do not set aside screenshots and the like (see `dayline.media.aside`).
    corrections : Segmentation, "kept" or None
        A result that a person corrected; its boundaries and names are kept. "kept" uses the
        corrections that earlier runs or the person left in `store`; None uses none.
    segmenter : EventSegmenter or BaselineSegmenter, optional
        The method; `EventSegmenter()` by default. It is copied, not fitted.
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
        thumbnails=False,
        offsets=tuple((offsets or {}).items()),
        timezone=timezone,
        keep_screenshots=keep_screenshots,
    )
    with nullcontext() if store is None else output_folder(store) as folder:
        return segment_frames(source, settings, folder, corrections=corrections, on_step=on_step)


def segment_frames(
    source: str | Path | FrameSequence,
    settings: Settings,
    folder: Path | None = None,
    *,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of a folder of photos or of a video; see `segment_source`.

    Features, and the pictures that do not depend on the events, are kept in `folder`.
    """
    # Read: every frame once, with its features; then put the clocks of all cameras right.
    reader = frame_reader(settings, folder, on_step)
    extractor = reader.extractor
    sequence = read_source(source, reader, settings)
    if sequence.aside:
        sequence = _put_back(
            sequence,
            needed_frames(
                corrections, folder, sequence.digests, [frame.digest for frame in sequence.aside]
            ),
        )
    frames, clock_notes = with_one_clock(sequence, features_of(sequence))
    sequence = replace(sequence, frames=frames, notes=(*clock_notes, *sequence.notes))
    features, digests, times = features_of(sequence), sequence.digests, sequence.times
    placed = sequence.placed_times

    # What a person corrected, and where the recording breaks off.
    saved = load_corrections(corrections, folder, digests, times=times, names=sequence.names)
    _warn_of_requests(saved, settings.segmenter)
    dates = find_dates(times, sequence.dates)
    pauses = find_pauses(
        placed,
        factor=settings.pause_factor,
        at_least=settings.pause_seconds,
        durations=sequence.durations,
    )
    pauses = {frame: seconds for frame, seconds in pauses.items() if frame not in dates}
    jumps = find_jumps(sequence.locations, placed, at_least=settings.jump_km)
    # A person who merged two events across a break overrules it.
    breaks = {*pauses, *jumps, *dates}.difference(saved.must_not)

    # Of a film: its shots, the frames within them, which start no event, and what is said.
    is_film = sequence.kind == "video"
    shots: tuple[Shot, ...] = ()
    missing: tuple[MissingFrames, ...] = ()
    within_shots: frozenset[int] = frozenset()
    if is_film:
        from dayline.album.film_shots import film_shots

        shots, missing = film_shots(sequence, cuts=settings.cuts, folder=folder, on_step=on_step)
        within_shots = frames_within_shots(shots, placed or (), missing=missing)
        within_shots = within_shots.difference(saved.must, breaks)
    talk, seen_and_said = None, features
    if is_film and not settings.no_talk:
        path = settings.talk or talk_beside(sequence.source)
        talk = None if path is None else read_talk(path)
    said = () if talk is None else sentences(talk.cues)
    if talk is not None:
        seen_and_said = with_talk(
            features, placed or (), said, word_vectors=settings.with_word_vectors
        )

    # Segment: photos of one burst count as one frame, and so do the frames of a shot, but breaks
    # and corrections split them.
    starts = saved.must_with_breaks(breaks)
    if sequence.kind == "photos":
        groups = group_frames(times, signatures_of(sequence), opened=starts)
    else:
        groups = group_by_shots(shots, placed or (), missing=missing, opened=starts)
    group_times = _usable_times(sequence, groups, settings.segmenter)
    segmenter: Segmenter = clone(settings.segmenter or EventSegmenter())
    if sequence.kind == "photos" and takes_photos_by_itself(group_times):
        _expect_events_of_a_worn_camera(segmenter)
    if shots:
        firsts = {0, *groups.firsts.tolist()}
        _request_no_more_than_shots(segmenter, len(firsts - within_shots), shots)
    with warnings.catch_warnings():
        # Rows are frames here; the check for transposed tables would misjudge a few photos.
        warnings.simplefilter("ignore", TransposedWarning)
        found = segmenter.segment(
            groups.means(seen_and_said),
            times=group_times,
            must=groups.numbers(saved.must),
            must_not=groups.numbers({*saved.must_not, *within_shots}),
            breaks=groups.numbers(breaks),
            on_step=on_step,
        )

    # Refine: events of frames, corrections, exact cuts, key photos, locations.
    communities = with_saved_contexts(segmenter.communities_[groups.of_frame].tolist(), saved)
    scores, notes = groups.expand_scores(found.scores, held=is_film), found.notes
    events = _with_times(groups.expand_events(found.events), sequence)
    events = _with_reasons(events, scores, breaks, dates)
    events = with_saved_details(events, saved, communities)
    n_hidden, saved = len(saved.hidden), with_added_hidden(events, saved)
    if n_added := len(saved.hidden) - n_hidden:
        notes = (*notes, f"{counted(n_added, 'photo')} added to an event that you hid: hidden, too")
    levels = with_saved_levels(events, groups.expand_levels(found.levels), saved)
    if is_film:
        cut = with_exact_cuts(
            Segmentation(events, times=times, clock=sequence.clock, levels=levels, notes=notes),
            shots,
            missing=missing,
            fixed=saved.must,
            forbidden=saved.must_not,
            known=saved.cuts,
            sampled=saved.sampled,
        )
        events, levels, notes = cut.events, cut.levels, cut.notes
    events = with_key_photos(
        events,
        features,
        photo_quality(measures_of(sequence)),
        favorites=saved.favorites,
        hidden=saved.hidden,
        with_face=find_people(sequence, features, extractor, settings, folder),
    )
    locations = [] if settings.private else list(sequence.locations)
    for frame in saved.hidden if locations else ():
        locations[frame] = None
    events, without_names = with_towns(with_locations(events, locations))
    notes = (*notes, *without_names)
    features_name = f"features {extractor.name}"
    if talk is not None:
        features_name += f" and {_features_of_talk(settings)}"
    segmentation = Segmentation(
        events=events,
        scores=scores,
        times=times,
        clock=sequence.clock,
        dates=sequence.dates,
        names=sequence.names,
        digests=digests,
        durations=sequence.durations,
        source=sequence.source.resolve().name,
        method=", ".join(filter(None, (settings.method, features_name))),
        skipped=sequence.skipped,
        set_aside=tuple(
            SetAside(frame.name, frame.aside, frame.digest, frame.time) for frame in sequence.aside
        ),
        notes=(
            *_notes(sequence, groups, pauses, jumps, events),
            *_talk_notes(talk, settings),
            *notes,
            *_correction_notes(saved),
        ),
        texts=None if talk is None else texts_of_frames(placed or (), said),
        places=saved.places,
        levels=levels,
        shots=shots,
        n_events_range=found.n_events_range,
        n_events_found=_n_events_found(segmenter, saved),
        favorites=saved.favorites,
        hidden=saved.hidden,
    )
    if settings.titles:
        segmentation = with_titles(segmentation)
    return SourceResult(
        segmentation=segmentation,
        communities=communities,
        graph=graph_of_frames(segmenter.graph_, groups.of_frame),
        sequence=sequence,
        day_map=day_map(events, locations, sequence.placed_times),
        calendar=calendar_entries(settings.calendars, sequence),
        corrections=saved.new,
        event_features=event_features(
            segmentation, features, f"{extractor.name} {extractor.fingerprint[:16]}"
        ),
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
    digests: Sequence[str] | None = None,
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
    digests : sequence of str, optional
        What each row is; by default a hash of its values.
    """
    digests = row_digests(features) if digests is None else tuple(digests)
    given = check_times(times, len(features))
    saved = load_corrections(
        corrections,
        None if store is None else Path(store),
        digests,
        times=None if given is None else given.seconds.tolist(),
        source=source,
    )
    _warn_of_requests(saved, segmenter)

    fitted: Segmenter = clone(segmenter or EventSegmenter())
    found = fitted.segment(
        features, times=times, must=saved.must, must_not=saved.must_not, on_step=on_step
    )

    communities = with_saved_contexts(fitted.communities_.tolist(), saved)
    events = with_saved_details(found.events, saved, communities)
    rows = np.ma.filled(features, np.nan) if isinstance(features, np.ma.MaskedArray) else features
    rows = np.nan_to_num(np.asarray(rows, dtype=np.float64))
    segmentation = found.about(
        events=with_key_photos(events, rows, favorites=saved.favorites, hidden=saved.hidden),
        favorites=saved.favorites,
        hidden=saved.hidden,
        levels=with_saved_levels(events, found.levels, saved),
        places=saved.places,
        clock=clock or found.clock,
        source=source,
        method=method,
        digests=digests,
        notes=(*found.notes, *_correction_notes(saved)),
    )
    graph = None
    if isinstance(fitted, EventSegmenter):
        graph = graph_of_frames(fitted.graph_, fitted.row_of_frame_)
    return SourceResult(segmentation, communities, graph, corrections=saved.new)


def segment_talk(
    talk: Talk,
    settings: Settings,
    folder: Path | None = None,
    *,
    corrections: Segmentation | Literal["kept"] | None = "kept",
    on_step: OnStep | None = None,
) -> SourceResult:
    """Find the events of a transcript; each sentence is a frame.

    Parameters
    ----------
    talk : Talk
        See `read_talk`.
    settings, folder, corrections, on_step
        As for `segment_frames`.
    """
    said = sentences(talk.cues)
    result = segment_table(
        talk_features([one.text for one in said], word_vectors=settings.with_word_vectors),
        times=[one.start for one in said],
        clock="media",
        source=talk.source.resolve().name,
        store=folder,
        corrections=corrections,
        segmenter=settings.segmenter,
        method=", ".join(
            filter(None, (settings.method, f"features {_features_of_talk(settings)}"))
        ),
        digests=sentence_digests(said),
        on_step=on_step,
    )

    found = result.segmentation
    # An event lasts until its last sentence ends; none begins later than the next event. What
    # recurs in a talk is no place.
    events = [
        replace(event, stop_time=said[event.stop - 1].end, community=None) for event in found.events
    ]
    counts = (
        f"{counted(len(talk.cues), 'cue')} in {counted(len(said), 'sentence')}, compared by"
        f" {_features_of_talk(settings)}"
    )
    segmentation = found.about(
        events=tuple(events),
        texts=tuple(one.text for one in said),
        notes=(counts, *talk.notes, *found.notes),
    )
    if settings.titles:
        segmentation = with_titles(segmentation)
    return replace(result, segmentation=segmentation)


def _expect_events_of_a_worn_camera(segmenter: Segmenter) -> None:
    """Set the typical duration of events, unless it is set already."""
    if not isinstance(segmenter, EventSegmenter) or segmenter.detector != "partition":
        return
    if segmenter.typical_duration is None:
        segmenter.set_params(typical_duration=WORN_CAMERA_EVENT)


def _request_no_more_than_shots(segmenter: Segmenter, most: int, shots: Sequence[Shot]) -> None:
    """Lower a number of events that the shots do not allow, and warn."""
    if not isinstance(segmenter, EventSegmenter):
        return
    asked = segmenter.n_events
    if asked is not None and is_whole(asked) and asked > most:
        warnings.warn(
            f"n_events={asked} is not possible: the film has {counted(len(shots), 'shot')}, and"
            f" those of less than {UNBROKEN:g} s are not split; the most events are {most}",
            stacklevel=3,
        )
        segmenter.set_params(n_events=most)


def _n_events_found(segmenter: Segmenter, saved: Corrections) -> int | None:
    """Return how many events dayline finds by itself, or found before a person corrected them."""
    evidence = segmenter.evidence_ if isinstance(segmenter, EventSegmenter) else None
    if saved.events or evidence is None or evidence.is_learned:
        return saved.n_events_found
    return replace(evidence, finer=1.0).agreed_number + 1


def _put_back(sequence: FrameSequence, digests: Collection[str]) -> FrameSequence:
    """Put files that were set aside back among the photos, by their times."""
    aside = [frame for frame in sequence.aside if frame.digest not in digests]
    for frame in sequence.aside:
        if frame.digest in digests:
            known = sequence.placed_times or ()
            after = len(known) if frame.time is None else bisect_right(known, frame.time)
            frames = (*sequence.frames[:after], frame, *sequence.frames[after:])
            sequence = replace(sequence, frames=frames)
    return replace(sequence, aside=tuple(aside))


def _usable_times(
    sequence: FrameSequence, groups: FrameGroups, segmenter: Segmenter | None
) -> FloatArray | None:
    """Return the times of the groups; None if there are none, or the clock runs backwards."""
    if sequence.placed_times is None:
        return None
    times = np.asarray(sequence.placed_times, dtype=np.float64)[groups.firsts]
    if np.all(np.diff(times) >= 0):
        return times
    if isinstance(segmenter, EventSegmenter) and (
        segmenter.min_duration is not None or segmenter.expected_duration is not None
    ):
        warnings.warn(
            "the clock runs backwards; durations are in photos, not seconds", stacklevel=3
        )
    return None


def _with_times(events: Sequence[Event], sequence: FrameSequence) -> tuple[Event, ...]:
    """Give each event the times of its first and its last frame with one."""
    times = sequence.times or (None,) * sequence.n_frames
    known = [[t for t in times[event.start : event.stop] if t is not None] for event in events]
    return tuple(
        replace(
            event,
            start_time=inside[0] if inside else None,
            stop_time=last_time(times, sequence.durations, range(event.start, event.stop)),
        )
        for event, inside in zip(events, known, strict=True)
    )


def _with_reasons(
    events: Sequence[Event],
    scores: Sequence[float] | None,
    breaks: Collection[int],
    dates: Collection[int],
) -> tuple[Event, ...]:
    """Give the boundaries at breaks their reason: "date", "pause" or "both".

    A pause and a jump are "pause", and "both" if the frames on the two sides also differ: if the
    score reaches the lower quartile of the scores of the boundaries found by content.
    """
    if scores is None:
        scores = [0.0] * events[-1].stop
    by_content = [scores[event.start] for event in events[1:] if event.start not in breaks]
    enough = float(np.quantile(by_content, 0.25)) if by_content else np.inf

    explained = list(events)
    for k, event in enumerate(events):
        if event.start in dates and event.start in breaks:
            explained[k] = replace(event, reason="date")
        elif event.start in breaks:
            differs = scores[event.start] >= enough
            explained[k] = replace(event, reason="both" if differs else "pause")
    return tuple(explained)


def _notes(
    sequence: FrameSequence,
    groups: FrameGroups,
    pauses: Mapping[int, float],
    jumps: Mapping[int, float],
    events: Sequence[Event],
) -> tuple[str, ...]:
    """Say how the frames were ordered, and which bursts, pauses and jumps were found."""
    frames = "frames" if sequence.kind == "video" else "photos"
    notes = [f"{frames} in order {sequence.order}", *sequence.notes]
    notes += _item_notes(sequence)
    if groups.n_bursts and sequence.kind == "photos":
        notes.append(
            f"{counted(groups.n_bursts, 'burst')} of near-identical photos ({groups.n_in_bursts}"
            " photos): each counts as one frame"
        )
    # A correction may have joined the events on both sides of a pause or jump.
    starts = {event.start for event in events}
    lengths = [seconds for frame, seconds in pauses.items() if frame in starts]
    if lengths:
        notes.append(
            f"{counted(len(lengths), 'pause')} of the camera, the longest"
            f" {duration_text(max(lengths))}: each is a boundary"
        )
    ways = [kilometers for frame, kilometers in jumps.items() if frame in starts]
    if ways:
        notes.append(
            f"{counted(len(ways), 'move')} of the camera by kilometers between two photos, the"
            f" longest {max(ways):.0f} km: each is a boundary"
        )
    return tuple(notes)


def _item_notes(sequence: FrameSequence) -> Iterator[str]:
    """Say which frames are not plain photos, and what was set aside."""
    lengths = [seconds for seconds in sequence.durations or () if seconds is not None]
    if lengths:
        yield (
            f"{counted(len(lengths), 'video')} among the photos, {duration_text(sum(lengths))} in"
            " all: each has one picture"
        )
    n_live = sum(frame.live is not None for frame in sequence.frames)
    if n_live:
        yield f"{counted(n_live, 'live photo')}: each is one with its short video"
    if sequence.aside:
        what = kinds_text(frame.aside for frame in sequence.aside)
        yield f"{what} set aside, in no event (--keep-screenshots keeps them among the photos)"


def _features_of_talk(settings: Settings) -> str:
    """Name what sentences are compared by."""
    return "words and word vectors" if settings.with_word_vectors else "words"


def _talk_notes(talk: Talk | None, settings: Settings) -> tuple[str, ...]:
    """Say which transcript was used, if any, and how."""
    if talk is None:
        return ()
    used = (
        f"what is said ({shown_name(talk.source.name)}, compared by {_features_of_talk(settings)})"
        " counts as much as what is seen"
    )
    return (used, *talk.notes)


def _correction_notes(corrections: Corrections) -> tuple[str, ...]:
    """Say that a result contains corrections, if it does."""
    return (CORRECTED_NOTE,) if corrections.events else ()


def _warn_of_requests(corrections: Corrections, segmenter: Segmenter | None) -> None:
    """Warn if the number or length of events is asked for, but corrections settle the events."""
    if not corrections.events or not isinstance(segmenter, EventSegmenter):
        return
    usual = EventSegmenter()
    changed = [name for name in REQUESTS if getattr(segmenter, name) != getattr(usual, name)]
    if changed:
        requests = " and ".join(f"{name}={getattr(segmenter, name)}" for name in changed)
        warnings.warn(
            f"{requests} cannot change events that your corrections contain; --forget-corrections"
            " leaves them out",
            stacklevel=3,
        )
