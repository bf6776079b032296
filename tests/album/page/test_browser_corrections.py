"""From photos to the page, to a person's corrections, and back."""

from __future__ import annotations

import pytest

from dayline.album.days import find_days, segment_days
from dayline.album.segment import segment_source
from dayline.album.settings import Settings
from dayline.album.write import write_result
from made_photos import make_day


def test_corrections_saved_on_the_page_come_back(visit, tmp_path):
    photos, folder = tmp_path / "photos", tmp_path / "out"
    make_day(photos, [("red", 12), ("blue", 12), ("blue", 12)], pause_before=2)
    found = segment_source(photos, model="color", store=folder)
    assert found.segmentation.boundaries == (12, 24)
    write_result(found, folder)
    seen = visit(folder)
    seen.merge(2)
    seen.split(0, 5)
    seen.row(2).locator(".name").fill('Lunch "at" <Ada>')
    saved = seen.saved()
    assert seen.complaints == []
    again = segment_source(photos, model="color", store=folder, corrections=saved)
    assert again.segmentation.boundaries == saved.boundaries == (5, 12)
    assert [e.reason for e in again.segmentation.events] == ["start", "required", "content"]
    write_result(again, folder)
    page = visit(folder)
    assert page.names() == ["Event 1", "Event 2", 'Lunch "at" <Ada>']
    assert page.complaints == []


@pytest.mark.slow
def test_the_overview_leads_to_the_days(visit, tmp_path):
    trip, out, settings = tmp_path / "trip", tmp_path / "out", Settings(model="color")
    for k in (2, 3):
        make_day(trip / f"day {k} #&", day=f"2015031{k}")
    days = find_days(trip, settings, by_folder=True, store=out).days
    list(segment_days(days, out, settings, source=trip))
    for width in (1280, 390):
        seen = visit(out, width=width)
        seen.wait_until(
            "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
        )
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.page.get_by_text("Friday 13 March 2015").click()
    assert seen.page.locator("h1").inner_text() == "Friday 13 March 2015"
    assert all(request.startswith("file://") for request in seen.requests)
    assert seen.complaints == []


@pytest.mark.slow
def test_a_real_day_is_usable_at_once(visit, shared, tmp_path):
    result = segment_source(shared / "photos" / "day1", store=tmp_path)
    assert result.segmentation.n_frames == 586
    # People marked 17 events; see WORN_CAMERA_EVENT.
    assert 16 <= len(result.segmentation.events) <= 22
    write_result(result, tmp_path)
    size = sum(
        p.stat().st_size for p in tmp_path.rglob("*") if p.suffix in (".jpg", ".html", ".png")
    )
    assert size < 30e6
    seen = visit(tmp_path)
    assert seen.page.locator(".event").count() == len(result.segmentation.events)
    assert seen.complaints == []
