from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline import EventSegmenter, score_boundaries
from dayline.boundaries import partition, partition_between
from dayline.denoise import standardize
from dayline.graph import unit_rows
from dayline.prices import persistence
from dayline.steadiness import steady_factor


def two_states(random, *, n_events=14, length=30):
    """Two looks in turn under noise that lasts four frames, as overlapping windows make it."""
    looks = random.normal(size=(2, 40))
    clean = np.repeat(looks[np.arange(n_events) % 2], length, axis=0)
    white = random.normal(size=(len(clean) + 3, 40))
    smooth = sum(white[k : k + len(clean)] for k in range(4)) / 2.0
    return clean + smooth


def test_clear_events_are_found_where_looks_do_not_last(random):
    """Noise makes looks look short; dearer prices lose nothing but the noise."""
    x = two_states(random)
    truth = np.arange(30, 420, 30)
    lasting = persistence(standardize(x))
    assert lasting < 5
    found = EventSegmenter().fit(x)
    cheap = partition(unit_rows(found.embedding_), penalty=lasting)
    at_once = score_boundaries(found.boundaries_, truth, n_frames=420, tolerance=3).f1
    assert at_once > 0.9
    assert at_once > score_boundaries(cheap, truth, n_frames=420, tolerance=3).f1 + 0.1


def test_a_plateau_is_found_and_a_slope_is_not(random):
    """Ten strong boundaries among many weak ones; then as many of every strength."""
    clear = unit_rows(np.repeat(random.normal(size=(11, 6)), 40, axis=0) + 0.6 * random.normal(size=(440, 6)))
    prices = np.full(440, 0.4)
    factor = steady_factor(clear, prices, room=50.0)
    assert factor > 3
    assert len(partition(clear, penalty=prices * factor)) == 10
    lengths = np.round(np.exp(np.linspace(0.7, 4.3, 40))).astype(int)
    random.shuffle(lengths)
    slope = unit_rows(np.repeat(random.normal(size=(40, 6)), lengths, axis=0))
    assert steady_factor(slope, np.full(len(slope), 0.8), room=25.0) < factor / 2


cases = st.tuples(st.integers(0, 10_000), st.integers(2, 90), st.floats(1.0, 30.0))


@given(cases, st.sets(st.integers(1, 89), max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_factor_stays_within_its_room_and_does_not_hang_on_the_unit(case, must):
    seed, n, room = case
    random = np.random.default_rng(seed)
    x = unit_rows(np.repeat(random.normal(size=(n, 4)), random.integers(1, 9, n), axis=0)[:n])
    must = [m for m in must if m < n]
    factor = steady_factor(x, np.full(n, 1.5), room=room, must=must)
    assert 1.0 <= factor <= room
    assert steady_factor(2.0 * x, np.full(n, 6.0), room=room, must=must) == pytest.approx(factor)
    assert steady_factor(x, np.full(n, 1.5), room=1.0) == 1.0


def test_nothing_to_cut_leaves_the_price_as_it_is():
    still = np.ones((50, 3)) / np.sqrt(3)
    assert steady_factor(still, np.full(50, 2.0), room=1.05) == 1.0
    assert 1.0 <= steady_factor(still, np.full(50, 2.0), room=10.0) <= 10.0
    assert 1.0 <= steady_factor(still, np.full(50, np.inf), room=10.0) <= 10.0


def test_fixed_boundaries_stay_and_only_those_named_are_added(random):
    x = unit_rows(np.repeat(random.normal(size=(6, 5)), 10, axis=0))
    prices = np.ones(60)
    fixed = np.asarray([15])
    assert partition_between(x, prices, fixed).tolist() == [10, 15, 20, 30, 40, 50]
    assert partition_between(x, prices, fixed, among=np.asarray([10, 33, 40])).tolist() == [10, 15, 33, 40]
    assert partition_between(x, 1e6 * prices, fixed).tolist() == [15]
