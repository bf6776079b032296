from __future__ import annotations

from pathlib import Path

import pytest

from dayline import EventSegmenter
from dayline.album.days import (
    PhotoDay,
    find_days,
    segment_days,
    segment_recording,
    without_places,
)
from dayline.album.settings import Settings
from dayline.events import SkippedFile
from dayline.files import temporary_folder
from dayline.media.frame import FrameSequence
from made_photos import make_day


def segmented(trip, out, *, days=None, **settings):
    chosen = Settings(model="color", **settings)
    if days is None:
        days = find_days(trip, chosen, by_folder=True, store=out).days
    return list(segment_days(days, out, chosen, source=trip))


def test_a_day_has_the_same_events_alone_and_among_others(tmp_path):
    days = {
        "20150312": [("red", 12), ("green", 14), ("red", 12)],
        "20150313": [("blue", 6), ("sand", 9), ("blue", 30)],
        "20150314": [("green", 40), ("red", 5), ("blue", 5), ("sand", 20)],
    }
    for day, scenes in days.items():
        make_day(tmp_path / "all", scenes, day=day)
        make_day(tmp_path / day, scenes, day=day)
    settings = Settings(model="color")
    found = find_days(tmp_path / "all", settings, store=tmp_path / "out").days
    together = segmented(tmp_path / "all", tmp_path / "out", days=found)
    alone = [segment_recording(tmp_path / day, None, settings) for day in days]
    assert [r.segmentation.boundaries for r in together] == [
        r.segmentation.boundaries for r in alone
    ]
    assert alone[0].segmentation.boundaries == (12, 26)


def test_each_day_has_its_result_and_the_overview_leads_to_it(tmp_path):
    make_day(tmp_path / "trip" / "2015-03-12")
    make_day(tmp_path / "trip" / "2015-03-13 <i>", day="20150313")
    (tmp_path / "trip" / "2015-03-14").mkdir()
    (tmp_path / "trip" / "2015-03-14" / "a.jpg").touch()
    results = segmented(tmp_path / "trip", tmp_path / "out")
    assert [len(r.segmentation.events) if r.segmentation else r.why for r in results[:2]] == [3, 3]
    assert "more than half" in results[2].why
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert '<h1 dir="auto">trip</h1>' in page
    assert "3 days · 6 events" in page
    assert 'href="2015-03-12/index.html">Thursday 12 March 2015</a>' in page
    assert 'href="2015-03-13%20%3Ci%3E/index.html">Friday 13 March 2015</a>' in page
    assert "2015-03-13 &lt;i&gt;" in page
    assert "<i>" not in page
    assert page.count("<img ") == 6
    assert "Left out: 1 of 1 frames cannot be read" in page
    assert str(tmp_path) not in page
    assert (tmp_path / "out" / "2015-03-13 <i>" / "index.html").is_file()


def test_what_is_said_of_a_day_names_it_also_if_nothing_changed(tmp_path):
    for name, day in (("first", "20150312"), ("second", "20150313")):
        make_day(tmp_path / "trip" / name, [("red", 12), ("green", 14)], day=day)
    for _ in range(2):
        with pytest.warns(UserWarning, match="level=100") as said:
            segmented(tmp_path / "trip", tmp_path / "out", segmenter=EventSegmenter(level=100))
        lines = [str(one.message) for one in said]
        assert [line.split(": level=100: the finest")[0] for line in lines] == ["first", "second"]


def test_days_of_which_none_can_be_used_are_an_error(tmp_path):
    lost = (SkippedFile("x.jpg", "empty file"),)
    days = [
        PhotoDay(name, FrameSequence(tmp_path / name, "photos", (), None, "", skipped=lost))
        for name in ("a", "b")
    ]
    with pytest.raises(ValueError, match=r"none of the 2 days could be used; .*more than half"):
        segmented(tmp_path, tmp_path / "out", days=days)


def test_a_day_that_cannot_be_used_now_keeps_no_pictures_where_none_are_wanted(tmp_path):
    broken = make_day(tmp_path / "trip" / "d1")
    make_day(tmp_path / "trip" / "d2", day="20150313")
    out = tmp_path / "out"
    segmented(tmp_path / "trip", out)
    for path in broken:
        path.write_bytes(b"")
    with pytest.warns(UserWarning, match="d1: the pictures of this earlier result were removed"):
        segmented(tmp_path / "trip", out, thumbnails=False)
    assert not list(out.rglob("*.jpg"))
    assert (out / "d1" / "events.json").is_file()


def test_an_export_of_an_earlier_single_day_is_removed_where_no_photos_are_wanted(tmp_path):
    day, out = tmp_path / "trip" / "day", tmp_path / "out"
    make_day(day)
    segment_recording(day, out, Settings(model="color", formats=("photos",)))
    with pytest.warns(UserWarning, match=r"out/photos of an earlier run is removed") as said:
        segmented(tmp_path / "trip", out, thumbnails=False)
    assert len(said) == 1
    assert not (out / "photos").exists()


def test_leftovers_in_results_of_days_that_are_gone_are_removed(tmp_path):
    make_day(tmp_path / "trip" / "d1")
    make_day(tmp_path / "trip" / "gone")
    out, gone = tmp_path / "out", tmp_path / "out" / "gone"
    segmented(tmp_path / "trip", out)
    temporary_folder(gone, "photos")
    days = find_days(tmp_path / "trip", Settings(model="color"), by_folder=True).days
    segmented(tmp_path / "trip", out, days=days[:1])
    assert not list(gone.glob(".*.part"))
    assert (gone / "events.json").is_file()


def test_messages_lose_their_paths_and_no_letters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f"o/d1: go on without it, or move {tmp_path}/o/d1 to o"
    assert without_places(text, Path("trip"), Path("o")) == "d1: go on without it, or move d1 to "
