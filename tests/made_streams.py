"""Transport streams with a frame whose time stamp is wrong."""

from __future__ import annotations

from collections.abc import Callable


def change_stamp(content: bytes, number: int, change: Callable[[int], int]) -> bytes:
    """Change the time stamp of one frame of a transport stream, in units of 1/90000 s."""
    places = []
    for start in range(0, len(content), 188):
        packet = content[start : start + 188]
        opens_a_frame, is_video = packet[1] & 0x40, (packet[1] & 0x1F, packet[2]) == (1, 0)
        if opens_a_frame and is_video:
            header = 5 + packet[4] if packet[3] & 0x20 else 4
            places.append(start + header + 9)
    at = places[number]
    a, b, c, d, e = content[at : at + 5]
    stamp = change((a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1)
    parts = (
        a & 0xF1 | stamp >> 30 << 1,
        stamp >> 22 & 255,
        stamp >> 15 << 1 & 254 | 1,
        stamp >> 7 & 255,
    )
    return content[:at] + bytes((*parts, stamp << 1 & 254 | 1)) + content[at + 5 :]
