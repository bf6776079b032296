from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dayline.events import (
    MOST_FRAMES,
    Event,
    NestedLevel,
    Place,
    Segmentation,
    SkippedFile,
    boundaries_to_labels,
    events_schema,
    labels_to_boundaries,
    read_events,
)

FULL = Segmentation(
    events=(
        Event(
            0,
            2,
            community=1,
            key_frame=1,
            start_time=10.0,
            stop_time=12.5,
            reason="start",
            name='a "<b>" \u202e',
        ),
        Event(
            2,
            3,
            community=0,
            confidence=0.75,
            reason="both",
            location=(41.3874, 2.1686),
            key_chosen=True,
            interval=(1, 2),
        ),
    ),
    scores=(0.0, 0.5, 0.25),
    times=(10.0, 12.5, 99.0),
    clock="wall",
    names=("a.jpg", "b.jpg", "c.jpg"),
    source="day",
    method="default",
    skipped=(SkippedFile("bad.jpg", "cut off"),),
    notes=("ordered by name",),
    places=(Place(1, "kitchen", "7f3a"), Place(0)),
    levels=(
        NestedLevel(-1, (), ()),
        NestedLevel(0, (2,), (0.75,)),
        NestedLevel(1, (1, 2), (0.25, 0.75)),
    ),
)


def test_json_gives_back_what_went_in():
    assert Segmentation.from_json(FULL.to_json()) == FULL


def test_an_interval_is_known_as_long_as_it_holds_its_boundary():
    assert FULL.intervals == ((1, 2),)
    assert [row["earliest"] for row in FULL.to_dicts()] == [None, 1]
    assert [row["latest"] for row in FULL.to_dicts()] == [None, 2]
    moved = Segmentation.from_boundaries([4], 9, intervals=[(5, 6)])  # as after an edit by hand
    assert moved.intervals == (None,)


def test_json_follows_the_schema():
    for segmentation in (FULL, Segmentation.from_boundaries([4], 9)):
        jsonschema.validate(json.loads(segmentation.to_json()), events_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {"format": "dayline-events", "version": 1, "n_frames": 0, "events": []}, events_schema()
        )


def test_the_first_version_is_read_with_only_what_it_requires():
    text = (
        '{"format": "dayline-events", "version": 1, "n_frames": 5, "events": [{"start": 0, "stop":'
        ' 5, "later": 1}]}'
    )
    assert Segmentation.from_json(text).events == (Event(0, 5),)


def test_events_take_the_most_frequent_community_and_their_times():
    made = Segmentation.from_boundaries(
        [3], 5, communities=[2, 2, 7, 7, 1], times=(0.5, 1.0, 2.0, 4.0, 8.0)
    )
    assert made.events[0] == Event(0, 3, community=2, start_time=0.5, stop_time=2.0, reason="start")
    assert made.events[1].community == 1
    assert made.boundaries == (3,)
    assert made.labels.tolist() == [0, 0, 0, 1, 1]


@given(st.integers(2, 30).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(1, n - 1)))))
def test_boundaries_and_labels_are_two_views_of_one_thing(case):
    n, boundaries = case
    labels = boundaries_to_labels(sorted(boundaries), n)
    assert labels_to_boundaries(labels).tolist() == sorted(boundaries)
    assert labels[-1] == len(boundaries)


def test_labels_may_be_words():
    assert labels_to_boundaries(["walk", "walk", "sit", "walk"]).tolist() == [2, 3]
    assert labels_to_boundaries(np.asarray([1])).tolist() == []


ONE = {"format": "dayline-events", "version": 1, "n_frames": 2, "events": [{"start": 0, "stop": 2}]}


def one(**event):
    """Return changes to a file of one event."""
    return {"events": [{"start": 0, "stop": 2} | event]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("{", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ("[]", "not an events file"),
        ({"version": 99}, "unknown events version 99"),
        ({"events": None}, "missing or invalid fields: events is nothing"),
        ({"events": []}, "events has 0 values"),
        ({"events": [{"start": 0}]}, r"events\[0\] has no 'stop'"),
        ({"events": [{"start": 3, "stop": 5}]}, "must start at frame 0"),
        ({"events": [{"start": 0, "stop": 5}, {"start": 6, "stop": 7}]}, "gap"),
        ({"events": [{"start": 0, "stop": 2}, {"start": 2, "stop": 2}]}, "contains no frames"),
        ({"n_frames": 3}, "n_frames is 3, but the last event stops at 2"),
        (one(start="0"), "type integer"),
        (one(stop=True), r"events\[0\].stop is True"),
        (one(stop=10**13), r"stop is 10000000000000; it must be at least 1 and at most 1e\+07"),
        (one(key_chosen=1), "key_chosen is 1; it must be of type boolean"),
        (one(key_frame=2), r"event 0\.\.2: key frame 2 does not exist"),
        (one(key_frame=-1), "key_frame is -1; it must be at least 0$"),
        (one(location=[1]), "location has 1 values; it must have at least 2"),
        (one(location=[1, 2, 3]), "at most 2"),
        (one(name=5), r"events\[0\].name is 5; it must be of type string or null"),
        (one(community=[1]), r"events\[0\].community is \[1\]"),
        (one(community=10**30), r"community is 1000.* at most 1e\+09"),
        (one(reason=["content"]), "it must be 'start' or 'content' or"),
        ({"source": 5}, "source is 5"),
        ({"times": [1]}, "1 times for 2"),
        ({"times": ["0", "1"]}, r"times\[0\] is '0'; it must be of type number"),
        ({"times": [0.0, float("nan")]}, r"times\[1\] is nan"),
        ({"times": [0.0, 1e300]}, r"times\[1\] is 1e\+300; .* at least -1e\+12 and at most 1e\+12"),
        ({"scores": [0.0, float("nan")]}, r"scores\[1\] is nan; it must be a finite number"),
        ({"scores": [float("-inf"), 0.0]}, r"scores\[0\] is -inf; it must be a finite number"),
        ({"scores": [10**400, 0.0]}, r"scores\[0\] is 1000.*; it must be a finite number"),
        ({"notes": "one"}, "notes is 'one'; it must be of type array"),
        ({"places": [{"community": 0}] * 2}, "two places have the same community"),
        (
            {"levels": [{"level": 0, "boundaries": [2], "confidences": [0.5]}]},
            "boundaries of level 0 must increase",
        ),
        ({"levels": [{"level": 0, "boundaries": [1], "confidences": []}]}, "0 confidences for 1"),
    ],
)
def test_wrong_files_are_refused_by_name(tmp_path, change, message):
    path = tmp_path / "events.json"
    path.write_text(change if isinstance(change, str) else json.dumps(ONE | change))
    with pytest.raises(ValueError, match=message) as error:
        read_events(path)
    assert str(error.value).startswith(f"{path}: ")


def test_a_file_without_the_number_of_frames_is_read():
    content = {name: value for name, value in ONE.items() if name != "n_frames"}
    assert Segmentation.from_json(json.dumps(content)).n_frames == 2


def test_a_key_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "events.json"
    path.write_text(FULL.to_json().replace('"start": 2,', '"start": 2, "stop": 9,'))
    with pytest.raises(ValueError, match=r"events\.json: .*contains 'stop' twice"):
        read_events(path)


@pytest.mark.parametrize("n_frames", [10**7 + 1, 10**9])
def test_more_frames_than_any_sequence_has_are_refused_with_the_limit(n_frames):
    for change in ({"n_frames": n_frames}, {"events": [{"start": 0, "stop": n_frames}]}):
        with pytest.raises(ValueError, match=r"it must be at least 1 and at most 1e\+07"):
            Segmentation.from_json(json.dumps(ONE | change))


def test_the_limit_is_that_of_the_schema():
    properties = events_schema()["properties"]
    limits = {
        properties["n_frames"]["maximum"],
        properties["events"]["items"]["properties"]["stop"]["maximum"],
    }
    assert limits == {MOST_FRAMES}


def test_every_damaged_events_file_is_named_in_one_line(tmp_path):
    path, good, rng, messages = (
        tmp_path / "events.json",
        FULL.to_json().encode(),
        np.random.default_rng(0),
        [],
    )
    for _ in range(500):
        damaged = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            damaged[int(rng.integers(len(good)))] = int(rng.integers(256))
        path.write_bytes(damaged)
        try:
            read_events(path)
        except ValueError as error:
            messages.append(str(error))
    assert len(messages) > 100
    assert all(message.startswith(f"{path}: ") and "\n" not in message for message in messages)


def test_the_times_of_events_are_exact_only_between_their_frames():
    times = (0.0, 1.0, 2.0, 3.0)
    plain = Segmentation.from_boundaries([2], 4, times=times)
    assert (plain.start_times, plain.stop_times) == ((0.0, 2.0), (1.0, 3.0))

    def edited(**changes):
        first = Event(0, 2, stop_time=changes.get("stop_time"))
        return Segmentation((first, Event(2, 4, start_time=changes.get("start_time"))), times=times)

    exact = edited(start_time=1.5, stop_time=1.25)
    assert (exact.start_times, exact.stop_times) == ((0.0, 1.5), (1.25, 3.0))
    for wrong in ({"start_time": 0.5}, {"start_time": 2.5}, {"stop_time": 2.5}, {"stop_time": 0.5}):
        assert (edited(**wrong).start_times, edited(**wrong).stop_times) == ((0.0, 2.0), (1.0, 3.0))
    unknown = Segmentation((Event(0, 2, start_time=5.0), Event(2, 4)))
    assert (unknown.start_times, unknown.stop_times) == ((5.0, None), (None, None))


def test_values_of_frames_may_be_arrays():
    made = Segmentation.from_boundaries([5], 10, times=np.arange(10.0), scores=np.zeros(10))
    assert made == Segmentation.from_boundaries(
        [5], 10, times=tuple(map(float, range(10))), scores=(0.0,) * 10
    )
    assert '"times"' in made.to_json()


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ([1, 2], "2 times for 10 frames"),
        (np.arange("2024-01-01", "2024-01-11", dtype="M8[D]"), "must be numbers"),
    ],
)
def test_wrong_times_are_refused(times, why):
    with pytest.raises(ValueError, match=why):
        Segmentation.from_boundaries([5], 10, times=times)


def test_a_missing_confidence_is_refused_and_loses_no_event():
    with pytest.raises(ValueError, match=r"^1 confidences for 2 boundaries$"):
        Segmentation.from_boundaries([3, 6], 9, confidences=[0.5])
