"""Curves of novelty and the peaks that are picked from them."""

from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.metrics import score_boundaries
from dayline.research.baselines.novelty import (
    ContextualSegmenter,
    WindowDifferenceSegmenter,
    pick_outstanding,
    strongest_maxima,
    window_difference,
)
from dayline.research.datasets.annotations import load_group


def test_the_automatic_rule_is_the_paper_s_own(random):
    x = np.cumsum(random.normal(size=(80, 5)), axis=0)
    fitted = ContextualSegmenter(window=6, order=4).fit(x)
    assert (
        fitted.boundaries_.tolist()
        == pick_boundaries(context_distance(x, window=6), order=4).tolist()
    )


def test_maxima_come_before_higher_frames_beside_them():
    #                   0  1    2    3    4  5    6    7    8
    scores = np.array([0, 0.2, 0.9, 0.8, 0, 0.1, 0.4, 0.3, 0])
    assert strongest_maxima(scores, n_boundaries=2, order=2).tolist() == [2, 6]
    assert strongest_maxima(scores, n_boundaries=3, order=2).tolist() == [2, 3, 6]
    assert strongest_maxima(scores, n_boundaries=0, order=2).tolist() == []


def test_a_step_scores_its_squared_height_where_it_is_and_less_beside_it():
    scores = window_difference(np.repeat([[0.0, 1.0], [3.0, 5.0]], 10, axis=0), window=4)
    assert scores[10] == pytest.approx(3.0**2 + 4.0**2)
    # One frame later the nearest of the four frames before is already new: weight g0 of g0 + g1 +
    # g2 + g3.
    taper = np.exp(-0.5 * ((np.arange(4) + 0.5) / 3.0) ** 2)
    assert scores[11] == pytest.approx(25.0 * (1 - taper[0] / taper.sum()) ** 2)
    assert scores[[5, 15]] == pytest.approx(0.0)


def test_near_the_ends_the_means_take_what_is_there():
    x = np.arange(6.0)[:, None]
    g = np.exp(-0.5 * (np.array([0.5, 1.5]) / 1.5) ** 2)
    ahead = (g[0] * 1 + g[1] * 2) / g.sum()
    assert window_difference(x, window=2)[1] == pytest.approx(ahead**2)
    assert window_difference(x, window=2)[0] == 0.0


def test_only_peaks_above_median_and_deviation_stay():
    scores = np.array([0.0, 1, 2, 1, 2, 9, 2, 1, 2, 3.3, 2, 1, 2, 3.6, 2, 1])
    # Without frame 0: median 2; distances from it have median 1, so the threshold is 3.4826.
    assert pick_outstanding(scores, order=2).tolist() == [5, 13]
    assert pick_outstanding(scores, order=9).tolist() == [5]


def test_constant_features_and_the_scale_of_others_do_not_matter(random):
    x = np.repeat(random.normal(size=(3, 4)), 30, axis=0) + 0.1 * random.normal(size=(90, 4))
    expected = WindowDifferenceSegmenter().fit(x).boundaries_.tolist()
    changed = np.hstack([x * [1e-3, 1.0, 50.0, 7.0], np.full((90, 1), 4.0)])
    assert WindowDifferenceSegmenter().fit(changed).boundaries_.tolist() == expected


@pytest.mark.parametrize(("group", "f1"), [("bbc", 0.403), ("gtea", 0.499), ("mocap6", 0.466)])
def test_the_development_sets_score_as_documented(shared, group, f1):
    scores = [
        score_boundaries(
            WindowDifferenceSegmenter().fit(s.features).boundaries_,
            s.boundaries,
            tolerance=s.tolerance,
        )
        for s in load_group(shared, group)
    ]
    assert np.mean([score.f1 for score in scores]) == pytest.approx(f1, abs=0.01)
