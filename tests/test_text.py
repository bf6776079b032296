from __future__ import annotations

from dayline.text import clock_text, counted


def test_clocks_carry_over_when_rounding_and_go_beyond_a_day():
    assert clock_text(3599.9996, digits=3) == "01:00:00.000"
    assert clock_text(3599.9996) == "00:59:59"
    assert clock_text(100 * 3600 + 61.5, digits=9) == "100:01:01.500000000"
    assert clock_text(3661.5, digits=1, short=True) == "1:01:01.5"


def test_one_is_singular_and_none_is_plural():
    assert [counted(n, "event") for n in (0, 1, 2)] == ["0 events", "1 event", "2 events"]
