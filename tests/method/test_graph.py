"""Graphs, priors and communities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans

from dayline.arrays import unit_rows
from dayline.method.graph import (
    affinity_graph,
    find_communities,
    in_order_of_appearance,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)
from dayline.metrics import score_labels

points = arrays(
    np.float64, st.tuples(st.integers(2, 9), st.integers(2, 5)), elements=st.floats(0.1, 10)
)
matrices = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.floats(0, 1)))


def test_orthogonal_frames_are_linked_by_exp_minus_one_over_bandwidth(xp, assert_close):
    graph = affinity_graph(xp.asarray([[3.0, 0.0], [0.0, 2.0]]), bandwidth=0.5)
    assert_close(graph, [[1.0, np.exp(-2.0)], [np.exp(-2.0), 1.0]], rtol=1e-6)


def test_a_zero_frame_is_orthogonal_to_every_other(xp, assert_close):
    graph = affinity_graph(xp.asarray([[0.0, 0.0], [0.0, 2.0]]), bandwidth=0.5)
    assert_close(graph[0, :], [np.exp(-2.0)] * 2, rtol=1e-6)


def test_rows_of_any_size_become_unit(assert_close):
    assert_close(
        unit_rows(np.asarray([[3e-200, 4e-200], [3e200, 4e200]])), [[0.6, 0.8], [0.6, 0.8]]
    )
    assert_close(
        unit_rows(np.asarray([[3e-30, 4e-30], [3e30, 4e30]], dtype=np.float32)),
        [[0.6, 0.8], [0.6, 0.8]],
    )
    assert_close(unit_rows(np.asarray([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])
    assert_close(unit_rows(np.asarray([[3.0, 4.0], [-30.0, 40.0]])), [[0.6, 0.8], [-0.6, 0.8]])
    assert unit_rows(np.zeros((0, 2))).shape == (0, 2)


@given(points, st.floats(0.05, 5))
def test_graph_is_symmetric_and_blind_to_scale_and_rotation(x, bandwidth):
    graph = affinity_graph(x, bandwidth=bandwidth)
    np.testing.assert_allclose(graph, graph.T, rtol=1e-12)
    scales = np.linspace(0.5, 3, len(x))[:, None]
    np.testing.assert_allclose(affinity_graph(x * scales, bandwidth=bandwidth), graph, rtol=1e-10)
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(x.shape[1], x.shape[1])))
    np.testing.assert_allclose(affinity_graph(x @ turn, bandwidth=bandwidth), graph, rtol=1e-10)


def test_columns_sum_to_one(xp, assert_close):
    graph = normalize_columns(xp.asarray([[1.0, 2.0], [3.0, 2.0]]))
    assert_close(graph, [[0.25, 0.5], [0.75, 0.5]])


@pytest.mark.parametrize("width", [2, 3, 4, 7, 50])
def test_smoothing_agrees_with_a_slow_twin(xp, assert_close, random, width):
    graph = random.uniform(size=(11, 11))
    expected = np.zeros_like(graph)
    for k in range(11):
        for j in range(11):
            rows = [r for r in range(k - width // 2, k - width // 2 + width) if 0 <= r < 11]
            columns = [c for c in range(j - width // 2, j - width // 2 + width) if 0 <= c < 11]
            expected[k, j] = graph[np.ix_(rows, columns)].sum() / width**2
    assert_close(smooth_edges(xp.asarray(graph), width=width), expected)


@pytest.mark.parametrize("prior", [0.25, 1.0])
def test_priors_spare_neighbours_and_the_own_community(xp, assert_close, prior):
    weak, ones = 1.0 - prior, xp.ones((3, 3), dtype=xp.float64)
    distant = weaken_distant_edges(ones, temporal_prior=prior)
    assert_close(distant, [[1, 1, weak], [1, 1, 1], [weak, 1, 1]])
    between = weaken_edges_between_communities(ones, xp.asarray([4, 7, 4]), semantic_prior=prior)
    assert_close(between, [[1, weak, 1], [weak, 1, weak], [1, weak, 1]])


@given(matrices)
def test_priors_of_zero_are_exactly_the_identity(graph):
    communities = np.arange(len(graph)) % 2
    assert np.array_equal(smooth_edges(graph, width=1), graph)
    assert np.array_equal(weaken_distant_edges(graph, temporal_prior=0), graph)
    assert np.array_equal(
        weaken_edges_between_communities(graph, communities, semantic_prior=0), graph
    )


@given(matrices, st.sampled_from([3, 5, 7]), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=50)
def test_priors_keep_symmetry_and_commute_with_time_reversal(graph, width, eta, mu):
    communities = np.arange(len(graph)) % 3

    def apply(g, c):
        g = weaken_distant_edges(smooth_edges(g, width=width), temporal_prior=eta)
        return weaken_edges_between_communities(g, c, semantic_prior=mu)

    symmetric = apply(graph + graph.T, communities)
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-12)
    reversed_after = apply(graph, communities)[::-1, ::-1]
    np.testing.assert_allclose(
        apply(graph[::-1, ::-1], communities[::-1]), reversed_after, atol=1e-12
    )


def test_three_heaps_are_found_and_numbered_as_they_appear(xp, random):
    truth = np.repeat([0, 1, 0, 2, 1], 8)
    centres = np.asarray([[9.0, 0.0], [0.0, 9.0], [-9.0, -9.0]])
    found = find_communities(xp.asarray(centres[truth] + random.normal(scale=0.1, size=(40, 2))), 3)
    assert found.tolist() == truth.tolist()


def test_no_more_communities_than_different_frames():
    x = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    assert find_communities(x, 10).tolist() == [0] * 5 + [1] * 5
    assert find_communities(np.zeros((4, 2)), 10).tolist() == [0] * 4
    assert find_communities(np.zeros((1, 2)), 10).tolist() == [0]


@pytest.mark.parametrize(("difference", "n_found"), [(4e-8, 1), (4e-7, 2)])
def test_frames_that_differ_by_rounding_alone_are_one_community(difference, n_found):
    x = 1000 * np.asarray([[1.0, 0.0], [1.0, difference]] * 4)
    assert len(set(find_communities(x, 2).tolist())) == n_found


@pytest.mark.parametrize("seed", [3, 6, 18, 38])
def test_the_best_of_ten_restarts_is_taken(seed):
    """On these points the tenth or the eleventh restart finds better groups than any before it."""
    x = np.random.default_rng(seed).normal(size=(40, 3))
    expected = KMeans(6, n_init=10, random_state=0).fit_predict(x)
    assert score_labels(find_communities(x, 6), expected).adjusted_rand == pytest.approx(1.0)


def test_labels_are_renumbered_in_the_order_in_which_they_first_appear():
    assert in_order_of_appearance(np.asarray([7, 7, 2, 9, 2, 7])).tolist() == [0, 0, 1, 2, 1, 0]
