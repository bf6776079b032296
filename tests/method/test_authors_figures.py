"""Every stage against figures of the authors' notebook, each after our own previous one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from authors_figures import BOUNDARIES, FIGURES, LOSSES, STAGES, digest, make_features
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

Run = dict[str, Any]
WIDE, NARROW = 0.0025 * 48, 0.3125 * 15
CES = {"raw": "X", "denoised": "denoised", "dge": "embedding2"}

# Largest error of an entry, with the errors of all stages before: the notebook's taper is in single
# precision. Entries of the learnt graphs are below 0.01.
TOLERANCES = {"X": 1e-11, "initial_graph": 1e-7, "embedding": 1e-5, "embedded": 1e-5, "graph": 1e-8}
OTHERS = 1e-6


@pytest.fixture(scope="module")
def figures() -> Run:
    content: Run = json.loads(FIGURES.read_text())
    return content


@pytest.fixture(scope="module")
def run(figures: Run) -> Run:
    """The notebook's run, with our functions."""
    run: Run = {"X": make_features()}
    run["denoised"] = authors_nonlocal_means(
        run["X"], search_radius=3, patch_radius=1, bandwidth=0.25
    )
    run["rescaled"] = scale_to_range(run["denoised"], by_column=True)
    run["initial_graph"] = normalize_columns(affinity_graph(run["rescaled"], bandwidth=WIDE))
    run["start_columns"] = scale_to_range(run["rescaled"][:, :15], by_column=True)
    components = scale_to_range(principal_components(run["rescaled"], 15), by_column=True)
    # The signs of principal components are arbitrary, and stay so through every descent.
    signs = np.sign(components[0] * figures["stages"]["start_pca"]["first_row"])
    run["start_pca"] = components * signs
    for start in ("pca", "columns"):
        run |= descents(run["initial_graph"], run[f"start_{start}"], start)
    run["embedding0"] = scale_to_range(run["embedded_pca_150steps"], by_column=True)
    run["graph0"] = normalize_columns(affinity_graph(run["embedding0"], bandwidth=NARROW))
    for turn in (1, 2):
        run |= one_turn(run, turn)
    return run


def descents(graph: Any, begin: Any, start: str) -> Run:
    loss, gradient = graph_cross_entropy(begin, graph, bandwidth=NARROW)
    made: Run = {f"loss_start_{start}": loss, f"gradient_{start}": gradient}
    made[f"gradient_authors_{start}"] = graph_cross_entropy(
        begin, graph, bandwidth=NARROW, gradient="half"
    )[1]
    for n in (5, 150):
        descent = embed_graph(
            graph, start=begin, bandwidth=NARROW, n_steps=n, optimizer="barzilai-borwein"
        )
        made[f"embedded_{start}_{n}steps"], made[f"loss_{start}_{n}steps"] = descent.x, descent.loss
    return made


def one_turn(run: Run, turn: int) -> Run:
    smoothed = smooth_edges(run[f"graph{turn - 1}"], width=3)
    temporal = weaken_distant_edges(smoothed, temporal_prior=0.3)
    target = 0.9 * temporal + 0.1 * run["initial_graph"]
    before = run[f"embedding{turn - 1}"]
    descent = embed_graph(
        target, start=before, bandwidth=NARROW, n_steps=3, optimizer="barzilai-borwein"
    )
    embedding = scale_to_range(descent.x, by_column=True)
    communities = find_communities(embedding, 10)
    graph = normalize_columns(affinity_graph(embedding, bandwidth=NARROW))
    graph = weaken_edges_between_communities(graph, communities, semantic_prior=0.1)
    names = ("graph_smoothed", "graph_temporal", "embedding", "communities", "graph")
    return {
        f"{name}{turn}": x
        for name, x in zip(names, (smoothed, temporal, embedding, communities, graph), strict=True)
    }


def assert_digest(x: Any, expected: Run, atol: float) -> None:
    for what, value in digest(np.asarray(x)).items():
        # The errors of thousands of entries may add up in a norm or a wave.
        scale = 10.0 if what in ("norm", "waves") else 1.0
        np.testing.assert_allclose(
            value, expected[what], atol=scale * atol, rtol=1e-11, err_msg=what
        )


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_the_notebook_s(run: Run, figures: Run, stage: str) -> None:
    kind = stage if stage in TOLERANCES else stage.split("_")[0].rstrip("012")
    assert_digest(run[stage], figures["stages"][stage], TOLERANCES.get(kind, OTHERS))


def test_losses(run: Run, figures: Run) -> None:
    for name in LOSSES:
        assert run[name] == pytest.approx(figures["losses"][name], rel=1e-9), name


@pytest.mark.parametrize("turn", [1, 2])
def test_communities(run: Run, figures: Run, turn: int) -> None:
    expected = np.asarray(figures["communities"][f"communities{turn}"])
    assert score_labels(run[f"communities{turn}"], expected).adjusted_rand == pytest.approx(1.0)


def test_end_to_end(run: Run, figures: Run) -> None:
    estimator = DynamicGraphEmbedding.authors(start="pca", gradient="full").fit(run["X"])
    stages = figures["stages"]
    assert_digest(estimator.denoised_, stages["denoised"], OTHERS)
    assert_digest(estimator.initial_graph_, stages["initial_graph"], 1e-7)
    signs = np.sign(estimator.embedding_[0] * stages["embedding2"]["first_row"])
    assert_digest(estimator.embedding_ * signs, stages["embedding2"], 1e-5)
    assert_digest(estimator.graph_, stages["graph2"], 1e-8)


def test_our_descent_reaches_the_same_loss_in_fewer_evaluations(run: Run, figures: Run) -> None:
    for start in ("pca", "columns"):
        begin = run[f"start_{start}"]
        descent = embed_graph(run["initial_graph"], start=begin, bandwidth=NARROW, n_steps=60)
        assert descent.loss == pytest.approx(figures["losses"][f"loss_{start}_150steps"], rel=1e-5)
        assert descent.n_evaluations < 40


@pytest.mark.parametrize("what", CES)
def test_boundaries_and_the_distances_they_come_from(run: Run, figures: Run, what: str) -> None:
    scores = context_distance(run[CES[what]])
    np.testing.assert_allclose(scores, figures["context_distances"][what], atol=1e-6)
    found = pick_boundaries(scores)
    assert found.tolist() == figures["boundaries"][what]
    score = score_boundaries(found, BOUNDARIES, protocol="ces", n_frames=160)
    np.testing.assert_allclose(
        [score.f1, score.precision, score.recall], figures["scores"][what], atol=1e-11
    )


def test_scores_of_pairs(figures: Run) -> None:
    for pair in figures["metric_pairs"]:
        for tolerance, expected in enumerate(pair["scores"], start=1):
            score = score_boundaries(
                pair["found"], pair["true"], tolerance=tolerance, protocol="ces", n_frames=200
            )
            np.testing.assert_allclose(
                [score.f1, score.precision, score.recall], expected, atol=1e-11
            )


def test_the_figures_are_those_of_the_whole_run(authors_run: Run, figures: Run) -> None:
    assert np.array_equal(make_features(), authors_run["X"])
    assert authors_run["true_boundaries"].tolist() == BOUNDARIES
    for stage in STAGES:
        assert_digest(authors_run[stage], figures["stages"][stage], 1e-11)
