"""Dynamic Graph Embedding: learn a graph over frames and its embedding in turns (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from dayline.arrays import Array, IntArray, double, unit_rows
from dayline.method.communities import find_communities
from dayline.method.denoise import denoise_features, scale_to_range
from dayline.method.descent import Descent
from dayline.method.embedding import embed_graph, fix_rotation, principal_components
from dayline.method.graph import (
    Graph,
    affinity_graph,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)
from dayline.method.landmarks import choose_landmarks
from dayline.method.parameters import Parameters
from dayline.progress import OnStep, no_report

FEATURE_LANDMARKS = 384
"""Largest number of landmarks of the features, whose kernel is narrower than the embedding's."""

GUIDES = 40
"""Main directions of the features by which frames are grouped to choose landmarks."""


@dataclass(frozen=True)
class DynamicGraph:
    """What the method learned about one sequence.

    Attributes
    ----------
    embedding : array
        The learned vector per frame, after the last iteration.
    graph : Graph
        The weights between frames, after the last iteration.
    communities : ndarray of int
        Community of every frame.
    denoised : array
        Features after denoising, before any column rescaling.
    start : array
        Where the initial embedding starts: the main directions of the denoised features, or their
        first columns.
    initial_embedding, initial_graph
        Both before the first iteration.
    descents : tuple of Descent
        How every embedding was found, the initial one first.
    """

    embedding: Array
    graph: Graph
    communities: IntArray
    denoised: Array
    start: Array
    initial_embedding: Array
    initial_graph: Graph
    descents: tuple[Descent, ...]


def learn_graph(x: Array, p: Parameters, on_step: OnStep = no_report) -> DynamicGraph:
    """Follow Algorithm 1 line by line; comments have its symbols.

    Where the text and the notebook part, "paper" follows the text, "authors" and the default follow
    the notebook. In linear form, frames far apart in time are seen through landmarks.

    Parameters
    ----------
    x : array of shape (n_frames, n_features)
        X, one row per frame, without NaN.
    p : Parameters
        Checked when they were made.
    on_step : callable
        Called before every stage with its name, the stages done, and their number.
    """
    bandwidth, own_bandwidth = p.bandwidths(x.shape[1])  # l^ of the features, l~ of the embedding
    is_linear = p.is_linear(len(x))
    n_stages = 3 + p.n_iterations

    # Graph initialization (Eq. 1 to 3). X^_0 = NLmeans(X).
    on_step("denoising", 0, n_stages)
    denoised = denoise_features(x, p)
    clean = scale_to_range(denoised, by_column=True) if p.rescale_columns else denoised

    # PCA_d(X^_0) is where the embedding starts. In linear form it has further directions, which
    # choose the landmarks of the features; what is small is better in double precision.
    on_step("linking frames", 1, n_stages)
    directions, landmarks = clean, None
    if is_linear:
        directions = double(principal_components(clean, max(p.n_components, GUIDES)))
        landmarks = choose_landmarks(directions, bandwidth=bandwidth, most=FEATURE_LANDMARKS)
    elif p.start == "pca":
        directions = principal_components(clean, p.n_components)
    start = (clean if p.start == "columns" else directions)[:, : p.n_components]

    # G_0 = S_l^(X^_0).
    graph = affinity_graph(clean, bandwidth=bandwidth, landmarks=landmarks)
    initial_graph = normalize_columns(graph)

    # Graph embedding initialization (Eq. 3 and 4). X~_0 = argmin L(S_l~(X~), G_0).
    on_step("embedding", 2, n_stages)
    begin = scale_to_range(start, by_column=True) if p.rescale_columns else start
    embedding, descent = _embed(initial_graph, begin, p, own_bandwidth, p.n_steps)
    initial_embedding, descents = embedding, [descent]

    # G~_0 = S_l~(X~_0).
    graph = normalize_columns(_own_graph(embedding, own_bandwidth, is_linear))

    communities = None
    for i in range(p.n_iterations):
        on_step(f"iteration {i + 1}", 3 + i, n_stages)

        # Graph embedding update (Eq. 5).
        # X~_i = argmin (1 - alpha) L_1(S_l~(X~), G~_i-1) + alpha L_2(S_l~(X~), G_0).
        # The loss is linear in its target, so that the two graphs are blended. The notebook applies
        # the temporal prior before it embeds.
        learned = normalize_columns(graph) if p.variant == "paper" else _temporal_prior(graph, p)
        target = (1.0 - p.initial_graph_weight) * learned + p.initial_graph_weight * initial_graph
        embedding, descent = _embed(target, embedding, p, own_bandwidth, p.n_loop_steps)
        descents.append(descent)

        # Graph structure update: temporal prior (Eq. 6). G~_i = f_eta(S_l~(X~_i) * K_p).
        graph = _own_graph(embedding, own_bandwidth, is_linear)
        graph = _temporal_prior(graph, p) if p.variant == "paper" else normalize_columns(graph)

        # Graph structure update: semantic prior (Eq. 7). C = kmeans(X~_i; N_C), G~_i = g_mu(G~_i, C).
        communities = find_communities(embedding, p.n_communities, random_state=p.random_state)
        graph = weaken_edges_between_communities(
            graph, communities, semantic_prior=p.semantic_prior
        )

    if communities is None:
        communities = find_communities(embedding, p.n_communities, random_state=p.random_state)
    return DynamicGraph(
        embedding=embedding,
        graph=graph,
        communities=communities,
        denoised=denoised,
        start=start,
        initial_embedding=initial_embedding,
        initial_graph=initial_graph,
        descents=tuple(descents),
    )


def _embed(
    target: Graph, begin: Array, p: Parameters, bandwidth: float, n_steps: int
) -> tuple[Array, Descent]:
    """Return the argmin of Eq. 4 and 5, scaled as the variant goes on with it, and the descent."""
    if p.variant == "authors":
        descent = embed_graph(
            target,
            start=begin,
            bandwidth=bandwidth,
            n_steps=n_steps,
            optimizer="barzilai-borwein",
            gradient=p.gradient,
        )
        embedding = descent.x
    else:
        descent = embed_graph(target, start=begin, bandwidth=bandwidth, n_steps=n_steps)
        # The loss ignores lengths; unit rows keep them out of the communities too.
        embedding = fix_rotation(unit_rows(descent.x))
    return scale_to_range(embedding, by_column=True) if p.rescale_columns else embedding, descent


def _own_graph(embedding: Array, bandwidth: float, is_linear: bool) -> Graph:
    """Return S_l~(X~), the graph of an embedding; in linear form it has landmarks of its own."""
    landmarks = choose_landmarks(embedding, bandwidth=bandwidth) if is_linear else None
    return affinity_graph(embedding, bandwidth=bandwidth, landmarks=landmarks)


def _temporal_prior(graph: Graph, p: Parameters) -> Graph:
    """Return f_eta(G * K_p): average edges locally, then weaken distant ones (Eq. 6)."""
    smooth = smooth_edges(graph, width=p.smoothing_width)
    return weaken_distant_edges(smooth, temporal_prior=p.temporal_prior)
