from __future__ import annotations

import pytest

from dayline.text import clock_text, context_letter, counted, duration_text


def test_clocks_carry_over_when_rounding_and_go_beyond_a_day():
    assert clock_text(3599.9996, digits=3) == "01:00:00.000"
    assert clock_text(3599.9996) == "00:59:59"
    assert clock_text(100 * 3600 + 61.5, digits=9) == "100:01:01.500000000"
    assert clock_text(3661.5, digits=1, short=True) == "1:01:01.5"


def test_contexts_count_like_the_columns_of_a_spreadsheet():
    letters = [context_letter(n) for n in (0, 1, 25, 26, 27, 701, 702)]
    assert " ".join(letters) == "A B Z AA AB ZZ AAA"


def test_one_is_singular_and_none_is_plural():
    assert [counted(n, "event") for n in (0, 1, 2)] == ["0 events", "1 event", "2 events"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (42.4, "42 s"),
        (99.6, "2 min"),
        (720, "12 min"),
        (99.6 * 60, "1.7 h"),
        (9000, "2.5 h"),
        (1172 * 60, "19.5 h"),
        (47.96 * 3600, "2.0 days"),
        (30 * 86_400, "30.0 days"),
    ],
)
def test_durations_are_rough(seconds, text):
    assert duration_text(seconds) == text
