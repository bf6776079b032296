"""A video that lost frames says so, whatever lost them."""

from __future__ import annotations

import struct
from fractions import Fraction

import av
import numpy as np
import pytest

from dayline.media.film_notes import seconds_in_movie
from dayline.media.source import open_source
from made_streams import change_stamp

TIMES = range(0, 3000, 40)


@pytest.fixture
def film(make_video):
    return make_video("film.mp4", times_ms=TIMES, corner=True)


def notes_of(path, data: bytes) -> tuple[str, ...]:
    path.write_bytes(data)
    return open_source(path).notes


def test_whole_videos_have_no_notes(make_video):
    for name in ("a.mp4", "b.mov", "c.ts", "d.mkv", "e.avi"):
        codec = "mpeg4" if name == "e.avi" else "libx264"
        options = {"bf": "0"} if name == "e.avi" else {"bf": "2"}
        assert (
            open_source(make_video(name, times_ms=TIMES, codec=codec, options=options)).notes == ()
        ), name


def test_frames_at_the_end_that_an_index_lists_and_the_file_does_not_hold_are_counted(film):
    data = film.read_bytes()
    assert "broken packets in the video, skipped: 1" in notes_of(film, data[:-200])
    n_left = open_source(film, every=0.001).n_frames
    note = f"{75 - n_left - 1} of 75 frames of the video are not shown: edited out or damaged"
    assert note in open_source(film).notes
    assert 60 < n_left < 73


def test_frames_that_share_a_time_stamp_are_counted(make_video):
    path = make_video("film.ts", times_ms=TIMES, options={"bf": "0"}, corner=True)
    damaged = change_stamp(path.read_bytes(), 20, lambda stamp: stamp + 40 * 90)
    assert "1 of 75 frames of the video are not shown: edited out or damaged" in notes_of(
        path, damaged
    )
    assert open_source(path, every=0.001).n_frames == 74


def test_frames_beyond_the_announced_length_are_said(make_video):
    path = make_video("film.mp4", times_ms=TIMES, options={"bf": "0"})
    data = bytearray(path.read_bytes().replace(b"edts", b"free"))
    at = data.index(b"stts") + 8
    entries, frames, step = struct.unpack_from(">III", data, at)
    assert (entries, frames) == (1, 75)
    struct.pack_into(">I", data, at + 8, 2 * step)
    note = (
        "times in the video may be wrong: it declares 0:00:03.000, its last frame is at 0:00:05.920"
    )
    assert note in notes_of(path, bytes(data))


def test_a_video_in_fragments_has_no_length_to_compare(tmp_path):
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w", options={"movflags": "frag_keyframe+empty_moov"}) as container:
        stream = container.add_stream("libx264", rate=25, options={"g": "10"})
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for _ in TIMES:
            container.mux(
                stream.encode(av.VideoFrame.from_ndarray(np.zeros((64, 96, 3), np.uint8), "rgb24"))
            )
        container.mux(stream.encode())
    sequence = open_source(path, every=0.001)
    assert (sequence.n_frames, sequence.notes) == (75, ())


def test_a_varying_rate_is_no_damage(tmp_path):
    path = tmp_path / "film.mp4"
    random = np.random.default_rng(0)
    times = np.cumsum(random.choice([0.033, 0.2, 0.5, 1.1], 60))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for time in times:
            frame = av.VideoFrame.from_ndarray(
                random.integers(0, 255, (64, 96, 3), dtype=np.uint8), "rgb24"
            )
            frame.pts, frame.time_base = round(1000 * time), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    sequence = open_source(path, every=0.001)
    assert (sequence.n_frames, sequence.notes) == (60, ())


def test_a_time_scale_that_is_wrong_is_said(film):
    data = bytearray(film.read_bytes())
    at = data.index(b"mdhd") + 16
    (scale,) = struct.unpack_from(">I", data, at)
    struct.pack_into(">I", data, at, 3 * scale)
    note = (
        "the video is damaged: it lasts 0:00:03.000 by its own clock and 0:00:01.000 by the clock"
        " of its frames"
    )
    assert notes_of(film, bytes(data)) == (note,)


def test_the_length_in_the_movie_is_that_of_the_track(film):
    with av.open(str(film)) as container:
        track = container.streams.video[0].id
    assert seconds_in_movie(film, track=track) == pytest.approx(3, abs=0.05)
    assert seconds_in_movie(film, track=track + 1) is None
    film.write_bytes(b"\x00\x00\x00\x08free" * 100)
    assert seconds_in_movie(film, track=track) is None


def test_every_byte_of_the_lengths_may_be_damaged(film):
    data = film.read_bytes()
    start = data.index(b"moov")
    for at in range(start - 4, data.index(b"mdia", start)):
        for value in (0, 1, 127, 255):
            film.write_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            seconds_in_movie(film, track=1)
    for cut in range(start, data.index(b"mdia", start)):
        film.write_bytes(data[:cut])
        seconds_in_movie(film, track=1)


@pytest.mark.parametrize("kept", [0.3, 0.7])
def test_a_stream_that_ends_in_the_middle_of_a_packet_is_said_to_be_cut_off(make_video, kept):
    path = make_video("film.ts", times_ms=TIMES, corner=True)
    data = path.read_bytes()
    cut = data[: int(kept * len(data)) // 188 * 188 + 100]
    assert "places where the video is damaged or truncated: 1" in notes_of(path, cut)
