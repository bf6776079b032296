from __future__ import annotations

import numpy as np
import pytest

from dayline.datasets.synthetic import make_communities
from dayline.method.dge import dynamic_graph_embedding
from dayline.method.graph import affinity_graph, normalize_columns

FEATURES = make_communities(90, stay=300.0, n_features=6, random_state=1).features


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
    np.testing.assert_allclose(np.asarray(learnt.embedding), np.asarray(learnt.initial_embedding), atol=1e-6)


def test_no_turns_give_the_initial_embedding():
    learnt = dynamic_graph_embedding(FEATURES, n_iterations=0)
    assert np.array_equal(learnt.embedding, learnt.initial_embedding)
    assert len(learnt.descents) == 1
    assert len(learnt.communities) == 90


def test_final_graph_is_the_embedding_s_graph_after_the_priors():
    learnt = dynamic_graph_embedding(FEATURES, semantic_prior=0.25)
    graph = normalize_columns(affinity_graph(learnt.embedding, bandwidth=0.5))
    same = learnt.communities[:, None] == learnt.communities[None, :]
    np.testing.assert_allclose(learnt.graph, np.where(same, graph, 0.75 * graph), rtol=1e-12)


@pytest.mark.parametrize("reading", ["default", "paper"])
def test_every_descent_ends_below_its_start(xp, reading):
    learnt = dynamic_graph_embedding(xp.asarray(FEATURES), reading=reading, denoise_bandwidth=0.25)
    assert len(learnt.descents) == 3
    for descent in learnt.descents:
        assert descent.loss <= descent.start_loss
        assert descent.stopped


@pytest.mark.parametrize("reading", ["default", "paper"])
def test_both_libraries_learn_the_same(reading):
    torch = pytest.importorskip("torch")
    by_numpy = dynamic_graph_embedding(FEATURES, reading=reading, denoise_bandwidth=0.25)
    by_torch = dynamic_graph_embedding(torch.as_tensor(FEATURES), reading=reading, denoise_bandwidth=0.25)
    np.testing.assert_allclose(by_torch.embedding.numpy(), by_numpy.embedding, atol=1e-6)
    assert by_torch.communities.tolist() == by_numpy.communities.tolist()


def test_every_stage_is_announced():
    told = []
    dynamic_graph_embedding(FEATURES, on_step=lambda *step: told.append(step))
    assert [t[1] for t in told] == list(range(5))
    assert {t[2] for t in told} == {5}
    assert told[-1][0] == "turn 2"


def test_default_follows_time_reversal_up_to_the_seeds_of_the_communities():
    forward = dynamic_graph_embedding(FEATURES, semantic_prior=0)
    backward = dynamic_graph_embedding(FEATURES[::-1], semantic_prior=0)
    np.testing.assert_allclose(
        affinity_graph(backward.embedding[::-1], bandwidth=0.5),
        affinity_graph(forward.embedding, bandwidth=0.5),
        atol=0.02,
    )
