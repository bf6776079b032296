from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline import EventSegmenter, score_boundaries
from dayline.decision.partition import partition, partition_between
from dayline.decision.penalties import persistence
from dayline.decision.stability import steady_factor
from dayline.method.denoise import standardize
from dayline.method.graph import unit_rows


def two_states(random, *, n_events=14, length=30):
    """Two looks in turn under noise that lasts four frames, as overlapping windows make it."""
    looks = random.normal(size=(2, 40))
    clean = np.repeat(looks[np.arange(n_events) % 2], length, axis=0)
    white = random.normal(size=(len(clean) + 3, 40))
    smooth = sum(white[k : k + len(clean)] for k in range(4)) / 2.0
    return clean + smooth


def right(found, n_events=14, length=30):
    truth = np.arange(length, n_events * length, length)
    return score_boundaries(found, truth, n_frames=n_events * length, tolerance=3).f1


@pytest.mark.slow
def test_clear_events_are_found_where_looks_do_not_last():
    """Noise makes looks look short; dearer prices lose nothing but the noise."""
    steady, cheap = [], []
    for seed in range(6):
        x = two_states(np.random.default_rng(seed))
        lasting = persistence(standardize(x))
        assert lasting < 5
        fitted = EventSegmenter().fit(x)
        steady.append(right(fitted.boundaries_))
        cheap.append(right(partition(unit_rows(fitted.embedding_), penalty=lasting)))
    assert np.median(steady) > 0.9
    assert np.mean(steady) > np.mean(cheap) + 0.2


def test_what_a_person_confirms_changes_nothing_else(random):
    """Confirmed boundaries must not lower the price of the others, nor forbidden frames raise it."""
    x = two_states(random)
    found = EventSegmenter().fit(x).boundaries_
    assert EventSegmenter().fit(x, must=found).boundaries_.tolist() == found.tolist()
    assert EventSegmenter().fit(x, must=found[::2]).boundaries_.tolist() == found.tolist()
    free = np.setdiff1d(np.arange(1, 100), found)
    assert EventSegmenter().fit(x, must_not=free).boundaries_.tolist() == found.tolist()


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


def test_a_plateau_of_two_boundaries_may_be_chance():
    """The same noise around three looks and around eleven: two boundaries prove too little to give up all others."""

    def factor(seed, n_events):
        random = np.random.default_rng(seed)
        looks = np.repeat(random.normal(size=(n_events, 6)), 440 // n_events, axis=0)
        x = unit_rows(looks + 0.6 * random.normal(size=looks.shape))
        return steady_factor(x, np.full(len(x), 0.4), room=50.0)

    few, many = ([factor(seed, n_events) for seed in range(8)] for n_events in (3, 11))
    assert np.median(few) < 1.5
    assert np.median(many) > 3


def test_no_boundary_is_no_plateau():
    """Equal events that all vanish at the same price: there they are kept."""
    for n_events, length, price in ((30, 6, 4.0), (12, 6, 4.0), (16, 8, 6.0), (30, 8, 6.0)):
        x, prices = np.repeat(np.eye(n_events), length, axis=0), np.full(n_events * length, price)
        factor = steady_factor(x, prices, room=5.0)
        assert len(partition(x, penalty=prices * factor)) == n_events - 1


cases = st.tuples(st.integers(0, 10_000), st.integers(2, 90), st.floats(1.0, 30.0))


@given(cases)
@settings(max_examples=40, deadline=None)
def test_the_factor_stays_within_its_room_and_does_not_hang_on_the_unit(case):
    seed, n, room = case
    random = np.random.default_rng(seed)
    x = unit_rows(np.repeat(random.normal(size=(n, 4)), random.integers(1, 9, n), axis=0)[:n])
    factor = steady_factor(x, np.full(n, 1.5), room=room)
    assert 1.0 <= factor <= room
    assert steady_factor(2.0 * x, np.full(n, 6.0), room=room) == pytest.approx(factor)
    assert steady_factor(x, np.full(n, 1.5), room=1.0) == 1.0


def test_nothing_to_cut_leaves_the_price_as_it_is():
    still = np.ones((50, 3)) / np.sqrt(3)
    assert steady_factor(still, np.full(50, 2.0), room=10.0) == 1.0
    assert steady_factor(still, np.full(50, np.inf), room=10.0) == 1.0


@pytest.mark.parametrize("room", [1.0, 1.0 + 1e-15, 1.001, 1.02, 1.03, 1.1, 1.2, 1.3])
def test_little_room_takes_little_work(room, random, monkeypatch):
    """The grid must not grow without bound as the room closes."""
    tried = []
    monkeypatch.setattr("dayline.decision.stability.partition", lambda *_, **__: tried.append(0) or np.arange(3))
    assert 1.0 <= steady_factor(random.normal(size=(40, 3)), np.ones(40), room=room) <= room
    assert len(tried) <= 60


def test_fixed_boundaries_stay_and_only_those_named_are_added(random):
    x = unit_rows(np.repeat(random.normal(size=(6, 5)), 10, axis=0))
    prices = np.ones(60)
    fixed = np.asarray([15])
    assert partition_between(x, prices, fixed).tolist() == [10, 15, 20, 30, 40, 50]
    assert partition_between(x, prices, fixed, among=np.asarray([10, 33, 40])).tolist() == [10, 15, 33, 40]
    assert partition_between(x, 1e6 * prices, fixed).tolist() == [15]
