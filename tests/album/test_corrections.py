"""Edits follow their frames by content, whatever happens to names, folders and times."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from dayline.album.corrections import (
    find_corrections,
    warn_of_absent_events,
    with_saved_contexts,
    with_saved_details,
    with_saved_levels,
)
from dayline.album.edits import forget_corrections, keep_edits, kept_edits, with_digests
from dayline.album.key_photos import with_key_photos
from dayline.album.segment import segment_source, segment_table
from dayline.events import NestedLevel, Place, Segmentation
from made_photos import MORNING, make_day, make_film, name_at

NAMES = tuple("abcdefgh")
TIMES = tuple(1_700_000_000.0 + 30 * k for k in range(8))


def saved(boundaries=(3, 5), n_frames=8, **about):
    """Return events "event 0", "event 1", ... of photos a, b, c, ...; the person set the second."""
    given = {"digests": tuple("abcdefghijklmnopqrstuvwxyz"[:n_frames])} | about
    found = Segmentation.from_boundaries(boundaries, n_frames, **given)
    events = [replace(e, name=f"event {k}") for k, e in enumerate(found.events)]
    events[1] = replace(events[1], reason="required", confidence=1.0)
    return replace(found, events=tuple(events))


def film(boundaries=(3, 5), **about):
    times = tuple(float(k) for k in range(8))
    digests = tuple(f"film:{1000 * k}" for k in range(8))
    return saved(boundaries, times=times, digests=digests, clock="media", **about)


def names_of(found, boundaries, n_frames):
    return [event.name for event in applied(found, boundaries, n_frames)]


def applied(found, boundaries, n_frames, communities=()):
    made = Segmentation.from_boundaries(boundaries, n_frames, communities=communities or None)
    return with_saved_details(made.events, found, communities)


def quietly(*arguments):
    """What is found, without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return find_corrections(*arguments)


def test_every_frame_the_person_saw_is_settled():
    found = quietly([saved()], NAMES)
    assert found.must == (3, 5)
    assert found.must_not == (1, 2, 4, 6, 7)
    assert [(frames[0], event.name) for event, frames in found.events] == [
        (0, "event 0"),
        (3, "event 1"),
        (5, "event 2"),
    ]


def test_new_and_lost_photos_move_the_boundaries():
    found = quietly([saved()], list("abceNMf"))
    assert found.must == (3, 6)
    assert found.must_not == (1, 2)
    whole = quietly([saved()], list("Nabcdefgh"))
    assert whole.must == (4, 6)
    assert 1 not in whole.must_not
    assert whole.events[0][1][0] == 1


def test_photos_before_the_first_event_do_not_take_its_name():
    found = quietly([saved()], list("MNabcdefgh"))
    parted = applied(found, [2, 5, 7], 10)
    assert [e.name for e in parted] == [None, "event 0", "event 1", "event 2"]
    assert [e.reason for e in parted][:3] == ["start", "content", "required"]
    assert names_of(found, [5, 7], 10) == ["event 0", "event 1", "event 2"]


def test_a_name_belongs_to_most_of_its_photos():
    """Six photos of a second camera lie in a pause after the first of fifteen."""
    walk = saved((15,), 20)
    found = quietly([walk], ["a", *"123456", *"bcdefghijklmno", *"pqrst"])
    assert names_of(found, [7, 21], 26) == [None, "event 0", "event 1"]
    assert names_of(found, [1, 7, 21], 26) == [None, None, "event 0", "event 1"]


def test_photos_in_another_order_keep_their_boundary_where_fewest_are_on_the_wrong_side():
    found = quietly([saved((4,))], list("abcedfgh"))
    assert found.must == (3,)
    assert found.must_not == (1, 2, 4, 5, 6, 7)
    assert names_of(found, [3], 8) == ["event 0", "event 1"]
    # Alternating photos have no boundary between them.
    assert quietly([saved((4,))], list("aebfcgdh")).must == ()


def test_equal_photos_keep_their_order():
    equal = saved((2, 5), digests=tuple("xxxxyxxx"))
    assert quietly([equal], list("xxxxyxxx")).must == (2, 5)
    # A copy that was added is new: times tell which one.
    day = saved((1,), 3, digests=tuple("xxx"), times=(0.0, 10.0, 20.0))
    found = quietly([day], list("xxxx"), [0.0, 5.0, 10.0, 20.0])
    assert found.must == (2,)
    assert found.must_not == (3,)


def test_a_black_photo_of_another_day_takes_no_name_with_it():
    day = saved((4,), times=TIMES)
    other = [time + 86_400 for time in TIMES[:3]]
    assert quietly([day], ["X", "a", "Y"], other).events == ()
    # A clock that was wrong by a day changes nothing for an event that is here.
    moved = quietly([day], NAMES[:4], [time + 86_400 for time in TIMES[:4]])
    assert [event.name for event, _ in moved.events] == ["event 0"]


def test_the_newest_edit_holds():
    newer, older = saved((4,), source="newer"), saved((2,), source="older")
    assert quietly([newer, older], NAMES).must == (4,)
    assert quietly([older, newer], NAMES).must == (2,)


def test_photos_that_were_away_while_others_were_saved_stay_with_their_event():
    newer = saved((3,), 6, digests=tuple("abcdef"))
    renamed = replace(newer.events[1], name="renamed")
    found = quietly([replace(newer, events=(newer.events[0], renamed)), saved((3,))], NAMES)
    assert found.must == (3,)
    assert found.must_not == (1, 2, 4, 5, 6, 7)
    assert names_of(found, [3], 8) == ["event 0", "renamed"]


def test_days_that_became_one_keep_the_edits_of_both():
    first, second = saved((2,), 4), saved((1,), 4, digests=tuple("efgh"))
    found = quietly([first, second], NAMES)
    assert found.must == (2, 4, 5)
    assert names_of(found, [2, 4, 5], 8) == ["event 0", "event 1", "event 0", "event 1"]
    assert applied(found, [2, 4, 5], 8)[2].reason == "content"


def test_a_second_camera_with_edits_of_its_own_loses_none():
    a, b = saved((4,)), saved((3,), 6, digests=tuple("123456"))
    found = quietly([a, b], list("a1b2c3d4e5f6gh"))
    assert found.must == (7, 8)
    assert "event 0" in names_of(found, [7, 8], 14)


def test_frames_that_are_forgotten_are_as_if_never_saved(tmp_path):
    keep_edits(tmp_path, [saved(), film()])
    with pytest.warns(UserWarning, match="it is kept as"):
        forget_corrections(tmp_path, [*"abcde", "film:0"])
    found = quietly(kept_edits(tmp_path), NAMES)
    assert [event.name for event, _ in found.events] == ["event 2"]
    assert found.must == ()
    assert quietly(kept_edits(tmp_path), ["film:0", "film:500"], [0.0, 0.5]).events == ()


def test_a_film_sampled_otherwise_is_told_by_its_times():
    times = [0.0, 2.5, 3.0, 7.0]
    found = quietly([film()], [f"film:{1000 * t:.0f}" for t in times], times)
    assert found.must == (2, 3)
    assert found.must_not == (1,)
    assert quietly([film()], [f"other:{1000 * t:.0f}" for t in times], times).events == ()


def test_names_and_reasons_of_the_person_are_kept():
    events = applied(quietly([saved()], NAMES), [3, 5, 7], 8)
    assert [e.name for e in events] == ["event 0", "event 1", "event 2", None]
    assert [e.reason for e in events] == ["start", "required", "content", "content"]
    assert events[1].confidence == 1


def test_a_boundary_that_was_saved_as_it_is_keeps_the_interval_it_had():
    made = Segmentation.from_boundaries(
        (3, 5), 8, intervals=[(3, 4), (4, 6)], digests=tuple("abcdefgh")
    )
    # The run itself requires both, so that each is in one frame.
    again = Segmentation.from_boundaries((4, 6), 9, intervals=[(4, 4), (6, 6)])
    found = quietly([made], list("Nabcdefgh"))
    kept = with_saved_details(again.events, found, ())
    assert [event.interval for event in kept] == [None, (4, 5), (5, 7)]
    more = quietly([made], list("abcdefgNh"))
    again = Segmentation.from_boundaries((3, 5), 9, intervals=[(3, 3), (5, 5)])
    kept = with_saved_details(again.events, more, ())
    assert [event.interval for event in kept] == [None, (3, 4), None]


def test_events_without_digests_are_known_by_name_number_or_time():
    plain = replace(saved(), digests=None)
    assert with_digests(plain, NAMES).digests == NAMES
    named = replace(plain, names=tuple("ABCDEFGH"))
    located = with_digests(named, list("xabcdefgh"), names=list("XABCDEFGH"))
    assert located.digests == NAMES
    timed = replace(plain, times=tuple(float(k) for k in range(8)))
    assert with_digests(timed, list("abcdefghi"), times=range(9)).digests == NAMES
    with pytest.raises(ValueError, match=r"for other frames \(8 of my day\); pass the events.json"):
        with_digests(replace(plain, source="my day"), list("abcdefghi"))


def test_corrections_of_other_frames_are_refused():
    with pytest.raises(ValueError, match=r"for other frames \(8 of another source\)"):
        with_digests(saved(names=NAMES), list("ABCDEFGH"), names=NAMES)
    # The features of a table may have been computed anew.
    table = saved(source="walk.npy")
    assert with_digests(table, list("ABCDEFGH"), source="walk.npy").digests == tuple("ABCDEFGH")


def test_named_events_without_frames_are_named_once():
    absent = [saved(), saved((1,), 2, digests=("y", "z"))]
    with pytest.warns(
        UserWarning, match=r"^'event 1', 'event 0', 'event 1': none of the 4"
    ) as told:
        warn_of_absent_events(absent, set("abcfgh"))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_absent_events([*absent[:1], film()], {*"aeh", "film:500"})


def with_levels(result):
    levels = (
        NestedLevel(-1, (3,), (0.9,)),
        NestedLevel(0, (3, 5), (0.9, 0.6)),
        NestedLevel(1, (1, 3, 5, 7), (0.2, 0.9, 0.6, 0.3)),
    )
    return replace(result, levels=levels)


def with_key(result, frame):
    events = list(result.events)
    events[1] = replace(events[1], key_frame=frame, key_chosen=True)
    return replace(result, events=tuple(events))


def test_a_key_photo_that_the_person_chose_stays():
    found = quietly([with_key(saved(), 4)], list("Nabcdefgh"))
    assert found.keys == (5,)
    events = with_key_photos(applied(found, [4, 6], 9), np.eye(9, 3))
    assert [(e.key_frame, e.key_chosen) for e in events][1] == (5, True)
    # One that is gone is chosen anew.
    assert quietly([with_key(saved(), 4)], list("abcdfgh")).keys == ()


def test_a_chosen_key_frame_of_a_film_keeps_its_time():
    times = [0.0, 2.5, 4.2, 7.0]
    digests = [f"film:{1000 * t:.0f}" for t in times]
    assert quietly([with_key(film(), 4)], digests, times).keys == (2,)


def test_saved_levels_follow_the_frames_and_keep_what_the_person_set():
    found = quietly([with_levels(saved())], list("Nabcdefgh"))
    levels = with_saved_levels(applied(found, [4, 6], 9), (), found)
    assert {level.level: level.boundaries for level in levels} == {
        -1: (4,),
        0: (4, 6),
        1: (2, 4, 6, 8),
    }
    assert levels[-1].confidences == (0.2, 1.0, 0.0, 0.3)


def test_a_boundary_that_the_person_removed_is_in_no_level():
    merged = replace(with_levels(saved()), events=saved((3,)).events)
    found = quietly([merged], NAMES)
    levels = with_saved_levels(applied(found, [3], 8), (), found)
    assert {level.level: level.boundaries for level in levels} == {0: (3,), 1: (1, 3, 7)}


def with_contexts(communities, boundaries, places=(), digests=NAMES):
    return Segmentation.from_boundaries(
        boundaries, len(communities), communities=communities, digests=digests, places=places
    )


def test_the_context_with_most_frames_in_common_keeps_its_number_and_name():
    day = with_contexts(
        [4, 4, 4, 9, 9, 4, 2, 2], [3, 5, 6], (Place(4, "kitchen"), Place(9, "office"))
    )
    found, run = quietly([day], NAMES), [0, 0, 0, 1, 1, 0, 5, 5]
    numbers = with_saved_contexts(run, found)
    assert numbers == (4, 4, 4, 9, 9, 4, 2, 2)
    events = applied(found, [3, 5, 6], 8, numbers)
    assert [event.community for event in events] == [4, 9, 4, 2]
    assert found.places == day.places


def test_contexts_of_two_days_that_became_one_stay_apart_unless_they_have_one_name():
    first = with_contexts([0, 0, 1], [2], (Place(0, "kitchen"), Place(1, "office")), tuple("abc"))
    second = with_contexts([0, 0, 1], [2], (Place(0, "office"), Place(1, "yard")), tuple("def"))
    found = quietly([first, second], list("abcdef"))
    assert [event.community for event, _ in found.events] == [0, 1, 1, 2]
    assert {place.community: place.name for place in found.places} == {
        0: "kitchen",
        1: "office",
        2: "yard",
    }


def test_a_context_that_this_run_splits_keeps_its_number_once():
    day = with_contexts([4] * 6 + [9] * 2, [6], (Place(4, "kitchen"),))
    numbers = with_saved_contexts([7, 7, 7, 7, 3, 3, 4, 4], quietly([day], NAMES))
    assert numbers == (4, 4, 4, 4, 0, 0, 9, 9)  # 0 is a number that the person has not seen


def test_an_event_that_a_person_put_into_another_context_stays_there():
    day = with_contexts([1, 1, 2, 2, 1, 1, 2, 2], [2, 4, 6])
    events = list(day.events)
    events[2] = replace(events[2], community=2)
    found = quietly([replace(day, events=tuple(events))], NAMES)
    numbers = with_saved_contexts([5, 5, 6, 6, 5, 5, 6, 6], found)
    events = applied(found, [2, 4, 6], 8, numbers)
    assert [event.community for event in events] == [1, 2, 2, 2]


def test_letters_and_names_stay_when_the_same_photos_are_segmented_again(tmp_path):
    make_day(tmp_path, [("red", 12), ("green", 14), ("red", 12), ("blue", 10), ("green", 12)])
    first = segment_source(tmp_path, model="color").segmentation
    numbers = {event.community for event in first.events}
    swapped = {community: community + 40 for community in numbers}
    events = tuple(replace(event, community=swapped[event.community]) for event in first.events)
    day = replace(first, events=events, places=(Place(events[1].community, "garden"),))
    again = segment_source(tmp_path, model="color", corrections=day)
    assert [event.community for event in again.segmentation.events] == [
        event.community for event in events
    ]
    assert again.segmentation.places == day.places
    assert set(again.communities) == set(swapped.values())


def test_saved_corrections_give_the_corrected_events(tmp_path):
    make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    wanted = Segmentation.from_boundaries([5, 26], 38, names=found.names)
    again = segment_source(tmp_path, model="color", corrections=wanted).segmentation
    assert again.boundaries == (5, 26)
    twice = segment_source(tmp_path, model="color", corrections=again).segmentation
    assert twice.boundaries == (5, 26)


def test_a_burst_can_be_split(tmp_path):
    paths = make_day(tmp_path, [("red", 10), ("green", 10)])
    for k in range(1, 6):
        (tmp_path / paths[10].name.replace(".png", f"{k:03d}.png")).hardlink_to(paths[10])
    found = segment_source(tmp_path, model="color").segmentation
    split = Segmentation.from_boundaries([10, 13], 25, names=found.names)
    again = segment_source(tmp_path, model="color", corrections=split).segmentation
    assert again.boundaries == (10, 13)


def test_photos_that_were_moved_renamed_and_taken_at_another_time_keep_their_edits(tmp_path):
    photos = make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    events = list(found.events)
    events[1] = replace(events[1], name="Beach", key_frame=20, key_chosen=True)
    edited = replace(found, events=tuple(events))
    (tmp_path / "beach").mkdir()
    for k, path in enumerate(photos[12:26]):
        path.rename(tmp_path / "beach" / name_at(MORNING + 30 * (12 + k) + 2))
    again = segment_source(tmp_path, model="color", corrections=edited).segmentation
    assert again.boundaries == found.boundaries
    assert again.events[1].name == "Beach"
    assert (again.events[1].key_frame, again.events[1].key_chosen) == (20, True)


def test_rows_of_a_table_are_known_by_their_values():
    features = np.repeat(np.eye(3)[[0, 1]], 10, axis=0) + 0.01 + np.arange(20)[:, None] / 1e5
    wanted = Segmentation.from_boundaries([4], 20)
    found = segment_table(features, corrections=wanted).segmentation
    assert found.boundaries == (4,)
    longer = np.concatenate([features[:1] - 1e-4, features])
    assert 5 in segment_table(longer, corrections=found).segmentation.boundaries


def test_a_film_is_known_by_its_content(tmp_path):
    a = make_film(tmp_path / "a.mp4")
    b = make_film(tmp_path / "b.mp4", [("green", 60), ("sand", 50)])
    found = segment_source(a, model="color", every=0.5).segmentation
    wanted = found.about(events=Segmentation.from_boundaries([4], 22, times=found.times).events)
    renamed = a.rename(tmp_path / "renamed.mp4")
    finer = segment_source(renamed, model="color", every=0.25, corrections=wanted).segmentation
    assert [finer.times[b] for b in finer.boundaries] == [2.0]
    with pytest.raises(ValueError, match=r"for other frames \(22 of a\.mp4\)"):
        segment_source(b, model="color", corrections=found)
