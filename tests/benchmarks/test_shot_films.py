from __future__ import annotations

import numpy as np
import pytest
import shot_films
import shots as script
from shot_films import Transition


@pytest.mark.parametrize("make", [shot_films.fast_cuts, shot_films.flashes])
def test_hard_cuts_are_where_they_are_said_to_be(make):
    film = make(np.random.default_rng(0))
    small = np.asarray([frame[::16, ::16].astype(int) for frame in film.frames])
    before, after = (np.array([one.first + k for one in film.shots]) for k in (-1, 0))
    change = np.abs(small[after] - small[before]).mean(axis=(1, 2, 3))
    # The camera moves by a pixel a frame; another picture differs by tens of levels.
    assert np.median(change) > 30


def test_the_films_are_the_same_each_time():
    first, second = (shot_films.slides(np.random.default_rng([1, 2])) for _ in range(2))
    assert first.shots == second.shots
    assert all((a == b).all() for a, b in zip(first.frames, second.frames, strict=True))


def test_a_transition_counts_once_and_each_of_its_frames_is_exact():
    true = [Transition(10, 10), Transition(20, 30)]
    assert script.f1([10, 25], true, tolerance=0) == 1
    assert script.f1([11, 25, 26], true, tolerance=0) == pytest.approx(2 / 5)
    assert script.f1([11, 33], true, tolerance=5) == 1
    assert script.f1([], [], tolerance=0) == 1
