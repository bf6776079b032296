"""Small made calendars."""

from __future__ import annotations

from pathlib import Path

LUNCH = (
    "SUMMARY:Lunch with Ana|DTSTART;TZID=Europe/Madrid:20240513T130000"
    "|DTEND;TZID=Europe/Madrid:20240513T140000"
)


def write_calendar(path: Path, *entries: str, zone: str = "") -> Path:
    """Write a calendar; an entry is its lines, with | between them."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//made//made//EN"]
    lines += [f"X-WR-TIMEZONE:{zone}"] if zone else []
    for number, entry in enumerate(entries):
        lines += ["BEGIN:VEVENT", f"UID:{number}", *entry.split("|"), "END:VEVENT"]
    path.write_bytes("\r\n".join([*lines, "END:VCALENDAR", ""]).encode())
    return path
