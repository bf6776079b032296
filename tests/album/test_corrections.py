from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dayline.album.corrections import apply_corrections, read_corrections, with_saved_contexts
from dayline.album.key_photos import with_key_photos
from dayline.album.segment import segment_source, segment_table
from dayline.events import NestedLevel, Place, Segmentation
from made_photos import MORNING, make_day, make_film, name_at, save, scene

NAMES = tuple("abcdefgh")


def corrected(boundaries=(3, 5), **about):
    found = Segmentation.from_boundaries(boundaries, 8, **({"names": NAMES} | about))
    events = [replace(e, name=f"event {k}") for k, e in enumerate(found.events)]
    events[1] = replace(events[1], reason="required", confidence=1.0)
    return replace(found, events=tuple(events))


def test_every_frame_the_person_saw_is_settled():
    asked = read_corrections(corrected(), n_frames=8, names=NAMES)
    assert asked.must == (3, 5)
    assert asked.must_not == (1, 2, 4, 6, 7)
    assert [(k, e.name) for k, e in asked.events] == [
        (0, "event 0"),
        (3, "event 1"),
        (5, "event 2"),
    ]


def test_new_and_lost_photos_move_the_boundaries():
    asked = read_corrections(corrected(), n_frames=7, names=list("abceNNf"))
    assert asked.must == (3, 6)
    assert asked.must_not == (1, 2)
    whole = read_corrections(corrected(), n_frames=9, names=list("Nabcdefgh"))
    assert whole.must == (4, 6)
    assert 1 not in whole.must_not
    assert whole.events[0][0] == 1


def test_photos_before_the_first_event_do_not_take_its_name():
    asked = read_corrections(corrected(), n_frames=10, names=list("MNabcdefgh"))
    parted = apply_corrections(Segmentation.from_boundaries([2, 5, 7], 10), asked)
    assert [e.name for e in parted.events] == [None, "event 0", "event 1", "event 2"]
    assert [e.reason for e in parted.events][:3] == ["start", "content", "required"]
    joined = apply_corrections(Segmentation.from_boundaries([5, 7], 10), asked)
    assert [e.name for e in joined.events] == ["event 0", "event 1", "event 2"]


def test_a_film_sampled_otherwise_is_told_by_its_times():
    film = corrected(times=tuple(float(k) for k in range(8)), clock="media")
    asked = read_corrections(film, n_frames=4, names=list("wxyz"), times=[0.0, 2.5, 3.0, 7.0])
    assert asked.must == (2, 3)
    assert asked.must_not == (1,)


def test_names_and_reasons_of_the_person_are_kept():
    found = Segmentation.from_boundaries([3, 5, 7], 8, names=NAMES)
    result = apply_corrections(found, read_corrections(corrected(), n_frames=8, names=NAMES))
    assert [e.name for e in result.events] == ["event 0", "event 1", "event 2", None]
    assert [e.reason for e in result.events] == ["start", "required", "content", "content"]
    assert result.events[1].confidence == 1


@pytest.mark.parametrize(("n_frames", "names"), [(8, tuple("ABCDEFGh")), (9, None)])
def test_corrections_of_something_else_are_refused(n_frames, names):
    with pytest.raises(
        ValueError, match=r"for other frames \(8 of my day\); pass the events.json saved"
    ):
        read_corrections(corrected(source="my day"), n_frames=n_frames, names=names)


def test_saved_corrections_give_the_corrected_events(tmp_path):
    make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    wanted = Segmentation.from_boundaries([5, 26], 38, names=found.names)
    again = segment_source(tmp_path, model="color", corrections=wanted).segmentation
    assert again.boundaries == (5, 26)
    assert segment_source(tmp_path, model="color", corrections=again).segmentation.boundaries == (
        5,
        26,
    )


def test_who_merged_across_a_pause_is_heard(tmp_path):
    make_day(tmp_path, [("red", 12), ("blue", 12), ("blue", 12)], pause_before=2)
    found = segment_source(tmp_path, model="color").segmentation
    merged = Segmentation.from_boundaries([12], 36, names=found.names)
    assert segment_source(tmp_path, model="color", corrections=merged).segmentation.boundaries == (
        12,
    )


def test_a_burst_can_be_split(tmp_path):
    paths = make_day(tmp_path, [("red", 10), ("green", 10)])
    for k in range(1, 6):
        (tmp_path / paths[10].name.replace(".png", f"{k:03d}.png")).hardlink_to(paths[10])
    found = segment_source(tmp_path, model="color").segmentation
    split = Segmentation.from_boundaries([10, 13], 25, names=found.names)
    assert segment_source(tmp_path, model="color", corrections=split).segmentation.boundaries == (
        10,
        13,
    )


def test_a_new_photo_joins_the_corrected_events(tmp_path):
    make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    save(scene("red", 99), tmp_path / name_at(MORNING + 8))
    again = segment_source(tmp_path, model="color", corrections=found).segmentation
    assert again.n_frames == 39
    assert {13, 27} <= set(again.boundaries)


def test_tables_and_films_are_corrected_too(tmp_path):
    features = np.repeat(np.eye(3)[[0, 1]], 10, axis=0) + 0.01
    wanted = Segmentation.from_boundaries([4], 20)
    assert segment_table(features, corrections=wanted).segmentation.boundaries == (4,)
    film = make_film(tmp_path / "film.mp4")
    found = segment_source(film, model="color", every=0.5).segmentation
    wanted = Segmentation.from_boundaries(
        [4], 22, names=found.names, times=found.times, clock="media"
    )
    finer = segment_source(film, model="color", every=0.25, corrections=wanted).segmentation
    assert [finer.times[b] for b in finer.boundaries] == [2.0]


def test_photos_of_another_day_with_the_same_names_are_refused():
    times = tuple(1_700_000_000.0 + 30 * k for k in range(8))
    day = corrected(times=times, clock="wall", source="DCIM")
    assert read_corrections(day, n_frames=8, names=NAMES, times=times, source="DCIM").must == (3, 5)
    next_day = [time + 86_400 for time in times]
    with pytest.raises(
        ValueError, match=r"for another recording .DCIM.: a is at .* there and at .* here"
    ):
        read_corrections(day, n_frames=8, names=NAMES, times=next_day, source="DCIM")
    one_mended = [times[0] + 3600, *times[1:]]
    with pytest.warns(UserWarning, match="times changed for 1 corrected frame .the first: a."):
        assert read_corrections(
            day, n_frames=8, names=NAMES, times=one_mended, source="DCIM"
        ).must == (3, 5)


def test_photos_that_were_numbered_anew_do_not_move_boundaries():
    times = [1_700_000_000.0 + 30 * k for k in range(8)]
    day = corrected((3, 6), times=tuple(times), clock="wall")
    # The photo f was deleted, and g and h took the names f and g.
    with pytest.warns(UserWarning, match="times changed for 2 corrected frames .the first: f."):
        asked = read_corrections(day, n_frames=7, names=NAMES[:7], times=[*times[:5], *times[6:]])
    assert asked.must == (3,)
    assert asked.must_not == (1, 2, 4)


def test_photos_without_times_are_told_by_their_sizes_and_else_by_their_source():
    sizes = tuple(range(1000, 1008))
    day = corrected(sizes=sizes, source="DCIM")
    assert read_corrections(day, n_frames=8, names=NAMES, sizes=sizes, source="renamed").must == (
        3,
        5,
    )
    with pytest.raises(
        ValueError, match=r"for another recording .DCIM.: a has 1,000 bytes there and 2,000 here"
    ):
        read_corrections(day, n_frames=8, names=NAMES, sizes=range(2000, 2008), source="DCIM")
    with pytest.raises(ValueError, match="the corrections are for 'DCIM', but this is 'other'"):
        read_corrections(corrected(source="DCIM"), n_frames=8, names=NAMES, source="other")


def test_another_video_of_the_same_name_is_refused():
    film = corrected(times=tuple(float(k) for k in range(8)), clock="media", source="film.mp4")
    with pytest.raises(ValueError, match="for another video"):
        read_corrections(
            film, n_frames=8, names=NAMES, times=[4.0 * k for k in range(8)], source="film.mp4"
        )


def test_times_of_day_are_no_proof_of_the_day():
    times, sizes = tuple(3600.0 + 30 * k for k in range(8)), tuple(range(1000, 1008))
    day = corrected(times=times, clock="wall", sizes=sizes, source="monday")
    same = {"n_frames": 8, "names": NAMES, "times": times}
    assert read_corrections(day, **same, sizes=sizes, source="renamed").must == (3, 5)
    with pytest.raises(
        ValueError, match=r"for another recording .monday.: a has 1,000 bytes there and 2,000 here"
    ):
        read_corrections(day, **same, sizes=range(2000, 2008), source="tuesday")


def test_tables_that_count_from_zero_are_told_by_their_names():
    times = tuple(float(k) for k in range(8))
    table = corrected(names=None, times=times, source="a.csv")
    assert read_corrections(table, n_frames=8, times=times, source="a.csv").must == (3, 5)
    with pytest.raises(ValueError, match=r"for 'a\.csv', but this is 'b\.csv'"):
        read_corrections(table, n_frames=8, times=times, source="b.csv")


def test_videos_of_one_length_are_told_by_their_sizes(tmp_path):
    a, b = (
        make_film(tmp_path / "a.mp4"),
        make_film(tmp_path / "b.mp4", [("green", 60), ("sand", 50)]),
    )
    found = segment_source(a, model="color", every=0.5).segmentation
    assert set(found.sizes) == {a.stat().st_size}
    renamed = a.rename(tmp_path / "renamed.mp4")
    again = segment_source(renamed, model="color", every=0.25, corrections=found).segmentation
    assert [again.times[f] for f in again.boundaries] == [found.times[f] for f in found.boundaries]
    with pytest.raises(
        ValueError, match=r"for another video \(a\.mp4\): it has [0-9,]+ bytes, this one"
    ):
        segment_source(b, model="color", corrections=found)
    with pytest.raises(ValueError, match=r"for 'a\.mp4', but this is 'b\.mp4'"):
        segment_source(b, model="color", corrections=replace(found, sizes=None))


def test_rows_that_were_added_to_a_table_are_new_and_the_others_stay_corrected():
    table = corrected(names=None, times=tuple(float(k) for k in range(8)), clock=None)
    asked = read_corrections(table, n_frames=20, times=[float(k) for k in range(20)])
    assert asked.must == (3, 5)
    assert asked.must_not == (1, 2, 4, 6, 7)


def test_a_day_that_doubled_keeps_its_corrections():
    asked = read_corrections(
        corrected(), n_frames=20, names=[*NAMES, *(f"new {k}" for k in range(12))]
    )
    assert asked.must == (3, 5)


def with_levels(result):
    levels = (
        NestedLevel(-1, (3,), (0.9,)),
        NestedLevel(0, (3, 5), (0.9, 0.6)),
        NestedLevel(1, (1, 3, 5, 7), (0.2, 0.9, 0.6, 0.3)),
    )
    return replace(result, levels=levels)


def test_a_key_photo_that_the_person_chose_stays():
    saved = corrected()
    events = [
        saved.events[0],
        replace(saved.events[1], key_frame=4, key_chosen=True),
        saved.events[2],
    ]
    asked = read_corrections(
        replace(saved, events=tuple(events)), n_frames=9, names=list("Nabcdefgh")
    )
    assert asked.keys == (5,)
    found = Segmentation.from_boundaries([4, 6], 9)
    features = np.eye(9, 3)
    result = with_key_photos(apply_corrections(found, asked), features)
    assert [(e.key_frame, e.key_chosen) for e in result.events][1] == (5, True)
    # One that is gone is chosen anew.
    gone = read_corrections(replace(saved, events=tuple(events)), n_frames=7, names=list("abcdfgh"))
    assert gone.keys == ()


def test_a_chosen_key_frame_of_a_film_keeps_its_time():
    film = corrected(times=tuple(float(k) for k in range(8)), clock="media")
    events = [film.events[0], replace(film.events[1], key_frame=4, key_chosen=True), film.events[2]]
    asked = read_corrections(
        replace(film, events=tuple(events)),
        n_frames=4,
        names=list("wxyz"),
        times=[0.0, 2.5, 4.2, 7.0],
    )
    assert asked.keys == (2,)


def test_saved_levels_follow_the_frames_and_keep_what_the_person_set():
    asked = read_corrections(with_levels(corrected()), n_frames=9, names=list("Nabcdefgh"))
    found = Segmentation.from_boundaries([4, 6], 9)
    result = apply_corrections(found, asked)
    assert {level.level: level.boundaries for level in result.levels} == {
        -1: (4,),
        0: (4, 6),
        1: (2, 4, 6, 8),
    }
    assert result.levels[-1].confidences == (0.2, 1.0, 0.0, 0.3)


def test_a_boundary_that_the_person_removed_is_in_no_level():
    saved = replace(with_levels(corrected()), events=corrected((3,)).events)
    result = apply_corrections(
        Segmentation.from_boundaries([3], 8), read_corrections(saved, n_frames=8, names=NAMES)
    )
    assert {level.level: level.boundaries for level in result.levels} == {0: (3,), 1: (1, 3, 7)}


def with_contexts(communities, boundaries, places=(), **about):
    return Segmentation.from_boundaries(
        boundaries,
        len(communities),
        communities=communities,
        names=NAMES[: len(communities)],
        places=places,
        **about,
    )


def test_the_context_with_most_frames_in_common_keeps_its_number_and_name():
    saved = with_contexts(
        [4, 4, 4, 9, 9, 4, 2, 2], [3, 5, 6], (Place(4, "kitchen"), Place(9, "office"))
    )
    asked = read_corrections(saved, n_frames=8, names=NAMES)
    numbers = with_saved_contexts([0, 0, 0, 1, 1, 0, 5, 5], asked)
    assert numbers == (4, 4, 4, 9, 9, 4, 2, 2)
    found = Segmentation.from_boundaries(
        [3, 5, 6], 8, communities=[0, 0, 0, 1, 1, 0, 5, 5], names=NAMES
    )
    result = apply_corrections(found, asked, numbers)
    assert [event.community for event in result.events] == [4, 9, 4, 2]
    assert result.places == saved.places


def test_a_context_that_this_run_splits_keeps_its_number_once():
    saved = with_contexts([4] * 6 + [9] * 2, [6], (Place(4, "kitchen"),))
    asked = read_corrections(saved, n_frames=8, names=NAMES)
    numbers = with_saved_contexts([7, 7, 7, 7, 3, 3, 4, 4], asked)
    assert numbers == (4, 4, 4, 4, 0, 0, 9, 9)  # 0 is a number that the person has not seen


def test_an_event_that_a_person_put_into_another_context_stays_there():
    saved = with_contexts([1, 1, 2, 2, 1, 1, 2, 2], [2, 4, 6])
    events = list(saved.events)
    events[2] = replace(events[2], community=2)
    asked = read_corrections(replace(saved, events=tuple(events)), n_frames=8, names=NAMES)
    run = [5, 5, 6, 6, 5, 5, 6, 6]
    found = Segmentation.from_boundaries([2, 4, 6], 8, communities=run, names=NAMES)
    result = apply_corrections(found, asked, with_saved_contexts(run, asked))
    assert [event.community for event in result.events] == [1, 2, 2, 2]


def test_letters_and_names_stay_when_the_same_photos_are_segmented_again(tmp_path):
    make_day(tmp_path, [("red", 12), ("green", 14), ("red", 12), ("blue", 10), ("green", 12)])
    first = segment_source(tmp_path, model="color").segmentation
    numbers = {event.community for event in first.events}
    swapped = {community: community + 40 for community in numbers}
    events = tuple(replace(event, community=swapped[event.community]) for event in first.events)
    saved = replace(first, events=events, places=(Place(events[1].community, "garden"),))
    again = segment_source(tmp_path, model="color", corrections=saved)
    assert [event.community for event in again.segmentation.events] == [
        event.community for event in events
    ]
    assert again.segmentation.places == saved.places
    assert set(again.communities) == set(swapped.values())
