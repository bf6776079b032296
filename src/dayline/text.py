"""Consistent formatting of numbers as text."""

from __future__ import annotations

__all__ = ["clock_text", "counted"]


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Format a count: "1 event", "3 events"; `things` is the plural if it is irregular."""
    return f"{number} {thing}" if number == 1 else f"{number} {things or thing + 's'}"


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
