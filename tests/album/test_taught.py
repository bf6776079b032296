"""Corrected days teach how fine the events of other days should be; two accidents teach nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from cli.run_command import run
from dayline import EventSegmenter, Segmentation
from dayline.album.settings import Settings
from dayline.album.taught import doublings_taught, with_taught
from dayline.events import read_events
from made_photos import make_day


def day(n_found, n_events, *, moved=False, **about):
    made = Segmentation.from_boundaries(range(5, 5 * n_events, 5), 5 * n_events)
    events = list(made.events)
    events[-1] = replace(events[-1], reason="required" if moved else "content", name="lunch")
    return replace(made, events=tuple(events), n_events_found=n_found, **about)


def test_who_merges_wants_fewer_events_and_who_splits_more():
    # (24 + 30) / (24 + 60) is -.64 doublings, (24 + 120) / (24 + 60) is .78; in quarters:
    assert doublings_taught([day(20, 10)] * 3) == -0.75
    assert doublings_taught([day(20, 40)] * 3) == 0.75
    # Nobody gets more than four times as many.
    assert doublings_taught([day(2, 100)] * 9) == 2.0


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [day(20, 18)],  # two merged by accident: 42 / 44
        [day(20, 22)],
        [day(3, 1)],  # 25 / 27 is -.11 doublings, less than half of a quarter
        [day(1, 2), day(1, 2)],  # 28 / 26 is .11
        [day(20, 20)] * 9,  # names only
        [day(20, 20, moved=True)] * 9,  # boundaries that moved
        [day(None, 5)] * 3,  # of an earlier version
        [day(20, 10, clock="media", times=tuple(map(float, range(50))))] * 3,  # a film
    ],
)
def test_names_and_a_few_changes_teach_nothing(edits):
    assert doublings_taught(edits) == 0 or edits[0].clock == "media"
    settings = Settings(segmenter=EventSegmenter())
    assert with_taught(settings, edits) is settings


@pytest.mark.parametrize("asked", [{"n_events": 5}, {"level": -1}, {"expected_duration": 60.0}])
def test_what_a_person_asks_for_comes_first(asked):
    settings = Settings(segmenter=EventSegmenter(**asked))
    assert with_taught(settings, [day(20, 10)] * 3) is settings


def saved(path, boundaries):
    """Merge events in a result, as the page does."""
    content = json.loads(path.read_text())
    events = [e for e in content["events"] if e["start"] in (0, *boundaries)]
    for event, after in zip(events, [*events[1:], None], strict=True):
        event["stop"] = content["n_frames"] if after is None else after["start"]
    path.write_text(json.dumps(content | {"events": events}))


@pytest.mark.filterwarnings("default")  # the command line shows them as notes
def test_later_days_are_coarser_and_say_so_with_the_way_out(tmp_path):
    trip, out = tmp_path / "trip", tmp_path / "out"
    scenes = tuple((color, 9) for color in ("red", "green", "blue", "green") * 2)
    for k in (2, 3, 4):
        make_day(trip / f"day{k}", scenes, day=f"2015031{k}")
    command = ("segment", trip, "-o", out, "--model", "color")
    assert run(*command).returncode == 0
    first = {k: read_events(out / f"day{k}" / "events.json") for k in (2, 3, 4)}
    assert [len(one.events) for one in first.values()] == [8, 8, 8]
    assert [one.n_events_found for one in first.values()] == [8, 8, 8]

    for k in (2, 3):
        saved(out / f"day{k}" / "events.json", first[k].boundaries[3:4])
    done = run(*command)
    note = (
        "learned from your corrections (--forget-learned leaves them out): events are 1.4 times"
        " coarser than the default would cut"
    )
    assert done.stderr.count(note) == 1
    # (24 + 4) / (24 + 16) is half a doubling less: 8 / 1.41 events.
    later = read_events(out / "day4" / "events.json")
    assert (len(later.events), later.n_events_found) == (6, 8)
    assert note in later.notes
    assert note in (out / "day4" / "index.html").read_text()
    # A corrected day stays as it was corrected, and still knows what was found in it.
    corrected = read_events(out / "day2" / "events.json")
    assert corrected.boundaries == first[2].boundaries[3:4]
    assert corrected.n_events_found == 8
    assert not any("learned" in one for one in corrected.notes)

    again = run(*command)
    assert read_events(out / "day4" / "events.json").boundaries == later.boundaries
    assert again.returncode == 0

    # What was corrected can be used elsewhere.
    mine = tmp_path / "mine.json"
    done = run("learn", out, out / "day2", "-o", mine, "--name", "trips")
    assert done.stdout.startswith(
        "trips: events are 1.4 times coarser than the default would cut"
        " (2 recordings, 2 boundaries)\n"
    )
    day4 = ("segment", trip / "day4", "--model", "color", "--json", "--learned", mine)
    elsewhere = json.loads(run(*day4).stdout)
    assert len(elsewhere["events"]) == 6

    plain = run(*command, "--forget-learned")
    assert "learned" not in plain.stderr
    assert read_events(out / "day4" / "events.json").boundaries == first[4].boundaries


def test_only_corrected_results_teach(tmp_path):
    make_day(tmp_path / "day", (("red", 9), ("blue", 9)), day="20150312")
    run("segment", tmp_path / "day", "-o", tmp_path / "out", "--model", "color")
    np.savez(tmp_path / "a.npz", features=np.eye(9), boundaries=[4])
    for given, why in (
        (["out"], "no boundary was corrected"),
        (["day"], "is no result of dayline"),
        (["out", "a.npz"], "a.npz is no folder; pass labeled recordings or results"),
    ):
        done = run("learn", *(tmp_path / name for name in given), "-o", tmp_path / "mine.json")
        assert done.returncode == 2
        assert why in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "mine.json").exists()
