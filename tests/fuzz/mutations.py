"""Damage to bytes, drawn from a seed: the same on every machine."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from random import Random

SEED = 13
HEADER = 160
"""Bytes at either end of a file, where structure lies; one place in three or two is drawn from
them."""

LONGEST_CHUNK = 64
INTEGERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
NUMBERS = (b"0", b"-1", b"1e308", b"1e999", b"99999999999", b"-9223372036854775808", b"nan", b"0.5")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

KINDS = {
    "bit flipped": 6,
    "byte set": 4,
    "cut off": 2,
    "chunk removed": 2,
    "chunk doubled": 2,
    "chunk zeroed": 1,
    "integer": 4,
    "number in digits": 2,
}
"""What may happen, and how often."""


def damage(data: bytes, random: Random, *, hot: Sequence[range] = ()) -> tuple[bytes, str]:
    """Damage bytes in one place, sometimes in two or three; also return how, in words.

    Parameters
    ----------
    data : bytes
        What to damage; it comes back changed, whatever was drawn.
    random : Random
        Decides everything.
    hot : sequence of range
        Where the structure lies, if not only at both ends.
    """
    damaged, words = data, []
    n_places = random.choice((1, 1, 1, 1, 2, 3))
    while len(words) < n_places or damaged == data:
        kind = random.choices(list(KINDS), weights=list(KINDS.values()))[0]
        damaged = damaged or data
        at = _place(damaged, random, hot)
        damaged = _damaged_at(damaged, at, kind, random)
        words.append(f"{kind} at {at}")
    return damaged, ", ".join(words)


def _place(data: bytes, random: Random, hot: Sequence[range]) -> int:
    """Draw a position: anywhere, at an end, or where the structure lies, one in three each."""
    regions = [range(len(data)), range(HEADER), range(len(data) - HEADER, len(data)), *hot]
    drawn = random.choice((regions[:1], regions[1:3], regions[3:] or regions[1:3]))
    region = random.choice(drawn)
    return min(max(random.choice(region), 0), len(data) - 1)


def _damaged_at(data: bytes, at: int, kind: str, random: Random) -> bytes:
    before, chunk = data[:at], data[at : at + random.randint(1, LONGEST_CHUNK)]
    after = data[at + len(chunk) :]
    if kind == "cut off":
        return before
    if kind == "chunk removed":
        return before + after
    if kind == "chunk doubled":
        return before + chunk + chunk + after
    if kind == "chunk zeroed":
        return before + bytes(len(chunk)) + after

    if kind == "number in digits":
        found = NUMBER.search(data, at)
        if found is not None:
            return data[: found.start()] + random.choice(NUMBERS) + data[found.end() :]
    if kind == "integer":
        size = random.choice(list(INTEGERS))
        top = 1 << 8 * size
        powers = (top // 2, top // 2 - 1, top // 4, 1 << random.randrange(8 * size))
        value = random.choice((0, 1, 2, top - 1, top - 2, *powers))
        written = struct.pack(random.choice("<>") + INTEGERS[size], value)
        return before + written + data[at + size :]

    value = data[at] ^ 1 << random.randrange(8)
    if kind != "bit flipped":
        value = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return before + bytes([value]) + data[at + 1 :]
