"""The page in a browser: films, features without a clock, several days, odd clocks, no script."""

from __future__ import annotations

import pytest

from dayline.events import Segmentation
from dayline.report import write_page


def test_a_film_goes_by_hours_minutes_and_seconds(visit, tmp_path):
    film = Segmentation.from_boundaries(
        [3], 5, times=(0.0, 2.5, 1800.0, 3600.0, 3725.0), clock="media", source="film.mp4"
    )
    write_page(film, tmp_path)
    seen = visit(tmp_path)
    assert seen.spans() == ["0:00:00", "1:00:00"]
    assert seen.row(1).locator(".to").inner_text() == "– 1:02:05"
    assert "5 frames" in seen.page.locator("#summary").inner_text()
    assert seen.complaints == []


def test_without_clock_and_pictures_rows_go_by_frame_numbers(visit, tmp_path):
    write_page(Segmentation.from_boundaries([40], 100, source="features.npy"), tmp_path)
    seen = visit(tmp_path)
    assert seen.spans() == ["0", "40"]
    assert seen.row(1).locator(".to").inner_text() == "– 99"
    seen.page.locator(".track").click()
    assert seen.page.locator(".no-picture").inner_text() == "frame 50"
    assert seen.complaints == []


def test_several_days_have_a_line_and_a_heading_each(visit, tmp_path):
    times = [1426118400.0 + 86400 * (t // 10) + 3600 * 9 + 60 * t for t in range(30)]
    write_page(Segmentation.from_boundaries([5, 10, 20], 30, times=tuple(times), clock="wall"), tmp_path)
    seen = visit(tmp_path)
    assert seen.page.locator(".lane-label").all_inner_texts() == ["Thu 12 Mar", "Fri 13 Mar", "Sat 14 Mar"]
    assert seen.page.locator(".new-day").all_inner_texts() == [
        "Thursday 12 March 2015",
        "Friday 13 March 2015",
        "Saturday 14 March 2015",
    ]
    assert [lane.locator(".piece").count() for lane in seen.page.locator(".lane").all()] == [2, 1, 1]


@pytest.mark.parametrize("times", [(5.0, 5.0, 5.0), (3.0, 1.0, 2.0)])
def test_clocks_that_stand_or_run_backwards_are_drawn_by_frame(visit, tmp_path, times):
    write_page(Segmentation.from_boundaries([1], 3, times=times, clock="wall", scores=(0.2, 0.2, 0.2)), tmp_path)
    seen = visit(tmp_path)
    widths = seen.page.locator(".piece").evaluate_all("all => all.map(e => parseFloat(e.style.width))")
    assert widths == pytest.approx([100 / 3, 200 / 3], rel=1e-4)
    assert seen.complaints == []


def test_a_reader_without_script_sees_the_events(chromium, day_folder):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((day_folder / "index.html").as_uri())
    cells = page.locator(".plain tbody tr").nth(1).locator("td").all_inner_texts()
    context.close()
    assert cells == ["2", "8", "19", ""]
