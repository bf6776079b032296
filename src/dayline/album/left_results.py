"""Corrections in results that are left over, because the folders of their photos were renamed or sorted otherwise."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from dayline.album.corrections import same_photos
from dayline.album.earlier import (
    CORRECTIONS,
    EVENTS,
    check_corrections,
    file_sizes,
    kept_corrections,
    located_corrections,
)
from dayline.album.run import Settings
from dayline.events import Event, Segmentation, read_events
from dayline.media.days import day_numbers, day_text
from dayline.media.frame import FrameSequence, shown_name
from dayline.media.source import open_source
from dayline.result_folder import MARK


def left_results(output: Path, names: Collection[str]) -> tuple[Path, ...]:
    """Return the results in a folder that hold a person's corrections, but belong to no current source.

    Parameters
    ----------
    output : Path
        Folder of all results.
    names : collection of str
        Names of the folders of the current results.
    """
    if not output.is_dir():
        return ()
    others = (output / path.name for path in sorted(output.iterdir()) if path.name not in names)
    return tuple(
        place for place in others if (place / MARK).is_file() and _corrections(place) is not None
    )


def earlier_corrections(
    source: Path | FrameSequence,
    folder: Path,
    output: Path,
    left: Sequence[Path],
    settings: Settings,
) -> Segmentation | None:
    """Return a person's corrections of these photos in the result of another folder, or None; warn which one it is.

    The folder of a day may have been renamed, or its photos sorted into other folders. A day that
    was one folder, or all that there was, may now have a second camera or other days beside it. Of
    the results that have most of their photos in common with the day, the one with most of them is
    used. It stays as it is.

    Parameters
    ----------
    source : Path or FrameSequence
        A folder of photos, or the photos of a day.
    folder : Path
        Folder of its result. If there is a result, its own corrections are used, and this returns
        None.
    output : Path
        Folder of all results.
    left : sequence of Path
        Results without a source (see `left_results`).
    settings : Settings
        How photos are read.
    """
    if (folder / EVENTS).exists():
        return None
    if isinstance(source, Path) and not (source.is_dir() and (left or (output / EVENTS).is_file())):
        return None
    best, most, origin = None, 0, output
    # Whoever has photos or a file that cannot be read is told in the run that uses them.
    with suppress(ValueError, OSError):
        sequence = source if isinstance(source, FrameSequence) else _photos(source, settings)
        sizes = file_sizes(sequence)
        for place in dict.fromkeys((output, *_regrouped(sequence, output), *left)):
            kept = None if place == folder else _corrections(place)
            if kept is None or kept.names is None or kept.clock == "media":
                continue
            # They may have been saved before or after a clock was corrected.
            clocks = (sequence.times, sequence.shown_times or None)
            found = [same_photos(kept, sequence.names, times, sizes).tolist() for times in clocks]
            same = max(([k for k in one if k >= 0] for one in found), key=len)
            if len(same) <= most or 2 * len(same) <= min(sequence.n_frames, kept.n_frames):
                continue
            if 2 * len(same) <= kept.n_frames:
                # The others are on other days, and are not missing here.
                kept = _only(kept, sorted(same))
            if _is_of_sequence(sequence, kept):
                best, most, origin = kept, len(same), place
    if best is not None:
        warnings.warn(
            f"{shown_name(folder.name)}: your corrections in {shown_name(origin)} are used, since"
            " it has the same photos",
            stacklevel=2,
        )
    return best


def unused_corrections(left: Iterable[Path], results: Collection[Path]) -> Iterator[str]:
    """Yield a note on each result without a source whose corrections no current result has.

    Parameters
    ----------
    left : iterable of Path
        Results without a source (see `left_results`).
    results : collection of Path
        The current results.
    """
    for place in left:
        kept = _corrections(place)
        if kept is None:
            continue
        n_known = 0
        for folder in results:
            # Forgotten corrections were the same ones, and are not wanted.
            if _corrections(folder) is not None or any(
                folder.glob(f"{Path(CORRECTIONS).stem}-*.json")
            ):
                n_known += _n_common(kept, folder)
        if 2 * n_known <= kept.n_frames:
            yield (
                f"{shown_name(place)}: holds corrections that no current result has; apply them"
                f" with dayline segment --corrections {shlex.quote(shown_name(place / EVENTS))}, or"
                " move the folder away"
            )


def _corrections(place: Path) -> Segmentation | None:
    with suppress(ValueError, OSError):
        return None if place.is_symlink() else kept_corrections(place)
    return None


def _photos(source: Path, settings: Settings) -> FrameSequence:
    return open_source(
        source, order=settings.order, offsets=dict(settings.offsets), timezone=settings.timezone
    )


def _regrouped(sequence: FrameSequence, output: Path) -> Iterator[Path]:
    """Yield where the result of a day was when its photos were grouped by folder or by date."""
    for top in sorted({name.partition("/")[0] for name in sequence.names if "/" in name}):
        yield output / top
    for day in sorted(set(day_numbers(sequence.times or ()).tolist())):
        yield output / day_text(day)


def _is_of_sequence(sequence: FrameSequence, kept: Segmentation) -> bool:
    """Whether a run of these photos would accept the corrections."""
    try:
        check_corrections(kept, partial(located_corrections, sequence))
    except ValueError:
        return False
    return True


def _n_common(kept: Segmentation, folder: Path) -> int:
    with suppress(ValueError, OSError):
        now = read_events(folder / EVENTS)
        if kept.clock == "media":
            is_same = now.clock == "media" and kept.sizes is not None and now.sizes == kept.sizes
            return kept.n_frames if is_same else 0
        if now.names is not None and kept.names is not None and now.clock != "media":
            return int((same_photos(kept, now.names, now.times, now.sizes) >= 0).sum())
    return 0


def _only(kept: Segmentation, frames: Sequence[int]) -> Segmentation:
    """Return a result with some of its frames only; its levels are left out."""
    number = {frame: k for k, frame in enumerate(frames)}
    times = kept.times
    events: list[Event] = []
    for event in kept.events:
        inside = [frame for frame in frames if event.start <= frame < event.stop]
        if inside:
            first, last = inside[0], inside[-1]
            part = replace(
                event,
                start=number[first],
                stop=number[last] + 1,
                start_time=None if times is None else times[first],
                stop_time=None if times is None else times[last],
                key_frame=number.get(-1 if event.key_frame is None else event.key_frame),
                key_chosen=event.key_chosen and event.key_frame in number,
            )
            events.append(part if events else replace(part, reason="start", confidence=None))
    return replace(
        kept,
        events=tuple(events),
        scores=None,
        times=None if times is None else tuple(times[f] for f in frames),
        names=None if kept.names is None else tuple(kept.names[f] for f in frames),
        sizes=None if kept.sizes is None else tuple(kept.sizes[f] for f in frames),
        levels=(),
    )
