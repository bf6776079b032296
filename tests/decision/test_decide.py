"""Decisions from evidence, and constraints."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from dayline import EventSegmenter
from dayline.decision.decide import (
    Level,
    Requests,
    _add_level,
    boundary_probability,
    decide,
    forbidden_frames,
    frame_ranges,
    nested_levels,
    required_frames,
)
from dayline.decision.evidence import UNLIKE
from dayline.research.datasets.synthetic import make_communities

MADE = make_communities(240, stay=60.0, variance=2.0, n_features=10, random_state=2).features
FITTED = EventSegmenter().fit(MADE)


def test_every_coarse_boundary_is_also_a_fine_one():
    levels = nested_levels(FITTED.evidence_)
    assert len(levels) >= 5
    factors = [level.factor for level in levels]
    assert factors == sorted(factors, reverse=True)
    assert factors.count(1.0) == 1
    for coarse, fine in pairwise(levels):
        assert set(coarse.boundaries.tolist()) < set(fine.boundaries.tolist())
        assert len(fine.boundaries) + 1 <= 2 * (len(coarse.boundaries) + 1)
    assert len(levels[0].boundaries) == 0
    assert len(levels[-1].boundaries) >= len(FITTED.evidence_.strengths)


def test_where_every_candidate_is_a_boundary_there_are_coarser_and_finer_levels():
    random = np.random.default_rng(0)
    x = np.repeat(random.normal(size=(8, 6)), 15, axis=0) + 0.3 * random.normal(size=(120, 6))
    fitted = EventSegmenter().fit(x)
    assert len(fitted.boundaries_) == len(fitted.evidence_.strengths) == 7
    numbers = [len(level.boundaries) + 1 for level in fitted.levels_]
    at = numbers.index(8)
    assert at > 1
    assert numbers[at : at + 3] == [8, 16, 32]


def test_inserted_levels_never_have_more_than_twice_the_events():
    order = np.random.default_rng(0).permutation(3000)
    for few in range(1, 40):
        for many in (few + 1, 2 * few, 2 * few + 1, 64 * few - 8, 1720):
            levels = [Level(4.0, np.sort(order[: few - 1]))]
            _add_level(levels, order, many - 1, 1.0)
            numbers = [len(level.boundaries) + 1 for level in levels]
            assert (numbers[0], numbers[-1]) == (few, many)
            assert all(a < b <= 2 * a for a, b in pairwise(numbers))


def test_confidence_is_the_probability_whatever_was_requested():
    levels = FITTED.levels_
    usual = decide(FITTED.evidence_, levels, Requests())
    finer = decide(FITTED.evidence_, levels, Requests(level=2))
    stated = dict(zip(finer.boundaries.tolist(), finer.confidence.tolist(), strict=True))
    for boundary, confidence in zip(
        usual.boundaries.tolist(), usual.confidence.tolist(), strict=True
    ):
        assert stated[boundary] == confidence
    weakest = min(usual.confidence)
    added = [stated[b] for b in stated if b not in set(usual.boundaries.tolist())]
    assert max(added) <= weakest


def log_odds(probabilities):
    return np.log(probabilities) - np.log1p(-probabilities)


def test_confidence_is_drawn_to_what_known_kinds_have_that_share_so_many_boundaries():
    """By one factor of all odds: the order stays, required boundaries are certain."""
    evidence = FITTED.evidence_
    model, found = evidence.model, evidence.hierarchy.boundaries[: evidence.agreed_number]
    by_height = log_odds(model.probabilities(evidence.strengths).mean(axis=0))[: len(found)]
    nobody = (*evidence.answers[:3], np.zeros(0, dtype=np.int64), evidence.answers[4])
    alone = replace(evidence, answers=nobody)
    assert alone.shared == 0.0
    assert "0 % of the boundaries" in alone.why_unlike
    assert not evidence.why_unlike
    for one in (evidence, alone):
        stated = log_odds(boundary_probability(one, found))
        assert stated.mean() == pytest.approx(
            model.shared_slope * one.shared + model.shared_intercept
        )
        np.testing.assert_allclose(np.diff(stated), np.diff(by_height))
    assert np.all(np.diff(boundary_probability(evidence, evidence.hierarchy.boundaries)) <= 1e-12)

    bound = EventSegmenter().fit(MADE, must=[57])
    assert bound.confidence_[bound.boundaries_ == 57] == 1.0
    assert np.all(bound.confidence_[bound.boundaries_ != 57] < 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_clear_events_are_stated_as_sure_and_those_of_wandering_frames_are_not(seed):
    """Frames that wander have no events to agree on."""
    random = np.random.default_rng(seed)
    clear = np.repeat(random.normal(size=(9, 12)), 40, axis=0)
    sure = EventSegmenter().fit(clear + 0.5 * random.normal(size=clear.shape))
    assert sure.evidence_.shared == 1.0
    assert sure.segmentation_.notes == ()
    assert sure.confidence_.mean() > 0.7

    wandering = gaussian_filter1d(random.normal(size=(600, 12)), 15, axis=0)
    wandering = wandering / wandering.std() + 0.3 * random.normal(size=wandering.shape)
    unsure = EventSegmenter().fit(wandering)
    assert unsure.evidence_.shared < 0.75
    assert unsure.confidence_.mean() < 0.6
    assert len(unsure.segmentation_.notes) == (unsure.evidence_.shared < UNLIKE)


def test_a_boundary_that_is_not_a_candidate_is_improbable():
    random = np.random.default_rng(0)
    step = np.repeat(random.normal(size=(2, 6)), 30, axis=0) + 0.01 * random.normal(size=(60, 6))
    fitted = EventSegmenter.fast(n_events=4).fit(step)
    assert len(fitted.evidence_.strengths) == 1
    stated = dict(zip(fitted.boundaries_.tolist(), fitted.confidence_.tolist(), strict=True))
    assert stated.pop(30) > 0.5
    assert len(stated) == 2
    assert max(stated.values()) < 0.05
    noise = EventSegmenter.fast(n_events=2).fit(random.normal(size=(5, 4)))
    assert noise.confidence_.tolist() == pytest.approx([0.0], abs=1e-6)


@pytest.mark.parametrize("shortest", [3, 6, 9, 15, 30])
def test_the_shortest_duration_keeps_the_highest_total_probability(shortest):
    fitted = EventSegmenter(n_events=12).fit(MADE[:100])
    stated = dict(zip(fitted.boundaries_.tolist(), fitted.confidence_.tolist(), strict=True))

    def total(kept):
        long_enough = all(b - a >= shortest for a, b in pairwise([0, *kept, 100]))
        return sum(stated[b] for b in kept) if long_enough else -1.0

    subsets = chain.from_iterable(combinations(sorted(stated), k) for k in range(12))
    found = EventSegmenter(n_events=12, min_duration=shortest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found.fit(MADE[:100])
    assert total(found.boundaries_.tolist()) == pytest.approx(
        max(total(subset) for subset in subsets)
    )


SCORES = np.asarray([0, 1, 5, 2, 9, 3, 0, 0.5])
NONE = np.zeros(0, dtype=np.int64)


def required(must, forbidden):
    return required_frames(frame_ranges("must", must, 8), SCORES, forbidden=forbidden).tolist()


def test_frames_and_ranges():
    assert forbidden_frames([2, (4, 6)], 8).tolist() == [2, 4, 5]
    assert required([6, (1, 4)], NONE) == [2, 6]
    assert required([(1, 6)], np.asarray([4])) == [2]
    assert forbidden_frames([], 8).tolist() == []


@pytest.mark.parametrize(
    ("must", "must_not", "message"),
    [
        ([2], [2], "contradict each other at frame 2"),
        ([(2, 4)], [(1, 5)], "contradict each other at frames 2 to 3"),
        ([0], [], "must: 0 cannot be a boundary; boundaries are at 1 to 7"),
        ([8], [], "must: 8 cannot be a boundary"),
        (
            [],
            [(5, 3)],
            r"must_not: \(5, 3\) cannot be a boundary; .* have first < stop",
        ),
        (["noon"], [], "neither a frame number nor a range"),
        ([2.5], [], "neither a frame number nor a range"),
    ],
)
def test_wrong_constraints_are_named(must, must_not, message):
    with pytest.raises(ValueError, match=message):
        required(must, forbidden_frames(must_not, 8))


def test_breaks_are_boundaries_that_coarser_levels_and_fewer_events_join_across():
    random = np.random.default_rng(0)
    scenes = random.normal(size=(8, 16))
    # Twenty frames of one scene, six with six minutes between them, twenty of another scene.
    of_frame = np.repeat(np.arange(8), [20, 1, 1, 1, 1, 1, 1, 20])
    x = scenes[of_frame] + 0.2 * random.normal(size=(46, 16))
    gaps = np.full(45, 20.0)
    gaps[19:26] = 360.0
    times = np.concatenate([[0.0], np.cumsum(gaps)])
    breaks = list(range(20, 27))

    found = EventSegmenter().segment(x, times=times, breaks=breaks)
    assert found.boundaries == tuple(breaks)
    assert [event.reason for event in found.events] == ["start", *["pause"] * 7]
    coarser = [level for level in found.levels if level.level < 0]
    # Half of eight events, half of those, half again.
    assert [len(level.boundaries) + 1 for level in coarser] == [1, 2, 4]
    assert all(set(a.boundaries) < set(b.boundaries) for a, b in pairwise(found.levels))
    assert EventSegmenter(level=-1).segment(x, times=times, breaks=breaks).boundaries == (
        coarser[-1].boundaries
    )
    assert len(EventSegmenter(n_events=3).segment(x, times=times, breaks=breaks).events) == 3


def test_what_is_required_stays_where_breaks_are_joined():
    random = np.random.default_rng(0)
    x = random.normal(size=(40, 8))
    fitted = EventSegmenter(level=-1000)
    with pytest.warns(UserWarning, match="coarsest"):
        found = fitted.segment(x, must=[7], breaks=[7, 20, 30])
    assert found.boundaries == (7,)
    assert found.events[1].reason == "required"


def test_a_long_break_is_joined_after_a_short_one():
    x = np.repeat(np.eye(3), 10, axis=0)
    times = np.concatenate([np.arange(10.0), 100 + np.arange(10.0), 8000 + np.arange(10.0)])
    assert EventSegmenter(n_events=2).segment(x, times=times, breaks=[10, 20]).boundaries == (20,)
