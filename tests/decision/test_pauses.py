"""Pauses: gaps in times that are far longer than usual."""

from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.pauses import find_pauses, long_gap

EVERY_30_S = [30.0 * i for i in range(10)]


def test_a_gap_over_ten_usual_gaps_and_five_minutes_is_a_pause():
    times = [*EVERY_30_S, 270.0 + 301.0]
    assert find_pauses(times) == {10: 301.0}


def test_a_gap_of_exactly_five_minutes_is_none():
    assert find_pauses([*EVERY_30_S, 270.0 + 300.0]) == {}


def test_who_takes_a_photo_every_ten_minutes_has_no_pauses_within_an_hour():
    times = [600.0 * i for i in range(8)]
    assert find_pauses([*times, times[-1] + 3600.0]) == {}
    assert find_pauses([*times, times[-1] + 6001.0]) == {8: 6001.0}


def test_photos_within_the_same_second_do_not_shrink_the_usual_gap():
    """Positive gaps are 60 s, so ten of them are 600 s; the zeros alone would give 300 s."""
    times = [60.0 * (i // 3) for i in range(30)]
    assert find_pauses([*times, times[-1] + 500.0]) == {}


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
    assert tuple(find_pauses(times)) == before
    assert find_pauses(times, at_least=24 * 3600.0) == {}


def test_a_time_lapse_of_hours_between_photos_has_no_pauses():
    daily = [86_400.0 * i + 1800 * (i % 3) for i in range(30)]
    assert find_pauses(daily) == {}
    assert find_pauses([*daily, daily[-1] + 11 * 86_400]) == {30: 11 * 86_400.0}


def test_the_rule_can_be_set():
    times = [*EVERY_30_S, 270.0 + 120.0]
    assert find_pauses(times, factor=3, at_least=0) == {10: 120.0}


@pytest.mark.parametrize("times", [None, [], [5.0], [5.0, 5.0]])
def test_without_two_different_times_there_is_nothing_to_find(times):
    assert find_pauses(times) == {}


def pauses(times):
    times = np.asarray(times, dtype=np.float64)
    return list(find_pauses(times, at_least=long_gap(times)))


DAY = 86_400.0


def trading(n_days, step):
    """Return the times of values every so many seconds of a trading day, without weekends."""
    days = [day for day in range(2 * n_days) if day % 7 < 5][:n_days]
    return np.concatenate([day * DAY + np.arange(0.0, 6.5 * 3600, step) for day in days])


@pytest.mark.parametrize("unit", [1e-3, 1.0, 60.0, DAY])
@pytest.mark.parametrize("n", [12, 60, 600, 6000])
def test_a_gap_of_a_hundred_steps_is_a_pause_in_any_unit_and_length(n, unit):
    times = np.arange(float(n))
    times[n // 2 :] += 100
    assert pauses(unit * times) == [n // 2]
    times[n // 2 :] -= 92
    assert pauses(unit * times) == []


def test_weekends_and_nights_are_no_pauses_but_a_year_is():
    weekdays = DAY * np.asarray([day for day in range(365) if day % 7 < 5])
    assert pauses(weekdays) == []
    assert pauses([*weekdays, weekdays[-1] + 365 * DAY]) == [len(weekdays)]
    for step in (60, 300, 900, 3600):
        for n_days in (4, 10, 60):
            assert pauses(trading(n_days, step)) == []


def test_gaps_that_vary_have_hardly_any_pauses():
    random = np.random.default_rng(0)
    for n in (20, 100, 2000):
        waits = [np.cumsum(random.exponential(size=n)) for _ in range(20)]
        assert sum(len(pauses(times)) for times in waits) <= 1
        uneven = [np.cumsum(random.lognormal(0, 1.5, size=n)) for _ in range(20)]
        # Twenty gaps far longer than the rest occur by chance.
        assert np.mean([len(pauses(times)) for times in uneven]) <= 0.6


def test_few_times_and_equal_times_have_no_pauses():
    for times in ([5.0], [5.0, 5.0], [0.0, 1.0], [0.0, 1.0, 9000.0]):
        assert pauses(times) == []
    # Three rows a second.
    times = np.repeat(np.arange(100.0), 3)
    times[150:] += 60
    assert pauses(times) == [150]


def test_while_a_video_is_recorded_the_camera_does_not_pause():
    times = [0.0, 30.0, 60.0, 660.0, 690.0, 720.0]
    assert find_pauses(times) == {3: 600.0}
    assert find_pauses(times, durations=[None, None, 590.0, None, None, None]) == {}
    assert find_pauses(times, durations=[None, None, 20.0, None, None, None]) == {3: 580.0}
