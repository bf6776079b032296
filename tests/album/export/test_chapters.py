"""Chapters: their times, and how WebVTT, FFmpeg metadata and YouTube write them."""

from __future__ import annotations

import json
import logging
import re
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import pytest

from dayline.album.export.chapters import (
    Chapter,
    chapters,
    ffmetadata_text,
    kodi_text,
    milliseconds,
    podcast_text,
    webvtt_text,
    youtube_text,
)
from dayline.album.export.formats import export
from dayline.events import Event, Segmentation


def spans(segmentation, **options):
    return [(mark.start, mark.end) for mark in chapters(segmentation, **options)]


def test_an_event_ends_where_the_next_one_starts(film):
    assert spans(film) == [(0.0, 20.5), (20.5, 41.0), (41.0, 61.25), (61.25, 82.25)]


def test_the_last_event_ends_with_the_recording(film):
    assert spans(film, duration=90.0)[-1] == (61.25, 90.0)
    with pytest.raises(ValueError, match=r"last event starts at 61\.250 s, but the recording ends"):
        chapters(film, duration=60.0)


def test_a_wall_clock_counts_from_the_first_frame():
    wall = Segmentation.from_boundaries(
        [2], 4, times=(1e9 + 5, 1e9 + 7, 1e9 + 11, 1e9 + 13), clock="wall"
    )
    assert spans(wall) == [(0.0, 6.0), (6.0, 10.0)]


def test_a_media_clock_that_starts_late_keeps_its_times():
    media = Segmentation.from_boundaries([1], 3, times=(2.0, 5.0, 8.0), clock="media")
    assert spans(media) == [(2.0, 5.0), (5.0, 11.0)]


def test_frames_per_second_stand_for_missing_times():
    assert spans(Segmentation.from_boundaries([3], 8), fps=4.0) == [(0.0, 0.75), (0.75, 2.0)]


def test_frames_without_times_take_no_memory_of_their_own():
    tracemalloc.start()
    assert spans(Segmentation.from_boundaries([3], 10**7), fps=4.0) == [(0.0, 0.75), (0.75, 2.5e6)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e5


def test_frames_per_second_replace_times_that_are_there(film):
    assert spans(film, fps=2.0)[1] == (7.0, 13.5)


def test_two_events_of_the_same_moment_are_a_millisecond_apart():
    same = Segmentation.from_boundaries([1, 2], 3, times=(4.0, 4.0, 4.0), clock="wall")
    assert spans(same) == [(0.0, 0.001), (0.001, 0.002), (0.002, 0.003)]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (None, r"frames have no times.*pass fps.*dayline export --fps"),
        ((0.0, None, None), r"^frames 1 and 2: no time is known"),
        ((0.0, 2.0, 1.0), r"clock runs backwards at frame 2"),
        ((0.0, float("nan"), 1.0), r"frame 1 has no usable time"),
    ],
)
def test_times_that_cannot_be_used_are_refused_in_one_line(times, message):
    segmentation = Segmentation.from_boundaries([2], 3, times=times, clock="media")
    with pytest.raises(ValueError, match=message) as error:
        chapters(segmentation)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("fps", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_frames_per_second_are_refused(film, fps):
    with pytest.raises(ValueError, match="it must be between 1e-6 and 1e6 frames per second"):
        chapters(film, fps=fps)


def test_an_exact_start_between_two_frames_is_kept_and_another_is_not():
    film = Segmentation.from_boundaries([2, 3], 5, times=(0.0, 1.0, 2.0, 3.0, 4.0), clock="media")
    first, second, third = film.events
    exact = replace(
        film, events=(first, replace(second, start_time=1.32), replace(third, start_time=1.9))
    )
    assert spans(exact) == [(0.0, 1.32), (1.32, 3.0), (3.0, 5.0)]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(100 / 3, 33334), (33.333333, 33334), (0.2, 200), (33.3, 33300)]
)
def test_milliseconds_are_rounded_up_so_that_a_player_shows_the_new_event(seconds, expected):
    assert milliseconds(seconds) == expected


def test_no_title_can_open_a_cue_or_a_tag(film):
    text = webvtt_text(chapters(film))
    assert text.count("-->") == len(film.events)
    assert "<b>" not in text
    assert text.count("\n\n") == len(film.events)


def test_special_characters_are_escaped_as_the_format_asks(film):
    text = ffmetadata_text(chapters(film))
    assert r"title=a\=b\; c\#d \\ e\\ -->" in text
    assert r"title=\=1+1" in text


def lasting(*seconds: float, names: dict[int, str] | None = None) -> Segmentation:
    """Events of the given lengths, one frame per half second."""
    counts = [int(2 * s) for s in seconds]
    starts = [sum(counts[:k]) for k in range(len(counts) + 1)]
    events = [Event(a, b, name=(names or {}).get(k)) for k, (a, b) in enumerate(pairwise(starts))]
    return Segmentation(tuple(events), times=tuple(k / 2 for k in range(starts[-1])), clock="media")


def test_chapters_that_keep_the_rules_are_written_as_they_are(film):
    text, notes = youtube_text(chapters(film))
    assert notes == []
    assert [line.split()[0] for line in text.splitlines()] == [
        "0:00",
        "0:20",
        "0:41",
        "1:01",
    ]


def test_angle_brackets_which_youtube_refuses_are_replaced(film):
    assert not re.search("[<>]", youtube_text(chapters(film))[0])
    assert "\u2039b\u203a" in youtube_text(chapters(film))[0]


def test_a_short_chapter_joins_its_shorter_neighbor_and_that_is_said():
    text, notes = youtube_text(chapters(lasting(40, 4, 30, 20, 3700, 15)))
    stamps = [line.split(" ", 1) for line in text.splitlines()]
    assert stamps == [
        ["0:00", "Event 1"],
        ["0:40", "Event 2"],
        ["1:14", "Event 3"],
        ["1:34", "Event 4"],
        ["1:03:14", "Event 5"],
    ]
    assert notes == ['"Event 2" at 0:40 lasts 4 s, under 10 s; joined to "Event 3"']


def test_numbers_have_no_gaps_and_names_stay():
    # Event 2 joins event 3, and event 5 event 6; a person may have called one "Event 6".
    named = lasting(40, 4, 30, 20, 5, 40, 60, names={3: "Event 6"})
    lines = youtube_text(chapters(named))[0].splitlines()
    titles = [line.partition(" ")[2] for line in lines]
    assert titles == ["Event 1", "Event 2", "Event 6", "Event 4", "Event 5"]


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        ({0: "Boats"}, ["Boats", "Event 2", "Event 3"]),
        ({1: "Nets"}, ["Nets", "Event 2", "Event 3"]),
        ({0: "Boats", 1: "Nets"}, ["Nets", "Event 2", "Event 3"]),
        ({0: "Boats", 1: "Event 2"}, ["Boats", "Event 2", "Event 3"]),
    ],
)
def test_a_joined_chapter_keeps_a_title_that_is_more_than_a_number(names, titles):
    """The first chapter, of 8 s, joins the second; if both have a title, the longer one's stays."""
    lines = youtube_text(chapters(lasting(8, 30, 40, 50, names=names)))[0].splitlines()
    assert [line.partition(" ")[2] for line in lines] == titles


def test_titles_are_in_every_form_of_chapters_unless_there_is_a_name(film):
    events = [replace(event, title=f"Glacier {k}") for k, event in enumerate(film.events)]
    marks = chapters(film.about(events=(*events[:2], *events[2:])))
    named = film.events[0].name is not None
    for write in (ffmetadata_text, webvtt_text, podcast_text, kodi_text):
        assert ("Glacier 0" in write(marks)) != named
        assert "Glacier 3" in write(marks) or film.events[3].name


def test_podcast_chapters_follow_version_1_2(film):
    """github.com/Podcastindex-org/podcast-namespace, docs/examples/chapters/jsonChapters.md.

    "version" (string) and "chapters" are required, in the order of their "startTime", a number of
    seconds; "title" and "endTime" are optional.
    """
    content = json.loads(podcast_text(chapters(film)))
    assert content["version"] == "1.2.0"
    assert [c["startTime"] for c in content["chapters"]] == [0.0, 20.5, 41.0, 61.25]
    assert [c["endTime"] for c in content["chapters"]] == [20.5, 41.0, 61.25, 82.25]
    assert all(isinstance(c["title"], str) for c in content["chapters"])


def read_as_kodi(text: str) -> list[float]:
    """Read scene markers as CEdl::ReadEdl does (xbmc/cores/VideoPlayer/Edl.cpp).

    Fields are separated by blanks; a line whose first field begins with ## is a comment; times with
    a colon are HH:MM:SS.sss, and others seconds, cut off to milliseconds in floating point; action
    2 puts a scene marker at the second time.
    """
    markers = []
    for line in text.splitlines():
        first, second, action = line.split()[:3] if len(line.split()) > 2 else (*line.split(), "")
        if first.startswith("##"):
            continue
        assert int(action) == 2
        if ":" in second:
            clock, _, thousandths = second.partition(".")
            hours, minutes, seconds = (int(part) for part in clock.split(":"))
            markers.append(3600 * hours + 60 * minutes + seconds + int(thousandths) / 1000)
        else:
            markers.append(int(float(second) * 1000) / 1000)
    return markers


def test_kodi_places_a_marker_at_the_start_of_each_event(film):
    titled = film.about(events=tuple(replace(e, name="a b c", title=None) for e in film.events))
    assert read_as_kodi(kodi_text(chapters(titled))) == [0.0, 20.5, 41.0, 61.25]
    assert "## a b c\n" in kodi_text(chapters(titled))
    # Of these seconds, floating point makes 8039.999999999999 milliseconds.
    assert read_as_kodi(kodi_text([Chapter(8.04, 9.0, "x")])) == [8.04]


def test_many_short_chapters_make_longer_ones():
    text, _ = youtube_text(chapters(lasting(*[4] * 12)))
    starts = [int(line.split()[0][2:]) for line in text.splitlines()]
    assert starts[0] == 0
    assert len(starts) >= 3
    assert min(b - a for a, b in zip(starts, [*starts[1:], 48], strict=True)) >= 10


def test_lengths_are_judged_after_rounding_to_seconds():
    """From 10.9 to 20.8 s is 10 s on the page: 0:10 to 0:20. From 10.0 to 19.9 s it is 9."""
    kept = Segmentation.from_boundaries([1, 2], 3, times=(0.0, 10.9, 20.8), clock="media")
    assert youtube_text(chapters(kept))[1] == []
    short = Segmentation.from_boundaries([1, 2, 3], 4, times=(0.0, 10.0, 19.9, 31.0), clock="media")
    assert "lasts 9 s" in youtube_text(chapters(short))[1][0]


def test_the_first_chapter_starts_at_zero():
    late = Segmentation.from_boundaries([1, 2], 3, times=(5.0, 30.0, 60.0), clock="media")
    assert youtube_text(chapters(late))[0].startswith("0:00 Event 1\n0:30 ")


@pytest.mark.parametrize(("lengths", "left"), [((30, 30), 2), ((3, 3, 3, 3), 1), ((100,), 1)])
def test_fewer_than_three_chapters_are_not_possible(lengths, left):
    with pytest.raises(
        ValueError, match=rf"at least 3 chapters of 10 s.* give {left}; use another"
    ):
        youtube_text(chapters(lasting(*lengths)))


def test_many_short_chapters_have_one_note():
    text, notes = youtube_text(chapters(lasting(*[4] * 12)))
    assert len(text.splitlines()) == 3  # of 16 s each: pairs of 8 s are too short
    assert len(notes) == 1
    assert notes[0].startswith("9 of 12 chapters are joined to others; the first:")


def test_a_text_too_long_for_a_description_is_said():
    _, notes = youtube_text(chapters(lasting(*[10] * 6, names={2: "x" * 6000})))
    assert re.search(r"^60\d\d characters; a YouTube description holds at most 5000$", notes[-1])


def test_what_was_joined_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        (path,) = export(lasting(40, 4, 30, 20, 15), tmp_path, formats=["youtube"])
    assert '"Event 2" at 0:40 lasts 4 s' in caplog.text
    assert path.read_text(encoding="utf-8").count("\n") == 4
