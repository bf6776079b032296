from __future__ import annotations

import pytest

from dayline.album.export.editors import write_edl
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
def test_opentimelineio_reads_the_cuts_back(film, tmp_path, expected_chapters, rate):
    path = write_edl(film, tmp_path / "events.edl", rate=rate)
    assert cuts(path, rate) == [
        (round(a * rate), round(b * rate), title) for a, b, title in expected_chapters
    ]


def test_timecode_counts_seconds_and_frames(film, tmp_path):
    text = write_edl(film, tmp_path / "events.edl").read_text(encoding="utf-8")
    assert "004  AX       V     C        00:01:01:06 00:01:22:06 00:01:01:06 00:01:22:06" in text


def test_too_many_events_and_too_many_hours_are_refused(tmp_path):
    many = Segmentation.from_boundaries(range(1, 1000), 1000)
    with pytest.raises(ValueError, match="an EDL holds at most 999 events, not 1000"):
        write_edl(many, tmp_path / "events.edl", fps=1.0)
    long = Segmentation.from_boundaries([1], 2, times=(0.0, 86399.5), clock="media")
    with pytest.raises(ValueError, match="covers at most 24 hours"):
        write_edl(long, tmp_path / "events.edl")
    assert list(tmp_path.iterdir()) == []
