from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.decision.model import expected_f1, load_model

falling = st.lists(st.floats(-3, 8), max_size=30).map(
    lambda v: np.sort(np.asarray(v, dtype=float))[::-1]
)


def test_the_model_is_small_and_higher_is_more_probable():
    model = load_model()
    assert len(model.kinds) >= 20
    found = model.probabilities(np.linspace(-5, 5, 50))
    assert found.shape == (len(model.kinds), 50)
    assert np.all((found > 0) & (found < 1))
    assert np.all(np.diff(found.mean(axis=0)) > 0)


def test_odds_are_added_and_required_boundaries_are_certain():
    model = load_model()
    strengths = np.asarray([np.inf, 1.0, -1.0])
    found, doubled = (
        model.probabilities(strengths),
        model.probabilities(strengths, log_odds=np.log(2.0)),
    )
    assert np.all(found[:, 0] == 1.0)
    np.testing.assert_allclose(
        doubled[:, 1:] / (1 - doubled[:, 1:]), 2 * found[:, 1:] / (1 - found[:, 1:])
    )


@given(falling)
@settings(max_examples=60, deadline=None)
def test_the_split_has_the_highest_variance_between_classes(heights):
    if len(heights) < 3 or np.ptp(heights) < 1e-6:
        return
    # In under 48 frames no candidates are added.
    found = replace(load_model(), split_counts_as=0.0).split(heights, 47, penalty=1.0)

    def between(k):
        high, low = heights[:k], heights[k:]
        return len(high) * len(low) * (high.mean() - low.mean()) ** 2

    best = max(between(k) for k in range(1, len(heights)))
    k = int(np.sum(heights > found)) or int(np.sum(heights >= found))
    assert between(min(k, len(heights) - 1)) == pytest.approx(best, rel=1e-6)


def test_few_candidates_are_split_near_the_usual_height():
    model = replace(load_model(), usual_split=2.0, split_counts_as=3.0)
    assert model.split(np.zeros(0), 47, penalty=1.0) == 2.0
    assert model.split(np.asarray([5.0]), 47, penalty=np.e) == pytest.approx((1 + 3 * 2) / 4)
    many = np.repeat([6.0, 0.0], 50)
    assert model.split(many, 47, penalty=1.0) == pytest.approx((100 * 3 + 3 * 2) / 103)


def test_where_all_candidates_are_boundaries_the_split_is_below_them():
    model = replace(load_model(), split_counts_as=0.0)
    clear = np.linspace(6.0, 5.0, 20)
    assert model.split(clear, 240, penalty=np.e) == pytest.approx(3.0)
    assert model.split(np.zeros(0), 240, penalty=np.e) == pytest.approx(1.0)
    # A few frames have none to spare for the rest.
    assert model.split(clear, 47, penalty=np.e) > 5.0


@given(st.lists(st.floats(0.01, 0.99), max_size=8))
@settings(max_examples=40, deadline=None)
def test_expected_f1_is_a_share_and_none_at_all_counts(p):
    by_kind = np.sort(np.asarray([p], dtype=float).reshape(1, -1))[:, ::-1]
    found = expected_f1(by_kind)
    assert len(found) == len(p) + 1
    assert np.all((found >= 0) & (found <= 1))
    assert found[0] == pytest.approx(np.prod(1 - by_kind))


@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=7))
@settings(max_examples=30, deadline=None)
def test_the_number_it_prefers_is_nearly_the_best_there_is(p):
    """Against the exact expectation over every way in which independent boundaries may be right."""
    p = np.sort(p)[::-1]
    exact = np.zeros(len(p) + 1)
    for truth in product([0, 1], repeat=len(p)):
        chance = np.prod(np.where(truth, p, 1 - p))
        for k in range(len(p) + 1):
            total = k + sum(truth)
            exact[k] += chance * (2 * sum(truth[:k]) / total if total else 1.0)
    chosen = int(np.argmax(expected_f1(p[None, :])))
    assert exact[chosen] > exact.max() - 0.05


def test_every_kind_counts_the_same():
    model = replace(
        load_model(),
        kinds=("a", "b"),
        slopes=np.asarray([0.0, 0.0]),
        intercepts=np.asarray([9.0, -9.0]),
    )
    found = expected_f1(model.probabilities(np.zeros(4)))
    np.testing.assert_allclose(
        found[1:], 0.5 * 2 * np.arange(1, 5) / (np.arange(1, 5) + 4), atol=0.01
    )
