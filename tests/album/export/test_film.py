from __future__ import annotations

import logging
import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition

from album.export.conftest import ffmpeg
from dayline.album.export.film import film_facts, write_chapters
from dayline.album.export.formats import export
from dayline.events import Event, Segmentation

COLORS = ((200, 30, 30), (30, 160, 30), (30, 30, 200), (200, 200, 40))


def make_video(path: Path, *, first_stamp: int = 0, n_seconds: int = 8) -> Path:
    """A second of ten frames per step of color, two seconds per color, and a tone."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=10)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        video.metadata["language"] = "deu"
        audio = container.add_stream("aac", rate=16000, layout="mono")
        audio.disposition = Disposition.hearing_impaired
        for k in range(n_seconds * 10):
            pixels = np.full((48, 64, 3), COLORS[k // 20], dtype=np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = k + first_stamp, Fraction(1, 10)
            container.mux(video.encode(frame))
            tone = np.sin(np.arange(1600) / 8).astype(np.float32)[None] * 0.2
            sound = av.AudioFrame.from_ndarray(tone, format="fltp", layout="mono")
            sound.sample_rate, sound.pts = 16000, k * 1600 + first_stamp * 1600
            sound.time_base = Fraction(1, 16000)
            container.mux(audio.encode(sound))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))
    return path


@pytest.fixture(scope="module")
def video(tmp_path_factory) -> Path:
    return make_video(tmp_path_factory.mktemp("video") / "four colors.mp4")


@pytest.fixture
def events() -> Segmentation:
    """Four events of two seconds, frames half a second apart."""
    names = ("a=b; #\\ <&>", None, "\u05e9\u05dc\u05d5\u05dd", None)
    four = tuple(Event(4 * k, 4 * k + 4, community=k % 2, name=names[k]) for k in range(4))
    return Segmentation(
        four, times=tuple(k / 2 for k in range(16)), clock="media", source="four colors.mp4"
    )


def packets(path: Path) -> list[tuple[str, bytes]]:
    with av.open(str(path)) as container:
        streams = [s for s in container.streams if s.type in ("video", "audio")]
        return sorted((p.stream.type, bytes(p)) for p in container.demux(streams) if p.size)


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".mov"])
def test_ffmpeg_and_pyav_read_the_chapters_of_the_copy(
    video, events, tmp_path, ffmpeg_chapters, suffix
):
    copy = write_chapters(video, events, tmp_path / f"copy{suffix}")
    found = ffmpeg_chapters(copy)
    assert [title for *_, title in found] == [
        "a=b; #\\ <&>",
        "Event 2",
        "\u05e9\u05dc\u05d5\u05dd",
        "Event 4",
    ]
    assert [start for start, *_ in found] == [0.0, 2.0, 4.0, 6.0]
    with av.open(str(video)) as original:
        assert found[-1][1] == pytest.approx(original.duration / av.time_base, abs=0.002)
    with av.open(str(copy)) as container:
        chapters = container.chapters()
        assert [float(c["start"] * c["time_base"]) for c in chapters] == [0.0, 2.0, 4.0, 6.0]
        assert [c["metadata"]["title"] for c in chapters] == [title for *_, title in found]


def test_pictures_and_sound_are_copied_bit_for_bit(video, events, tmp_path):
    assert packets(write_chapters(video, events, tmp_path / "copy.mkv")) == packets(video)
    assert packets(write_chapters(video, events, tmp_path / "copy.mp4")) == packets(video)


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_no_frame_of_a_matroska_film_is_lost(video, events, tmp_path, suffix):
    """Matroska stores no decoding times; FFmpeg does not know those of the first frames."""
    film = tmp_path / "film.mkv"
    ffmpeg("-i", video, "-c:v", "libx264", "-bf", "2", "-c:a", "copy", film)
    copy = write_chapters(film, events, tmp_path / f"copy{suffix}")
    with av.open(str(copy)) as container:
        assert [float(frame.time) for frame in container.decode(video=0)] == pytest.approx(
            [k / 10 for k in range(80)], abs=0.1
        )


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_the_first_chapter_starts_with_the_film(video, events, tmp_path, ffmpeg_chapters, suffix):
    sampled = replace(events, times=tuple(0.25 + t for t in events.times))
    copy = write_chapters(video, sampled, tmp_path / f"copy{suffix}")
    assert [start for start, *_ in ffmpeg_chapters(copy)] == [0.0, 2.25, 4.25, 6.25]


def test_tags_of_streams_stay(video, events, tmp_path):
    with av.open(str(write_chapters(video, events, tmp_path / "copy.mp4"))) as container:
        assert container.streams.video[0].metadata["language"] == "deu"


def test_the_rotation_of_a_phone_video_stays(video, events, tmp_path):
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation", "90", "-i", video, "-c", "copy", turned)
    for suffix in (".mp4", ".mkv"):
        with av.open(str(write_chapters(turned, events, tmp_path / f"copy{suffix}"))) as container:
            assert next(container.decode(video=0)).rotation == 90


def test_a_recording_that_starts_late_counts_from_its_start(events, tmp_path):
    late = make_video(tmp_path / "late.mkv", first_stamp=50)
    with av.open(str(write_chapters(late, events, tmp_path / "copy.mkv"))) as container:
        first = next(container.decode(video=0))
        assert first.time == pytest.approx(0.0, abs=0.03)
        assert container.streams.audio[0].disposition == Disposition.hearing_impaired
        assert container.duration / av.time_base == pytest.approx(8.0, abs=0.2)


@pytest.mark.parametrize("suffix", [".mkv", ".mp4", ".ts", ".asf"])
def test_the_last_chapter_of_a_recording_that_starts_late_ends_with_it(
    events, tmp_path, ffmpeg_chapters, suffix
):
    late = make_video(tmp_path / f"late{suffix}", first_stamp=50)
    assert film_facts(late).duration == pytest.approx(8.0, abs=0.2)
    marks = ffmpeg_chapters(write_chapters(late, events, tmp_path / "copy.mkv"))
    assert marks[-1][1] == pytest.approx(8.0, abs=0.2)


def test_a_matroska_film_that_stores_its_length_has_this_length(events, tmp_path, ffmpeg_chapters):
    """Some programs store the length; FFmpeg stores the time of the end."""
    late = make_video(tmp_path / "late.mkv", first_stamp=50)
    content = late.read_bytes()
    place = content.index(b"\x44\x89\x88") + 3
    assert struct.unpack(">d", content[place : place + 8])[0] == pytest.approx(13_000, abs=200)
    late.write_bytes(content[:place] + struct.pack(">d", 8000.0) + content[place + 8 :])
    marks = ffmpeg_chapters(write_chapters(late, events, tmp_path / "copy.mkv"))
    assert marks[-1][1] == pytest.approx(8.0)
    export(events, tmp_path / "out", formats=["webvtt"], source=late)
    assert "00:00:06.000 --> 00:00:08.000" in (tmp_path / "out" / "chapters.vtt").read_text()


def test_old_chapters_are_replaced(video, events, tmp_path, ffmpeg_chapters, caplog):
    once = write_chapters(video, events, tmp_path / "once.mp4")
    two = Segmentation.from_boundaries([10], 16, times=events.times, clock="media")
    with caplog.at_level(logging.WARNING):
        twice = write_chapters(once, two, tmp_path / "twice.mp4")
    assert [title for *_, title in ffmpeg_chapters(twice)] == ["Event 1", "Event 2"]
    assert caplog.text == ""
    assert len(ffmpeg_chapters(once)) == 4


def test_events_of_another_video_are_refused(video, events, tmp_path):
    later = replace(events, times=tuple(100 + t for t in events.times))
    with pytest.raises(ValueError, match=r"lasts 00:00:08, but .* span 00:01:47"):
        write_chapters(video, later, tmp_path / "copy.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["edl", "otio", "webvtt", "youtube", "clips"])
def test_events_of_photos_are_not_those_of_a_film(video, events, tmp_path, name):
    times = tuple(1e9 + 60 * t for t in events.times)
    photos = replace(
        events,
        times=times,
        clock="wall",
        names=tuple(f"{k}.jpg" for k in range(16)),
        digests=tuple(f"photo {k}" for k in range(16)),
    )
    with pytest.raises(ValueError, match=r"lasts 00:00:08, but .* span 00:07:30"):
        export(photos, tmp_path / "out", formats=[name], source=video)
    assert not (tmp_path / "out").exists()


def test_features_that_were_recorded_with_a_film_have_its_chapters(video, events, tmp_path):
    dated = replace(events, times=tuple(1e9 + t for t in events.times), clock="wall")
    assert write_chapters(video, dated, tmp_path / "copy.mp4").is_file()
    with pytest.raises(ValueError, match=r"but the events of .* span 00:00:50; pass"):
        write_chapters(
            video, replace(dated, times=(*dated.times[:-1], 1e9 + 50)), tmp_path / "copy.mp4"
        )


def test_the_video_itself_is_never_written_over(events, tmp_path):
    video = make_video(tmp_path / "film.mp4", n_seconds=8)
    before = video.read_bytes()
    with pytest.raises(ValueError, match="is the video itself"):
        write_chapters(video, events, video)
    assert video.read_bytes() == before


@pytest.mark.parametrize("name", ["copy.avi", "copy", "copy.txt"])
def test_a_container_that_holds_no_chapters_is_refused(video, events, tmp_path, name):
    with pytest.raises(ValueError, match=r"cannot hold chapters; use one of \.mp4"):
        write_chapters(video, events, tmp_path / name)


def test_a_codec_that_does_not_fit_is_named_with_the_way_out(video, events, tmp_path):
    with pytest.raises(ValueError, match=r"video stream 0 cannot be stored in webm .*; use \.mkv"):
        write_chapters(video, events, tmp_path / "copy.webm")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_video_is_refused_in_one_line(events, tmp_path):
    fake = tmp_path / "fake.mp4"
    fake.write_bytes(b"not a film" * 50)
    with pytest.raises(ValueError, match=r"fake\.mp4: cannot be opened as a video") as error:
        write_chapters(fake, events, tmp_path / "copy.mkv")
    assert "\n" not in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == ["fake.mp4"]


def test_a_list_of_other_files_is_not_copied(video, events, tmp_path):
    (tmp_path / "list.mp4").write_text(f"ffconcat version 1.0\nfile {video}\n")
    with pytest.raises(ValueError, match=r"list\.mp4: cannot be opened as a video"):
        write_chapters(tmp_path / "list.mp4", events, tmp_path / "copy.mkv")
    assert [p.name for p in tmp_path.iterdir()] == ["list.mp4"]


def test_editors_count_at_the_frame_rate_of_the_video(video, events, tmp_path):
    assert film_facts(video).rate == 10
    text = export(events, tmp_path, formats=["edl"], source=video)[0].read_text()
    assert "00:00:02:00 00:00:04:00" in text
    exact = replace(
        events,
        events=(events.events[0], replace(events.events[1], start_time=1.9), *events.events[2:]),
    )
    assert (
        "00:00:01:09 00:00:04:00"
        in export(exact, tmp_path, formats=["edl"], source=video)[0].read_text()
    )
    # Without the video, editors' usual 25 frames a second.
    assert "00:00:01:23 00:00:04:00" in export(exact, tmp_path, formats=["edl"])[0].read_text()


def test_a_rate_that_varies_is_none(tmp_path):
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for moment in np.cumsum(np.random.default_rng(0).choice([20, 90, 33], 60)).tolist():
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 90, dtype=np.uint8), "rgb24")
            frame.pts, frame.time_base = moment, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    assert film_facts(path).rate is None
