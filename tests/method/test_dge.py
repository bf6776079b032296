from __future__ import annotations

import numpy as np
import pytest

from dayline.arrays import unit_rows
from dayline.estimators import DynamicGraphEmbedding
from dayline.method.denoise import (
    denoise_features,
    nonlocal_means,
    scale_to_range,
    standardize,
)
from dayline.method.dge import Parameters
from dayline.method.embedding import embed_graph, fix_rotation, principal_components
from dayline.method.graph import (
    affinity_graph,
    find_communities,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)
from dayline.method.steps import dynamic_graph_embedding
from dayline.research.datasets.synthetic import make_communities

FEATURES = make_communities(90, stay=300.0, n_features=6, random_state=1).features


def own_graph(x):
    return affinity_graph(x, bandwidth=0.6)


def with_temporal_prior(graph):
    return weaken_distant_edges(smooth_edges(graph, width=5), temporal_prior=0.4)


def embed(graph, start, n_steps):
    return fix_rotation(
        unit_rows(embed_graph(graph, start=start, bandwidth=0.6, n_steps=n_steps).x)
    )


PARAMETERS = {
    "n_components": 5, "n_iterations": 2, "initial_graph_weight": 0.2, "smoothing_width": 5,
    "temporal_prior": 0.4, "semantic_prior": 0.15, "n_communities": 6, "feature_bandwidth": 0.3,
    "embedding_bandwidth": 0.6, "n_steps": 9, "n_loop_steps": 7, "random_state": 3,
}  # fmt: skip


def by_hand(variant):
    """Algorithm 1 in the order of either variant, with `PARAMETERS`."""
    clean = denoise_features(FEATURES, variant=variant)
    initial_graph = normalize_columns(affinity_graph(clean, bandwidth=0.3))
    embedding = embed(initial_graph, principal_components(clean, 5), 9)
    graph = normalize_columns(own_graph(embedding))
    for _ in range(2):
        learnt = normalize_columns(graph) if variant == "paper" else with_temporal_prior(graph)
        embedding = embed(0.8 * learnt + 0.2 * initial_graph, embedding, 7)
        graph = own_graph(embedding)
        graph = with_temporal_prior(graph) if variant == "paper" else normalize_columns(graph)
        communities = find_communities(embedding, 6, random_state=3)
        graph = weaken_edges_between_communities(graph, communities, semantic_prior=0.15)
    return embedding, graph, communities


@pytest.mark.parametrize("variant", ["default", "paper"])
def test_the_loop_takes_the_steps_of_its_variant(variant):
    learnt = dynamic_graph_embedding(FEATURES, variant=variant, **PARAMETERS)
    embedding, graph, communities = by_hand(variant)
    np.testing.assert_allclose(learnt.embedding, embedding, atol=1e-10)
    np.testing.assert_allclose(learnt.graph, graph, atol=1e-10)
    assert learnt.communities.tolist() == communities.tolist()
    assert [descent.n_evaluations for descent in learnt.descents] == [9, 7, 7]


def test_each_variant_scales_and_denoises_in_its_own_way():
    light = {"search_radius": 4, "patch_radius": 1, "bandwidth": "median"}
    denoised = nonlocal_means(
        standardize(FEATURES), kernel="gaussian", decay=0.25, include_self=True, **light
    )
    np.testing.assert_allclose(
        denoise_features(FEATURES), denoised - denoised.mean(axis=0), atol=1e-12
    )
    text = {"search_radius": 3, "patch_radius": 2, "bandwidth": 0.25}
    denoised = nonlocal_means(
        scale_to_range(FEATURES), kernel="exponential", decay=1.0, include_self=False, **text
    )
    by_text = denoise_features(FEATURES, variant="paper", **text)
    np.testing.assert_allclose(by_text, denoised, atol=1e-12)


def test_function_and_estimator_have_the_same_parameters():
    own = {"missing", "device", "dtype"}
    estimator = DynamicGraphEmbedding().get_params()
    assert {k: v for k, v in estimator.items() if k not in own} == vars(Parameters())


def test_without_priors_the_default_loop_only_refits_its_own_graph(xp):
    """alpha = eta = mu = 0, p = 1: every target is the embedding's own graph, so nothing moves."""
    learnt = dynamic_graph_embedding(
        xp.asarray(FEATURES),
        initial_graph_weight=0,
        smoothing_width=1,
        temporal_prior=0,
        semantic_prior=0,
        n_components=4,
    )
    np.testing.assert_allclose(
        np.asarray(learnt.embedding), np.asarray(learnt.initial_embedding), atol=1e-6
    )


def test_no_iterations_give_the_initial_embedding():
    learnt = dynamic_graph_embedding(FEATURES, n_iterations=0)
    assert np.array_equal(learnt.embedding, learnt.initial_embedding)
    assert len(learnt.descents) == 1
    assert len(learnt.communities) == 90


def test_final_graph_is_the_embedding_s_graph_after_the_priors():
    learnt = dynamic_graph_embedding(FEATURES, semantic_prior=0.25)
    graph = normalize_columns(affinity_graph(learnt.embedding, bandwidth=0.5))
    same = learnt.communities[:, None] == learnt.communities[None, :]
    np.testing.assert_allclose(learnt.graph, np.where(same, graph, 0.75 * graph), rtol=1e-12)


@pytest.mark.parametrize("variant", ["default", "paper"])
def test_every_descent_ends_below_its_start(xp, variant):
    learnt = dynamic_graph_embedding(xp.asarray(FEATURES), variant=variant, denoise_bandwidth=0.25)
    assert len(learnt.descents) == 3
    for descent in learnt.descents:
        assert descent.loss <= descent.start_loss
        assert descent.stopped


@pytest.mark.parametrize("variant", ["default", "paper"])
def test_both_libraries_learn_the_same(variant):
    torch = pytest.importorskip("torch")
    by_numpy = dynamic_graph_embedding(FEATURES, variant=variant, denoise_bandwidth=0.25)
    by_torch = dynamic_graph_embedding(
        torch.as_tensor(FEATURES), variant=variant, denoise_bandwidth=0.25
    )
    np.testing.assert_allclose(by_torch.embedding.numpy(), by_numpy.embedding, atol=1e-6)
    assert by_torch.communities.tolist() == by_numpy.communities.tolist()


def test_every_stage_is_announced():
    told = []
    dynamic_graph_embedding(FEATURES, on_step=lambda *step: told.append(step))
    assert [t[1] for t in told] == list(range(5))
    assert {t[2] for t in told} == {5}
    assert told[-1][0] == "iteration 2"


def test_default_follows_time_reversal_up_to_the_seeds_of_the_communities():
    forward = dynamic_graph_embedding(FEATURES, semantic_prior=0)
    backward = dynamic_graph_embedding(FEATURES[::-1], semantic_prior=0)
    np.testing.assert_allclose(
        affinity_graph(backward.embedding[::-1], bandwidth=0.5),
        affinity_graph(forward.embedding, bandwidth=0.5),
        atol=0.02,
    )
