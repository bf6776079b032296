from __future__ import annotations

import numpy as np

from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.research.baselines.ces import ContextualSegmenter, strongest_maxima


def test_the_automatic_rule_is_the_paper_s_own(random):
    x = np.cumsum(random.normal(size=(80, 5)), axis=0)
    fitted = ContextualSegmenter(window=6, order=4).fit(x)
    assert (
        fitted.boundaries_.tolist()
        == pick_boundaries(context_distance(x, window=6), order=4).tolist()
    )


def test_denoising_changes_the_scores(random):
    x = random.normal(size=(60, 5))
    assert not np.allclose(
        ContextualSegmenter(denoise=True).fit(x).scores_, ContextualSegmenter().fit(x).scores_
    )


def test_maxima_come_before_higher_frames_beside_them():
    #                   0  1    2    3    4  5    6    7    8
    scores = np.array([0, 0.2, 0.9, 0.8, 0, 0.1, 0.4, 0.3, 0])
    assert strongest_maxima(scores, n_boundaries=2, order=2).tolist() == [2, 6]
    assert strongest_maxima(scores, n_boundaries=3, order=2).tolist() == [2, 3, 6]
    assert strongest_maxima(scores, n_boundaries=0, order=2).tolist() == []
