from __future__ import annotations

from dayline.export import write_ffmetadata


def test_ffmpeg_reads_the_chapters_back(film, tmp_path, ffmpeg_chapters, expected_chapters):
    path = write_ffmetadata(film, tmp_path / "chapters.ffmetadata")
    assert ffmpeg_chapters(path, "-f", "ffmetadata") == expected_chapters
