"""Every stage against the output of the authors' notebook, each with the notebook's own input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dayline.decision.contexts import context_distance, pick_boundaries
from dayline.estimators import DynamicGraphEmbedding
from dayline.method.denoise import authors_nonlocal_means, scale_to_range
from dayline.method.embedding import (
    embed_graph,
    graph_cross_entropy,
    principal_components,
)
from dayline.method.graph import (
    affinity_graph,
    find_communities,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)
from dayline.metrics import score_boundaries, score_labels

Run = dict[str, np.ndarray]
WIDE, NARROW = 0.0025 * 48, 0.3125 * 15
STARTS = ["pca", "columns"]


def relative_error(actual: Any, expected: Any) -> float:
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def test_denoised_and_rescaled(authors_run: Run) -> None:
    denoised = authors_nonlocal_means(
        authors_run["X"], search_radius=3, patch_radius=1, bandwidth=0.25
    )
    np.testing.assert_allclose(denoised, authors_run["denoised"], atol=1e-8, rtol=0)
    rescaled = scale_to_range(authors_run["denoised"], by_column=True)
    np.testing.assert_allclose(rescaled, authors_run["rescaled"], atol=1e-12, rtol=0)


def test_initial_graph(authors_run: Run) -> None:
    graph = normalize_columns(affinity_graph(authors_run["rescaled"], bandwidth=WIDE))
    np.testing.assert_allclose(graph, authors_run["initial_graph"], atol=1e-12, rtol=0)


def test_both_starts(authors_run: Run) -> None:
    columns = scale_to_range(authors_run["rescaled"][:, :15], by_column=True)
    np.testing.assert_allclose(columns, authors_run["start_columns"], atol=1e-12, rtol=0)
    components = scale_to_range(principal_components(authors_run["rescaled"], 15), by_column=True)
    signs = np.sign((components * authors_run["start_pca"]).sum(axis=0))
    np.testing.assert_allclose(components * signs, authors_run["start_pca"], atol=1e-10, rtol=0)


@pytest.mark.parametrize("start", STARTS)
def test_loss_and_both_gradients(authors_run: Run, start: str) -> None:
    begin, target = authors_run[f"start_{start}"], authors_run["initial_graph"]
    loss, gradient = graph_cross_entropy(begin, target, bandwidth=NARROW)
    assert loss == pytest.approx(float(authors_run[f"loss_start_{start}"]), rel=1e-12)
    assert relative_error(gradient, authors_run[f"gradient_{start}"]) < 1e-9
    half = graph_cross_entropy(begin, target, bandwidth=NARROW, gradient="half")[1]
    assert relative_error(half, authors_run[f"gradient_authors_{start}"]) < 1e-9


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(("n_steps", "tolerance"), [(5, 1e-8), (150, 1e-5)])
def test_descent(authors_run: Run, start: str, n_steps: int, tolerance: float) -> None:
    descent = embed_graph(
        authors_run["initial_graph"],
        start=authors_run[f"start_{start}"],
        bandwidth=NARROW,
        n_steps=n_steps,
        optimizer="barzilai-borwein",
    )
    expected = authors_run[f"embedded_{start}_{n_steps}steps"]
    np.testing.assert_allclose(descent.x, expected, atol=tolerance, rtol=0)
    assert descent.loss == pytest.approx(
        float(authors_run[f"loss_{start}_{n_steps}steps"]), rel=1e-9
    )


def test_our_descent_reaches_the_same_loss_in_fewer_evaluations(authors_run: Run) -> None:
    for start in STARTS:
        begin = authors_run[f"start_{start}"]
        descent = embed_graph(
            authors_run["initial_graph"], start=begin, bandwidth=NARROW, n_steps=60
        )
        assert descent.loss == pytest.approx(float(authors_run[f"loss_{start}_150steps"]), rel=1e-5)
        assert descent.n_evaluations < 40


@pytest.mark.parametrize("turn", [1, 2])
def test_loop(authors_run: Run, turn: int) -> None:
    smoothed = smooth_edges(authors_run[f"graph{turn - 1}"], width=3)
    np.testing.assert_allclose(smoothed, authors_run[f"graph_smoothed{turn}"], atol=1e-12, rtol=0)
    temporal = weaken_distant_edges(authors_run[f"graph_smoothed{turn}"], temporal_prior=0.3)
    np.testing.assert_allclose(temporal, authors_run[f"graph_temporal{turn}"], atol=1e-12, rtol=0)
    target = 0.9 * authors_run[f"graph_temporal{turn}"] + 0.1 * authors_run["initial_graph"]
    before = authors_run[f"embedding{turn - 1}"]
    descent = embed_graph(
        target, start=before, bandwidth=NARROW, n_steps=3, optimizer="barzilai-borwein"
    )
    embedding = scale_to_range(descent.x, by_column=True)
    np.testing.assert_allclose(embedding, authors_run[f"embedding{turn}"], atol=1e-4, rtol=0)
    communities = authors_run[f"communities{turn}"]
    found = find_communities(authors_run[f"embedding{turn}"], 10)
    assert score_labels(found, communities).adjusted_rand == pytest.approx(1.0)
    graph = normalize_columns(affinity_graph(authors_run[f"embedding{turn}"], bandwidth=NARROW))
    graph = weaken_edges_between_communities(graph, communities, semantic_prior=0.1)
    np.testing.assert_allclose(graph, authors_run[f"graph{turn}"], atol=1e-12, rtol=0)


def test_end_to_end(authors_run: Run) -> None:
    estimator = DynamicGraphEmbedding.authors(start="pca", gradient="full").fit(authors_run["X"])
    signs = np.sign((estimator.embedding_ * authors_run["embedding2"]).sum(axis=0))
    np.testing.assert_allclose(estimator.denoised_, authors_run["denoised"], atol=1e-8, rtol=0)
    np.testing.assert_allclose(
        estimator.initial_graph_, authors_run["initial_graph"], atol=1e-7, rtol=0
    )
    np.testing.assert_allclose(
        estimator.embedding_ * signs, authors_run["embedding2"], atol=1e-4, rtol=0
    )
    np.testing.assert_allclose(estimator.graph_, authors_run["graph2"], atol=1e-7, rtol=0)


@pytest.mark.parametrize(
    ("what", "key"), [("raw", "X"), ("denoised", "denoised"), ("dge", "embedding2")]
)
def test_boundaries(authors_run: Run, what: str, key: str) -> None:
    found = pick_boundaries(context_distance(authors_run[key]))
    expected = np.flatnonzero(authors_run[f"ces_prediction_{what}"])
    assert found.tolist() == expected[1:-1].tolist()
    score = score_boundaries(found, authors_run["true_boundaries"], protocol="ces", n_frames=160)
    np.testing.assert_allclose(
        [score.f1, score.precision, score.recall], authors_run[f"ces_scores_{what}"], atol=1e-12
    )


def test_all_scores_of_all_pairs(authors_run: Run) -> None:
    for found, true, scores in zip(
        authors_run["metric_predictions"],
        authors_run["metric_truths"],
        authors_run["metric_scores"],
        strict=True,
    ):
        assert_scores(np.flatnonzero(found), np.flatnonzero(true), scores)


def assert_scores(found: Any, true: Any, scores: Any) -> None:
    for tolerance in range(1, 6):
        score = score_boundaries(found, true, tolerance=tolerance, protocol="ces", n_frames=200)
        actual = [score.f1, score.precision, score.recall]
        np.testing.assert_allclose(actual, scores[tolerance - 1], atol=1e-12, rtol=0)
