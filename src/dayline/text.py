"""Consistent formatting of text and of numbers as text."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal


def clean_text(text: str) -> str:
    """Put untrusted text on one line, without characters that files cannot hold.

    Line breaks and runs of spaces become one space. Control characters and noncharacters are
    removed; lone surrogates become the replacement character.
    """
    kept = "".join(_printable(character) for character in text)
    return re.sub(r"\s+", " ", kept).strip()


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    is_control = category == "Cc" and not character.isspace()
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE
    return "" if is_control or is_noncharacter else character


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Format a count: "1 event", "3 events"; `things` is the plural if it is irregular."""
    return f"{number} {thing}" if number == 1 else f"{number} {things or thing + 's'}"


def kinds_text(kinds: Iterable[str]) -> str:
    """Count things of several kinds, the most frequent first: "12 screenshots and 1 receipt"."""
    return " and ".join(counted(n, kind) for kind, n in Counter(kinds).most_common())


def context_letter(number: int) -> str:
    """Count contexts A .. Z, AA, AB, ..., like the columns of a spreadsheet.

    `number` counts from 0.
    """
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def duration_text(seconds: float) -> str:
    """Format a duration roughly: "40 s", "12 min", "3.5 h", "4.2 days"."""
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 47.95 * 3600 else f"{seconds / 86_400:.1f} days"


def clock_text(seconds: float, *, digits: int = 0, short: bool = False) -> str:
    """Format seconds as clock time: 01:02:03, or 01:02:03.250 with three digits.

    Parameters
    ----------
    seconds : float >= 0
        Time since the start, or since midnight.
    digits : int >= 0
        Decimal digits of the seconds. With 0, seconds are rounded down.
    short : bool
        Omit leading zeros: 1:02:03.
    """
    ticks = round(seconds * 10**digits) if digits else int(seconds)
    whole, fraction = divmod(ticks, 10**digits)
    hours = f"{whole // 3600}" if short else f"{whole // 3600:02d}"
    text = f"{hours}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{text}.{fraction:0{digits}d}" if digits else text


def moment(seconds: float) -> datetime:
    """Return the date and time of a camera's clock; raise if there is no such date.

    Parameters
    ----------
    seconds : float
        Seconds since 1970 on that clock, whatever its time zone.
    """
    # Added to 1970 rather than converted: this also works before 1970.
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(
            f"time {seconds:g} s is outside the years 1 to 9999; repair the times of the frames or"
            " leave them out"
        ) from None


def midnight(day: str) -> float:
    """Return when a day, such as 2023-07-15, begins, in seconds since 1970 on a camera's clock."""
    return datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()


def time_text(seconds: float, *, clock: Literal["wall", "media"] | None) -> str:
    """Format a time for display, with milliseconds only if they are not zero.

    Parameters
    ----------
    seconds : float
        Seconds since 1970 on the camera's clock, or since the start of the recording.
    clock : {"wall", "media"} or None
        "wall" gives 2015-03-12 14:22:33, or 14:22:33 if the day is unknown (times of day are stored
        as seconds in the first days of 1970); otherwise 0:01:23.400.
    """
    milliseconds = round(seconds * 1000)
    whole, rest = divmod(milliseconds, 1000)
    if clock == "wall":
        when = moment(whole)
        text = when.strftime("%H:%M:%S" if when.year == 1970 else "%Y-%m-%d %H:%M:%S")
        return f"{text}.{rest:03d}" if rest else text
    sign = "-" if milliseconds < 0 else ""
    return f"{sign}{clock_text(abs(milliseconds) / 1000, digits=3, short=True)}"


def parse_offset(text: str) -> tuple[str, float]:
    """Read a camera's name and clock correction in seconds: B=+3600, B=-1:00:00 or B=+1h30m."""
    name, equals, value = text.rpartition("=")
    units = re.fullmatch(
        r"([+-]?)(?=\d)(?:(\d+)h)?(?:(\d+)m(?:in)?)?(?:(\d+(?:\.\d+)?)s?)?", value.strip(), re.ASCII
    )
    parts = re.fullmatch(r"([+-]?)(\d+):(\d{2})(?::(\d{2}))?", value.strip(), re.ASCII)
    found = units or parts
    if not name.strip() or not equals or found is None:
        raise ValueError(
            f"--offset {text}: give a folder or camera and the time to add, such as B=+3600,"
            " B=-1:00:00 or B=+47m"
        )
    hours, minutes, seconds = (float(part or 0) for part in found.groups()[1:])
    total = 3600 * hours + 60 * minutes + seconds
    return name.strip(), -total if found[1] == "-" else total


def signed_clock(seconds: float) -> str:
    """Format seconds since the start as 1:02:03, also before it: -0:00:30.

    Empty if they are not a number.
    """
    if not math.isfinite(seconds):
        return ""
    return f"{'-' if seconds < 0 else ''}{clock_text(abs(seconds), short=True)}"
