"""A transport stream tells by marks and numbers what is missing in it."""

from __future__ import annotations

import pytest

from dayline.media import film_notes as transport_stream
from dayline.media.film_notes import damaged_places

PID = 256
PACKET = 188


@pytest.fixture
def stream(make_video) -> bytes:
    return make_video("film.ts", times_ms=range(0, 3000, 40), corner=True).read_bytes()


@pytest.fixture
def places(tmp_path):
    def count(data: bytes) -> int:
        path = tmp_path / "damaged.ts"
        path.write_bytes(data)
        return damaged_places(path, pid=PID)

    return count


def frame_starts(stream: bytes) -> list[int]:
    """Where packets lie that open a frame."""
    opening = bytes([0x47, 0x40 | PID >> 8, PID & 0xFF])
    return [at for at in range(0, len(stream), PACKET) if stream[at : at + 3] == opening]


def test_a_whole_stream_has_no_damage(stream, places):
    assert len(frame_starts(stream)) == 75
    assert places(stream) == 0


@pytest.mark.parametrize(("size", "before"), [(192, 4), (204, 0)])
def test_packets_may_have_bytes_around_them(stream, places, size, before):
    packets = [stream[at : at + PACKET] for at in range(0, len(stream), PACKET)]
    padded = b"".join(bytes(before) + packet + bytes(size - before - PACKET) for packet in packets)
    assert places(padded) == 0
    assert places(padded[:-50]) == 1


def test_a_packet_cut_short_is_damage(stream, places):
    assert places(stream[: 40 * PACKET]) == 0
    assert places(stream[: 40 * PACKET + 70]) == 1


def test_missing_packets_are_damage(stream, places):
    first, second, *_ = frame_starts(stream)
    assert second - first > PACKET
    assert places(stream[: second - PACKET] + stream[second:]) == 1


def test_each_place_with_bytes_too_many_or_too_few_is_damage(stream, places):
    a, b = 10 * PACKET + 90, 50 * PACKET + 90
    assert places(stream[:a] + stream[a + 30 :]) >= 1
    assert places(stream[:a] + bytes(30) + stream[a:]) >= 1
    assert places(stream[:a] + stream[a + 30 : b] + bytes(7) + stream[b:]) >= 2


def test_a_frame_that_does_not_begin_as_one_is_damage(stream, places):
    at = frame_starts(stream)[20]
    start = stream.index(b"\x00\x00\x01", at)
    assert places(stream[:start] + b"\x00\x20\x01" + stream[start + 3 :]) == 1


def test_long_streams_are_read_in_parts(stream, places, monkeypatch):
    monkeypatch.setattr(transport_stream, "PACKETS_AT_ONCE", 7)
    assert places(stream) == 0
    a = 30 * PACKET + 90
    assert places(stream[:a] + stream[a + 30 :]) >= 1


def test_what_is_no_stream_ends_the_count(places):
    assert places(b"\x47" + bytes(300) * 3) >= 1
    assert places(b"\x46" * 400_000) >= 1
