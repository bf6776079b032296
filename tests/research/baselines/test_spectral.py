from __future__ import annotations

import numpy as np
import pytest

from dayline.metrics import score_labels
from dayline.research.baselines.spectral import graph_labels, random_walk_eigenvectors


def blocks(random, sizes=(12, 20, 8), noise=0.02) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat(np.arange(len(sizes)), sizes)
    graph = (truth[:, None] == truth[None, :]) * random.uniform(0.5, 1.0, size=(len(truth),) * 2)
    return graph + noise * random.random(graph.shape), truth


def test_eigenvectors_are_those_of_the_random_walk(random):
    graph, _ = blocks(random)
    vectors = random_walk_eigenvectors(graph, n_vectors=3)
    weights = (graph + graph.T) / 2
    degrees = weights.sum(axis=1)
    walked = weights @ vectors / degrees[:, None]
    values = np.sum(walked * vectors, axis=0) / np.sum(vectors**2, axis=0)
    np.testing.assert_allclose(walked, vectors * values, atol=1e-12)
    assert values[0] == pytest.approx(1.0)
    assert np.all(np.diff(values) < 0)
    np.testing.assert_allclose(vectors.T @ (degrees[:, None] * vectors), np.eye(3), atol=1e-12)


def test_blocks_are_found_in_any_order_of_frames(random):
    graph, truth = blocks(random)
    order = random.permutation(len(truth))
    labels = graph_labels(graph[np.ix_(order, order)], n_labels=3)
    assert score_labels(labels, truth[order]).hungarian_accuracy == 1.0
    assert labels[0] == 0


def test_a_frame_without_links_stays_alone(random):
    graph, truth = blocks(random, noise=0.0)
    graph[5] = graph[:, 5] = 0.0
    labels = graph_labels(graph, n_labels=4)
    assert np.sum(labels == labels[5]) == 1
    assert score_labels(np.delete(labels, 5), np.delete(truth, 5)).hungarian_accuracy == 1.0
