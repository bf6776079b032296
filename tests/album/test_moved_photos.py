"""Corrections after photos were moved or renamed: a photo is known by file name and time, or by time and size."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

from dayline.album.corrections import read_corrections
from dayline.album.segment import segment_source
from dayline.events import Segmentation
from made_photos import make_day

NAMES = tuple(f"{letter}.jpg" for letter in "abcdefgh")
TIMES = tuple(1_700_000_000.0 + 30 * k for k in range(8))
SIZES = tuple(range(1000, 1008))
BEACH = [f"beach/{name}" if 3 <= k < 5 else name for k, name in enumerate(NAMES)]


def corrected(**about):
    given = {
        "names": NAMES,
        "times": TIMES,
        "clock": "wall",
        "sizes": SIZES,
        "source": "walk",
    } | about
    found = Segmentation.from_boundaries([3, 5], 8, **given)
    names = (None, "Beach", "Lunch")
    events = [replace(event, name=name) for event, name in zip(found.events, names, strict=True)]
    events[1] = replace(events[1], key_frame=4, key_chosen=True)
    return replace(found, events=tuple(events))


def located(day, **now):
    """What is found of the corrections, without any warning."""
    given = {"n_frames": 8, "names": NAMES, "times": TIMES, "sizes": SIZES, "source": "walk"} | now
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_corrections(day, **given)


@pytest.mark.parametrize(
    "names",
    [
        BEACH,
        [f"all/{name}" for name in NAMES],
        [f"2023-11-14 {k}.jpg" for k in range(8)],
        [NAMES[(k + 1) % 8] for k in range(8)],
    ],
    ids=["event", "all", "renamed", "numbered anew"],
)
def test_photos_that_were_moved_or_renamed_keep_names_boundaries_and_key_photos(names):
    found = located(corrected(), names=names)
    assert found.must == (3, 5)
    assert [event.name for _, event in found.events] == [None, "Beach", "Lunch"]
    assert found.keys == (4,)


def test_a_moved_photo_is_known_by_its_time_or_by_its_size():
    edited = located(corrected(), names=BEACH, sizes=[size + 1 for size in SIZES])
    assert edited.must == (3, 5)
    without_sizes = located(corrected(sizes=None), names=BEACH)
    assert without_sizes.must == (3, 5)
    without_times = located(corrected(times=None, clock=None), names=BEACH, times=None)
    assert without_times.must == (3, 5)


def test_a_new_photo_with_the_old_name_of_a_moved_one_is_new():
    names = [*BEACH, "d.jpg"]
    found = located(
        corrected(), n_frames=9, names=names, times=[*TIMES, TIMES[-1] + 30], sizes=[*SIZES, 7]
    )
    assert found.must == (3, 5)
    assert found.must_not == (1, 2, 4, 6, 7)


def test_copies_in_two_folders_are_not_told_apart_by_guessing():
    names = [*NAMES[:3], "x/d.jpg", "y/d.jpg", *NAMES[4:]]
    times, sizes = [*TIMES[:4], *TIMES[3:]], [*SIZES[:4], *SIZES[3:]]
    found = located(corrected(), n_frames=9, names=names, times=times, sizes=sizes)
    assert found.must == (5, 6)  # they are new, and the event begins with the next photo
    assert not {3, 4, 5} & set(found.must_not)
    # Of two renamed photos with one time and no known size, neither is known.
    burst = (*TIMES[:3], TIMES[3], TIMES[3], *TIMES[5:])
    with pytest.warns(UserWarning, match="'Beach'"):
        found = read_corrections(
            corrected(times=burst, sizes=None),
            n_frames=8,
            names=[*NAMES[:3], "p.jpg", "q.jpg", *NAMES[5:]],
            times=burst,
            source="walk",
        )
    assert found.must == (5,)


def test_photos_of_another_day_that_were_moved_are_refused():
    next_day = [time + 86_400 for time in TIMES]
    with pytest.raises(ValueError, match="for other frames"):
        located(corrected(), names=[f"all/{name}" for name in NAMES], times=next_day)
    time_of_day = tuple(3600.0 + 30 * k for k in range(8))
    with pytest.raises(ValueError, match="for other frames"):
        located(
            corrected(times=time_of_day, sizes=None),
            names=list("stuvwxyz"),
            times=time_of_day,
            sizes=None,
        )


def test_a_named_event_that_lost_all_photos_is_named():
    kept = [0, 1, 2, 5, 6, 7]
    now = {
        "names": [NAMES[k] for k in kept],
        "times": [TIMES[k] for k in kept],
        "sizes": [SIZES[k] for k in kept],
    }
    with pytest.warns(
        UserWarning, match=r"^'Beach': none of the 2 photos of this event is here"
    ) as told:
        found = read_corrections(corrected(), n_frames=6, source="walk", **now)
    assert len(told) == 1
    assert [event.name for _, event in found.events] == [None, "Lunch"]


def test_an_event_moved_to_a_subfolder_keeps_its_name(tmp_path):
    photos = make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    events = (found.events[0], replace(found.events[1], name="Beach"), *found.events[2:])
    (tmp_path / "beach").mkdir()
    for path in photos[12:26]:
        path.rename(tmp_path / "beach" / path.name)
    again = segment_source(
        tmp_path, model="color", corrections=replace(found, events=events)
    ).segmentation
    assert again.boundaries == found.boundaries
    assert again.events[1].name == "Beach"


def test_a_lost_event_is_named_once(tmp_path):
    photos = make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    events = (found.events[0], replace(found.events[1], name="Beach"), *found.events[2:])
    for path in photos[12:26]:
        path.unlink()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        segment_source(tmp_path, model="color", corrections=replace(found, events=events))
    assert sum("'Beach'" in str(one.message) for one in told) == 1
