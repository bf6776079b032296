"""Timelines of video editors, read back by OpenTimelineIO."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from dayline.album.export.chapters import chapters
from dayline.album.export.editors import edl_text, otio_text, timeline_rate
from dayline.album.export.film import FilmFacts
from dayline.events import Segmentation

otio = pytest.importorskip("opentimelineio")


def cuts(text, rate):
    timeline = otio.adapters.read_from_string(text, adapter_name="cmx_3600", rate=rate)
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
def test_the_cuts_of_an_edl_read_back(film, expected_chapters, rate):
    text = edl_text(film, chapters(film), rate=rate)
    assert cuts(text, rate) == [
        (round(a * rate), round(b * rate), title) for a, b, title in expected_chapters
    ]


def test_timecode_counts_seconds_and_frames(film):
    text = edl_text(film, chapters(film))
    assert "004  AX       V     C        00:01:01:06 00:01:22:06 00:01:01:06 00:01:22:06" in text


def test_too_many_events_and_too_many_hours_are_refused():
    many = Segmentation.from_boundaries(range(1, 1000), 1000)
    with pytest.raises(ValueError, match="an EDL holds at most 999 events, not 1000"):
        edl_text(many, chapters(many, fps=1.0))
    long = Segmentation.from_boundaries([1], 2, times=(0.0, 86399.5), clock="media")
    with pytest.raises(ValueError, match="covers at most 24 hours"):
        edl_text(long, chapters(long))


def test_an_otio_timeline_reads_back(film, expected_chapters):
    timeline = otio.adapters.read_from_string(otio_text(film, chapters(film), rate=24.0))
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


def test_photos_have_no_film_to_refer_to(film):
    timeline = otio.adapters.read_from_string(
        otio_text(replace(film, clock="wall"), chapters(film))
    )
    assert all(clip.media_reference.is_missing_reference for clip in timeline.tracks[0])


def test_without_opentimelineio_the_way_out_is_said(film, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentimelineio", None)
    with pytest.raises(ValueError, match=r'pip install "dayline\[otio\]"'):
        otio_text(film, chapters(film))


def test_an_event_shorter_than_a_frame_is_refused(film):
    marks = chapters(film)
    short = (replace(marks[0], end=0.001), replace(marks[1], start=0.001), *marks[2:])
    with pytest.raises(ValueError, match="event 1 is shorter than one frame at 25"):
        edl_text(film, short)


def test_the_rate_of_slow_photos_is_not_the_rate_of_a_timeline():
    film = FilmFacts(rate=Fraction(24), duration=None, width=64, height=48, has_audio=False)
    assert timeline_rate(1 / 30, None) == timeline_rate(None, None) == 25.0
    assert timeline_rate(50.0, film) == 50.0
    assert timeline_rate(None, film) == 24.0
