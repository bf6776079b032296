from __future__ import annotations

from dayline.album.export.chapters import write_ffmetadata


def test_ffmpeg_reads_the_chapters_back(film, tmp_path, ffmpeg_chapters, expected_chapters):
    path = write_ffmetadata(film, tmp_path / "chapters.ffmetadata")
    assert ffmpeg_chapters(path, "-f", "ffmetadata") == expected_chapters


def test_special_characters_are_escaped_as_the_format_asks(film, tmp_path):
    text = write_ffmetadata(film, tmp_path / "chapters.ffmetadata").read_text(encoding="utf-8")
    assert r"title=a\=b\; c\#d \\ e\\ -->" in text
    assert r"title=\=1+1" in text
