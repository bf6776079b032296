from __future__ import annotations

import math

import numpy as np
import pytest

from dayline.metrics import score_boundaries
from dayline.research.baselines.kernel_change import KernelChangeSegmenter, kernel_penalty
from dayline.research.datasets.annotations import load_group

pytest.importorskip("ruptures")


def test_penalties_are_as_stated():
    assert kernel_penalty(np.ones((50, 2)), kernel="rbf") == pytest.approx(math.log(50))
    # Half the frames along each axis: the mean unit row is (1/2, 1/2), so V = 1 - 1/2.
    x = np.repeat([[3.0, 0.0], [0.0, 0.1]], 25, axis=0)
    assert kernel_penalty(x, kernel="cosine") == pytest.approx(0.5 * math.log(50) * 0.5)


def test_a_higher_penalty_gives_fewer_events(random):
    x = np.cumsum(random.normal(size=(120, 3)), axis=0)
    counts = [len(KernelChangeSegmenter(penalty=p).fit(x).boundaries_) for p in (0.5, 2.0, 8.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2]


def test_events_that_do_not_fit_are_refused(random):
    with pytest.raises(ValueError, match="n_events=7 of at least 2 frames"):
        KernelChangeSegmenter(7).fit(random.normal(size=(12, 3)))


@pytest.mark.parametrize("kernel", ["rbf", "cosine"])
def test_the_scale_of_a_column_does_not_matter(kernel, random):
    x = np.repeat(random.normal(size=(6, 4)), 20, axis=0) + 0.1 * random.normal(size=(120, 4))
    plain, scaled = KernelChangeSegmenter(kernel=kernel), KernelChangeSegmenter(kernel=kernel)
    plain.fit(x)
    scaled.fit(x * [1.0, 8.0, 64.0, 0.5] + [0.0, 4.0, 0.0, 32.0])
    assert len(plain.boundaries_) > 2
    assert plain.boundaries_.tolist() == scaled.boundaries_.tolist()


def test_mocap_scores_as_measured_elsewhere(shared):
    scores = [
        score_boundaries(
            KernelChangeSegmenter(standardize=False).fit(s.features).boundaries_,
            s.boundaries,
            tolerance=s.tolerance,
        )
        for s in load_group(shared, "mocap6")
    ]
    assert np.mean([score.f1 for score in scores]) == pytest.approx(0.761, abs=0.005)
