"""Notes on doubtful capture times: conflicts with file names, clock changes, time zones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from dayline.frames.capture_time import CaptureTime, time_in_name
from dayline.frames.pauses import find_clock_jumps
from dayline.frames.zones import offset_text

__all__ = ["clock_notes", "contradiction_notes", "offset_notes", "span_text"]

SAME_TIME_WITHIN = 2.0
FEW_JUMPS = 3
QUARTER_HOUR = 900.0


def contradiction_notes(
    names: Sequence[str],
    times: Sequence[float],
    exif_times: Sequence[CaptureTime | None],
    by_name: Sequence[int],
) -> tuple[str, ...]:
    """Report where EXIF times and file names disagree about the order or the time.

    Parameters
    ----------
    names, times, exif_times : sequences, one item per photo
        Names, times used, and EXIF times.
    by_name : sequence of int
        Indices in name order.
    """
    notes = []
    in_name_order = [times[i] for i in by_name]
    # Names are compared within a folder: two cameras take turns, each with names in order.
    folders: dict[str, list[float]] = {}
    for i in by_name:
        folders.setdefault(names[i].rpartition("/")[0], []).append(times[i])
    moved = len(times) - sum(_longest_in_order(values) for values in folders.values())
    if moved:
        notes.append(f"times contradict names: {moved} of {len(times)} photos have another position in name order")
        jumps = [jump for jump in find_clock_jumps(in_name_order) if jump.seconds < 0]
        # If there are many jumps, the names are unrelated to time (random names, several cameras).
        few = min(FEW_JUMPS, max(1, len(times) // 10))
        for jump in jumps if len(jumps) <= few and len(folders) == 1 else ():
            before, after = (names[by_name[k]] for k in (jump.before - 1, jump.before))
            notes.append(
                f"from {before} to {after} the clock goes back by {span_text(-jump.seconds)} (summer time, travel "
                'or reset?); photos around it may be out of order: order="name" (--order name) keeps name order'
            )
    differences = [
        exif.seconds - said
        for name, exif in zip(names, exif_times, strict=True)
        if exif is not None and not exif.is_utc and (said := time_in_name(name)) is not None
    ]
    apart = [d for d in differences if abs(d) > SAME_TIME_WITHIN]
    if apart:
        notes.append(
            f"EXIF times and times in the file names differ for {len(apart)} of {len(differences)} photos, "
            f"typically by {span_text(abs(median(apart)))}{_zone_hint(apart)}; EXIF times are used"
        )
    return tuple(notes)


def clock_notes(names: Sequence[str], times: Sequence[float]) -> tuple[str, ...]:
    """Report clock jumps in a sequence that is already in order."""
    jumps = find_clock_jumps(times)
    notes = [
        f"at {names[jump.before]} the clock goes {'forward' if jump.seconds > 0 else 'back'} by "
        f"{span_text(abs(jump.seconds))} (summer time, travel, or reset?); times are not changed"
        for jump in jumps[:FEW_JUMPS]
    ]
    if len(jumps) > FEW_JUMPS:
        notes.append(f"the clock jumps at {len(jumps) - FEW_JUMPS} more places")
    return tuple(notes)


def offset_notes(names: Sequence[str], exif_times: Sequence[CaptureTime | None]) -> tuple[str, ...]:
    """Report changes of the recorded time zone, impossible offsets and photos without a time zone."""
    known = [(name, t.offset) for name, t in zip(names, exif_times, strict=True) if t and t.offset is not None]
    notes = []
    impossible = [
        (n, t.impossible_offset) for n, t in zip(names, exif_times, strict=True) if t and t.impossible_offset
    ]
    if impossible:
        name, offset = impossible[0]
        notes.append(f"ignored impossible offsets from UTC: {len(impossible)} (first {name}: {offset})")
    changes = [(a[1], *b) for a, b in pairwise(known) if a[1] != b[1]]
    for old, name, new in changes[:FEW_JUMPS]:
        notes.append(
            f"at {name} the camera's clock changes from UTC{offset_text(old)} to UTC{offset_text(new)}; all times "
            f"are given in its first time zone, UTC{offset_text(known[0][1])}"
        )
    if len(changes) > FEW_JUMPS:
        notes.append(f"the camera's clock changes its time zone at {len(changes) - FEW_JUMPS} more places")
    without = sum(t is not None and t.offset is None for t in exif_times)
    if changes and without:
        notes.append(f"{without} photos have no time zone; UTC{offset_text(known[0][1])} is assumed for them")
    return tuple(notes)


def _longest_in_order(times: Sequence[float]) -> int:
    """Length of the longest nondecreasing subsequence."""
    ends: list[float] = []
    for t in times:
        place = bisect_right(ends, t)
        ends[place : place + 1] = [t]
    return len(ends)


def _zone_hint(differences: Sequence[float]) -> str:
    shift = median(differences)
    quarters = round(shift / QUARTER_HOUR)
    same = all(abs(d - shift) <= SAME_TIME_WITHIN for d in differences)
    whole = quarters != 0 and abs(shift - quarters * QUARTER_HOUR) <= SAME_TIME_WITHIN
    return " (a time zone: some phones name files by UTC)" if same and whole else ""


def span_text(seconds: float) -> str:
    """Format a duration in its two largest units."""
    whole = round(seconds)
    days, hours, minutes = whole // 86_400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"
