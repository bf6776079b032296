from __future__ import annotations

import pytest

from dayline.media.breaks import ClockJump, Pause, find_clock_jumps, find_pauses

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
    with pytest.raises(ValueError, match="factor > 0"):
        find_pauses(times, factor=0)


@pytest.mark.parametrize("times", [None, [], [5.0], [5.0, 5.0]])
def test_without_two_different_times_there_is_nothing_to_find(times):
    assert find_pauses(times) == ()
    assert find_clock_jumps(times) == ()


def test_a_clock_set_back_by_an_hour_is_found():
    times = [*EVERY_30_S, 270.0 + 30.0 - 3600.0, 270.0 + 60.0 - 3600.0]
    assert find_clock_jumps(times) == (ClockJump(before=10, seconds=-3600.0),)


def test_two_files_written_out_of_turn_within_a_second_are_no_clock_jump():
    assert find_clock_jumps([0.0, 30.0, 29.5, 60.0]) == ()


def test_a_gap_of_two_hours_and_one_usual_gap_is_a_clock_set_forward():
    assert find_clock_jumps([*EVERY_30_S, 270.0 + 7200.0 + 33.0]) == (ClockJump(10, 7200.0),)


@pytest.mark.parametrize("gap", [7200.0 + 300.0, 1800.0, 15 * 3600.0 + 30.0])
def test_other_gaps_are_pauses_and_no_change_of_the_clock(gap):
    assert find_clock_jumps([*EVERY_30_S, 270.0 + gap]) == ()


def test_photos_without_a_rhythm_tell_nothing_about_hours():
    times = [0.0, 10.0, 400.0, 460.0, 1900.0, 1901.0, 1901.0 + 3600.0 + 60.0]
    assert find_clock_jumps(times) == ()
