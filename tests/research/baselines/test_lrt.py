from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh, solve_sylvester
from scipy.stats import norm

from dayline.research.baselines.lrt import LowRankTransferSegmenter, transfer_codes


def dense_twin(source: np.ndarray, target: np.ndarray, n_directions: int, turns: int) -> np.ndarray:
    """The published equations with dense matrices, the low-rank copy included."""
    a, b = (x.T / np.linalg.norm(x.T, axis=0) for x in (source, target))
    x, ridge, mu = np.hstack([a, b]), 0.15, 0.001
    n = x.shape[1]
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    weights = np.where((apart > 0) & (apart <= 8), 15 * norm.pdf(apart, 0, 3), 0.0)
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=0)) - weights)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    z = np.random.default_rng(0).random((a.shape[1], n))
    v, y1, y2, u = (np.zeros_like(z) for _ in range(4))
    for _ in range(turns):
        t = x - a @ v
        spread, size = np.cov(t, bias=True) * n, t @ t.T + ridge * np.eye(len(x))
        ratio, p = eigh(spread, size)
        g = (p / np.sqrt(ratio))[:, -n_directions:].T
        right = (g @ a).T @ g @ x - y1 + mu * z + y2 @ root.T + mu * u @ root.T
        left = mu * np.eye(a.shape[1]) + (g @ a).T @ g @ a
        v = solve_sylvester(left, (mu + ridge) * root @ root.T, right)
        turned, sizes, directions = np.linalg.svd(v @ root - y2 / mu, full_matrices=False)
        u = turned * np.maximum(sizes - 2.0 / mu, 0.0) @ directions
        z = np.maximum(v + y1 / mu, 0.0)
        y1, y2 = y1 + mu * (v - z), y2 + mu * (u - v @ root)
    return z[:, a.shape[1] :].T


def test_codes_are_those_of_the_published_equations(random):
    source, target = random.random((30, 8)), random.random((45, 8))
    expected = dense_twin(source, target, n_directions=5, turns=6)
    found = transfer_codes(source, target, n_directions=5, n_iterations=6)
    assert found.max() > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_frames_that_look_alike_get_like_codes(random):
    means = np.abs(random.normal(size=(2, 12)))
    source = np.repeat(means, 30, axis=0) + 0.05 * random.random((60, 12))
    target = np.repeat(means[[1, 0, 1]], 20, axis=0) + 0.05 * random.random((60, 12))
    fitted = LowRankTransferSegmenter(2, source=source).fit(target)
    assert fitted.codes_.shape == (60, 60)
    truth = np.repeat([0, 1, 0], 20)
    assert np.mean(fitted.communities_ == truth) > 0.9


def test_a_source_with_other_features_is_refused(random):
    with pytest.raises(ValueError, match="the source has 4 features, the sequence 5"):
        LowRankTransferSegmenter(source=np.ones((9, 4))).fit(random.normal(size=(20, 5)))
