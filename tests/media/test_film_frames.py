"""Frames of a film are those asked for, at their exact times, with shortcuts and without."""

from __future__ import annotations

import os
import struct
from dataclasses import replace

import av
import numpy as np
import pytest
from av.stream import Disposition

from dayline.media import film_decode
from dayline.media.film import default_every, read_video
from dayline.media.source import images, open_source
from made_films import OpenedFilm

EVERY_40_MS = [40 * i for i in range(50)]
GREYS = [20 + 4 * i for i in range(50)]


def greys(frames) -> list[tuple[int, int]]:
    return [(i, round(float(image[40:, 40:].mean()))) for i, image in frames]


def close(found, expected) -> bool:
    return len(found) == len(expected) and all(
        a == b and abs(x - y) <= 3 for (a, x), (b, y) in zip(found, expected, strict=True)
    )


def test_times_of_a_variable_frame_rate_are_exact_to_the_millisecond(make_video):
    times_ms = [0, 33, 71, 300, 301, 1007, 1501, 1502, 3999]
    for name in ("v.mkv", "v.mp4"):
        sequence = read_video(make_video(name, times_ms=times_ms), every=0.001)
        assert sequence.times == tuple(ms / 1000 for ms in times_ms)
    assert (sequence.clock, sequence.kind) == ("media", "video")


def test_the_first_frame_at_or_after_each_step_is_taken_none_twice(make_video):
    times_ms = [0, 400, 900, 1100, 1900, 2000, 5200, 5300, 6000]
    sequence = read_video(make_video("v.mkv", times_ms=times_ms), every=1)
    assert sequence.times == (0.0, 1.1, 2.0, 5.2, 6.0)
    assert sequence.order == "by presentation time, one frame every 1 s (5 of 9)"


def test_a_step_that_is_no_binary_fraction_does_not_drift(make_video):
    sequence = read_video(make_video("v.mkv", times_ms=[100 * i for i in range(100)]), every=0.3)
    assert sequence.times == tuple(round(0.3 * i, 1) for i in range(34))


@pytest.mark.parametrize(
    ("seconds", "every"),
    [
        (5, 0.2),
        (60, 0.2),
        (61, 0.5),
        (3600, 0.5),
        (3601, 1),
        (7200, 1),
        (86_400, 1),
        (150_000, 2),
        (1e7, 100),
    ],
)
def test_the_step_is_two_frames_a_second_up_to_an_hour_and_one_beyond(seconds, every):
    assert default_every(seconds) == every


@pytest.mark.parametrize("every", [0, -1, float("nan"), float("inf")])
def test_a_step_must_be_a_time(make_video, every):
    with pytest.raises(ValueError, match="must be more than 0 seconds"):
        read_video(make_video("v.mkv", times_ms=[0, 40]), every=every)


def test_times_count_from_the_start_of_the_recording(make_video):
    sequence = read_video(make_video("v.ts", times_ms=EVERY_40_MS), every=1)
    assert sequence.times == (0.0, 1.0)
    assert sequence.names == ("0:00:00.000", "0:00:01.000")


@pytest.mark.parametrize(
    "options",
    [
        {"g": "10", "bf": "2"},
        {"x264-params": "keyint=10:min-keyint=10:bframes=3:b-adapt=0:open-gop=1:scenecut=0"},
        {"g": "1000"},
    ],
)
def test_leaving_out_what_nobody_asked_for_gives_the_same_images(make_video, options):
    path = make_video("v.mp4", times_ms=EVERY_40_MS, greys=GREYS, options=options)
    every_frame = read_video(path, every=0.04)
    everything = dict(images(every_frame, size=64))
    assert close(greys(everything.items()), list(enumerate(GREYS)))
    for indices in ([7], [9, 10, 11], [28, 29, 45], [0, 49], list(range(0, 50, 6))):
        some = dict(images(every_frame, size=64, indices=indices))
        assert list(some) == indices
        for i in indices:
            np.testing.assert_array_equal(some[i], everything[i])


def test_packets_of_groups_without_a_wanted_frame_are_not_decoded(make_video, monkeypatch):
    path = make_video("v.mp4", times_ms=EVERY_40_MS, options={"g": "5", "bf": "0"})
    sent = []
    decode = film_decode._decode
    monkeypatch.setattr(
        film_decode,
        "_decode",
        lambda v, packet: sent.append(packet is not None) or decode(v, packet),
    )
    assert [i for i, _ in images(read_video(path, every=0.04), size=64, indices=[10, 40])] == [
        10,
        40,
    ]
    assert 2 <= sum(sent) <= 10  # of 50: at most the two groups of five


def test_the_shorter_side_is_reduced_to_size(make_video):
    sequence = read_video(make_video("v.mp4", times_ms=[0, 40]))
    assert next(images(sequence, size=32))[1].shape == (32, 48, 3)
    assert next(images(sequence, size=500))[1].shape == (64, 96, 3)


def test_the_rotation_tag_of_a_phone_held_upright_is_applied(make_video):
    """The matrix phones write: x to the right goes down, so the picture is turned clockwise."""
    path = make_video("v.mp4", times_ms=[0, 40], corner=True)
    content = path.read_bytes()
    one, last = 1 << 16, 1 << 30
    as_made = struct.pack(">9i", one, 0, 0, 0, one, 0, 0, 0, last)
    clockwise = struct.pack(">9i", 0, one, 0, -one, 0, 0, 0, 0, last)
    at = content.index(as_made, content.index(b"tkhd"))
    path.write_bytes(content[:at] + clockwise + content[at + 36 :])
    _, image = next(images(read_video(path), size=64))
    assert image.shape == (96, 64, 3)
    assert image[10, -10].min() > 230  # the white corner was at the upper left
    assert image[10, 10].max() < 80


def test_a_cut_off_video_gives_what_it_has_and_says_so(make_video, tmp_path):
    times_ms = [40 * i for i in range(100)]
    noisy = [(37 * i) % 200 for i in range(100)]
    for name in ("v.mp4", "v.mkv"):
        path = make_video(name, times_ms=times_ms, greys=noisy, options={"g": "10"})
        content = path.read_bytes()
        path.write_bytes(content[: int(0.6 * len(content))])
        sequence = read_video(path, every=0.04)
        assert 10 < sequence.n_frames < 90
        assert sequence.notes[0].startswith("missing frames in the video: about ")
        assert sequence.notes[0].endswith(" to 0:00:04.000")
        failed: dict[int, str] = {}
        seen = [i for i, _ in images(sequence, size=64, on_skip=failed.__setitem__)]
        assert seen[:10] == list(range(10))
        assert len(failed) <= 1


@pytest.mark.parametrize("name", ["v.mkv", "v.ts", "v.mp4"])
def test_a_video_whose_stamps_start_at_an_hour_is_not_cut_off(make_video, name):
    sequence = read_video(
        make_video(name, times_ms=[3_600_000 + ms for ms in EVERY_40_MS]), every=1
    )
    assert sequence.times == (0.0, 1.0)
    assert sequence.notes == ()


def test_a_cut_off_video_whose_stamps_start_at_an_hour_says_so(make_video):
    times_ms = [3_600_000 + 40 * i for i in range(100)]
    path = make_video(
        "v.mkv", times_ms=times_ms, greys=[(37 * i) % 200 for i in range(100)], options={"g": "10"}
    )
    content = path.read_bytes()
    path.write_bytes(content[: int(0.6 * len(content))])
    assert read_video(path).notes[0].endswith(" to 0:00:04.000")


@pytest.mark.parametrize(
    ("name", "known", "unknown"),
    [("v.mp4", b"avc1", b"zzzz"), ("v.mkv", b"V_MPEG4/ISO", b"V_ZPEG4/ISO")],
)
def test_a_codec_that_is_not_known_is_one_line(make_video, name, known, unknown):
    path = make_video(name, times_ms=EVERY_40_MS)
    path.write_bytes(path.read_bytes().replace(known, unknown))
    with pytest.raises(ValueError, match=rf"{name}: unknown video codec; convert it to H\.264$"):
        read_video(path)


def test_frames_over_the_limit_are_refused_before_they_are_decoded(make_video, monkeypatch):
    sequence = read_video(make_video("v.mp4", times_ms=EVERY_40_MS), every=1)
    monkeypatch.setattr(film_decode, "MAX_PIXELS", 5_000)
    with pytest.raises(ValueError, match="frames of 96 x 64 pixels are over the limit of"):
        list(images(sequence, size=32))


def test_whatever_fails_in_a_frame_costs_that_frame_alone(make_video, monkeypatch):
    sequence = read_video(make_video("v.mp4", times_ms=EVERY_40_MS), every=1)
    to_rgb, calls = film_decode._to_rgb, []

    def fails_once(frame, *, size):
        calls.append(frame)
        if len(calls) == 1:
            raise OverflowError("a rotation that is not a number")
        return to_rgb(frame, size=size)

    monkeypatch.setattr(film_decode, "_to_rgb", fails_once)
    failed = {}
    assert [i for i, _ in images(sequence, size=32, on_skip=failed.__setitem__)] == [1]
    assert failed == {
        0: "frame of the video: damaged, or not a picture (a rotation that is not a number)"
    }


def test_a_reader_that_fails_on_the_way_ends_the_video_with_a_note(make_video, monkeypatch):
    path = make_video("v.mp4", times_ms=EVERY_40_MS)

    class Failing(OpenedFilm):
        def demux(self, *streams):
            for number, packet in enumerate(self.container.demux(*streams)):
                if number == 30:
                    raise OverflowError("too large")
                yield packet

    opened = film_decode._opened
    monkeypatch.setattr(film_decode, "_opened", lambda *what: Failing(opened(*what)))
    sequence = read_video(path, every=0.04)
    assert sequence.n_frames == 30
    assert "the video could not be read to its end (OverflowError)" in sequence.notes


@pytest.mark.parametrize("of_the_index", [-4, 60], ids=["before", "inside"])
def test_a_video_cut_off_in_or_before_its_index_is_refused(make_video, of_the_index):
    path = make_video("v.mp4", times_ms=EVERY_40_MS, index_first=False)
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"moov") + of_the_index])
    with pytest.raises(ValueError, match=r"v\.mp4: cannot be opened as a video .* truncated"):
        read_video(path)


def test_broken_packets_are_skipped_and_counted(make_video):
    path = make_video("v.mp4", times_ms=EVERY_40_MS, greys=GREYS, options={"g": "5", "bf": "0"})
    with av.open(str(path)) as container:
        packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    content = bytearray(path.read_bytes())
    for broken in (21, 22):
        start, length = packets[broken]
        content[start : start + length] = b"\xff" * length
    path.write_bytes(content)
    failed: dict[int, str] = {}
    notes: list[str] = []
    sequence = read_video(path, every=0.04)
    seen = greys(images(sequence, size=64, on_skip=failed.__setitem__, on_note=notes.append))
    assert notes == ["broken packets in the video, skipped while decoding: 2"]
    assert set(failed) == {21, 22}
    expected = [(i, g) for i, g in enumerate(GREYS) if i not in failed and i not in (23, 24)]
    assert close([(i, g) for i, g in seen if i not in (23, 24)], expected)


def test_sound_alone_is_no_video(tmp_path):
    path = tmp_path / "sound.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 8000), dtype=np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(ValueError, match=r"sound\.mp4: has no video stream"):
        open_source(path)


@pytest.mark.parametrize(
    ("content", "why"), [(b"", "empty file"), (b"no video\n" * 99, "cannot be opened as a video")]
)
def test_empty_and_fake_videos(tmp_path, content, why):
    (tmp_path / "v.mp4").write_bytes(content)
    with pytest.raises(ValueError, match=why):
        open_source(tmp_path / "v.mp4")


def test_a_list_of_other_files_is_not_followed(make_video, tmp_path):
    make_video("secret.mp4", times_ms=[0, 40])
    (tmp_path / "v.mp4").write_text("ffconcat version 1.0\nfile secret.mp4\n")
    with pytest.raises(ValueError, match="cannot be opened as a video"):
        read_video(tmp_path / "v.mp4")


def test_names_with_colons_and_broken_utf8_are_opened(make_video, tmp_path):
    path = make_video("v.mp4", times_ms=[0, 40])
    for name in ("http:x.mp4", os.fsdecode(b"br\xff <b>.mp4")):
        path = path.rename(tmp_path / name)
        sequence = read_video(path, every=0.04)
        assert len(list(images(sequence, size=8))) == 2


def test_a_colon_in_a_relative_name_is_no_protocol(make_video, tmp_path, monkeypatch):
    make_video("v.mp4", times_ms=[0, 40]).rename(tmp_path / "http:x.mp4")
    monkeypatch.chdir(tmp_path)
    assert read_video("http:x.mp4", every=0.04).n_frames == 2


def test_the_cover_of_a_song_is_no_video(tmp_path):
    path = tmp_path / "song.mp4"
    with av.open(str(path), "w") as container:
        cover = container.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 96, 64, "yuvj420p"
        cover.disposition = Disposition.attached_pic
        picture = av.VideoFrame.from_ndarray(np.full((64, 96, 3), 90, dtype=np.uint8), "rgb24")
        container.mux(cover.encode(picture.reformat(format="yuvj420p")))
        container.mux(cover.encode())
    with av.open(str(path)) as container:
        assert len(container.streams.video) == 1
    with pytest.raises(ValueError, match="has no video stream"):
        read_video(path)


def test_a_real_film(shared_data):
    sequence = read_video(shared_data / "video" / "bigbuckbunny.mp4")
    assert sequence.times == tuple(round(0.2 * i, 1) for i in range(27))
    some = dict(images(sequence, size=90, indices=[3, 20]))
    everything = dict(images(sequence, size=90))
    assert [image.shape for image in some.values()] == [(90, 160, 3)] * 2
    for i, image in some.items():
        np.testing.assert_array_equal(image, everything[i])


LONG_MS = [40 * i for i in range(200)]
LONG_GREYS = [20 + i for i in range(200)]
OPTIONS = {
    "closed groups": {"g": "10", "bf": "2", "x264-params": "scenecut=0"},
    "open groups": {
        "x264-params": "keyint=10:min-keyint=10:bframes=3:b-adapt=0:open-gop=1:scenecut=0"
    },
    "pyramid": {
        "x264-params": "keyint=40:min-keyint=40:bframes=7:b-adapt=0:b-pyramid=normal:scenecut=0"
    },
}
SPARSE = [3, 47, 48, 122, 199]


def without_shortcuts(sequence):
    return replace(sequence, video=replace(sequence.video, keys={}))


def seeks(monkeypatch, *, lands=lambda stamp: stamp):
    """Count how often the container is sought, and let it land elsewhere."""
    stamps = []
    opened = film_decode._opened

    class Watched(OpenedFilm):
        def seek(self, stamp, *, stream):
            stamps.append(stamp)
            self.container.seek(lands(stamp), stream=stream)

    monkeypatch.setattr(film_decode, "_opened", lambda *what: Watched(opened(*what)))
    return stamps


def same(found, expected) -> bool:
    return found.keys() == expected.keys() and all(
        np.array_equal(found[i], expected[i]) for i in expected
    )


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("name", ["v.mp4", "v.mkv", "v.ts", "v.flv"])
@pytest.mark.parametrize("indices", [SPARSE, list(range(0, 200, 12)), list(range(90, 130))])
def test_frames_are_the_same_with_shortcuts_and_without(make_video, kind, name, indices):
    path = make_video(name, times_ms=LONG_MS, greys=LONG_GREYS, options=OPTIONS[kind])
    sequence = read_video(path, every=0.001)
    assert sequence.video.keys
    notes = []
    fast = dict(images(sequence, size=64, indices=indices, on_note=notes.append))
    assert list(fast) == indices
    assert same(fast, dict(images(without_shortcuts(sequence), size=64, indices=indices)))
    assert notes == []


@pytest.mark.parametrize("name", ["v.mp4", "v.mkv"])
def test_groups_without_a_wanted_frame_are_sought_past(make_video, monkeypatch, name):
    path = make_video(name, times_ms=LONG_MS, greys=LONG_GREYS, options=OPTIONS["closed groups"])
    sequence = read_video(path, every=0.04)
    stamps = seeks(monkeypatch)
    assert [i for i, _ in images(sequence, size=64, indices=SPARSE)] == SPARSE
    assert len(stamps) >= 3
    stamps.clear()
    assert len(list(images(sequence, size=64))) == 200
    assert stamps == []


def test_a_reader_that_lands_too_early_reads_on(make_video, monkeypatch):
    path = make_video("v.mp4", times_ms=LONG_MS, greys=LONG_GREYS, options=OPTIONS["closed groups"])
    sequence = read_video(path, every=0.04)
    expected, notes = dict(images(sequence, size=64, indices=SPARSE)), []
    seeks(monkeypatch, lands=lambda stamp: 0)
    assert same(dict(images(sequence, size=64, indices=SPARSE, on_note=notes.append)), expected)
    assert notes == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_video_that_cannot_be_searched_is_read_from_its_start_and_says_so(
    make_video, monkeypatch, fails
):
    path = make_video("v.mp4", times_ms=LONG_MS, greys=LONG_GREYS, options=OPTIONS["closed groups"])
    sequence = read_video(path, every=0.04)
    expected, notes = dict(images(sequence, size=64, indices=SPARSE)), []

    def too_late(stamp):
        if fails:
            raise OSError("cannot seek")
        return 10**9

    seeks(monkeypatch, lands=too_late)
    assert same(dict(images(sequence, size=64, indices=SPARSE, on_note=notes.append)), expected)
    assert notes == ["the video could not be searched and was read from its start"]


def test_a_damaged_video_is_read_from_its_start(make_video, monkeypatch):
    path = make_video("v.mkv", times_ms=LONG_MS, greys=LONG_GREYS, options=OPTIONS["closed groups"])
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    stamps = seeks(monkeypatch)
    sequence = read_video(path, every=0.04)
    failed = {}
    seen = [i for i, _ in images(sequence, size=64, indices=[3, 80], on_skip=failed.__setitem__)]
    assert seen == [3, 80]
    assert stamps == []


def test_the_index_knows_every_frame_however_few_are_sampled(make_video):
    times_ms = [0, 33, 71, 300, 301, 1007, 1501, 1502, 3999]
    sequence = read_video(make_video("v.mkv", times_ms=times_ms), every=2)
    assert sequence.n_frames == 2
    index = sequence.video
    assert [index.seconds(frame) for frame in index.between(0.071, 1.501)] == [
        0.071,
        0.3,
        0.301,
        1.007,
        1.501,
    ]
    assert index.between(2, 3) == ()
