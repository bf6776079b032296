"""The loss and its gradient, the embedding, and shortcuts of products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.arrays import main_axes, to_numpy
from dayline.method.embedding import (
    BLOCK_ROWS,
    embed_graph,
    fix_rotation,
    graph_cross_entropy,
    principal_components,
)
from dayline.method.graph import affinity_graph, normalize_columns
from dayline.method.landmarks import LandmarkBasis


def central_differences(function, x, step=1e-5):
    gradient = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (function(up) - function(down)) / (2 * step)
    return gradient


@given(st.integers(0, 10_000), st.floats(0.2, 5), st.booleans())
@settings(max_examples=25, deadline=None)
def test_gradient_agrees_with_central_differences(seed, bandwidth, normalized):
    random = np.random.default_rng(seed)
    x, graph = random.normal(size=(7, 3)), random.uniform(size=(7, 7))
    graph = normalize_columns(graph) if normalized else graph
    _, gradient = graph_cross_entropy(x, graph, bandwidth=bandwidth)
    expected = central_differences(
        lambda p: graph_cross_entropy(p, graph, bandwidth=bandwidth)[0], x
    )
    assert np.abs(gradient - expected).max() <= 1e-6 * np.abs(expected).max()


def test_loss_is_the_sum_over_columns_of_relative_entropies(xp, random):
    x, graph = random.normal(size=(6, 2)), normalize_columns(random.uniform(size=(6, 6)))
    own = normalize_columns(affinity_graph(x, bandwidth=0.7))
    loss, _ = graph_cross_entropy(xp.asarray(x), xp.asarray(graph), bandwidth=0.7)
    assert loss == pytest.approx(float(np.sum(graph * np.log(graph / own))), rel=1e-10)


def test_loss_is_zero_and_flat_where_the_graphs_agree(xp, random):
    x = xp.asarray(random.normal(size=(6, 2)))
    loss, gradient = graph_cross_entropy(
        x, normalize_columns(affinity_graph(x, bandwidth=0.7)), bandwidth=0.7
    )
    assert abs(loss) < 1e-12
    assert float(xp.max(xp.abs(gradient))) < 1e-12


def test_an_empty_edge_adds_nothing(random):
    x = random.normal(size=(5, 2))
    loss, gradient = graph_cross_entropy(x, np.eye(5), bandwidth=0.7)
    own = normalize_columns(affinity_graph(x, bandwidth=0.7))
    assert loss == pytest.approx(-np.log(np.diag(own)).sum())
    assert np.isfinite(gradient).all()


def test_a_zero_row_has_no_gradient(random):
    x = random.normal(size=(5, 2))
    x[2] = 0
    _, gradient = graph_cross_entropy(x, random.uniform(size=(5, 5)), bandwidth=0.7)
    assert np.array_equal(gradient[2], [0, 0])
    assert np.all(gradient[[0, 1, 3, 4]] != 0)


def test_loss_is_blind_to_scale_and_rotation_and_follows_time_reversal(random):
    x, graph = random.normal(size=(8, 3)), random.uniform(size=(8, 8))
    loss, gradient = graph_cross_entropy(x, graph, bandwidth=0.4)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    turned_loss, turned_gradient = graph_cross_entropy(3 * x @ turn, graph, bandwidth=0.4)
    assert turned_loss == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(turned_gradient, gradient @ turn / 3, rtol=1e-9)
    back_loss, back_gradient = graph_cross_entropy(x[::-1], graph[::-1, ::-1], bandwidth=0.4)
    assert back_loss == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(back_gradient[::-1], gradient, rtol=1e-9)


def dense_gradients(x, graph, bandwidth):
    """The full and the authors' gradient by the formulas, with whole matrices."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    u = x / length
    kernel = np.exp((u @ u.T - 1) / bandwidth)
    share = graph.sum(axis=0) / kernel.sum(axis=0)
    full = kernel @ (share[:, None] * u) + share[:, None] * (kernel @ u) - (graph + graph.T) @ u
    half = x.shape[1] * (share[:, None] * (kernel @ u) - graph.T @ u)
    return [
        (g - u * np.sum(u * g, axis=1, keepdims=True)) / length / bandwidth for g in (full, half)
    ]


@pytest.mark.parametrize(
    "n", [2, 5, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 3 * BLOCK_ROWS + 5]
)
def test_both_gradients_are_those_of_whole_matrices(xp, assert_close, n, random):
    """Blocks of rows hold half of a symmetric matrix; their edges are where that could go wrong."""
    graph, x = random.random((n, n)), random.normal(size=(n, 3))
    for gradient, expected in zip(("full", "half"), dense_gradients(x, graph, 0.4), strict=True):
        loss, found = graph_cross_entropy(
            xp.asarray(x), xp.asarray(graph), bandwidth=0.4, gradient=gradient
        )
        assert_close(found, expected, rtol=1e-8, atol=1e-10)
        own = normalize_columns(affinity_graph(x, bandwidth=0.4))
        exact = np.sum(graph * np.log(graph)) - np.sum(graph * np.log(own))
        assert loss == pytest.approx(exact, rel=1e-10)


def test_principal_components_match_the_singular_vectors(xp, assert_close, random):
    for shape in ((30, 6), (6, 30)):
        x = random.normal(size=shape)
        u, s, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
        components = np.asarray(principal_components(xp.asarray(x), 4))
        assert_close(np.abs(components), np.abs(u[:, :4] * s[:4]), atol=1e-9)
        assert np.all(components[np.abs(components).argmax(axis=0), range(4)] > 0)


def test_no_more_components_than_frames_or_features(xp, random):
    assert principal_components(xp.asarray(random.normal(size=(3, 9))), 15).shape == (3, 3)
    assert principal_components(xp.asarray(random.normal(size=(9, 2))), 15).shape == (9, 2)


def test_fixing_the_rotation_undoes_any_rotation(xp, assert_close, random):
    x = random.normal(size=(20, 4)) * [4, 3, 2, 1]
    turn, _ = np.linalg.qr(random.normal(size=(4, 4)))
    assert_close(fix_rotation(xp.asarray(x @ turn)), fix_rotation(xp.asarray(x)), atol=1e-9)
    assert_close(
        np.asarray(fix_rotation(xp.asarray(x))) @ np.asarray(fix_rotation(xp.asarray(x))).T,
        x @ x.T,
        atol=1e-9,
    )


def test_embedding_ends_below_its_start_and_says_why(xp, random):
    graph = normalize_columns(affinity_graph(random.normal(size=(40, 5)), bandwidth=0.3))
    descent = embed_graph(
        xp.asarray(graph), start=xp.asarray(random.normal(size=(40, 5))), bandwidth=0.3, n_steps=200
    )
    assert descent.loss < 0.05 * descent.start_loss
    assert descent.stopped.startswith("converged")
    short = embed_graph(
        xp.asarray(graph), start=xp.asarray(random.normal(size=(40, 5))), bandwidth=0.3, n_steps=4
    )
    assert short.n_evaluations == 4
    assert short.stopped == "reached 4 evaluations before convergence; increase n_steps to continue"


def test_the_authors_descent_takes_their_half_of_the_gradient(random):
    graph, x = random.random((9, 9)), random.normal(size=(9, 3))
    descent = embed_graph(
        graph, start=x, bandwidth=0.4, n_steps=1, optimizer="barzilai-borwein", gradient="half"
    )
    np.testing.assert_allclose(
        x - descent.x, 1e-6 * dense_gradients(x, graph, 0.4)[1], rtol=1e-6, atol=1e-12
    )
    assert descent.start_loss == pytest.approx(
        graph_cross_entropy(x, graph, bandwidth=0.4)[0], rel=1e-12
    )


def test_main_axes_are_the_last_eigenvectors(xp, random, assert_close):
    rows = random.normal(size=(200, 12)) * np.arange(1, 13)
    covariance = rows.T @ rows
    found = to_numpy(main_axes(xp.asarray(covariance), 3))
    expected = np.linalg.eigh(covariance)[1][:, -3:]
    assert_close(np.abs(np.sum(found * expected, axis=0)), np.ones(3), rtol=1e-9)


def test_landmarks_solve_the_same_once_the_inverse_is_known(random, assert_close):
    centres = random.normal(size=(20, 6))
    basis = LandmarkBasis(centres / np.linalg.norm(centres, axis=1, keepdims=True), 0.5)
    right = random.normal(size=(20, 4))
    before = basis.solve(right)
    assert_close(basis.inverse() @ right, before, rtol=1e-6, atol=1e-9)
    assert_close(basis.solve(right), before, rtol=1e-6, atol=1e-9)
