"""Find the parts of a film or photo, and damage whole parts: what a copy or a disk does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

STREAM_PACKET = 188

MATROSKA_SEGMENT = 0x18538067
MATROSKA_CLUSTER = 0x1F43B675
ASF_HEADER = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
ASF_DATA = bytes.fromhex("3626b2758e66cf11a6d900aa0062ce6c")


def parts(data: bytes, kind: str) -> list[range]:
    """Return where the parts of a file lie, those inside of others too, in their order.

    Parameters
    ----------
    data : bytes
        A whole file.
    kind : str
        Its format; one without a walker has no parts.
    """
    if kind not in WALKERS:
        return []
    return sorted(WALKERS[kind](data, range(len(data))), key=lambda part: (part.start, -part.stop))


def _boxes(data: bytes, inside: range) -> Iterator[range]:
    """Boxes of ISO files (MP4, MOV, HEIC), those of `moof` and `meta` too."""
    at = inside.start
    while at + 8 <= inside.stop:
        length, name = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        box = range(at, at + length if length else inside.stop)
        assert at + 8 <= box.stop <= inside.stop, "the samples have no other boxes"
        yield box
        if name in (b"moov", b"trak", b"moof", b"meta"):
            yield from _boxes(data, range(at + (12 if name == b"meta" else 8), box.stop))
        at = box.stop


def _elements(data: bytes, inside: range) -> Iterator[range]:
    """Elements of Matroska, those of the segment and its clusters too."""
    at = inside.start
    while at < inside.stop:
        start = at
        name, at = _number(data, at, keeps_length=True)
        length, at = _number(data, at, keeps_length=False)
        stop = min(at + length, inside.stop)
        yield range(start, stop)
        if name in (MATROSKA_SEGMENT, MATROSKA_CLUSTER):
            yield from _elements(data, range(at, stop))
        at = stop


def _number(data: bytes, at: int, *, keeps_length: bool) -> tuple[int, int]:
    """Read a number whose leading zeros say how many bytes it has, and where the next one is."""
    width = 9 - data[at].bit_length()
    value = int.from_bytes(data[at : at + width])
    return value if keeps_length else value & ~(1 << 7 * width), at + width


def _chunks(data: bytes, inside: range) -> Iterator[range]:
    """Chunks of RIFF (AVI), those of lists too."""
    at = inside.start
    while at + 8 <= inside.stop:
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        stop = min(at + 8 + length + length % 2, inside.stop)
        yield range(at, stop)
        if data[at : at + 4] in (b"RIFF", b"LIST"):
            yield from _chunks(data, range(at + 12, stop))
        at = stop


def _objects(data: bytes, inside: range) -> Iterator[range]:
    """Objects of ASF (WMV), those of the header, and the packets, which have one size."""
    at = inside.start
    while at + 24 <= inside.stop:
        name, stop = data[at : at + 16], at + int.from_bytes(data[at + 16 : at + 24], "little")
        yield range(at, stop)
        if name == ASF_HEADER:
            yield from _objects(data, range(at + 30, stop))
        if name == ASF_DATA:
            n_packets = int.from_bytes(data[at + 40 : at + 48], "little")
            size = (stop - at - 50) // n_packets
            yield from (range(k, k + size) for k in range(at + 50, stop, size))
        at = stop


def _packets(data: bytes, inside: range) -> Iterator[range]:
    """Packets of a stream for broadcasting."""
    for at in range(inside.start, inside.stop, STREAM_PACKET):
        yield range(at, at + STREAM_PACKET)


WALKERS = {
    **dict.fromkeys(("mp4", "mov", "fragments.mp4", "heic"), _boxes),
    **dict.fromkeys(("mkv", "webm"), _elements),
    "avi": _chunks,
    "wmv": _objects,
    "ts": _packets,
}


def damage_to_parts(data: bytes, found: Sequence[range]) -> list[tuple[bytes, str]]:
    """Cut a file at every border of its parts, zero each, and swap each with the next one.

    Parameters
    ----------
    data : bytes
        A whole file.
    found : sequence of range
        Its parts; see `parts`.

    Returns
    -------
    list of (bytes, str)
        Damaged files, all different from the whole one, and how each was damaged.
    """
    borders = sorted({part.start for part in found} | {part.stop for part in found})
    damaged = [(data[:at], f"cut off at the border {at}") for at in borders]
    damaged += [
        (
            data[: part.start] + bytes(len(part)) + data[part.stop :],
            f"part {part.start}..{part.stop} zeroed",
        )
        for part in found
    ]
    damaged += [
        (
            data[: one.start]
            + data[other.start : other.stop]
            + data[one.start : one.stop]
            + data[other.stop :],
            f"parts at {one.start} and {other.start} swapped",
        )
        for one, other in _neighbors(found)
    ]
    return [(content, how) for content, how in damaged if content and content != data]


def _neighbors(found: Sequence[range]) -> Iterator[tuple[range, range]]:
    """Pairs of parts of which one begins where the other ends."""
    for one in found:
        for other in found:
            if other.start == one.stop:
                yield one, other
