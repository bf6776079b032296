"""A film that lost frames says so, whatever its container; single wrong stamps are repaired."""

from __future__ import annotations

import re
from fractions import Fraction

import av
import numpy as np
import pytest

from dayline.events import Segmentation
from dayline.media.cuts import with_exact_cuts
from dayline.media.film import film_digest, read_video
from dayline.media.film_damage import mended_stamps
from dayline.media.shots import read_shots
from dayline.media.source import images, open_source
from made_films import X264, change_stamp, film_frames, make_moving_film

KINDS = ("mkv", "webm", "mp4", "mov", "ts", "avi", "wmv", "flv")
SCENES = (60, 60)
N_FRAMES = 120
OPTIONS = {"g": "20"}
MPEG = (".ts", ".avi", ".mpg")
NOTE = re.compile(r"missing frames in the video: about (\d+), from (\S+) to (\S+)")


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """One film of 4.8 s in every container, with its index first."""
    folder = tmp_path_factory.mktemp("films")
    return {
        kind: make_moving_film(folder / f"film.{kind}", SCENES, options=OPTIONS) for kind in KINDS
    }


@pytest.fixture
def damaged(films, tmp_path):
    """Change the bytes of a film."""

    def make(kind, change):
        path = tmp_path / f"damaged.{kind}"
        path.write_bytes(change(films[kind].read_bytes()))
        return path

    return make


def zeroed(first, last):
    """Overwrite a part of a file with zeros, as a copy from a failing disk does."""

    def change(data):
        a, b = (int(share * len(data)) for share in (first, last))
        return data[:a] + bytes(b - a) + data[b:]

    return change


def said(notes):
    """Return number, first and last second of the missing frames, said in one note and no other."""
    assert len(notes) == 1, notes
    found = NOTE.fullmatch(notes[0])
    assert found, notes

    def seconds(text):
        hours, minutes, rest = text.split(":")
        return 3600 * int(hours) + 60 * int(minutes) + float(rest)

    return int(found[1]), seconds(found[2]), seconds(found[3])


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_film_has_no_notes(films, kind):
    sequence = open_source(films[kind], every=0.001)
    assert (sequence.n_frames, sequence.notes) == (N_FRAMES, ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [(0.3, 0.4), (0.45, 0.6), (0.5, 0.75)])
def test_a_part_that_was_erased_is_said_once(damaged, kind, part):
    sequence = open_source(damaged(kind, zeroed(*part)), every=0.001)
    n, first, last = said(sequence.notes)
    lost = N_FRAMES - sequence.n_frames
    assert lost > 5
    # Those of frames stored out of order that survived lie in the gap.
    assert abs(n - lost) <= 5
    if kind == "avi":  # its times only count frames, so that they close the gap
        assert last - first == pytest.approx(0.04)
    else:
        assert last - first == pytest.approx(0.04 * (lost + 1), abs=0.2)
    assert first == pytest.approx(4.8 * part[0], abs=1.2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [0.5, 0.803])
def test_a_film_that_was_cut_off_is_said_once(damaged, kind, kept):
    path = damaged(kind, lambda data: data[: int(kept * len(data)) // 188 * 188 + 100])
    sequence = open_source(path, every=0.001)
    # A stream declares no length, and FFmpeg ignores that of .wmv if the size is another.
    if kind in ("ts", "wmv"):
        (note,) = sequence.notes
        assert note.endswith("to its end")
        return
    n, first, last = said(sequence.notes)
    assert abs(n - (N_FRAMES - sequence.n_frames)) <= 4
    assert first == pytest.approx(sequence.times[-1])
    assert last == pytest.approx(4.8, abs=0.3)


@pytest.mark.parametrize("kind", ["mkv", "webm", "mp4", "mov", "avi", "wmv", "flv"])
def test_an_end_that_was_erased_is_said_once(damaged, kind):
    # Indexes lie at the end of the file, but not in a movie whose index comes first.
    sequence = open_source(damaged(kind, zeroed(0.8, 0.93)), every=0.001)
    n, *_ = said(sequence.notes)
    assert abs(n - (N_FRAMES - sequence.n_frames)) <= 3


def test_a_file_from_which_bytes_were_removed_is_said_once(damaged):
    for kind in ("mkv", "webm", "wmv"):
        path = damaged(kind, lambda data: data[: len(data) // 2] + data[len(data) * 2 // 3 :])
        sequence = open_source(path, every=0.001)
        assert abs(said(sequence.notes)[0] - (N_FRAMES - sequence.n_frames)) <= 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_boundary_at_missing_frames_is_never_exact(films, damaged, kind):
    def cut_of(path):
        sequence = open_source(path, every=0.2)
        b = int(np.searchsorted(sequence.times, 2.4)) if path == films[kind] else None
        if b is None:
            gap = sequence.video.missing[0]
            b = int(np.searchsorted(sequence.times, gap.last))
        rough = Segmentation.from_boundaries(
            [b], sequence.n_frames, times=sequence.times, clock="media"
        )
        shots, missing = read_shots(sequence)
        return with_exact_cuts(rough, shots, missing=missing)

    assert "starts of shots, exact to the frame: 1 of 1 boundary" in cut_of(films[kind]).notes
    result = cut_of(damaged(kind, zeroed(0.45, 0.6)))
    assert not any("exact to the frame: 1 of 1" in note for note in result.notes)
    assert "boundaries next to missing or broken frames, not exact to the frame: 1" in result.notes


def test_missing_frames_in_a_stream_are_said_though_nothing_is_broken(make_video):
    times_ms = [200 * i for i in range(150) if i not in (70, 71, 72, 120)]
    assert open_source(make_video("v.ts", times_ms=times_ms)).notes == (
        "missing frames in the video: about 4, at 2 points, first from 0:00:13.800 to 0:00:14.600",
    )
    assert open_source(make_video("v.mkv", times_ms=times_ms)).notes == ()


def test_a_frame_with_the_time_stamp_of_another_is_missing(make_video):
    path = make_video("film.ts", times_ms=range(0, 3000, 40), options={"bf": "0"}, corner=True)
    path.write_bytes(change_stamp(path.read_bytes(), 20, lambda stamp: stamp + 40 * 90))
    assert said(open_source(path).notes)[0] == 1


def write_film(path, *, times_ms=None, sound=0.0, movflags="", codec="libx264", options=OPTIONS):
    """Write a moving film, with a tone of some seconds."""
    with av.open(str(path), "w", options={"movflags": movflags} if movflags else {}) as container:
        stream = container.add_stream(
            codec, rate=25, options=(X264 if codec == "libx264" else {}) | options
        )
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        if times_ms is not None:
            stream.codec_context.time_base = stream.time_base = Fraction(1, 1000)
        tone = container.add_stream(
            "libopus" if path.suffix == ".webm" else "mp2" if path.suffix in MPEG else "aac",
            rate=48_000,
        )
        waiting = list(tones(tone, sound))
        for i, pixels in enumerate(film_frames([60] if times_ms is None else [len(times_ms)])):
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24")
            now = i / 25 if times_ms is None else times_ms[i] / 1000
            if times_ms is not None:
                frame.pts, frame.time_base = times_ms[i], Fraction(1, 1000)
            while waiting and waiting[0].pts / 48_000 <= now:
                container.mux(tone.encode(waiting.pop(0)))
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        for one in (*waiting, None):
            container.mux(tone.encode(one))
    return path


def tones(stream, seconds):
    for k in range(round(seconds * 48_000 / 960)):
        samples = np.sin(np.arange(960) / 10).astype(np.float32)[None]
        frame = av.AudioFrame.from_ndarray(np.repeat(samples, 2, 0), "fltp", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = 48_000, 960 * k, Fraction(1, 48_000)
        yield frame


PAUSES_MS = np.cumsum([*[40] * 20, 1500, *[40] * 15, 90, 33, 700, *[40] * 20, 4000, 40]).tolist()


@pytest.mark.parametrize("kind", ["mkv", "webm", "mp4", "mov", "flv"])
@pytest.mark.parametrize("sound", [0.0, 8.0])
def test_pauses_of_a_recorded_screen_are_no_damage(tmp_path, kind, sound):
    codec = "libvpx" if kind == "webm" else "libx264"
    options = {"cpu-used": "8", "deadline": "realtime"} if kind == "webm" else {"bf": "2"}
    path = write_film(
        tmp_path / f"film.{kind}", times_ms=PAUSES_MS, sound=sound, codec=codec, options=options
    )
    sequence = open_source(path, every=0.001)
    assert (sequence.n_frames, sequence.notes) == (len(PAUSES_MS), ())


@pytest.mark.parametrize("pauses_ms", [PAUSES_MS, [0, *range(2400, 4400, 40)]])
def test_frames_that_an_avi_file_shows_again_are_no_damage(tmp_path, pauses_ms):
    path = make_moving_film(tmp_path / "film.avi", (len(pauses_ms),), times_ms=pauses_ms)
    sequence = open_source(path, every=0.001)
    assert (sequence.n_frames, sequence.notes) == (len(pauses_ms), ())


@pytest.mark.parametrize(("kind", "number"), [("avi", 30), ("mkv", 119)])
def test_a_single_frame_that_is_gone_is_said(films, damaged, kind, number):
    with av.open(str(films[kind])) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        at, size = packets[number].pos, packets[number].size
    path = damaged(
        kind, lambda data: data[:at] + (bytes(size) + data[at + size :] if kind == "avi" else b"")
    )
    sequence = open_source(path, every=0.001)
    assert sequence.n_frames == 119
    assert said(sequence.notes)[0] == 1


def test_packets_of_a_wmv_file_that_are_gone_are_said(films, damaged):
    with av.open(str(films["wmv"])) as container:
        starts = sorted({packet.pos for packet in container.demux(video=0) if packet.size})
    middle = len(starts) // 2
    path = damaged(
        "wmv",
        lambda data: (
            data[: starts[middle]]
            + bytes(starts[middle + 1] - starts[middle])
            + data[starts[middle + 1] :]
        ),
    )
    sequence = open_source(path, every=0.001)
    assert sequence.n_frames < 120
    said(sequence.notes)


@pytest.mark.parametrize("part", ["table", "pictures at the end"])
def test_a_fragment_of_a_movie_that_is_gone_is_said(tmp_path, part):
    path = write_film(
        tmp_path / "film.mp4",
        movflags="frag_keyframe+empty_moov+default_base_moof",
        options={"g": "20", "qp": "10"},
    )
    data = path.read_bytes()
    tables = [at - 4 for at in range(len(data)) if data.startswith(b"moof", at)]
    if part == "table":
        path.write_bytes(data[: tables[1] + 8] + bytes(60) + data[tables[1] + 68 :])
    else:
        path.write_bytes(data[: data.index(b"mdat", tables[-1]) + 4])
    sequence = open_source(path, every=0.001)
    assert 30 < sequence.n_frames < 50
    assert len(sequence.notes) == 1
    assert sequence.notes[0].startswith("missing frames in the video: ")


def test_frames_that_an_edit_list_hides_between_others_are_said(tmp_path):
    options = {"g": "10", "bf": "1"}
    path = make_moving_film(tmp_path / "film.mp4", (60,), options=options)
    assert open_source(path, every=0.001).notes == ()
    data = path.read_bytes()
    # A frame in the middle gets a time beyond the part that is shown.
    offset = data.index(b"ctts") + 12 + 8 * 30 + 4
    path.write_bytes(data[:offset] + (2**20).to_bytes(4) + data[offset + 4 :])
    sequence = open_source(path, every=0.001)
    assert sequence.n_frames < 60
    assert (
        sequence.notes[0]
        == f"frames that the edit list of the video hides: {60 - sequence.n_frames}"
    )


@pytest.mark.parametrize("kind", ["mkv", "mp4", "ts", "avi", "mpg"])
def test_sound_that_lasts_longer_than_the_pictures_is_no_damage(tmp_path, kind):
    codec = "mpeg2video" if kind == "mpg" else "mpeg4" if kind == "avi" else "libx264"
    path = write_film(tmp_path / f"film.{kind}", sound=6.0, codec=codec, options={})
    assert open_source(path).notes == ()


@pytest.mark.parametrize("movflags", ["frag_keyframe+empty_moov", "faststart"])
def test_the_order_of_the_parts_of_a_movie_is_no_damage(tmp_path, movflags):
    path = write_film(tmp_path / "film.mp4", sound=3.0, movflags=movflags)
    sequence = open_source(path, every=0.001)
    assert (sequence.n_frames, sequence.notes) == (60, ())


def test_a_beginning_that_is_edited_out_is_no_damage(tmp_path):
    times_ms = [40 * i - 1010 for i in range(100)]
    path = make_moving_film(tmp_path / "film.mp4", (100,), times_ms=times_ms)
    sequence = open_source(path, every=0.001)
    assert sequence.n_frames < 100
    assert sequence.notes == ()


def test_a_recording_without_a_length_has_none_to_reach(tmp_path):
    path = tmp_path / "film.mkv"
    with path.open("wb") as file:

        class Pipe:
            write = file.write

        with av.open(Pipe(), "w", format="matroska") as container:
            stream = container.add_stream("libx264", rate=25, options=X264)
            stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
            for pixels in film_frames([30]):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
            container.mux(stream.encode())
    assert open_source(path).notes == ()


def test_black_frames_without_compression_are_no_erased_ones(tmp_path):
    path = tmp_path / "film.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("rawvideo", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "bgr24"
        for _ in range(30):
            black = np.zeros((48, 64, 3), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(black, "bgr24")))
        container.mux(stream.encode())
    sequence = open_source(path, every=0.001)
    assert (sequence.n_frames, sequence.notes) == (30, ())


def test_a_digest_stays_with_the_pictures(films, tmp_path):
    digest = film_digest(films["mp4"])
    copy = tmp_path / "copy.mov"
    with av.open(str(films["mp4"])) as source, av.open(str(copy), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        target.metadata["title"] = "Another"
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                target.mux(packet)
    assert film_digest(copy) == digest
    assert open_source(copy).digests[0] == f"{digest}:0"
    other = make_moving_film(tmp_path / "other.mp4", (60, 61), options=OPTIONS)
    assert film_digest(other) != digest


N_STAMPS = 150
"""At one every 200 ms: 30 s."""


@pytest.fixture
def stream(make_video):
    """A transport stream of frames that are told apart by their grey, with B-frames or without."""

    def make(options):
        greys = [20 + (31 * i) % 200 for i in range(N_STAMPS)]
        times_ms = [200 * i for i in range(N_STAMPS)]
        return make_video("v.ts", times_ms=times_ms, greys=greys, options={"g": "25", **options})

    return make


@pytest.mark.parametrize("options", [{}, {"bf": "0"}], ids=["reordered", "in order"])
@pytest.mark.parametrize("number", [0, 1, 74, 75, 76, N_STAMPS - 2, N_STAMPS - 1])
@pytest.mark.parametrize("bit", [15, 19, 24, 32])
def test_one_wrong_stamp_changes_nothing_but_a_note(stream, options, number, bit):
    path = stream(options)
    whole = read_video(path)
    path.write_bytes(change_stamp(path.read_bytes(), number, lambda stamp: stamp ^ 1 << bit))
    damaged = read_video(path)
    assert damaged.times == whole.times
    assert damaged.order == whole.order
    assert len(damaged.notes) == 1
    assert damaged.notes[0].startswith(
        "wrong time stamps in the video, repaired from the frames around them: 1 (first"
    )


def test_a_frame_with_a_wrong_stamp_is_decoded_at_its_place(stream):
    path = stream({})
    before = [image.mean() for _, image in images(read_video(path), size=32)]
    path.write_bytes(change_stamp(path.read_bytes(), 75, lambda stamp: stamp + (1 << 30)))
    after = [image.mean() for _, image in images(read_video(path), size=32)]
    np.testing.assert_array_equal(after, before)


def test_several_wrong_stamps_are_counted(stream):
    path = stream({})
    whole = read_video(path)
    content = path.read_bytes()
    for number, moved in ((20, 1 << 27), (21, 1 << 25), (90, 1 << 31)):
        content = change_stamp(content, number, lambda stamp, moved=moved: stamp + moved)
    path.write_bytes(content)
    damaged = read_video(path)
    assert damaged.times == whole.times
    assert "around them: 3 (first" in damaged.notes[0]


def steady(n: int = 60) -> list[int]:
    return [3600 * i for i in range(n)]


@pytest.mark.parametrize("exact_rate", [False, True])
@pytest.mark.parametrize(
    "stamps",
    [
        steady(),
        [s + (s >= 72_000) * 90_000 * 3600 for s in steady()],
        [s - (s >= 72_000) * 70_000 for s in steady()],
        [s * s // 3600 for s in steady()],
        [s + (i % 7) * 300 for i, s in enumerate(steady())],
        [*steady()[:30], 90_000 * 60, *(s + 90_000 * 120 for s in steady()[30:])],
        [*steady()[:4], 90_000 * 3600],
        [],
    ],
    ids=[
        "steady",
        "a pause",
        "set back",
        "slower and slower",
        "uneven",
        "alone between pauses",
        "few",
        "none",
    ],
)
def test_stamps_that_are_only_unusual_are_kept(stamps, exact_rate):
    assert mended_stamps(stamps, ticks_per_second=90_000, exact_rate=exact_rate) == {}


def test_deep_reordering_is_no_damage():
    """Each 16th frame is stored 15 places before its turn."""
    stamps = [3600 * (16 * group + place) for group in range(10) for place in (15, *range(15))]
    assert mended_stamps(stamps, ticks_per_second=90_000, exact_rate=True) == {}


def test_a_stream_says_nothing_of_its_length_so_it_is_not_cut_off(stream):
    path = stream({"bf": "0"})
    path.write_bytes(
        change_stamp(path.read_bytes(), N_STAMPS - 1, lambda stamp: stamp + 90_000 * 600)
    )
    assert not any("missing" in note for note in read_video(path).notes)
