from __future__ import annotations

import pytest

from dayline.events import Event, Segmentation
from dayline.export.titles import clean_text, context_letters, event_titles, time_text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("two\r\nlines\tand \x00\x1b a bell\x07", "two lines and a bell"),
        ("broken \udce9 name", "broken \ufffd name"),
        ("next\x85line\u2029paragraph", "next line paragraph"),
        ("\ufffe\uffffkept", "kept"),
        ("\u05e9\u05dc\u05d5\u05dd \U0001f642", "\u05e9\u05dc\u05d5\u05dd \U0001f642"),
        (" \n ", ""),
    ],
)
def test_a_text_of_others_is_put_on_one_clean_line(text, clean):
    assert clean_text(text) == clean


def test_contexts_get_letters_in_order_of_appearance():
    communities = [5, 0, None, 5, *range(10, 35)]
    events = tuple(Event(k, k + 1, community=c) for k, c in enumerate(communities))
    letters = context_letters(Segmentation(events))
    assert letters[:5] == ("A", "B", "", "A", "C")
    assert letters[-2:] == ("Z", "AA")


def test_a_title_is_the_name_or_the_number_and_letter():
    events = (Event(0, 1, name="  Lunch \n"), Event(1, 2, name=" "), Event(2, 3, community=4))
    segmentation = Segmentation(events)
    assert event_titles(segmentation) == ("Lunch", "Event 2", "Event 3 (A)")


def test_a_time_that_is_no_date_is_named():
    wall = Segmentation((Event(0, 1),), clock="wall")
    assert time_text(wall, 86400.0 * 366 + 5) == "1971-01-02 00:00:05"
    with pytest.raises(ValueError, match=r"time 1e\+20 is not a date"):
        time_text(wall, 1e20)
