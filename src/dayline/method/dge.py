"""Dynamic Graph Embedding: learn a graph over frames and its embedding in turns (Algorithm 1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

from dayline.arrays import Array, IntArray, double, unit_rows
from dayline.checks import (
    LARGEST,
    LARGEST_COUNT,
    MOST_STEPS,
    NARROWEST,
    check_between,
    check_choice,
    check_flag,
    check_seed,
    show_value,
)
from dayline.method.denoise import Variant, denoise_features, scale_to_range
from dayline.method.descent import Descent
from dayline.method.embedding import embed_graph, fix_rotation, principal_components
from dayline.method.graph import (
    Graph,
    affinity_graph,
    find_communities,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)
from dayline.method.landmarks import choose_landmarks
from dayline.progress import OnStep, no_report

GraphForm: TypeAlias = Literal["auto", "dense", "linear"]
"""How weights between frames are represented."""

LINEAR_FROM = 1500
"""Number of frames from which "auto" is linear: about where that form becomes faster."""

FEATURE_LANDMARKS = 384
"""Largest number of landmarks of the features, whose kernel is narrower than the embedding's."""

N_LANDMARK_DIRECTIONS = 40
"""Main directions of the features by which frames are grouped to choose landmarks."""


@dataclass(eq=False, repr=False)
class Parameters:
    """Parameters of the method, with their symbols in the paper.

    `DynamicGraphEmbedding` describes them and has a few more. The defaults are our own;
    `DynamicGraphEmbedding.paper()` and `.authors()` hold the published ones.
    """

    n_components: int = 15  # d
    _: KW_ONLY
    n_iterations: int = 2  # K
    initial_graph_weight: float = 0.1  # alpha
    smoothing_width: int = 3  # p
    temporal_prior: float = 0.3  # eta
    semantic_prior: float = 0.1  # mu
    n_communities: int = 10  # N_C
    search_radius: int = 4
    patch_radius: int = 1
    denoise_bandwidth: float | Literal["median"] = "median"
    feature_bandwidth: float | None = None  # l^
    embedding_bandwidth: float | None = None  # l~
    n_steps: int = 60
    n_loop_steps: int = 20
    start: Literal["pca", "columns"] = "pca"
    gradient: Literal["full", "half"] = "full"
    rescale_columns: bool = False
    graph_form: GraphForm = "auto"
    random_state: int | None = 0
    variant: Variant = "default"

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""
        check_choice("variant", self.variant, ("default", "paper", "authors"))
        check_choice("start", self.start, ("pca", "columns"))
        check_choice("gradient", self.gradient, ("full", "half"))
        check_choice("graph_form", self.graph_form, ("auto", "dense", "linear"))
        check_flag("rescale_columns", self.rescale_columns)
        check_seed(self.random_state)

        for name in ("n_components", "smoothing_width", "n_communities", "patch_radius"):
            check_between(name, getattr(self, name), 1, LARGEST_COUNT, whole=True)
        check_between("search_radius", self.search_radius, 0, LARGEST_COUNT, whole=True)
        check_between("n_iterations", self.n_iterations, 0, 1000, whole=True)
        for name in ("n_steps", "n_loop_steps"):
            check_between(name, getattr(self, name), 1, MOST_STEPS, whole=True)

        for name in ("initial_graph_weight", "temporal_prior", "semantic_prior"):
            check_between(name, getattr(self, name), 0, 1)
        for name in ("feature_bandwidth", "embedding_bandwidth"):
            if getattr(self, name) is not None:
                check_between(name, getattr(self, name), NARROWEST)

        h = self.denoise_bandwidth
        if isinstance(h, str) and h == "median":
            if self.variant == "authors":
                raise ValueError(
                    'denoise_bandwidth="median" does not work with authors(); give a number'
                )
        elif isinstance(h, (int, float)):
            check_between("denoise_bandwidth", h, 1 / LARGEST)
        else:
            raise ValueError(
                f'denoise_bandwidth={show_value(h)}; it must be "median" or a number above 0'
            )


@dataclass(frozen=True)
class DynamicGraph:
    """What the method learned about one sequence.

    Attributes
    ----------
    embedding : array
        The learned vector per frame, after the last iteration.
    graph : Graph
        The weights between frames, after the last iteration and its priors; only "paper" applies
        the temporal prior at the end of an iteration.
    communities : ndarray of int
        Community of every frame.
    denoised : array
        Features after denoising, before any column rescaling.
    start : array
        Where the descent to the initial embedding starts: the main directions of the denoised
        features, or their first columns.
    initial_embedding, initial_graph : array and Graph
        The embedding before the first iteration, and the graph of the features that it embeds.
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
    """Follow Algorithm 1; the comments give its lines and symbols.

    Where text and notebook differ, "paper" follows the text; "authors" and the default follow the
    notebook. In linear form, weights between frames far apart in time go through landmarks. The
    columns of a graph are normalized before it becomes a target of the loss, which is a
    cross-entropy only then.

    Parameters
    ----------
    x : array of shape (n_frames, n_features)
        X, one row per frame, without NaN.
    p : Parameters
        Checked.
    on_step : callable
        Called before every stage with its name, the stages done, and their number.
    """
    # l^ of the features, l~ of the embedding.
    feature_bandwidth, embedding_bandwidth = bandwidths(p, x.shape[1])
    is_linear = p.graph_form == "linear"
    if p.graph_form == "auto":
        is_linear = p.variant == "default" and len(x) >= LINEAR_FROM
    n_stages = 3 + p.n_iterations

    # Graph initialization (Eq. 1 to 3). X^_0 = NLmeans(X).
    on_step("denoising", 0, n_stages)
    denoised = denoise_features(
        x,
        variant=p.variant,
        search_radius=p.search_radius,
        patch_radius=p.patch_radius,
        bandwidth=p.denoise_bandwidth,
    )
    clean = scale_to_range(denoised, by_column=True) if p.rescale_columns else denoised

    # PCA_d(X^_0) is where the embedding starts. It is computed before the graph because, in linear
    # form, landmarks of the features are chosen by it and by further directions, whose small values
    # need double precision.
    on_step("linking frames", 1, n_stages)
    start, landmarks = clean, None
    if is_linear:
        directions = double(principal_components(clean, max(p.n_components, N_LANDMARK_DIRECTIONS)))
        landmarks = choose_landmarks(
            directions, bandwidth=feature_bandwidth, most=FEATURE_LANDMARKS
        )
        start = directions if p.start == "pca" else clean
    elif p.start == "pca":
        start = principal_components(clean, p.n_components)
    start = start[:, : p.n_components]

    # G_0 = S_l^(X^_0).
    graph = affinity_graph(clean, bandwidth=feature_bandwidth, landmarks=landmarks)
    initial_graph = normalize_columns(graph)

    # Graph embedding initialization (Eq. 3 and 4). X~_0 = argmin L(S_l~(X~), G_0).
    on_step("embedding", 2, n_stages)
    scaled_start = scale_to_range(start, by_column=True) if p.rescale_columns else start
    embedding, descent = _embed(initial_graph, scaled_start, p, embedding_bandwidth, p.n_steps)
    initial_embedding, descents = embedding, [descent]

    # G~_0 = S_l~(X~_0).
    graph = normalize_columns(_embedding_graph(embedding, embedding_bandwidth, is_linear))

    # The text embeds, then applies the temporal and the semantic prior. The notebook applies the
    # temporal prior to the graph of the last iteration, embeds, and applies the semantic prior.
    communities = None
    for i in range(p.n_iterations):
        on_step(f"iteration {i + 1}", 3 + i, n_stages)

        # Graph embedding update (Eq. 5).
        # X~_i = argmin (1 - alpha) L_1(S_l~(X~), G~_i-1) + alpha L_2(S_l~(X~), G_0).
        # The loss is linear in its target, so that the two graphs are blended.
        learned = normalize_columns(graph) if p.variant == "paper" else _temporal_prior(graph, p)
        target = (1.0 - p.initial_graph_weight) * learned + p.initial_graph_weight * initial_graph
        embedding, descent = _embed(target, embedding, p, embedding_bandwidth, p.n_loop_steps)
        descents.append(descent)

        # Graph structure update: temporal prior (Eq. 6). G~_i = f_eta(S_l~(X~_i) * K_p).
        graph = _embedding_graph(embedding, embedding_bandwidth, is_linear)
        graph = _temporal_prior(graph, p) if p.variant == "paper" else normalize_columns(graph)

        # Graph structure update: semantic prior (Eq. 7).
        # C = kmeans(X~_i; N_C), G~_i = g_mu(G~_i, C).
        communities = find_communities(embedding, p.n_communities, random_state=p.random_state)
        graph = weaken_edges_between_communities(
            graph, communities, semantic_prior=p.semantic_prior
        )

    if communities is None:  # without an iteration
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


def bandwidths(p: Parameters, n_features: int) -> tuple[float, float]:
    """Return l^ and l~ for so many features: those given, or the variant's own."""
    of_features, of_embedding = {
        "default": (0.1, 0.5),
        "paper": (0.0025 * n_features, 0.02 * p.n_components),
        "authors": (0.0025 * n_features, 0.3125 * p.n_components),
    }[p.variant]
    return (
        of_features if p.feature_bandwidth is None else p.feature_bandwidth,
        of_embedding if p.embedding_bandwidth is None else p.embedding_bandwidth,
    )


def _embed(
    target: Graph, start: Array, p: Parameters, bandwidth: float, n_steps: int
) -> tuple[Array, Descent]:
    """Return the argmin of Eq. 4 and 5, rescaled if columns are, and the descent."""
    if p.variant == "authors":
        descent = embed_graph(
            target,
            start=start,
            bandwidth=bandwidth,
            n_steps=n_steps,
            optimizer="barzilai-borwein",
            gradient=p.gradient,
        )
        embedding = descent.x
    else:
        descent = embed_graph(target, start=start, bandwidth=bandwidth, n_steps=n_steps)
        # The loss ignores the lengths of rows; with unit rows, k-means does too.
        embedding = fix_rotation(unit_rows(descent.x))
    return scale_to_range(embedding, by_column=True) if p.rescale_columns else embedding, descent


def _embedding_graph(embedding: Array, bandwidth: float, is_linear: bool) -> Graph:
    """Return S_l~(X~), the graph of an embedding; in linear form it has landmarks of its own."""
    landmarks = choose_landmarks(embedding, bandwidth=bandwidth) if is_linear else None
    return affinity_graph(embedding, bandwidth=bandwidth, landmarks=landmarks)


def _temporal_prior(graph: Graph, p: Parameters) -> Graph:
    """Return f_eta(G * K_p): average edges locally, then weaken distant ones (Eq. 6)."""
    smooth = smooth_edges(graph, width=p.smoothing_width)
    return weaken_distant_edges(smooth, temporal_prior=p.temporal_prior)
