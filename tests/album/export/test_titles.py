from __future__ import annotations

import pytest

from dayline.album.export.titles import context_labels, event_titles, time_text
from dayline.events import Event, Place, Segmentation
from dayline.events.table import context_letters, same_place
from dayline.text import clean_text


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


def made(communities, *, places=()):
    events = tuple(Event(k, k + 1, community=c) for k, c in enumerate(communities))
    return Segmentation(events, places=tuple(Place(c, *about) for c, *about in places))


def test_recurring_contexts_get_letters_without_gaps_in_order_of_appearance():
    day = made([7, 5, 0, None, 5, 3, 0, *range(10, 35), *range(10, 35)])
    letters = context_letters(day.events, day.places)
    assert [row["context"] or "" for row in day.to_dicts()] == list(letters)
    assert letters[:7] == ("", "A", "B", "", "A", "", "B")
    assert letters[-2:] == ("Z", "AA")


def test_a_named_context_has_its_name_and_takes_no_letter():
    day = made([5, 0, 5, 2, 0, 9], places=[(5, "kitchen\n"), (9, "garden"), (2, " ")])
    assert context_labels(day) == ("kitchen", "A", "kitchen", "", "A", "garden")


def test_contexts_with_one_name_or_id_are_one_place():
    day = made(
        [4, 1, 6, 3, 2],
        places=[(4, "kitchen"), (6, "kitchen", "p1"), (1, None, "p2"), (2, None, "p2")],
    )
    assert same_place(day.events, day.places) == {4: 4, 1: 1, 6: 4, 3: 3, 2: 1}
    assert context_labels(day) == ("kitchen", "A", "kitchen", "", "A")


def test_two_names_are_two_places_even_if_recognized_as_one():
    day = made([4, 1], places=[(4, "kitchen", "p1"), (1, "office", "p1")])
    assert same_place(day.events, day.places) == {4: 4, 1: 1}


def test_a_title_is_the_name_or_the_number_and_context():
    events = (
        Event(0, 1, name="  Lunch \n"),
        Event(1, 2, name=" "),
        Event(2, 3, community=4),
        Event(3, 4, community=4),
        Event(4, 5, community=8),
        Event(5, 6, community=1),
    )
    segmentation = Segmentation(events, places=(Place(8, "kitchen"),))
    titles = ("Lunch", "Event 2", "Event 3 (A)", "Event 4 (A)", "Event 5 (kitchen)", "Event 6")
    assert event_titles(segmentation) == titles


def test_a_time_that_is_no_date_is_named():
    wall = Segmentation((Event(0, 1),), clock="wall")
    assert time_text(wall, 86400.0 * 366 + 5) == "1971-01-02 00:00:05"
    with pytest.raises(ValueError, match=r"time 1e\+20 is not a date"):
        time_text(wall, 1e20)
