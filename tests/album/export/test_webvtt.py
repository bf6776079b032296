from __future__ import annotations

import html

import pytest
import webvtt

from dayline.album.export.chapters import write_webvtt


def test_webvtt_py_reads_the_chapters_back(film, tmp_path, expected_chapters):
    captions = webvtt.read(write_webvtt(film, tmp_path / "chapters.vtt"))
    assert [html.unescape(c.raw_text) for c in captions] == [
        title for *_, title in expected_chapters
    ]
    starts = ["00:00:00.000", "00:00:20.500", "00:00:41.000", "00:01:01.250"]
    assert [c.start for c in captions] == starts
    assert [c.end for c in captions] == [*starts[1:], "00:01:22.250"]


def test_no_title_can_open_a_cue_or_a_tag(film, tmp_path):
    text = write_webvtt(film, tmp_path / "chapters.vtt").read_text(encoding="utf-8")
    assert text.count("-->") == len(film.events)
    assert "<b>" not in text
    assert text.count("\n\n") == len(film.events)


def test_the_file_appears_whole_or_not_at_all(film, tmp_path):
    path = write_webvtt(film, tmp_path / "chapters.vtt")
    before = path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="fps"):
        write_webvtt(film, path, fps=-1.0)
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in tmp_path.iterdir()] == ["chapters.vtt"]
