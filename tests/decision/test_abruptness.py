from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.evidence import abruptness, compare_neighbors, hard_cuts, slowness
from dayline.method.denoise import standardize


def drifting(random, n=400):
    """A slow drift with one hard cut at frame 200."""
    steps = 0.05 * random.normal(size=(n, 30))
    steps[0] = random.normal(size=30)
    steps[200] = 3 * random.normal(size=30)
    return np.cumsum(steps, axis=0)


def test_only_the_hard_cut_is_abrupt(random):
    found = abruptness(compare_neighbors(standardize(drifting(random))))
    assert np.argmax(found) == 200
    assert found[200] > 4
    assert np.mean(found > 2) < 0.05


@pytest.mark.parametrize("n", [60, 61, 101, 102, 400])
def test_abruptness_is_blind_to_scale_and_follows_time_reversal(random, n):
    x = standardize(drifting(random)[200 - n // 2 : 200 + n - n // 2])
    forward = abruptness(compare_neighbors(x))
    np.testing.assert_allclose(abruptness(compare_neighbors(5 * x)), forward, atol=1e-6)
    np.testing.assert_allclose(
        abruptness(compare_neighbors(x[::-1]))[1:], forward[1:][::-1], atol=1e-6
    )


def test_a_cut_is_the_highest_of_five_frames_and_bounded():
    jumps = np.asarray([0.0, 1.0, 3.0, 6.0, 2.5, 0.0, 0.0, 0.0, 50.0, 0.0, 1.9, 0.0])
    assert hard_cuts(jumps).tolist() == [0, 0, 0, 4, 0, 0, 0, 0, 10, 0, 0, 0]


@pytest.mark.parametrize("n", range(1, 7))
def test_a_few_frames_have_an_abruptness(n):
    assert np.isfinite(abruptness(compare_neighbors(np.eye(6)[:n]))).all()


@pytest.mark.parametrize("entries", [1, 30, 100, 1000])
def test_blocks_of_rows_give_the_same_as_the_whole(random, monkeypatch, entries):
    x = standardize(drifting(random)[150:240])
    whole = abruptness(compare_neighbors(x))
    monkeypatch.setattr("dayline.arrays.HOST_BLOCK", entries)
    np.testing.assert_array_equal(abruptness(compare_neighbors(x)), whole)


def test_slowness_is_1_for_noise_4_for_a_walk_and_bounded_for_motion(random):
    events = 5 * np.repeat(random.normal(size=(10, 30)), 30, axis=0)
    walk = np.cumsum(random.normal(size=(600, 30)), axis=0)
    motion = np.cumsum(np.cumsum(random.normal(size=(600, 30)), axis=0), axis=0)
    cases = ((events + random.normal(size=events.shape), 1.0), (walk, 4.0), (motion, 10.0))
    for x, expected in cases:
        assert slowness(compare_neighbors(standardize(x))) == pytest.approx(expected, rel=0.15)


def test_slowness_grows_with_the_frame_rate_and_ignores_equal_frames(random):
    noise = standardize(random.normal(size=(400, 30)))
    assert slowness(compare_neighbors(noise)) == pytest.approx(1.0, abs=0.05)
    assert slowness(compare_neighbors(np.repeat(noise, 2, axis=0))) > 2
    assert slowness(compare_neighbors(np.repeat(noise, 5, axis=0))) == 10.0
    steps = np.repeat(random.normal(size=(12, 30)), 8, axis=0)
    assert slowness(compare_neighbors(steps)) == 1.0
    assert slowness(compare_neighbors(steps + 1e-6 * random.normal(size=steps.shape))) == 1.0
    assert slowness(compare_neighbors(noise[:9])) == 1.0
    assert slowness(compare_neighbors(np.repeat(noise[:12], 5, axis=0))) == 60 / 24
