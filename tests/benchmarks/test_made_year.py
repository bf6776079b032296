"""The made year is the same every time, its truth is true, and dayline recognizes its places."""

from __future__ import annotations

import json
from collections import Counter

import made_year
import numpy as np
import places
import pytest
from PIL import Image

from cli.run_command import run
from dayline.media.source import open_source


def test_the_year_is_the_same_every_time_and_places_recur(tmp_path):
    for name in ("a", "b"):
        made_year.make_year(
            tmp_path / name, n_days=3, n_photos=12, n_places=4, two_cameras=False, seed=5
        )
    photos = json.loads((tmp_path / "a-truth.json").read_text())["photos"]
    assert len(photos) == 36
    for photo in photos[::7]:
        assert (tmp_path / "a" / photo["photo"]).read_bytes() == (
            tmp_path / "b" / photo["photo"]
        ).read_bytes()
    days = {(photo["place"], photo["day"]) for photo in photos}
    assert max(Counter(place for place, _ in days).values()) > 1
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "2023-01-01",
        "2023-01-02",
        "2023-01-03",
    ]


def test_photos_of_one_place_differ_from_day_to_day():
    scene = made_year.make_scene(0, 1)
    visit = {"light": 1.0, "warmth": 0.0, "contrast": 1.0, "zoom": 1.0, "x": 0.0, "y": 0.0}
    take = made_year.take_photo
    one, two = (
        np.asarray(
            take(scene, np.random.default_rng(k), np.random.default_rng(k + 9), visit), dtype=float
        )
        for k in (1, 2)
    )
    assert np.abs(one - two).mean() > 5


def test_two_cameras_take_turns_and_one_clock_is_ahead(tmp_path):
    truth = made_year.make_year(tmp_path / "year", n_days=1, n_photos=8, n_places=3, seed=2)
    assert truth["offset"] == 47 * 60
    cameras = [photo["photo"].split("/")[0] for photo in truth["photos"]]
    assert cameras == ["camera-a", "camera-b"] * 4
    for photo in truth["photos"]:
        shown = open_source(tmp_path / "year" / photo["photo"].split("/")[0])
        time = shown.times[[path.name for path in shown.paths].index(photo["photo"].split("/")[1])]
        assert time - photo["time"] == (47 * 60 if "camera-b" in photo["photo"] else 0)
    with Image.open(tmp_path / "year" / truth["photos"][0]["photo"]) as image:
        assert image.size == (320, 240)


@pytest.mark.slow
def test_dayline_recognizes_the_places_of_a_few_days(tmp_path):
    made_year.make_year(
        tmp_path / "photos", n_days=4, n_photos=24, n_places=4, two_cameras=False, seed=3
    )
    done = run("segment", tmp_path / "photos", "-o", tmp_path / "out", "-q")
    assert done.returncode == 0, done.stderr
    contexts = places.made_contexts(tmp_path / "out", tmp_path / "photos-truth.json")
    matched, wrong, total, _ = places.judge(contexts)
    assert total >= 8
    assert matched >= 0.7
    assert wrong <= 0.15
