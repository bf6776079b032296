from __future__ import annotations

import numpy as np
import pytest

from dayline import EventSegmenter, score_boundaries
from dayline.decision import noise as module
from dayline.decision.abruptness import compare_neighbours
from dayline.decision.noise import n_above_noise, order_matters, sample_frames
from dayline.method.denoise import standardize

NONE = np.zeros(0, dtype=np.int64)


def is_in_order(x):
    return order_matters(x, compare_neighbours(x), sample_frames(x))


def test_order_matters_for_events_and_not_for_white_noise(random):
    without = [is_in_order(standardize(np.random.default_rng(k).normal(size=(200, 20)))) for k in range(50)]
    assert sum(without) == 0
    assert is_in_order(standardize(np.repeat(random.normal(size=(20, 20)), 10, axis=0)))
    assert not is_in_order(np.eye(3))


def test_order_matters_for_frames_that_oscillate(random):
    """Neighbours are less alike than any two frames."""
    swings = np.resize([[1.0], [-1.0]], (200, 1)) * random.normal(size=6) + random.normal(size=(200, 6))
    assert is_in_order(standardize(swings))


@pytest.mark.parametrize("is_ordered", [True, False])
def test_order_is_judged_alike_in_blocks_and_from_some_frames(random, monkeypatch, is_ordered):
    x = np.repeat(random.normal(size=(30, 8)), 10, axis=0) + random.normal(size=(300, 8))
    x = standardize(x if is_ordered else random.permutation(x))
    assert is_in_order(x) == is_ordered
    monkeypatch.setattr("dayline.arrays.HOST_BLOCK", 50)
    monkeypatch.setattr(module, "MOST_FRAMES", 100)
    assert is_in_order(x) == is_ordered


def test_periodic_frames_are_in_order_however_many_are_compared(random, monkeypatch):
    """Every tenth frame is alike: chosen at regular steps, frames would seem not to differ at all."""
    x = standardize(np.tile(np.cumsum(random.normal(size=(10, 6)), axis=0), (60, 1)))
    assert is_in_order(x)
    monkeypatch.setattr(module, "MOST_FRAMES", 60)
    assert is_in_order(x)


def visit(seed, *, n_frames=600, length=25, noise=0.5):
    """One context, a short visit of another, and the first again."""
    random = np.random.default_rng(seed)
    context = np.zeros(n_frames, dtype=np.int64)
    context[300 : 300 + length] = 1
    return random.normal(size=(2, 8))[context] + noise * random.normal(size=(n_frames, 8))


def heights(n_high, n_low):
    """Log heights of a few clear candidates, and of the bulk that noise has."""
    return np.concatenate([np.full(n_high, 4.0), np.linspace(1.5, 0.0, n_low)])


def test_boundaries_count_until_events_contain_only_noise():
    sample = sample_frames(standardize(visit(0)))
    in_noise = np.setdiff1d(np.arange(20, 600, 20), [300, 320])
    n = len(in_noise)
    assert n_above_noise(sample, np.asarray([300, 325, *in_noise]), heights(2, n)) == 2
    assert n_above_noise(sample, np.asarray([50, 300, 325, *in_noise]), heights(3, n)) == 3
    # Without the boundaries of the visit, events contain more than noise however often they are split.
    assert n_above_noise(sample, in_noise, heights(0, n)) == n


def test_boundaries_that_are_clearly_higher_than_noise_count_too():
    """Events that are rare, or little different, leave no order that could be told from noise."""
    sample = sample_frames(np.random.default_rng(1).normal(size=(600, 6)))
    candidates = np.arange(20, 600, 20)
    assert n_above_noise(sample, candidates, heights(0, 29)) == 0
    assert n_above_noise(sample, candidates, heights(5, 24)) == 5
    # Were noise that high, there would be more than four candidates in 600 frames.
    assert n_above_noise(sample, candidates[:4], heights(0, 4)) == 4


def test_white_noise_has_no_boundary_above_it():
    for seed in range(20):
        white = np.random.default_rng(seed).normal(size=(400, 6))
        assert n_above_noise(sample_frames(white), np.arange(20, 400, 20), heights(0, 19)) <= 1


def test_smooth_frames_and_short_sequences_are_never_noise(random):
    smooth = np.cumsum(random.normal(size=(400, 6)), axis=0)
    candidates = np.arange(20, 290, 20)
    assert n_above_noise(sample_frames(standardize(smooth)), candidates, heights(0, 14)) == 14
    assert n_above_noise(sample_frames(random.normal(size=(299, 6))), candidates, heights(0, 14)) == 14


@pytest.mark.parametrize("make", [EventSegmenter, EventSegmenter.fast])
def test_a_short_visit_in_a_long_event_is_found_and_its_noise_is_not_split(make):
    for seed in range(3):
        for x in (visit(seed), visit(seed, n_frames=1000, length=20, noise=0.1)):
            found = make().fit(x).boundaries_
            assert len(found) <= 4
            assert score_boundaries(found, [300, 320 if len(x) == 1000 else 325], tolerance=3).recall == 1.0


def test_one_step_in_noise_is_one_boundary():
    numbers = []
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=(500, 8))
        x[250:] += 0.7
        numbers.append(len(EventSegmenter().fit(x).boundaries_))
    assert max(numbers) <= 2
    assert numbers.count(1) >= 4


def test_a_request_reaches_candidates_in_noise():
    assert len(EventSegmenter().fit(visit(1)).choose(n_events=12).events) == 12


def test_long_and_wide_sequences_are_sampled(random):
    x = random.normal(size=(10_000, 40)).astype(np.float32)
    sample = sample_frames(x)
    assert sample.rows.shape == (8 * 512, 32)
    assert sample.frames[[0, 511, -1]].tolist() == [0, 511, 9999]
    # A boundary between two stretches changes nothing; one within a stretch ends an event.
    stretches = sample.edges(np.asarray([600])).tolist()
    assert stretches == list(range(0, 8 * 512 + 1, 512))
    assert sample.edges(np.asarray([600, 100])).tolist() == [0, 100, *stretches[1:]]
    short = sample_frames(x[:90, :5])
    np.testing.assert_array_equal(short.rows, x[:90, :5])
    assert short.edges(np.asarray([40, 7])).tolist() == [0, 7, 40, 90]
