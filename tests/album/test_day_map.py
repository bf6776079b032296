from __future__ import annotations

from importlib.util import find_spec

import pytest

from dayline.album.day_map import day_map
from dayline.album.segment import segment_and_write
from dayline.album.settings import Settings
from dayline.events import Segmentation
from made_locations import photo_at

MIDDAY = 1.7e9


def points_of(*locations, boundaries=()):
    events = Segmentation.from_boundaries(boundaries, len(locations)).events
    times = [MIDDAY + 600.0 * k for k in range(len(locations))]
    found = day_map(events, locations, times)
    return None if found is None else found["points"]


def test_the_map_is_in_kilometers_around_the_middle():
    # A tenth of a degree is 11.12 km, and at 60 degrees north half of that to the east.
    (f1, x1, y1), (f2, x2, y2) = points_of((60.0, 10.0), None, (60.1, 10.1))[:2]
    assert (f1, f2) == (0, 2)
    assert x2 - x1 == pytest.approx(5.56, abs=0.03)
    assert y1 - y2 == pytest.approx(11.12, abs=0.01)
    assert x1 == pytest.approx(-x2, abs=0.01)


def test_the_date_line_is_no_seam():
    (_, x1, _), (_, x2, _) = points_of((0.0, 179.95), (0.0, -179.95))
    assert x2 - x1 == pytest.approx(11.12, abs=0.01)


def test_photos_at_one_spot_are_no_map():
    assert points_of((60.0, 10.0), (60.001, 10.001)) is None  # 111 m
    assert points_of((60.0, 10.0), None) is None
    assert points_of(None, None) is None


def test_a_location_that_cannot_be_true_is_not_drawn():
    home = [(60.0, 10.0 + 0.01 * k) for k in range(4)]
    assert [frame for frame, _, _ in points_of(*home[:2], (10.0, 10.0), *home[2:])] == [0, 1, 3, 4]


def test_of_thousands_of_photos_few_are_drawn_but_one_of_each_event():
    # 2,000 photos on the spot, in two events, then one a kilometer away.
    places = [(60.0, 10.0)] * 2000 + [(60.01, 10.0)]
    assert [frame for frame, _, _ in points_of(*places, boundaries=[1200])] == [0, 1200, 2000]


def test_maps_of_shared_results_are_left_out(tmp_path):
    if find_spec("reverse_geocode") is None:
        pytest.skip("reverse_geocode is not installed")
    for k in range(12):
        photo_at(tmp_path / "photos" / f"{k:02d}.jpg", 30 * k, (38.7115 + 0.002 * k, -9.13))
    settings = Settings(model="color")
    segment_and_write(tmp_path / "photos", tmp_path / "out", settings)
    assert b'"Lisbon"' in (tmp_path / "out" / "index.html").read_bytes()
    segment_and_write(tmp_path / "photos", tmp_path / "out", Settings(model="color", private=True))
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"Lisbon" not in path.read_bytes(), path
    assert b'"map":null' in (tmp_path / "out" / "index.html").read_bytes()
