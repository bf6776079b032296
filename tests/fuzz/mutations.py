"""Damage to bytes, drawn from a seed: the same on every machine."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

__all__ = ["Damaged", "damage"]

SEED = 13
HEADER = 160
"""Bytes at either end of a file, where structure lies; one place in three or two is drawn from
them."""

LONGEST_CHUNK = 64
INTEGERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
NUMBERS = (
    b"0",
    b"-1",
    b"1e308",
    b"1e999",
    b"99999999999",
    b"4294967295",
    b"-9223372036854775808",
    b"nan",
    b"0.5",
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Damaged:
    """Damaged bytes, and how they were damaged, in words."""

    data: bytes
    how: str


def damage(data: bytes, random: Random, *, hot: Sequence[range] = ()) -> Damaged:
    """Damage bytes in one place, sometimes in two or three.

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
        damaged, how = kind(damaged or data, random, hot)
        words.append(how)
    return Damaged(damaged, ", ".join(words))


def _place(data: bytes, random: Random, hot: Sequence[range]) -> int:
    """Draw a position: anywhere, at an end, or where the structure lies, one in three each."""
    regions = [range(len(data)), range(HEADER), range(len(data) - HEADER, len(data)), *hot]
    drawn = random.choice((regions[:1], regions[1:3], regions[3:] or regions[1:3]))
    region = random.choice(drawn)
    return min(max(random.choice(region), 0), len(data) - 1)


def _flip_a_bit(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    at, bit = _place(data, random, hot), random.randrange(8)
    return (
        data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :],
        f"bit {bit} of byte {at} flipped",
    )


def _change_a_byte(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    at, value = (
        _place(data, random, hot),
        random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256))),
    )
    return data[:at] + bytes([value]) + data[at + 1 :], f"byte {at} set to {value}"


def _cut_off(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    at = max(1, _place(data, random, hot))
    return data[:at], f"cut to {at} bytes"


def _chunk(data: bytes, random: Random, hot: Sequence[range]) -> slice:
    at = _place(data, random, hot)
    return slice(at, min(len(data), at + random.randint(1, LONGEST_CHUNK)))


def _remove_a_chunk(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    chunk = _chunk(data, random, hot)
    return data[: chunk.start] + data[chunk.stop :], f"bytes {chunk.start} to {chunk.stop} removed"


def _duplicate_a_chunk(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    chunk = _chunk(data, random, hot)
    return data[: chunk.stop] + data[chunk.start :], f"bytes {chunk.start} to {chunk.stop} doubled"


def _copy_a_chunk_elsewhere(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    chunk, at = _chunk(data, random, hot), _place(data, random, hot)
    copied = data[chunk]
    return (
        data[:at] + copied + data[at + len(copied) :],
        f"bytes {chunk.start} to {chunk.stop} written over {at}",
    )


def _blank_a_chunk(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    chunk = _chunk(data, random, hot)
    zeros = bytes(chunk.stop - chunk.start)
    return (
        data[: chunk.start] + zeros + data[chunk.stop :],
        f"bytes {chunk.start} to {chunk.stop} zeroed",
    )


def _extreme_integer(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    at, size = _place(data, random, hot), random.choice(list(INTEGERS))
    top = 1 << 8 * size
    value = random.choice(
        (
            0,
            1,
            2,
            top - 1,
            top - 2,
            top // 2,
            top // 2 - 1,
            top // 4,
            1 << random.randrange(8 * size),
        )
    )
    order = random.choice("<>")
    written = struct.pack(order + INTEGERS[size], value)
    return (
        data[:at] + written + data[at + size :],
        f"{order}{value} of {size} bytes written at {at}",
    )


def _extreme_number_in_text(data: bytes, random: Random, hot: Sequence[range]) -> tuple[bytes, str]:
    """Replace a number that is written in digits; data without one lose a byte instead."""
    found = NUMBER.search(data, _place(data, random, hot))
    if found is None:
        return _change_a_byte(data, random, hot)
    value = random.choice(NUMBERS)
    return (
        data[: found.start()] + value + data[found.end() :],
        f"number at {found.start()} set to {value.decode()}",
    )


_Kind = Callable[[bytes, Random, Sequence[range]], tuple[bytes, str]]
KINDS: dict[_Kind, int] = {
    _flip_a_bit: 6,
    _change_a_byte: 4,
    _cut_off: 2,
    _remove_a_chunk: 2,
    _duplicate_a_chunk: 2,
    _copy_a_chunk_elsewhere: 1,
    _blank_a_chunk: 1,
    _extreme_integer: 4,
    _extreme_number_in_text: 2,
}
