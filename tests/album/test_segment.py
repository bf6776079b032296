from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image, ImageFilter

from dayline.album import extraction
from dayline.album.segment import segment_frames, segment_source, segment_table
from dayline.album.settings import Settings
from dayline.album.write import write_result
from dayline.estimators import EventSegmenter
from dayline.events import Segmentation
from dayline.media import decode
from dayline.result_folder import output_folder
from made_photos import MORNING, make_day, make_film, name_at, save, scene


def test_photos_are_split_where_the_scene_changes(tmp_path):
    make_day(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    assert found.boundaries == (12, 26)
    assert [e.reason for e in found.events] == ["start", "content", "content"]
    assert found.events[0].community != found.events[1].community
    assert all(e.start <= e.key_frame < e.stop for e in found.events)
    assert found.events[1].start_time % 86_400 == MORNING + 12 * 30
    assert found.events[1].stop_time % 86_400 == MORNING + 25 * 30
    assert found.clock == "wall"
    assert found.source == tmp_path.name
    assert found.notes == ("photos in order by the time in the file names",)


def test_a_pause_is_a_boundary_with_its_reason(tmp_path):
    make_day(tmp_path / "same", [("red", 12), ("blue", 12), ("blue", 12)], pause_before=2)
    same = segment_source(tmp_path / "same", model="color").segmentation
    assert same.boundaries == (12, 24)
    assert same.events[2].reason == "pause"
    assert "1 pause of the camera, the longest 67 min: each is a boundary" in same.notes
    joined = Segmentation.from_boundaries([12], 36, names=same.names, times=same.times)
    corrected = segment_source(tmp_path / "same", model="color", corrections=joined).segmentation
    assert corrected.boundaries == (12,)
    assert not any("pause" in note for note in corrected.notes)
    make_day(tmp_path / "other", [("red", 12), ("green", 12), ("blue", 12)], pause_before=2)
    other = segment_source(tmp_path / "other", model="color").segmentation
    assert [e.reason for e in other.events] == ["start", "content", "both"]


def test_the_rule_for_pauses_can_be_set(tmp_path):
    make_day(tmp_path, [("red", 12), ("blue", 12), ("blue", 12)], pause_before=2)
    assert segment_source(tmp_path, model="color").segmentation.boundaries == (12, 24)
    assert segment_source(tmp_path, model="color", pause_seconds=7200).segmentation.boundaries == (
        12,
    )
    assert segment_source(tmp_path, model="color", pause_factor=1000).segmentation.boundaries == (
        12,
    )


def test_a_pause_within_a_burst_is_a_boundary(tmp_path):
    for k in range(24):
        # Ten a second, all alike, and a gap of 1.7 s, which is long for such a camera and short for
        # a burst.
        save(
            scene("red", 0),
            tmp_path / f"20150312_0900{(k + 16 * (k >= 12)) // 10:02d}{k % 10}00.png",
        )
    found = segment_source(tmp_path, model="color", pause_seconds=1.0).segmentation
    assert found.boundaries == (12,)
    assert found.events[1].reason == "pause"
    assert segment_source(tmp_path, model="color").segmentation.boundaries == ()


def test_a_burst_counts_once_and_stays_together(tmp_path):
    paths = make_day(tmp_path, [("red", 10), ("green", 10)])
    for k in range(1, 6):
        # Five more at the first green moment, at most a second apart, all alike.
        os.link(paths[10], tmp_path / paths[10].name.replace(".png", f"{k:03d}.png"))
    found = segment_source(tmp_path, model="color")
    assert found.segmentation.n_frames == 25
    assert found.segmentation.boundaries == (10,)
    assert (
        "1 burst of near-identical photos (6 photos): each counts as one frame"
        in found.segmentation.notes
    )
    assert len(found.communities) == 25
    assert found.graph.shape == (25, 25)
    np.testing.assert_array_equal(found.graph[10], found.graph[15])
    assert found.segmentation.scores[11:16] == (0, 0, 0, 0, 0)


def test_the_key_photo_is_a_sharp_one(tmp_path):
    for k in range(24):
        pixels = scene("red" if k < 12 else "blue", k)
        if k % 2:
            pixels = np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(2)))
        save(pixels, tmp_path / name_at(MORNING + 30 * k))
    names = tuple(name_at(MORNING + 30 * k) for k in range(24))
    halves = Segmentation.from_boundaries([12], 24, names=names)
    result = segment_source(tmp_path, model="color", corrections=halves)
    assert len(result.segmentation.events) == 2
    assert all(e.key_frame % 2 == 0 for e in result.segmentation.events)


def test_a_table_needs_no_photos():
    table = segment_table(np.repeat(np.eye(3)[[0, 1]], 10, axis=0) + 0.01, times=np.arange(20.0))
    assert table.segmentation.boundaries == (10,)
    assert table.segmentation.events[1].start_time == 10
    assert table.sequence is None


def test_bad_photos_are_named_and_the_rest_goes_on(tmp_path):
    paths = make_day(tmp_path)
    paths[3].write_bytes(b"")
    paths[20].write_bytes(paths[20].read_bytes()[:-300])
    (tmp_path / "20150312_090010.jpg").write_text("no image at all")
    found = segment_source(tmp_path, model="color").segmentation
    assert found.n_frames == 36
    assert found.boundaries == (11, 24)
    assert sorted(s.name for s in found.skipped) == sorted(
        ["20150312_090010.jpg", paths[3].name, paths[20].name]
    )
    assert all(s.why for s in found.skipped)
    assert not {s.name for s in found.skipped} & set(found.names)


def test_more_than_half_bad_is_an_error(tmp_path):
    paths = make_day(tmp_path, [("red", 6)])
    for path in paths[:4]:
        path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(ValueError, match=r"4 of 6 frames cannot be read, more than half"):
        segment_source(tmp_path, model="color")


@pytest.fixture
def opened(monkeypatch):
    """Names of the photos that were opened, each time that one was."""
    names: list[str] = []
    really = decode.read_photo

    def read(path, name, **how):
        names.append(name)
        return really(path, name, **how)

    monkeypatch.setattr(decode, "read_photo", read)
    return names


def test_every_photo_is_opened_once_and_by_a_second_run_never(tmp_path, opened, monkeypatch):
    photos, store = tmp_path / "photos", tmp_path / "store"
    paths = make_day(photos)
    with output_folder(store):
        first = segment_frames(photos, Settings(method="", model="color"), store)
    monkeypatch.setattr("dayline.album.write.images", None)
    assert len(write_result(first, store).pictures) == len(paths)
    assert sorted(opened) == sorted(path.name for path in paths)
    opened.clear()
    again = segment_source(photos, model="color", store=store)
    assert (opened, again.segmentation) == ([], first.segmentation)
    save(scene("blue", 1), paths[30])
    segment_source(photos, model="color", store=store)
    assert opened == [paths[30].name]
    segment_source(photos, model="hog", store=store)
    assert len(opened) == 1 + len(paths)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, opened):
    photos, store = tmp_path / "photos", tmp_path / "store"
    make_day(photos)

    def stop(what, done, _):
        if what == "features" and done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        segment_source(photos, model="color", store=store, on_step=stop)
    opened.clear()
    again = segment_source(photos, model="color", store=store)
    assert len(opened) == 38 - 16
    assert again.segmentation == segment_source(photos, model="color").segmentation


def test_what_was_read_is_saved_during_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(extraction, "SAVE_EVERY", 0.0)
    photos, store = tmp_path / "photos", tmp_path / "store"
    make_day(photos)
    kept = set()

    def look(*_):
        if (store / "features.npz").exists():
            kept.add(len(np.load(store / "features.npz")["names"]))

    segment_source(photos, model="color", store=store, on_step=look)
    assert min(kept) < max(kept) == 38


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_photos_are_one_event(tmp_path, n):
    make_day(tmp_path, [("red", n)])
    assert len(segment_source(tmp_path, model="color").segmentation.events) == 1


def test_a_video_has_media_times(tmp_path):
    film = make_film(tmp_path / "film.mp4")
    found = segment_source(
        film, model="color", every=0.5, segmenter=EventSegmenter(n_events=2)
    ).segmentation
    assert found.n_frames == 22
    assert found.clock == "media"
    assert found.names[10] == "0:00:05.000"
    assert found.source == "film.mp4"
    assert abs(found.events[1].start_time - 5.0) <= 0.5
    assert found.events[1].start_time == found.times[found.boundaries[0]]


def test_steps_are_told(tmp_path):
    make_day(tmp_path)
    steps = []
    segment_source(tmp_path, model="color", on_step=lambda *step: steps.append(step))
    assert ("features", 38, 38) in steps
    assert len({what for what, _, _ in steps}) > 1


def test_a_clock_set_back_is_no_obstacle(tmp_path):
    for k in range(24):
        moment = MORNING + 30 * k - (3600 if k >= 12 else 0)
        save(scene("red" if k < 12 else "blue", k), tmp_path / f"{k:03d}_{name_at(moment)}")
    found = segment_source(tmp_path, model="color", order="name").segmentation
    assert found.boundaries == (12,)
    assert found.times[12] < found.times[11]
    assert any("the clock goes back by 1 h 00 min" in note for note in found.notes)


def test_times_of_a_table_that_are_dates_are_shown_as_such():
    rows = np.repeat(np.eye(3)[[0, 1]], 10, axis=0) + 0.01
    assert segment_table(rows, times=1.7e9 + 30 * np.arange(20)).segmentation.clock == "wall"
    assert segment_table(rows, times=30.0 * np.arange(20)).segmentation.clock is None


def test_photos_are_never_said_to_be_transposed(tmp_path, monkeypatch):
    monkeypatch.setattr("dayline.checks.looks_transposed", lambda features: True)
    make_day(tmp_path)
    assert segment_source(tmp_path, model="color").segmentation.n_frames == 38
