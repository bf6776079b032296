from __future__ import annotations

import pytest

from dayline.media.breaks import Pause, find_pauses

EVERY_30_S = [30.0 * i for i in range(10)]


def test_a_gap_over_ten_usual_gaps_and_five_minutes_is_a_pause():
    times = [*EVERY_30_S, 270.0 + 301.0]
    assert find_pauses(times) == (Pause(before=10, seconds=301.0),)


def test_a_gap_of_exactly_five_minutes_is_none():
    assert find_pauses([*EVERY_30_S, 270.0 + 300.0]) == ()


def test_who_takes_a_photo_every_ten_minutes_has_no_pauses_within_an_hour():
    times = [600.0 * i for i in range(8)]
    assert find_pauses([*times, times[-1] + 3600.0]) == ()
    assert find_pauses([*times, times[-1] + 6001.0]) == (Pause(8, 6001.0),)


def test_photos_within_the_same_second_do_not_shrink_the_usual_gap():
    """Positive gaps are 60 s, so ten of them are 600 s; the zeros alone would give 300 s."""
    times = [60.0 * (i // 3) for i in range(30)]
    assert find_pauses([*times, times[-1] + 500.0]) == ()


@pytest.mark.parametrize(
    ("hours", "before"),
    [
        ((8, 8 + 30 / 3600, 21), (2,)),
        ((7.4, 17.9), (1,)),
        ((8, 15, 21), (1, 2)),
        ((9, 11, 14, 16, 19, 22), (2, 4, 5)),
    ],
)
def test_more_than_two_hours_between_few_photos_are_a_pause(hours, before):
    times = [3600.0 * h for h in hours]
    assert tuple(pause.before for pause in find_pauses(times)) == before
    assert find_pauses(times, at_least=24 * 3600.0) == ()


def test_a_time_lapse_of_hours_between_photos_has_no_pauses():
    daily = [86_400.0 * i + 1800 * (i % 3) for i in range(30)]
    assert find_pauses(daily) == ()
    assert find_pauses([*daily, daily[-1] + 11 * 86_400]) == (Pause(30, 11 * 86_400.0),)


def test_the_rule_can_be_set():
    times = [*EVERY_30_S, 270.0 + 120.0]
    assert find_pauses(times, factor=3, at_least=0) == (Pause(10, 120.0),)


@pytest.mark.parametrize("times", [None, [], [5.0], [5.0, 5.0]])
def test_without_two_different_times_there_is_nothing_to_find(times):
    assert find_pauses(times) == ()
