"""Small and odd inputs: the right events, or one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d

from dayline import EventSegmenter, score_boundaries
from dayline.research.datasets.synthetic import make_communities

FILM = Path(__file__).parents[3] / "shared" / "data" / "video" / "bigbuckbunny.mp4"


def boundaries(x):
    return EventSegmenter().fit(x).boundaries_.tolist()


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_clear_steps_in_few_columns(n_columns, seed):
    random = np.random.default_rng(seed)
    levels = np.cumsum(
        random.choice([-1.0, 1.0], (6, n_columns)) * random.uniform(4, 8, (6, n_columns)), axis=0
    )
    true = [70, 160, 230, 330, 420]
    x = np.repeat(levels, np.diff([0, *true, 500]), axis=0) + random.normal(size=(500, n_columns))
    assert score_boundaries(boundaries(x), true, tolerance=5).f1 >= 0.85


def test_pieces_that_ruptures_makes():
    ruptures = pytest.importorskip("ruptures")
    for n_columns in (1, 2):
        found = []
        for seed in range(3):
            x, stops = ruptures.pw_constant(500, n_columns, 5, noise_std=1, seed=seed)
            found.append(score_boundaries(boundaries(x), stops[:-1], tolerance=5).f1)
        assert np.mean(found) >= 0.8


def test_whole_numbers():
    x = np.repeat([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8], [9, 7, 9, 3]], 30, axis=0)
    assert boundaries(x) == [30, 60, 90]
    assert boundaries(np.repeat([[1], [5], [2], [8]], 60, axis=0)) == [60, 120, 180]


@pytest.mark.parametrize("n_columns", [1, 3, 10])
def test_a_constant_with_one_step(n_columns):
    for half in (10, 50, 200):
        assert boundaries(np.repeat([[0.0] * n_columns, [1.0] * n_columns], half, axis=0)) == [half]


@pytest.mark.parametrize("n_columns", [1, 3, 4, 8, 40])
def test_levels_of_one_factor_are_found_however_many_columns_follow_it(n_columns):
    """The cosine of two centred frames on a line is only a sign."""
    random = np.random.default_rng(0)
    levels = np.repeat(np.arange(8.0), 40)[:, None] + 0.05 * random.normal(size=(320, 1))
    x = levels * random.uniform(0.5, 2.0, size=n_columns)
    assert boundaries(x) == list(range(40, 320, 40))
    assert list(EventSegmenter.fast(n_events=8).fit(x).boundaries_) == list(range(40, 320, 40))


def test_twelve_bursts_of_eight_photos():
    random = np.random.default_rng(0)
    places = random.normal(size=(12, 64))
    for noise in (0.0, 0.1, 0.5):
        x = np.repeat(places, 8, axis=0) + noise * random.normal(size=(96, 64))
        assert boundaries(x) == list(range(8, 96, 8))


@pytest.mark.parametrize("n_columns", [1, 2, 30, 200])
def test_white_noise_is_one_event(n_columns):
    for seed in range(5):
        assert boundaries(np.random.default_rng(seed).normal(size=(300, n_columns))) == []


@pytest.mark.parametrize("n_columns", [1, 2, 3, 8, 64])
def test_a_random_walk_is_one_event(n_columns):
    for seed in range(3):
        assert (
            boundaries(np.cumsum(np.random.default_rng(seed).normal(size=(300, n_columns)), axis=0))
            == []
        )


@pytest.mark.slow
def test_a_drift_has_few_events():
    for seed in range(3):
        random = np.random.default_rng(seed)
        slope = 10 * np.linspace(0, 1, 1000)[:, None] * random.normal(size=64)
        assert len(boundaries(slope + random.normal(size=(1000, 64)))) <= 6


@pytest.mark.parametrize("window", [8, 16, 64])
def test_averages_over_a_moving_window_keep_their_events(window):
    """A step that is blurred over a quarter of the events is no drift."""
    random = np.random.default_rng(1)
    x = np.repeat(random.normal(size=(8, 32)), 300, axis=0) + random.normal(size=(2400, 32))
    found = boundaries(uniform_filter1d(x, window, axis=0))
    assert score_boundaries(found, list(range(300, 2400, 300)), tolerance=window // 2).f1 >= 0.6


def test_a_note_says_why_there_is_one_event():
    random = np.random.default_rng(0)
    noise, wandering = random.normal(size=(300, 8)), np.cumsum(random.normal(size=(300, 8)), axis=0)
    t = np.linspace(0, 2 * np.pi, 600)
    turning = np.column_stack([np.cos(t), np.sin(t)]) @ random.normal(
        size=(2, 8)
    ) + 0.02 * random.normal(size=(600, 8))
    for x, why in (
        (noise, "hardly more alike"),
        (wandering, "random walk"),
        (turning, "change slowly"),
    ):
        (note,) = EventSegmenter().fit(x).segmentation_.notes
        assert note.startswith("one event: ")
        assert why in note
    assert EventSegmenter(n_events=3).fit(noise).segmentation_.notes == ()
    (note,) = EventSegmenter().fit(noise[:3]).segmentation_.notes
    assert note == "one event: fewer than 4 frames"
    assert EventSegmenter().fit(np.repeat(noise[:4], 30, axis=0)).segmentation_.notes == ()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 12, 20, 29])
def test_fewer_than_thirty_frames(n):
    x = np.random.default_rng(n).normal(size=(n, 10))
    assert boundaries(x) == []
    halves = np.concatenate([0.1 * x[: n // 2] + 3, 0.1 * x[n // 2 :] - 3])
    assert boundaries(halves) in ([], [n // 2])


@pytest.mark.parametrize("seed", range(3))
def test_frames_that_are_repeated_or_interpolated_add_no_events(seed):
    made = make_communities(300, stay=400.0, n_features=20, random_state=seed)
    usual = 4 * np.asarray(boundaries(made.features))
    at = np.arange(4 * 300 - 3) / 4
    between = np.column_stack([np.interp(at, np.arange(300), column) for column in made.features.T])
    for x in (np.repeat(made.features, 4, axis=0), between):
        found = boundaries(x)
        assert score_boundaries(found, usual, tolerance=4).f1 >= 0.8
        assert len(found) <= len(usual) + 2


def film(seed, *, seconds=480, rate=5):
    """Shots of 8 to 60 seconds in eight places; within each the camera wanders."""
    random = np.random.default_rng(seed)
    n, shots = seconds * rate, []
    places = random.normal(size=(8, 64))
    while sum(map(len, shots)) < n:
        wandering = np.cumsum(
            0.03 * random.normal(size=(rate * int(random.integers(8, 60)), 64)), axis=0
        )
        shots.append(places[random.integers(8)] + 0.4 * random.normal(size=64) + wandering)
    return np.concatenate(shots)[:n] + 0.3 * random.normal(size=(n, 64))


@pytest.mark.slow
def test_a_film_has_the_same_events_at_five_two_and_one_frame_a_second():
    for seed in range(2):
        x = film(seed)
        rates = {
            rate: x[np.floor(np.arange(0, len(x), 5 / rate)).astype(int)] for rate in (5, 2, 1)
        }
        found = {
            rate: 10 * np.asarray(boundaries(frames)) // rate for rate, frames in rates.items()
        }
        for one, other in ((5, 2), (2, 1), (5, 1)):
            assert score_boundaries(found[one], found[other], tolerance=10).f1 >= 0.8


@pytest.mark.skipif(not FILM.exists(), reason="needs shared/data/video")
def test_one_shot_of_five_seconds_is_one_event():
    pytest.importorskip("av")
    from dayline import segment_source

    assert len(segment_source(FILM).segmentation.events) == 1
