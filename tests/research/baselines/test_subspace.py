"""Codes of TSC and LRT against dense solvers, and the groups made from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh, solve_sylvester
from scipy.stats import norm

from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.metrics import score_labels
from dayline.research.baselines.subspace import (
    LowRankTransferSegmenter,
    TemporalSubspaceSegmenter,
    _solve_smooth,
    code_graph,
    temporal_laplacian,
)
from dayline.research.datasets.motion import load_motion


def temporal_codes(x, **parameters):
    return TemporalSubspaceSegmenter(**parameters).fit(x).codes_


def dense(bands: np.ndarray) -> np.ndarray:
    reach, n = len(bands) - 1, bands.shape[1]
    full = np.diag(bands[reach])
    for offset in range(1, reach + 1):
        full += np.diag(bands[reach - offset, offset:], offset) + np.diag(
            bands[reach - offset, offset:], -offset
        )
    return full[:n, :n]


def test_the_laplacian_sums_squared_differences_in_time(random):
    z = random.normal(size=9)
    laplacian = dense(temporal_laplacian(9, np.array([2.0, 0.5])))
    expected = 2.0 * np.sum(np.diff(z) ** 2) + 0.5 * np.sum((z[2:] - z[:-2]) ** 2)
    assert z @ laplacian @ z == pytest.approx(expected)


def test_banded_systems_solve_the_lyapunov_equation(random):
    a = random.normal(size=(4, 4))
    products, bands, right = (
        a @ a.T + np.eye(4),
        temporal_laplacian(11, np.ones(3)),
        random.normal(size=(4, 11)),
    )
    v = _solve_smooth(products, bands, right)
    np.testing.assert_allclose(products @ v + v @ dense(bands), right, atol=1e-12)


def test_codes_are_non_negative_smooth_and_explain_the_frames(random):
    x = np.abs(
        np.repeat(random.normal(size=(3, 10)), 25, axis=0) + 0.1 * random.normal(size=(75, 10))
    )
    codes = temporal_codes(x, n_atoms=12)
    assert codes.shape == (75, 12)
    assert codes.min() >= 0.0
    rough = temporal_codes(x, n_atoms=12, smoothness=0.0)
    steps = [np.sum(np.diff(z, axis=0) ** 2) / np.sum(z**2) for z in (codes, rough)]
    assert steps[0] < 0.2 * steps[1]
    u = x / np.linalg.norm(x, axis=1, keepdims=True)
    explained = rough @ np.linalg.lstsq(rough, u, rcond=None)[0]
    assert np.linalg.norm(u - explained) < 0.1 * np.linalg.norm(u)


def test_links_follow_the_published_formula():
    graph = code_graph(np.array([[2.0, 0.0], [1.0, 1.0]]))
    assert graph[0, 1] == pytest.approx(2.0 / (4.0 * 2.0), rel=1e-5)


def test_ces_tsc_is_the_ces_rule_on_the_codes(random):
    x = np.cumsum(random.normal(size=(90, 6)), axis=0)
    fitted = TemporalSubspaceSegmenter(n_atoms=10).fit(x)
    assert fitted.boundaries_.tolist() == pick_boundaries(context_distance(fitted.codes_)).tolist()
    assert fitted.communities_.tolist() == fitted.labels_.tolist()


def test_the_seed_decides(random):
    x = random.random((40, 6))
    assert np.array_equal(temporal_codes(x, n_atoms=5), temporal_codes(x, n_atoms=5))
    assert not np.allclose(
        temporal_codes(x, n_atoms=5), temporal_codes(x, n_atoms=5, random_state=1)
    )


@pytest.mark.slow
def test_keck_scores_as_measured_elsewhere(shared):
    scores = []
    for s in load_motion(shared, "keck"):
        found = TemporalSubspaceSegmenter(len(np.unique(s.labels))).fit(s.features)
        scores.append(score_labels(found.communities_, s.labels))
    assert np.mean([s.hungarian_accuracy for s in scores]) == pytest.approx(0.746, abs=0.04)
    assert np.mean([s.nmi_geometric for s in scores]) == pytest.approx(0.801, abs=0.04)


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
    fitted = LowRankTransferSegmenter(source=source, n_directions=5, n_iterations=6).fit(target)
    found = fitted.codes_
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
