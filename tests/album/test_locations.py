from __future__ import annotations

import pytest

from dayline.album.key_photos import with_locations
from dayline.album.segment import segment_source
from dayline.events import Segmentation
from made_locations import photo_at

HOME, BEACH = (39.57, 2.65), (39.50, 2.75)


def make_outing(folder, *, located=True):
    """Take ten photos at home and ten at the beach that all look the same, half a minute apart."""
    for k in range(20):
        place = HOME if k < 10 else BEACH
        photo_at(
            folder / f"{k:02d}.jpg", 30 * k if k < 10 else 30 * k + 200, place if located else None
        )


def test_a_jump_of_kilometers_is_a_boundary(tmp_path):
    make_outing(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    assert found.boundaries == (10,)
    assert found.events[1].reason == "pause"
    assert (
        "1 move of the camera by kilometers between two photos, the longest 12 km: each is a"
        " boundary" in found.notes
    )
    assert [e.location for e in found.events] == [
        pytest.approx(HOME, abs=1e-4),
        pytest.approx(BEACH, abs=1e-4),
    ]


def test_without_locations_there_is_none(tmp_path):
    make_outing(tmp_path, located=False)
    found = segment_source(tmp_path, model="color").segmentation
    assert found.boundaries == ()
    assert found.events[0].location is None


def test_a_larger_jump_can_be_asked_for(tmp_path):
    make_outing(tmp_path)
    assert segment_source(tmp_path, model="color", jump_km=20.0).segmentation.boundaries == ()


def test_the_location_is_the_median_also_across_the_date_line():
    places = [
        (1.0, 10.0),
        (2.0, 30.0),
        None,
        (9.0, 11.0),
        (-17.0, 179.9),
        (-17.0, -179.9),
        (-17.0, -179.7),
        None,
    ]
    found = with_locations(Segmentation.from_boundaries([4, 7], 8).events, places)
    assert [e.location for e in found] == [(2.0, 11.0), (-17.0, -179.9), None]
