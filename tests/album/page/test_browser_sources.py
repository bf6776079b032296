"""The page in a browser: films, features without a clock, several days, odd clocks, no script."""

from __future__ import annotations

from dataclasses import replace

import pytest

from album.page.conftest import made_picture
from dayline.album.page.page import write_page
from dayline.events import Segmentation
from made_photos import write_pictures


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


@pytest.mark.parametrize(
    ("clock", "texts"),
    [
        (
            "media",
            [
                "59 s",
                "1 min 0 s",
                "2 min 0 s",
                "1 min 30 s",
                "9 min 59 s",
                "10 min",
                "1 h",
                "1 h 1 min",
                "2 h",
            ],
        ),
        (
            "wall",
            ["59 s", "1 min", "2 min", "1 min", "10 min", "10 min", "1 h", "1 h 1 min", "2 h"],
        ),
    ],
)
def test_durations_never_have_sixty_seconds_or_minutes(visit, tmp_path, clock, texts):
    durations = [59.4, 59.7, 119.7, 89.6, 599.4, 599.7, 3599.7, 3659.7, 7199.7]
    starts = [10_000.0 * k for k in range(len(durations))]
    times = tuple(
        time
        for start, lasts in zip(starts, durations, strict=True)
        for time in (start, start + lasts)
    )
    made = Segmentation.from_boundaries(
        range(2, len(times), 2), len(times), times=times, clock=clock
    )
    write_page(made, tmp_path)
    assert visit(tmp_path).page.locator(".event .long").all_inner_texts() == texts


def test_a_long_film_shows_the_nearest_picture_and_keeps_exact_times(visit, tmp_path):
    times = tuple(0.5 * k for k in range(60))
    film = Segmentation.from_boundaries([20, 40], 60, times=times, clock="media", source="film.mp4")
    first, second, third = film.events
    film = replace(
        film,
        events=(
            replace(first, stop_time=9.92),
            replace(second, start_time=9.96, stop_time=19.72),
            replace(third, start_time=19.76),
        ),
    )
    pictures = write_pictures(((k, made_picture(k)) for k in (0, 8, 16, 19, 20, 24, 32)), tmp_path)
    write_page(film, tmp_path, thumbnails=pictures)
    seen = visit(tmp_path)
    assert [row.locator(".strip .thumb").count() for row in (seen.row(0), seen.row(1))] == [4, 3]
    seen.row(1).locator('.strip [data-frame="24"]').click()
    assert "picture of" not in seen.page.locator(".viewer-detail").inner_text()
    seen.page.keyboard.press("ArrowRight")
    assert "0:00:12" in seen.page.locator(".viewer-detail").inner_text()
    assert seen.page.locator(".viewer-detail").inner_text().endswith("picture of 0:00:12")
    shown = seen.page.locator(".stage img").get_attribute("src")
    assert shown == pictures[24]
    # Other events lend no picture.
    seen.page.keyboard.press("End")
    assert seen.page.locator(".no-picture").inner_text() == "0:00:29"
    seen.page.keyboard.press("Escape")
    seen.split(1, 30)
    seen.merge(3)
    saved = seen.saved()
    assert [(e.start_time, e.stop_time) for e in saved.events] == [
        (0.0, 9.92),
        (9.96, 14.5),
        (15.0, 29.5),
    ]
    assert saved.start_times == (0.0, 9.96, 15.0)
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
    write_page(
        Segmentation.from_boundaries([5, 10, 20], 30, times=tuple(times), clock="wall"), tmp_path
    )
    seen = visit(tmp_path)
    assert seen.page.locator(".lane-label").all_inner_texts() == [
        "Thu 12 Mar",
        "Fri 13 Mar",
        "Sat 14 Mar",
    ]
    assert seen.page.locator(".new-day").all_inner_texts() == [
        "Thursday 12 March 2015",
        "Friday 13 March 2015",
        "Saturday 14 March 2015",
    ]
    pieces = [lane.locator(".piece").count() for lane in seen.page.locator(".lane").all()]
    assert pieces == [2, 1, 1]


@pytest.mark.parametrize("times", [(5.0, 5.0, 5.0), (3.0, 1.0, 2.0)])
def test_clocks_that_stand_or_run_backwards_are_drawn_by_frame(visit, tmp_path, times):
    write_page(
        Segmentation.from_boundaries([1], 3, times=times, clock="wall", scores=(0.2, 0.2, 0.2)),
        tmp_path,
    )
    seen = visit(tmp_path)
    widths = seen.page.locator(".piece").evaluate_all(
        "all => all.map(e => parseFloat(e.style.width))"
    )
    assert widths == pytest.approx([100 / 3, 200 / 3], rel=1e-4)
    assert seen.complaints == []


def test_a_reader_without_script_sees_the_events(chromium, day_folder):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((day_folder / "index.html").as_uri())
    cells = page.locator(".plain tbody tr").nth(1).locator("td").all_inner_texts()
    context.close()
    assert cells == ["2", "8", "19", ""]


@pytest.mark.parametrize("width", [1280, 390])
def test_photos_with_only_a_date_show_no_time_of_day(visit, tmp_path, width):
    morning = 1_689_411_600.0  # 15 July 2023, 09:00
    day = Segmentation.from_boundaries(
        [4, 6],
        9,
        times=(*(morning + 60 * k for k in range(4)), *[None] * 5),
        dates=("2023-07-15",) * 6 + ("2023-07-16",) * 3,
        names=tuple(f"{k}.jpg" for k in range(9)),
        clock="wall",
    )
    dated = [replace(event, reason="date", confidence=1.0) for event in day.events[1:]]
    day = replace(day, events=(day.events[0], *dated))
    pictures = write_pictures(((k, made_picture(k)) for k in range(9)), tmp_path)
    write_page(day, tmp_path, thumbnails=pictures)
    seen = visit(tmp_path, width=width)
    assert seen.page.locator("h1").inner_text() == "15–16 July 2023"
    assert seen.page.locator(".when").all_inner_texts() == [
        "09:00\n– 09:03\n3 min",
        "No time",
        "No time",
    ]
    headings = seen.page.locator(".new-day").all_inner_texts()
    assert headings == ["Saturday 15 July 2023", "Sunday 16 July 2023"]
    assert seen.row(1).locator(".why").inner_text() == "Times not known"
    assert seen.row(2).locator(".why").inner_text() == "Another date"
    seen.row(2).locator(".key").click()
    assert seen.page.locator(".viewer-detail").inner_text().startswith("Sun 16 Jul  ·  ")
    seen.page.keyboard.press("Escape")
    seen.merge(2)
    merged = seen.saved()
    assert [(e.start_time, e.stop_time) for e in merged.events] == [
        (morning, morning + 180),
        (None, None),
    ]
    assert seen.complaints == []
