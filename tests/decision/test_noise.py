from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from dayline import EventSegmenter, score_boundaries
from dayline.decision import noise as module
from dayline.decision.abruptness import compare_neighbours
from dayline.decision.noise import is_autocorrelated_noise, n_above_noise, order_matters, sample_frames
from dayline.method.denoise import standardize

NONE = np.zeros(0, dtype=np.int64)


def is_in_order(x):
    return order_matters(x, compare_neighbours(x))


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
    assert n_above_noise(sample_frames(random.normal(size=(127, 6))), np.arange(4, 60, 4), heights(0, 14)) == 14


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
    # A boundary between two stretches separates them; one within a stretch splits it, but for frames beside it.
    between, within = sample.within(np.asarray([530])), sample.within(np.asarray([530, 100]))
    assert np.flatnonzero(np.diff(between.event)).tolist() == [511]
    assert np.setdiff1d(between.frames, within.frames).tolist() == [98, 99, 100, 101]
    np.testing.assert_allclose(within.rows[within.event == 0].mean(axis=0), 0.0, atol=1e-5)
    assert between.pairs(1).sum() == 8 * 511
    short = sample_frames(x[:90, :5])
    np.testing.assert_array_equal(short.rows, x[:90, :5])
    # The order of columns does not matter.
    shuffled = sample_frames(x[:, random.permutation(40)])
    np.testing.assert_allclose(shuffled.rows, sample.rows, atol=1e-5)
    # Few frames are judged in more directions.
    assert sample_frames(x[:700]).rows.shape == (700, 40)


def autoregression(seed, coefficient, *, shape=(600, 8)):
    noise = np.random.default_rng(seed).normal(size=shape)
    return np.sqrt(1 - coefficient**2) * lfilter([1.0], [1.0, -coefficient], noise, axis=0)


@pytest.mark.parametrize("coefficient", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("n_columns", [1, 8, 64])
def test_autocorrelated_noise_is_recognised(n_columns, coefficient):
    made = [standardize(autoregression(seed, coefficient, shape=(600, n_columns))) for seed in range(10)]
    assert sum(is_autocorrelated_noise(sample_frames(x)) for x in made) >= 8


def test_the_coefficient_is_that_of_the_noise():
    found = [
        module._coefficient(sample_frames(autoregression(1, a, shape=(4000, 8))).within(NONE))
        for a in (0.0, 0.4, 0.8)
    ]
    assert found == pytest.approx([0.0, 0.4, 0.8], abs=0.03)


def test_events_white_noise_and_walks_are_not_autocorrelated_noise(random):
    events = np.repeat(random.normal(size=(6, 8)), 100, axis=0)
    # Events that begin at random have exactly the covariances of autocorrelated noise.
    at_random = random.normal(size=(600, 8))[np.cumsum(random.random(600) < 0.1)]
    noise = random.normal(size=(600, 8))
    walk = np.cumsum(random.normal(size=(600, 8)), axis=0)
    for x in (events, events + noise, events + 0.5 * autoregression(0, 0.9), at_random, noise, walk):
        assert not is_autocorrelated_noise(sample_frames(standardize(x)))
    # Noise of 200 frames may as well be short events.
    assert not is_autocorrelated_noise(sample_frames(standardize(autoregression(0, 0.5)[:200])))


@pytest.mark.parametrize("make", [EventSegmenter, EventSegmenter.fast])
def test_events_are_found_in_autocorrelated_noise(make, random):
    (note,) = make().fit(autoregression(0, 0.9)).segmentation_.notes
    assert "autocorrelated noise" in note
    x = np.repeat(random.normal(size=(6, 8)), 100, axis=0) + 0.5 * autoregression(0, 0.9)
    assert score_boundaries(make().fit(x).boundaries_, range(100, 600, 100), tolerance=5).f1 == 1.0


def test_events_between_the_stretches_of_a_sample_are_seen():
    random = np.random.default_rng(1)
    x = np.repeat(random.normal(size=(2, 16)), 2500, axis=0) + 0.1 * random.normal(size=(5000, 16))
    assert EventSegmenter.fast().fit(x).boundaries_.tolist() == [2500]


@pytest.mark.parametrize("at", [12567, 12737])
def test_one_visit_in_a_long_sequence_is_found_wherever_it_is(at):
    """Between two stretches of the sample, and within one."""
    x = 0.1 * np.random.default_rng(30000).normal(size=(30000, 8))
    x[at : at + 50] += 1
    found = EventSegmenter.fast().fit(x).boundaries_
    assert len(found) <= 6
    assert score_boundaries(found, [at, at + 50], tolerance=5).recall == 1.0


@pytest.mark.parametrize("n_frames", [200, 250, 299])
def test_noise_around_a_visit_is_not_split_in_short_sequences_either(n_frames):
    for seed in range(3):
        x = 0.3 * np.random.default_rng(seed).normal(size=(n_frames, 8))
        x[100:110] += 2
        assert len(EventSegmenter().fit(x).boundaries_) <= 3
