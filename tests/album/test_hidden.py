"""Events without hidden photos, and the photo that shows an event."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dayline.album.hidden import key_shown, shown_events, without_hidden
from dayline.album.key_photos import with_key_photos
from dayline.events import Place, Segmentation, SkippedFile


@pytest.fixture
def day() -> Segmentation:
    """Ten photos, one a minute, in the events 0 1 2 3, 4 5 and 6 7 8 9."""
    found = Segmentation.from_boundaries(
        [4, 6],
        10,
        communities=[1] * 4 + [2] * 2 + [1] * 4,
        times=[60.0 * k for k in range(10)],
        names=[f"{k}.jpg" for k in range(10)],
        digests=[f"digest {k}" for k in range(10)],
        clock="wall",
        places=(Place(1, "home"), Place(2, "hideaway")),
        notes=("4.jpg has no time",),
        skipped=(SkippedFile("5b.jpg", "empty"),),
    )
    events = tuple(
        replace(event, key_frame=event.start + 1, interval=(event.start, event.start))
        for event in found.events
    )
    return replace(found, events=events, favorites=(3, 8))


def test_what_is_left_is_numbered_anew_and_tells_nothing_of_the_rest(day):
    left = without_hidden(replace(day, hidden=(0, 1, 4, 5, 8)))
    assert left is not None
    assert [(e.start, e.stop) for e in left.events] == [(0, 2), (2, 5)]
    assert left.names == ("2.jpg", "3.jpg", "6.jpg", "7.jpg", "9.jpg")
    assert left.digests == tuple(f"digest {k}" for k in (2, 3, 6, 7, 9))
    assert [(e.start_time, e.stop_time) for e in left.events] == [(120, 180), (360, 540)]
    assert [e.interval for e in left.events] == [None, None]
    assert left.favorites == (1,)  # 3; 8 is hidden
    assert [e.key_frame for e in left.events] == [1, 3]  # the favorite 3; 7
    assert left.places == (Place(1, "home"),)
    assert (left.hidden, left.notes, left.skipped, left.levels) == ((), (), (), ())


def test_nothing_hidden_changes_nothing_and_all_hidden_leaves_nothing(day):
    assert without_hidden(day) is day
    assert without_hidden(replace(day, hidden=tuple(range(10)))) is None
    assert shown_events(replace(day, hidden=(4, 5))) == [0, 2]


@pytest.mark.parametrize(
    ("hidden", "chosen", "key"),
    [((), False, 3), ((), True, 1), ((1,), True, 3), ((3,), False, 1), ((1, 3), True, 0)],
)
def test_a_chosen_photo_comes_first_then_favorites_then_the_nearest(day, hidden, chosen, key):
    event = replace(day.events[0], key_chosen=chosen)
    assert key_shown(replace(day, hidden=hidden), event) == key


def test_a_run_chooses_favorites_and_no_hidden_photo(day):
    rows = np.column_stack([np.ones(10), [0.0, 0.1, 0.2, 0.3, 0.0, 0.1, 0.0, 0.1, 0.2, 0.3]])
    plain = with_key_photos(day.events, rows)
    assert [event.key_frame in (1, 2, 4, 5, 7, 8) for event in plain] == [True] * 3
    kept = with_key_photos(day.events, rows, favorites=(3, 8), hidden=(8, plain[2].key_frame))
    assert kept[0].key_frame == 3
    assert kept[1].key_frame == plain[1].key_frame
    assert kept[2].key_frame not in (8, plain[2].key_frame)
    chosen = (replace(day.events[0], key_frame=0, key_chosen=True), *day.events[1:])
    assert with_key_photos(chosen, rows, favorites=(3,))[0].key_frame == 0
    assert with_key_photos(chosen, rows, favorites=(3,), hidden=(0,))[0].key_frame == 3


@pytest.mark.parametrize("wrong", [(3, 1), (1, 1), (10,), (-1,)])
def test_marks_that_name_no_photo_are_refused(day, wrong):
    for what in ("favorites", "hidden"):
        with pytest.raises(ValueError, match=f"{what} must be numbers of frames"):
            replace(day, **{what: wrong})
