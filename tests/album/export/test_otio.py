from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from dayline.album.export.editors import write_otio

otio = pytest.importorskip("opentimelineio")


def test_opentimelineio_reads_the_timeline_back(film, tmp_path, expected_chapters):
    timeline = otio.adapters.read_from_file(
        str(write_otio(film, tmp_path / "events.otio", rate=24.0))
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
        str(write_otio(replace(film, clock="wall"), tmp_path / "events.otio"))
    )
    assert all(clip.media_reference.is_missing_reference for clip in timeline.tracks[0])


def test_without_opentimelineio_the_way_out_is_said(film, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentimelineio", None)
    with pytest.raises(ValueError, match=r'pip install "dayline\[otio\]"'):
        write_otio(film, tmp_path / "events.otio")
