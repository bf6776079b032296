from __future__ import annotations

import numpy as np
import pytest

from dayline.research.datasets.synthetic import MEANS, make_communities


def test_points_scatter_around_their_communities():
    made = make_communities(20_000, random_state=3)
    for community, mean in enumerate(MEANS):
        own = made.features[made.communities == community]
        np.testing.assert_allclose(own.mean(axis=0), mean, atol=0.15)
        np.testing.assert_allclose(own.var(axis=0), 3.7, rtol=0.1)


def test_visits_last_as_the_staying_probability_says():
    """P(length > m) = exp(-(1 + ... + m) / stay); its sum over m is the mean length."""
    made = make_communities(40_000, stay=50.0, random_state=3)
    m = np.arange(200)
    expected = np.exp(-m * (m + 1) / 2 / 50.0).sum()
    assert 40_000 / (len(made.boundaries) + 1) == pytest.approx(expected, rel=0.03)
    assert np.all(made.communities[made.boundaries] != made.communities[made.boundaries - 1])


def test_same_seed_same_sequence():
    assert np.array_equal(
        make_communities(random_state=5).features, make_communities(random_state=5).features
    )
    assert make_communities(80, n_features=9).features.shape == (80, 9)
