"""Find damage in an MPEG transport stream (.ts, .m2ts) for which a decoder silently drops frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["damaged_places"]

SYNC = 0x47
PACKET = 188
# Packet size and number of bytes before the sync byte: plain, with time codes (m2ts), with parity.
LAYOUTS = ((PACKET, 0), (192, 4), (204, 0))
PACKETS_AT_ONCE = 50_000
MOST_PLACES = 1000

Packets = NDArray[np.uint8]


def damaged_places(path: Path, *, pid: int) -> int:
    """Count the damaged places in a transport stream, whose packets have a fixed size, a sync byte and a counter.

    Parameters
    ----------
    path : Path
        The file.
    pid : int
        Identifier of the video packets; of the others, only the sync bytes are checked.

    Returns
    -------
    int
        Number of places where sync bytes are lost, packets are missing or a frame has no start code, plus one if
        the stream ends inside a packet; at most 1,000.
    """
    n_places = 0
    last: int | None = None
    for packets, breaks in _aligned(path):
        pictures = packets[_pids(packets) == pid]
        n_bad, last = _count_bad(pictures, last)
        n_places += n_bad + breaks
        if n_places >= MOST_PLACES:
            return MOST_PLACES
    return n_places


def _aligned(path: Path) -> Iterator[tuple[Packets, bool]]:
    """Yield runs of packets, and whether the stream breaks off after them."""
    with path.open("rb") as file:
        waiting = file.read(PACKETS_AT_ONCE * PACKET)
        size, before_sync = _layout(waiting)
        waiting = waiting[before_sync:]
        at_end = False
        while len(waiting) >= PACKET:
            # The last packet of an m2ts file lacks the bytes that precede the next one.
            whole = len(waiting) // size
            packets = np.frombuffer(waiting, np.uint8, whole * size).reshape(whole, size)
            lost = np.flatnonzero(packets[:, 0] != SYNC)
            n_good = int(lost[0]) if lost.size else whole
            yield packets[:n_good], bool(lost.size)
            waiting = waiting[n_good * size :]
            if lost.size:
                waiting = _from_next_sync(waiting, size)
            elif at_end:
                break
            more = file.read(PACKETS_AT_ONCE * PACKET)
            at_end, waiting = not more, waiting + more
        if len(waiting) not in (0, size - before_sync):
            yield np.empty((0, size), np.uint8), True


def _layout(data: bytes) -> tuple[int, int]:
    """Return the size of the packets and the number of bytes before their sync bytes."""

    def n_marks(layout: tuple[int, int]) -> int:
        size, before_sync = layout
        return data[before_sync : 20 * size : size].count(SYNC)

    return max(LAYOUTS, key=n_marks)


def _from_next_sync(data: bytes, size: int) -> bytes:
    at = data.find(SYNC, 1)
    while at >= 0 and at + size < len(data) and data[at + size] != SYNC:
        at = data.find(SYNC, at + 1)
    return data[at:] if at >= 0 else b""


def _pids(packets: Packets) -> NDArray[np.int64]:
    return (packets[:, 1].astype(np.int64) & 0x1F) << 8 | packets[:, 2]


def _count_bad(packets: Packets, last: int | None) -> tuple[int, int | None]:
    """Count the faults in packets of one stream, and return the counter of the last packet."""
    packets = packets[packets[:, 3] & 0x10 > 0]  # only packets with data are numbered
    if not len(packets):
        return 0, last
    numbers = packets[:, 3].astype(np.int64) & 0x0F
    before = np.concatenate([[numbers[0] - 1 if last is None else last], numbers[:-1]])
    steps = (numbers - before) % 16
    has_field = packets[:, 3] & 0x20 > 0
    announced = has_field & (packets[:, 4] > 0) & (packets[:, 5] & 0x80 > 0)
    missing = (steps > 1) & ~announced  # a packet may be sent twice
    failed = packets[:, 1] & 0x80 > 0
    return int(np.sum(missing | failed | ~_begins_well(packets, has_field))), int(numbers[-1])


def _begins_well(packets: Packets, has_field: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each packet that opens a frame contains a start code; True for all other packets."""
    opens = packets[:, 1] & 0x40 > 0
    at = 4 + np.where(has_field, 1 + packets[:, 4].astype(np.int64), 0)
    inside = at + 3 <= PACKET
    at = np.where(inside, at, 0)
    rows = np.arange(len(packets))
    code = [packets[rows, at + k] == value for k, value in enumerate((0, 0, 1))]
    begins: NDArray[np.bool_] = ~opens | (inside & code[0] & code[1] & code[2])
    return begins
