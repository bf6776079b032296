"""Nested levels from the method to events.json: bursts, exact cuts, corrections."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dayline.album.segment import segment_source, segment_table
from dayline.events import NestedLevel, Segmentation
from dayline.media.breaks import FrameGroups
from dayline.media.cuts import _Cut, _with_cuts
from made_photos import MORNING, name_at, save

LEVELS = (NestedLevel(0, (2,), (0.9,)), NestedLevel(1, (1, 2, 3), (0.2, 0.9, 0.3)))


def test_bursts_are_expanded_in_every_level():
    groups = FrameGroups(np.asarray([0, 0, 1, 2, 2, 3]))
    levels = groups.expand_levels(LEVELS)
    assert [level.boundaries for level in levels] == [(3,), (2, 3, 5)]
    assert [level.confidences for level in levels] == [(0.9,), (0.2, 0.9, 0.3)]
    found = Segmentation.from_boundaries([2], 4, intervals=[(1, 3)])
    events = groups.expand_events(found.events)
    assert [(event.start, event.stop) for event in events] == [(0, 3), (3, 6)]
    assert [event.interval for event in events] == [None, (2, 5)]
    assert groups.expand_scores((0.1, 0.2, 0.3, 0.4)) == (0.1, 0.0, 0.2, 0.3, 0.0, 0.4)


def test_a_boundary_that_moves_to_a_cut_moves_in_every_level():
    found = Segmentation.from_boundaries(
        [2], 5, intervals=[(1, 4)], times=(0.0, 1.0, 2.0, 3.0, 4.0), clock="media", levels=LEVELS
    )
    moved = _with_cuts(found, {2: _Cut(2.4, 2.5)}, {2: 3})
    assert moved.boundaries == (3,)
    assert moved.intervals == ((3, 3),)
    assert [level.boundaries for level in moved.levels] == [(3,), (1, 3)]
    assert moved.levels[1].confidences == (0.2, 0.9)


def test_level_zero_is_the_decision_and_coarser_levels_join_across_a_pause(tmp_path):
    rng = np.random.default_rng(1)
    for k in range(60):
        # Scenes of ten photos whose colours overlap, so that some boundaries are unsure; an hour
        # without photos.
        colour = np.random.default_rng(k // 10).uniform(60, 190, 3) + rng.normal(scale=25, size=3)
        pixels = np.clip(colour + rng.normal(scale=20, size=(48, 64, 3)), 0, 255).astype(np.uint8)
        save(pixels, tmp_path / name_at(MORNING + 30 * k + (3600 if k >= 25 else 0)))
    found = segment_source(tmp_path, model="color").segmentation
    assert found.levels
    assert next(level for level in found.levels if level.level == 0).boundaries == found.boundaries
    for coarser, finer in pairwise(found.levels):
        assert set(coarser.boundaries) < set(finer.boundaries)
    assert all(25 in level.boundaries for level in found.levels if level.level >= 0)
    # The frames before and after the pause differ no more than others do.
    assert any(25 not in level.boundaries for level in found.levels)


def test_saved_levels_come_back_after_corrections():
    rng = np.random.default_rng(0)
    features = np.repeat(rng.normal(size=(8, 6)), 15, axis=0) + 0.3 * rng.normal(size=(120, 6))
    found = segment_table(features, source="a.npy").segmentation
    assert len(found.levels) > 1
    again = segment_table(features, source="a.npy", corrections=found).segmentation
    assert again.levels == found.levels
