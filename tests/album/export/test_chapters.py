from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from dayline.album.export.chapters import chapters, frame_ranges, milliseconds, timeline_rate
from dayline.events import Segmentation


def spans(segmentation, **options):
    return [(mark.start, mark.end) for mark in chapters(segmentation, **options)]


def test_an_event_ends_where_the_next_one_starts(film):
    assert spans(film) == [(0.0, 20.5), (20.5, 41.0), (41.0, 61.25), (61.25, 82.25)]


def test_the_last_event_ends_with_the_recording(film):
    assert spans(film, duration=90.0)[-1] == (61.25, 90.0)
    with pytest.raises(
        ValueError, match=r"last event starts at 61\.250 s, but the recording ends at 60\.000 s"
    ):
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


def test_ranges_of_a_timeline_touch_and_count_at_its_rate(film):
    assert frame_ranges(chapters(film), rate=24.0) == [
        (0, 492),
        (492, 984),
        (984, 1470),
        (1470, 1974),
    ]


def test_an_event_shorter_than_a_frame_is_refused(film):
    marks = chapters(film)
    short = (replace(marks[0], end=0.001), replace(marks[1], start=0.001), *marks[2:])
    with pytest.raises(ValueError, match="event 1 is shorter than one frame at 25"):
        frame_ranges(short, rate=25.0)


def test_the_rate_of_slow_photos_is_not_the_rate_of_a_timeline():
    assert timeline_rate(1 / 30, None) == 25.0
    assert timeline_rate(50.0, None) == 50.0
    assert timeline_rate(50.0, 24.0) == 24.0


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
