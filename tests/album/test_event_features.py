"""A small file keeps the mean features of events, which find those that are alike."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dayline.album.places import (
    EVENT_FEATURES,
    MOST_SIMILAR,
    EventFeatures,
    event_features,
    packed,
    read_event_features,
    similar_events,
    unpacked,
)
from dayline.events import Segmentation


def test_the_mean_direction_of_each_event_survives_the_file(tmp_path):
    features = np.random.default_rng(0).uniform(size=(12, 50))
    made = event_features(Segmentation.from_boundaries([4, 9], 12), features, "lite0 abc")
    assert made.means.shape == (3, 50)
    made.write(tmp_path)
    again = read_event_features(tmp_path, n_events=3)
    assert again.model == "lite0 abc"
    np.testing.assert_allclose(again.means, made.means, atol=0.005)
    assert read_event_features(tmp_path, n_events=2) is None


def test_packed_vectors_keep_their_directions():
    random = np.random.default_rng(1)
    for vector in (random.normal(size=1280), np.zeros(5), np.full(3, 1e-9)):
        again = unpacked(packed(vector))
        length = np.linalg.norm(vector) * np.linalg.norm(again)
        assert length == 0 or vector @ again / length > 0.9995


@pytest.mark.parametrize(
    "damage",
    [
        {"format": "other"},
        {"version": 9},
        {"model": 3},
        {"events": ["1 AAAA", "1 AAAAAAAA"]},
        {"events": ["1 %", "1 AAAA"]},
        {"events": ["nan AAAA", "1 AAAA"]},
        {"events": None},
    ],
)
def test_a_damaged_file_counts_as_missing(tmp_path, damage):
    EventFeatures("m", np.ones((2, 3))).write(tmp_path)
    path = tmp_path / EVENT_FEATURES
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    assert read_event_features(tmp_path, n_events=2) is None
    path.write_bytes(b"\xff[[[[")
    assert read_event_features(tmp_path, n_events=2) is None


def test_a_link_is_not_followed(tmp_path):
    EventFeatures("m", np.ones((2, 3))).write(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / EVENT_FEATURES).symlink_to(tmp_path / EVENT_FEATURES)
    assert read_event_features(tmp_path / "inner", n_events=2) is None


def test_similar_events_are_of_any_day_and_of_the_same_model():
    directions = np.eye(4)
    near = directions + 0.1 * np.roll(directions, 1, axis=1)
    other = EventFeatures("x", directions[:1])
    days = [EventFeatures("m", directions[:3]), None, EventFeatures("m", near[:2]), other]
    found = similar_events(days)
    assert found[0, 0][0] == (2, 0)
    assert found[2, 1][0] == (0, 1)
    assert set(found) == {(0, 0), (0, 1), (0, 2), (2, 0), (2, 1)}
    assert all(
        event not in others and len(others) <= MOST_SIMILAR for event, others in found.items()
    )
