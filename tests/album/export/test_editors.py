"""Timelines of video editors, read back by OpenTimelineIO."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from dayline.album.export.chapters import chapters
from dayline.album.export.editors import timeline_rate, write_edl, write_otio
from dayline.album.export.film import FilmFacts
from dayline.events import Segmentation

otio = pytest.importorskip("opentimelineio")


def cuts(path, rate):
    timeline = otio.adapters.read_from_file(str(path), adapter_name="cmx_3600", rate=rate)
    clips = list(timeline.tracks[0])
    return [
        (
            c.source_range.start_time.to_frames(),
            c.source_range.end_time_exclusive().to_frames(),
            c.name,
        )
        for c in clips
    ]


@pytest.mark.parametrize("rate", [24.0, 25.0, 30.0, 30000 / 1001])
def test_the_cuts_of_an_edl_read_back(film, tmp_path, expected_chapters, rate):
    path = write_edl(film, chapters(film), tmp_path / "events.edl", rate=rate)
    assert cuts(path, rate) == [
        (round(a * rate), round(b * rate), title) for a, b, title in expected_chapters
    ]


def test_timecode_counts_seconds_and_frames(film, tmp_path):
    text = write_edl(film, chapters(film), tmp_path / "events.edl").read_text(encoding="utf-8")
    assert "004  AX       V     C        00:01:01:06 00:01:22:06 00:01:01:06 00:01:22:06" in text


def test_too_many_events_and_too_many_hours_are_refused(tmp_path):
    many = Segmentation.from_boundaries(range(1, 1000), 1000)
    with pytest.raises(ValueError, match="an EDL holds at most 999 events, not 1000"):
        write_edl(many, chapters(many, fps=1.0), tmp_path / "events.edl")
    long = Segmentation.from_boundaries([1], 2, times=(0.0, 86399.5), clock="media")
    with pytest.raises(ValueError, match="covers at most 24 hours"):
        write_edl(long, chapters(long), tmp_path / "events.edl")
    assert list(tmp_path.iterdir()) == []


def test_an_otio_timeline_reads_back(film, tmp_path, expected_chapters):
    timeline = otio.adapters.read_from_file(
        str(write_otio(film, chapters(film), tmp_path / "events.otio", rate=24.0))
    )
    clips = list(timeline.tracks[0])
    ranges = [clip.trimmed_range_in_parent() for clip in clips]
    found = [
        (span.start_time.to_frames(), span.end_time_exclusive().to_frames(), clip.name)
        for span, clip in zip(ranges, clips, strict=True)
    ]
    assert found == [(round(a * 24), round(b * 24), title) for a, b, title in expected_chapters]
    assert clips[1].metadata["dayline"] == {
        "start": 14,
        "stop": 27,
        "confidence": 0.75,
        "reason": "content",
    }
    assert {clip.media_reference.target_url for clip in clips} == {"my%20film.mp4"}


def test_photos_have_no_film_to_refer_to(film, tmp_path):
    timeline = otio.adapters.read_from_file(
        str(write_otio(replace(film, clock="wall"), chapters(film), tmp_path / "events.otio"))
    )
    assert all(clip.media_reference.is_missing_reference for clip in timeline.tracks[0])


def test_without_opentimelineio_the_way_out_is_said(film, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentimelineio", None)
    with pytest.raises(ValueError, match=r'pip install "dayline\[otio\]"'):
        write_otio(film, chapters(film), tmp_path / "events.otio")


def test_an_event_shorter_than_a_frame_is_refused(film, tmp_path):
    marks = chapters(film)
    short = (replace(marks[0], end=0.001), replace(marks[1], start=0.001), *marks[2:])
    with pytest.raises(ValueError, match="event 1 is shorter than one frame at 25"):
        write_edl(film, short, tmp_path / "events.edl")


def test_the_rate_of_slow_photos_is_not_the_rate_of_a_timeline():
    film = FilmFacts(rate=Fraction(24), duration=None, width=64, height=48, has_audio=False)
    assert timeline_rate(1 / 30, None) == timeline_rate(None, None) == 25.0
    assert timeline_rate(50.0, film) == 50.0
    assert timeline_rate(None, film) == 24.0
