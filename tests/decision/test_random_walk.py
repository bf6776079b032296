import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d

from dayline.decision.noise import _is_random_walk, in_few_directions, why_no_events
from dayline.method.denoise import ScaledRows, standardize
from dayline.research.datasets.annotations import find_groups, read_labeled


def is_random_walk(x):
    return _is_random_walk(in_few_directions(x))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 8, 64])
def test_a_random_walk_is_one(n_columns):
    for seed in range(10):
        walk = np.cumsum(np.random.default_rng(seed).normal(size=(400, n_columns)), axis=0)
        assert is_random_walk(standardize(walk))
        assert is_random_walk(standardize(walk + np.linspace(0, 20, 400)[:, None]))
        assert is_random_walk(ScaledRows.of(walk))


@pytest.mark.parametrize("n_columns", [1, 3, 30])
def test_events_noise_cuts_and_smooth_curves_are_none(random, n_columns):
    events = np.repeat(random.normal(size=(10, n_columns)), 40, axis=0)
    curve = np.cumsum(np.cumsum(random.normal(size=(400, n_columns)), axis=0), axis=0)
    walk_with_cuts = np.cumsum(0.02 * random.normal(size=(400, n_columns)), axis=0) + events
    for x in (
        random.normal(size=(400, n_columns)),
        events,
        events + random.normal(size=events.shape),
        curve,
    ):
        assert not is_random_walk(standardize(x))
    assert not is_random_walk(standardize(walk_with_cuts))


def test_a_walk_of_which_part_has_events_is_none(random):
    walk = np.cumsum(random.normal(size=(400, 4)), axis=0)
    resting = walk[-1] + random.normal(size=(400, 4))
    assert not is_random_walk(standardize(np.concatenate([walk, resting])))


@pytest.mark.parametrize("window", [2, 8, 16, 32])
def test_averages_over_a_moving_window_are_no_walk(random, window):
    """Their steps are unrelated over any time shorter than the window."""
    events = np.repeat(random.normal(size=(8, 12)), 250, axis=0)
    averaged = uniform_filter1d(events + 2 * random.normal(size=events.shape), window, axis=0)
    assert not is_random_walk(standardize(averaged))


def test_few_or_equal_frames_say_nothing(random):
    assert not is_random_walk(standardize(np.cumsum(random.normal(size=(20, 4)), axis=0)))
    assert not is_random_walk(standardize(np.cumsum(random.normal(size=(256, 30)), axis=0)))
    assert is_random_walk(standardize(np.cumsum(random.normal(size=(257, 30)), axis=0)))
    assert not is_random_walk(standardize(np.ones((400, 4))))
    assert not is_random_walk(np.zeros((1, 400)))


@pytest.mark.slow
def test_no_recording_of_the_development_sets_is_a_walk_or_noise(shared):
    groups = find_groups(shared)
    if not groups:
        pytest.skip("the development sets are not there")
    for path in (path for files in groups.values() for path in files):
        features = np.asarray(read_labeled(path).features, dtype=np.float64)
        for start in range(0, max(1, len(features) - 319), 320):
            part = features[start : start + 320] if start else features
            why = why_no_events(in_few_directions(standardize(part)))
            assert "walk" not in why, (path, start)
            assert "autocorrelated" not in why, (path, start)
