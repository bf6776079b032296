"""Noise and random walks have no events; recordings are neither."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter

from dayline import EventSegmenter, score_boundaries
from dayline.decision import noise as module
from dayline.decision.noise import find_noise, in_few_directions, n_above_noise
from dayline.method.denoise import ScaledRows, standardize
from dayline.research.datasets.annotations import find_groups, read_labeled


def why_noise(x):
    """Say why features are noise in which nothing can be seen; empty if they are not."""
    noise = find_noise(in_few_directions(x))
    return "" if noise is None or len(noise.changes) else noise.why


def is_in_order(x):
    return "hardly more alike" not in why_noise(x)


def test_order_matters_for_events_and_not_for_white_noise(random):
    without = [
        is_in_order(standardize(np.random.default_rng(k).normal(size=(200, 20)))) for k in range(50)
    ]
    assert sum(without) == 0
    assert is_in_order(standardize(np.repeat(random.normal(size=(20, 20)), 10, axis=0)))
    assert not is_in_order(np.eye(3))


def test_order_matters_for_frames_that_oscillate(random):
    """Neighbours are less alike than any two frames."""
    swings = np.resize([[1.0], [-1.0]], (200, 1)) * random.normal(size=6) + random.normal(
        size=(200, 6)
    )
    assert is_in_order(standardize(swings))


@pytest.mark.parametrize("is_ordered", [True, False])
def test_order_is_judged_alike_in_few_directions(random, monkeypatch, is_ordered):
    x = np.repeat(random.normal(size=(30, 50)), 10, axis=0) + random.normal(size=(300, 50))
    x = standardize(x if is_ordered else random.permutation(x))
    assert is_in_order(x) == is_ordered
    monkeypatch.setattr("dayline.arrays.HOST_BLOCK", 50)
    monkeypatch.setattr(module, "N_VALUES", 0)
    assert in_few_directions(x).shape == (300, 32)
    assert is_in_order(x) == is_ordered


@pytest.mark.parametrize("shape", [(12, 30_000), (100, 5_000), (600, 3_000)])
def test_wide_frames_take_no_more_than_a_few_times_their_memory(random, shape):
    x = random.normal(size=shape)
    tracemalloc.start()
    in_few_directions(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * x.nbytes


def test_few_wide_frames_keep_their_products(random):
    x = random.normal(size=(12, 30_000))
    few = in_few_directions(x)
    np.testing.assert_allclose(few @ few.T, x @ x.T, rtol=1e-4, atol=1e-4 * x.shape[1])


def test_periodic_frames_are_in_order(random):
    assert is_in_order(
        standardize(np.tile(np.cumsum(random.normal(size=(10, 6)), axis=0), (60, 1)))
    )


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
    few = in_few_directions(standardize(visit(0)))
    in_noise = np.setdiff1d(np.arange(20, 600, 20), [300, 320])
    n = len(in_noise)
    assert n_above_noise(few, np.asarray([300, 325, *in_noise]), heights(2, n)) == 2
    assert n_above_noise(few, np.asarray([50, 300, 325, *in_noise]), heights(3, n)) == 3
    # Without the boundaries of the visit, events contain more than noise however often they are
    # split.
    assert n_above_noise(few, in_noise, heights(0, n)) == n


def test_boundaries_that_are_clearly_higher_than_noise_count_too():
    """Events that are rare, or little different, leave no order that could be told from noise."""
    few = in_few_directions(np.random.default_rng(1).normal(size=(600, 6)))
    candidates = np.arange(20, 600, 20)
    assert n_above_noise(few, candidates, heights(0, 29)) == 0
    assert n_above_noise(few, candidates, heights(5, 24)) == 5
    # Were noise that high, there would be more than four candidates in 600 frames.
    assert n_above_noise(few, candidates[:4], heights(0, 4)) == 4


def test_white_noise_has_no_boundary_above_it():
    for seed in range(20):
        white = np.random.default_rng(seed).normal(size=(400, 6))
        assert n_above_noise(in_few_directions(white), np.arange(20, 400, 20), heights(0, 19)) <= 1


def test_smooth_frames_and_short_sequences_are_never_noise(random):
    smooth = np.cumsum(random.normal(size=(400, 6)), axis=0)
    candidates = np.arange(20, 290, 20)
    assert n_above_noise(in_few_directions(standardize(smooth)), candidates, heights(0, 14)) == 14
    assert (
        n_above_noise(
            in_few_directions(random.normal(size=(127, 6))), np.arange(4, 60, 4), heights(0, 14)
        )
        == 14
    )


@pytest.mark.parametrize("make", [EventSegmenter, EventSegmenter.fast])
def test_a_short_visit_in_a_long_event_is_found_and_its_noise_is_not_split(make):
    for seed in range(3):
        for x in (visit(seed), visit(seed, n_frames=1000, length=20, noise=0.1)):
            found = make().fit(x).boundaries_
            assert len(found) <= 4
            assert (
                score_boundaries(found, [300, 320 if len(x) == 1000 else 325], tolerance=3).recall
                == 1.0
            )


def test_one_step_in_noise_is_one_boundary():
    numbers = []
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=(500, 8))
        x[250:] += 0.7
        numbers.append(len(EventSegmenter().fit(x).boundaries_))
    assert max(numbers) <= 2
    assert numbers.count(1) >= 4


@pytest.mark.parametrize("make", [EventSegmenter, EventSegmenter.fast])
@pytest.mark.parametrize(("n_frames", "at", "size"), [(100, 28, 1.8), (325, 160, 3.0)])
def test_one_step_in_one_column_is_one_boundary(make, n_frames, at, size):
    """As in the flow of the Nile; it was split nine times without a graph."""
    right = 0
    for seed in range(10):
        x = np.random.default_rng(seed).normal(size=(n_frames, 1))
        x[at:] += size
        found = make().fit(x).boundaries_
        assert len(found) <= 1
        right += len(found) == 1 and abs(found[0] - at) <= 5
    assert right >= 8


def test_a_request_reaches_candidates_in_noise():
    assert len(EventSegmenter().fit(visit(1)).choose(n_events=12).events) == 12


def test_wide_sequences_are_judged_in_few_directions(random):
    x = random.normal(size=(10_000, 40)).astype(np.float32)
    few = in_few_directions(x)
    assert few.shape == (10_000, 32)
    np.testing.assert_array_equal(in_few_directions(x[:90, :5]), x[:90, :5])
    # The order of columns does not matter.
    np.testing.assert_allclose(in_few_directions(x[:, random.permutation(40)]), few, atol=1e-5)
    # Few frames are judged in more directions.
    assert in_few_directions(x[:700]).shape == (700, 40)


def test_frames_beside_a_boundary_belong_to_no_event(random):
    x = random.normal(size=(300, 5)).astype(np.float32)
    rows, event = module._within(x, np.asarray([250, 100]))
    assert np.bincount(event).tolist() == [98, 146, 48]
    np.testing.assert_allclose(rows[:98], x[:98] - x[:98].mean(axis=0), atol=1e-5)


def is_autocorrelated_noise(x):
    return "autocorrelated" in why_noise(x)


def autoregression(seed, coefficient, *, shape=(600, 8)):
    noise = np.random.default_rng(seed).normal(size=shape)
    return np.sqrt(1 - coefficient**2) * lfilter([1.0], [1.0, -coefficient], noise, axis=0)


@pytest.mark.parametrize("coefficient", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("n_columns", [1, 8, 64])
def test_autocorrelated_noise_is_recognised(n_columns, coefficient):
    made = [
        standardize(autoregression(seed, coefficient, shape=(600, n_columns))) for seed in range(10)
    ]
    assert sum(is_autocorrelated_noise(x) for x in made) >= 8


def test_events_white_noise_and_walks_are_not_autocorrelated_noise(random):
    events = np.repeat(random.normal(size=(6, 8)), 100, axis=0)
    # Events that begin at random have exactly the covariances of autocorrelated noise.
    at_random = random.normal(size=(600, 8))[np.cumsum(random.random(600) < 0.1)]
    noise = random.normal(size=(600, 8))
    walk = np.cumsum(random.normal(size=(600, 8)), axis=0)
    for x in (
        events,
        events + noise,
        events + 0.5 * autoregression(0, 0.9),
        at_random,
        noise,
        walk,
    ):
        assert not is_autocorrelated_noise(standardize(x))
    # Noise of 200 frames may as well be short events.
    assert not is_autocorrelated_noise(standardize(autoregression(0, 0.5)[:200]))


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


def is_random_walk(x):
    return bool(why_noise(x)) and "hardly more alike" not in why_noise(x)


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
    assert not is_random_walk(standardize(np.cumsum(random.normal(size=(99, 30)), axis=0)))
    assert is_random_walk(standardize(np.cumsum(random.normal(size=(100, 30)), axis=0)))
    for equal in (np.ones((400, 4)), np.zeros((1, 400))):
        assert why_noise(equal - equal.mean(axis=0)) == "all frames are equal"


def cycle(n_frames, random):
    return np.sin(2 * np.pi * np.arange(n_frames)[:, None] / (n_frames / 12.3))


def of_a_day(n_frames, random):
    """A cycle of 24 values that is no sine, with noise."""
    phase = 2 * np.pi * (np.arange(n_frames)[:, None] % 24) / 24
    return 3 * np.maximum(0.0, np.sin(phase)) ** 2 + 0.5 * random.normal(size=(n_frames, 1))


NO_EVENTS = {
    "white noise": lambda shape, random: random.normal(size=shape),
    "autocorrelated noise": lambda shape, random: lfilter(
        [1.0], [1.0, -0.95], random.normal(size=(shape[0] + 200, shape[1])), axis=0
    )[200:],
    "random walk": lambda shape, random: np.cumsum(random.normal(size=shape), axis=0),
    "line": lambda shape, random: (
        np.linspace(0, 5, shape[0])[:, None] * random.normal(size=shape[1])
    ),
    "trend in noise": lambda shape, random: (
        np.linspace(0, 5, shape[0])[:, None] * random.normal(size=shape[1])
        + random.normal(size=shape)
    ),
    "cycle": lambda shape, random: cycle(shape[0], random) * random.normal(size=shape[1]),
    "cycle in noise": lambda shape, random: (
        cycle(shape[0], random) + 0.5 * random.normal(size=shape)
    ),
    "days": lambda shape, random: (
        of_a_day(shape[0], random) * random.normal(size=shape[1]) + 0.5 * random.normal(size=shape)
    ),
    "season, trend and noise": lambda shape, random: (
        2 * np.sin(2 * np.pi * np.arange(shape[0])[:, None] / 12 + random.normal(size=shape[1]))
        + np.linspace(0, 2, shape[0])[:, None]
        + 0.5 * random.normal(size=shape)
    ),
}
"""Sequences without events, by shape and generator of random numbers."""

FEWEST_FRAMES = {"days": 300, "cycle": 300, "cycle in noise": 300}
"""A period has eight cycles at least, and some frames in each."""


@pytest.mark.parametrize("name", NO_EVENTS)
@pytest.mark.parametrize("shape", [(100, 1), (300, 3), (300, 64), (1000, 8), (600, 512), (5000, 1)])
def test_sequences_without_events_are_noise(name, shape):
    """At most one of twenty is not, or has a change by chance; cycles need eight turns."""
    if shape[0] < FEWEST_FRAMES.get(name, 0):
        pytest.skip("too few frames for a cycle")
    seeds = range(20 if shape[0] * shape[1] < 1000 else 5)
    made = [NO_EVENTS[name](shape, np.random.default_rng(seed)) for seed in seeds]
    assert sum(not why_noise(standardize(x)) for x in made) <= 1


@pytest.mark.parametrize("name", NO_EVENTS)
@pytest.mark.parametrize("shape", [(300, 1), (600, 20)])
def test_sequences_without_events_are_one_event_that_says_why(name, shape):
    x = NO_EVENTS[name](shape, np.random.default_rng(3))
    fitted = EventSegmenter.fast().fit(x)
    assert len(fitted.boundaries_) == 0
    assert "one event: " in fitted.segmentation_.notes[-1]
    assert len(fitted.choose(level=1).events) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_EVENTS)
def test_long_sequences_without_events_are_one_event(name):
    x = NO_EVENTS[name]((20_000, 8), np.random.default_rng(3))
    assert len(EventSegmenter.fast().fit(x).boundaries_) == 0


def between(n_frames, random, *, level=0.0, spread=1.0, columns=slice(None), shape=1):
    """White noise whose middle third differs."""
    x = random.normal(size=(n_frames, shape))
    middle = slice(n_frames // 3, 2 * n_frames // 3)
    x[middle, columns] = level + spread * x[middle, columns]
    return x


@pytest.mark.parametrize(
    ("change", "n_frames", "n_columns", "least"),
    [
        ({"spread": 2.0}, 600, 1, 0.9),
        ({"spread": 2.0}, 600, 64, 0.9),
        ({"spread": np.sqrt(2.0)}, 600, 8, 0.9),
        ({"level": 1.0}, 540, 1, 0.5),
        ({"level": 1.0}, 540, 8, 0.9),
        ({"level": 3.0}, 180, 1, 0.9),
        ({"level": 2.0, "columns": slice(3)}, 600, 20, 0.9),
    ],
)
def test_nothing_that_a_test_can_see_is_taken_for_noise(change, n_frames, n_columns, least):
    """Changes of spread and of level, also in few of the columns; before, all were one event."""
    scores = []
    for seed in range(10):
        x = between(n_frames, np.random.default_rng(seed), shape=n_columns, **change)
        found = EventSegmenter.fast().fit(x).boundaries_
        true = [n_frames // 3, 2 * n_frames // 3]
        scores.append(score_boundaries(found, true, tolerance=n_frames // 50).f1)
    assert np.mean(scores) >= least


@pytest.mark.slow
def test_no_recording_of_the_development_sets_is_a_walk_or_noise(shared):
    groups = find_groups(shared)
    if not groups:
        pytest.skip("the development sets are not there")
    for path in (path for files in groups.values() for path in files):
        features = np.asarray(read_labeled(path).features, dtype=np.float64)
        for start in range(0, max(1, len(features) - 319), 320):
            part = features[start : start + 320] if start else features
            why = why_noise(standardize(part))
            assert "walk" not in why, (path, start)
            assert "autocorrelated" not in why, (path, start)
