from __future__ import annotations

import logging
import re
from itertools import pairwise

import pytest

from dayline.album.export.chapters import write_youtube, youtube_text
from dayline.events import Event, Segmentation


def lasting(*seconds: float, names: dict[int, str] | None = None) -> Segmentation:
    """Events of the given lengths, one frame per half second."""
    counts = [int(2 * s) for s in seconds]
    starts = [sum(counts[:k]) for k in range(len(counts) + 1)]
    events = [Event(a, b, name=(names or {}).get(k)) for k, (a, b) in enumerate(pairwise(starts))]
    return Segmentation(tuple(events), times=tuple(k / 2 for k in range(starts[-1])), clock="media")


def test_chapters_that_keep_the_rules_are_written_as_they_are(film):
    result = youtube_text(film)
    assert result.notes == ()
    assert [line.split()[0] for line in result.text.splitlines()] == [
        "0:00",
        "0:20",
        "0:41",
        "1:01",
    ]


def test_angle_brackets_which_youtube_refuses_are_replaced(film):
    assert not re.search("[<>]", youtube_text(film).text)
    assert "\u2039b\u203a" in youtube_text(film).text


def test_a_short_chapter_joins_its_shorter_neighbour_and_that_is_said():
    result = youtube_text(lasting(40, 4, 30, 20, 3700, 15))
    stamps = [line.split(" ", 1) for line in result.text.splitlines()]
    assert stamps == [
        ["0:00", "Event 1"],
        ["0:40", "Event 2"],
        ["1:14", "Event 4"],
        ["1:34", "Event 5"],
        ["1:03:14", "Event 6"],
    ]
    assert result.notes == ('"Event 2" at 0:40 lasts 4 s, under 10 s; joined to "Event 3"',)


def test_many_short_chapters_make_longer_ones():
    result = youtube_text(lasting(*[4] * 12))
    starts = [int(line.split()[0][2:]) for line in result.text.splitlines()]
    assert starts[0] == 0
    assert len(starts) >= 3
    assert min(b - a for a, b in zip(starts, [*starts[1:], 48], strict=True)) >= 10


def test_lengths_are_judged_after_rounding_to_seconds():
    """From 10.9 to 20.8 s is 10 s on the page: 0:10 to 0:20. From 10.0 to 19.9 s it is 9."""
    kept = Segmentation.from_boundaries([1, 2], 3, times=(0.0, 10.9, 20.8), clock="media")
    assert youtube_text(kept).notes == ()
    short = Segmentation.from_boundaries([1, 2, 3], 4, times=(0.0, 10.0, 19.9, 31.0), clock="media")
    assert "lasts 9 s" in youtube_text(short).notes[0]


def test_the_first_chapter_starts_at_zero():
    late = Segmentation.from_boundaries([1, 2], 3, times=(5.0, 30.0, 60.0), clock="media")
    assert youtube_text(late).text.startswith("0:00 Event 1\n0:30 ")


@pytest.mark.parametrize(("lengths", "left"), [((30, 30), 2), ((3, 3, 3, 3), 1), ((100,), 1)])
def test_fewer_than_three_chapters_are_not_possible(lengths, left):
    with pytest.raises(
        ValueError, match=rf"at least 3 chapters of 10 s.* give {left}; use another"
    ):
        youtube_text(lasting(*lengths))


def test_a_text_too_long_for_a_description_is_said():
    result = youtube_text(lasting(*[10] * 6, names={2: "x" * 6000}))
    assert re.search(
        r"^60\d\d characters; a YouTube description holds at most 5000$", result.notes[-1]
    )


def test_what_was_joined_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        path = write_youtube(lasting(40, 4, 30, 20, 15), tmp_path / "youtube.txt")
    assert '"Event 2" at 0:40 lasts 4 s' in caplog.text
    assert path.read_text(encoding="utf-8").count("\n") == 4
