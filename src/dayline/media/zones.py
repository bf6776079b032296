"""Time zones: local times of photos that record only UTC or no zone, and one clock for a journey."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from zoneinfo import ZoneInfo

from dayline.media.frame import CaptureTime, Frame
from dayline.text import counted

EPOCH = datetime(1970, 1, 1)
MOST_CHANGES = 3


def time_zone(name: str) -> ZoneInfo:
    """Return a time zone of the IANA database; raise ValueError if there is none of this name."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError(
            f"time zone {name!r} is not known; use a name such as Europe/Madrid (or install the"
            " package tzdata, if this system has no time zones)"
        ) from None


def in_local_time(
    taken: Sequence[CaptureTime | None], *, zone: ZoneInfo | None = None
) -> tuple[tuple[CaptureTime | None, ...], tuple[str, ...]]:
    """Give photos that record only UTC their local time, and say what was assumed.

    Parameters
    ----------
    taken : sequence of CaptureTime or None
        Times of photos; those with `is_utc` and without an offset are in UTC.
    zone : ZoneInfo, optional
        Time zone of photos that record none. Without it, photos in UTC get the offset of the
        nearest photo that records one, and the others keep the time that the camera shows.
    """
    found = list(taken)
    if zone is not None:
        n_assumed = 0
        for i, t in enumerate(taken):
            if t is not None and t.offset is None:
                found[i], n_assumed = _zoned(t, zone), n_assumed + 1
        many = counted(n_assumed, "photo")
        note = f"{many} without a time zone: {zone.key}, as requested"
        return tuple(found), (note,) if n_assumed else ()

    in_utc = [
        (i, t) for i, t in enumerate(taken) if t is not None and t.is_utc and t.offset is None
    ]
    if not in_utc:
        return tuple(found), ()
    note = f"the times of {counted(len(in_utc), 'photo')} are in UTC (Google Takeout)"
    known = sorted(
        (t.seconds - t.offset, t.offset) for t in taken if t is not None and t.offset is not None
    )
    if not known:
        way_out = "--timezone, such as Europe/Madrid, gives local times"
        return tuple(found), (f"{note}, which may be hours off; {way_out}",)
    offsets = set()
    for i, t in in_utc:
        after = bisect_left(known, (t.seconds, -inf))
        near = known[max(after - 1, 0) : after + 1]
        _, offset = min(near, key=lambda k: abs(k[0] - t.seconds))
        found[i] = replace(t, seconds=t.seconds + offset, offset=offset)
        offsets.add(offset)
    shown = ", ".join(f"UTC{offset_text(offset)}" for offset in sorted(offsets))
    zones = f"they are shown in the time zone of the nearest photo that records one ({shown})"
    return tuple(found), (f"{note}; {zones}",)


def _zoned(t: CaptureTime, zone: ZoneInfo) -> CaptureTime:
    moment = EPOCH + timedelta(seconds=t.seconds)
    aware = moment.replace(tzinfo=UTC).astimezone(zone) if t.is_utc else moment.replace(tzinfo=zone)
    offset = (aware.utcoffset() or timedelta()).total_seconds()
    return replace(t, seconds=t.seconds + offset if t.is_utc else t.seconds, offset=offset)


def on_one_clock(taken: Sequence[CaptureTime | None]) -> list[float | None]:
    """Convert times to the offset from UTC of the earliest photo that has one."""
    with_offset = [
        (t.seconds - t.offset, t.offset) for t in taken if t is not None and t.offset is not None
    ]
    home = min(with_offset)[1] if with_offset else 0.0
    return [
        None if t is None else t.seconds if t.offset is None else t.seconds - t.offset + home
        for t in taken
    ]


def zone_notes(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Report changes of the time zone among photos in order, and photos without one."""
    dated = [(frame.name, frame.taken) for frame in frames if frame.taken is not None]
    known = [(name, t.offset) for name, t in dated if t.offset is not None]
    changes = [(a[1], *b) for a, b in pairwise(known) if a[1] != b[1]]
    if not changes:
        return ()

    first = f"UTC{offset_text(known[0][1])}"
    notes = [
        f"at {name} the camera's clock changes from UTC{offset_text(old)} to"
        f" UTC{offset_text(new)}; all times are given in its first time zone, {first}"
        for old, name, new in changes[:MOST_CHANGES]
    ]
    if len(changes) > MOST_CHANGES:
        notes.append(
            f"the camera's clock changes its time zone {len(changes) - MOST_CHANGES} more times"
        )
    if len(dated) > len(known):
        without = len(dated) - len(known)
        notes.append(f"{without} photos have no time zone; {first} is assumed for them")
    return tuple(notes)


def offset_text(seconds: float) -> str:
    """Format an offset from UTC: +02:00."""
    hours, minutes = divmod(round(abs(seconds) / 60), 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02d}:{minutes:02d}"
