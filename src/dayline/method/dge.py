"""Dynamic Graph Embedding: learn a graph over frames and its embedding in turns (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict, Unpack

from dayline.arrays import Array, IntArray, double, unit_rows
from dayline.checks import (
    LARGEST,
    LARGEST_COUNT,
    MOST_STEPS,
    check_bandwidth,
    check_between,
    check_choice,
    check_flag,
    check_matrix,
    check_seed,
    show_value,
)

# At the door everything is checked; these twins of the public functions trust their arguments.
from dayline.method.communities import _find_communities as find_communities
from dayline.method.denoise import _nonlocal_means as nonlocal_means
from dayline.method.denoise import (
    authors_nonlocal_means,
    center_columns,
    comparable_columns,
    scale_to_range,
)
from dayline.method.descent import Descent
from dayline.method.embedding import _embed_graph as embed_graph
from dayline.method.embedding import _principal_components as principal_components
from dayline.method.embedding import fix_rotation
from dayline.method.graph import Graph, normalize_columns
from dayline.method.graph import _affinity_graph as affinity_graph
from dayline.method.graph import _smooth_edges as smooth_edges
from dayline.method.graph import _weaken_distant_edges as weaken_distant_edges
from dayline.method.graph import (
    _weaken_edges_between_communities as weaken_edges_between_communities,
)
from dayline.method.landmarks import choose_landmarks
from dayline.progress import OnStep, no_report

Variant: TypeAlias = Literal["default", "paper", "authors"]
"""Whose scaling, denoising, loop order and optimizer to use."""

GraphForm: TypeAlias = Literal["auto", "dense", "linear"]
"""How weights between frames are represented."""

LINEAR_FROM = 1500
"""Frames from which "auto" is linear: about where it becomes the faster form."""

FEATURE_LANDMARKS = 384
"""Largest number of landmarks of the features, whose kernel is narrower than the embedding's."""

GUIDES = 40
"""Main directions of the features by which frames are grouped to choose landmarks."""


class MethodParameters(TypedDict, total=False):
    """Every parameter of the method by its name, for the type checker; see `Parameters`."""

    variant: Variant
    n_components: int
    n_iterations: int
    initial_graph_weight: float
    smoothing_width: int
    temporal_prior: float
    semantic_prior: float
    n_communities: int
    search_radius: int
    patch_radius: int
    denoise_bandwidth: float | Literal["median"]
    feature_bandwidth: float | None
    embedding_bandwidth: float | None
    n_steps: int
    n_loop_steps: int
    start: Literal["pca", "columns"]
    gradient: Literal["full", "half"]
    rescale_columns: bool
    graph_form: GraphForm
    random_state: int | None


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of the method, checked when they are made.

    The defaults are our own; `DynamicGraphEmbedding.paper()` and `.authors()` hold the published
    ones.

    Attributes
    ----------
    variant : {"default", "paper", "authors"}
        Whose scaling, denoising, loop order and optimizer to use. The text embeds first and then
        applies the priors; the notebook, and our default, apply the temporal prior first. Only
        "authors" has no safeguard in its descent.
    n_components, n_iterations : int
        d and K.
    initial_graph_weight : float in [0, 1]
        Weight of the initial graph in the loop (alpha).
    smoothing_width, temporal_prior, semantic_prior, n_communities
        p, eta, mu and N_C.
    search_radius, patch_radius, denoise_bandwidth
        L, M and h.
    feature_bandwidth, embedding_bandwidth : float > 0 or None
        l-hat and l-tilde; None uses the variant's own.
    n_steps, n_loop_steps : int
        Maximum number of evaluations for the initial embedding and for each iteration (exact number
        of steps for "authors").
    start : {"pca", "columns"}
        Where the initial embedding starts: principal components, or the first columns as in the
        notebook.
    gradient : {"full", "half"}
        The true gradient, or the notebook's (only for "authors").
    rescale_columns : bool
        Whether to rescale every column to [-1, 1] after denoising, after the start and after each
        embedding.
    graph_form : {"auto", "dense", "linear"}
        Whether to compute every pair of frames ("dense"), or to see pairs far apart in time through
        landmarks, so that time and memory grow with the number of frames, not with its square
        ("linear"). "auto" is linear from 1,500 frames on, and always dense for the published
        variants.
    random_state : int or None
        Seed of the communities.
    """

    variant: Variant = "default"
    n_components: int = 15
    n_iterations: int = 2
    initial_graph_weight: float = 0.1
    smoothing_width: int = 3
    temporal_prior: float = 0.3
    semantic_prior: float = 0.1
    n_communities: int = 10
    search_radius: int = 4
    patch_radius: int = 1
    denoise_bandwidth: float | Literal["median"] = "median"
    feature_bandwidth: float | None = None
    embedding_bandwidth: float | None = None
    n_steps: int = 60
    n_loop_steps: int = 20
    start: Literal["pca", "columns"] = "pca"
    gradient: Literal["full", "half"] = "full"
    rescale_columns: bool = False
    graph_form: GraphForm = "auto"
    random_state: int | None = 0

    def __post_init__(self) -> None:
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
                check_bandwidth(name, getattr(self, name))
        self._check_denoise_bandwidth()

    def _check_denoise_bandwidth(self) -> None:
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

    def bandwidths(self, n_features: int) -> tuple[float, float]:
        """Return l-hat and l-tilde for so many features."""
        wide, narrow = {
            "default": (0.1, 0.5),
            "paper": (0.0025 * n_features, 0.02 * self.n_components),
            "authors": (0.0025 * n_features, 0.3125 * self.n_components),
        }[self.variant]
        wide = wide if self.feature_bandwidth is None else self.feature_bandwidth
        narrow = narrow if self.embedding_bandwidth is None else self.embedding_bandwidth
        return wide, narrow

    def is_linear(self, n_frames: int) -> bool:
        """Return whether the graph of so many frames is a `LinearGraph`."""
        if self.graph_form == "auto":
            return self.variant == "default" and n_frames >= LINEAR_FROM
        return self.graph_form == "linear"


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


def dynamic_graph_embedding(
    features: Array, *, on_step: OnStep = no_report, **parameters: Unpack[MethodParameters]
) -> DynamicGraph:
    """Learn the graph and the embedding of one sequence (Algorithm 1).

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        One row per frame, NumPy or PyTorch, without NaN.
    on_step : callable, optional
        Called before every stage with its name, the stages done, and their number.
    **parameters
        Attributes of `Parameters`, such as `n_components=20`.
    """
    checked = Parameters(**parameters)
    return learn_graph(check_matrix("features", features), checked, on_step)


def learn_graph(x: Array, p: Parameters, on_step: OnStep = no_report) -> DynamicGraph:
    """Follow Algorithm 1 line by line, with features that were checked; comments have its symbols.

    Where the text and the notebook part, "paper" follows the text, "authors" and the default follow
    the notebook.
    """
    wide, narrow = p.bandwidths(x.shape[1])
    is_linear = p.is_linear(len(x))
    n_stages = 3 + p.n_iterations

    # Graph initialization (Eq. 1 to 3): denoise the features, X^_0 = NLmeans(X).
    on_step("denoising", 0, n_stages)
    denoised = denoise_features(x, p)
    clean = scale_to_range(denoised, by_column=True) if p.rescale_columns else denoised

    # PCA_d(X^_0). In linear form, further directions choose the landmarks of the features; the
    # kernels are in single precision, whatever that of the features, but what is small is better
    # in double.
    on_step("linking frames", 1, n_stages)
    directions: Array = None
    if is_linear:
        directions = double(principal_components(clean, max(p.n_components, GUIDES)))
    elif p.start == "pca":
        directions = principal_components(clean, p.n_components)
    start = (clean if p.start == "columns" else directions)[:, : p.n_components]

    # G_0 = S_l^(X^_0), the graph of the features.
    landmarks = None
    if is_linear:
        landmarks = choose_landmarks(directions, bandwidth=wide, most=FEATURE_LANDMARKS)
    initial_graph = normalize_columns(affinity_graph(clean, bandwidth=wide, landmarks=landmarks))

    # Graph embedding initialization (Eq. 3 and 4): X~_0 = argmin L(S_l~(X~), G_0).
    on_step("embedding", 2, n_stages)
    begin = scale_to_range(start, by_column=True) if p.rescale_columns else start
    embedding, descent = _embed(initial_graph, begin, p.n_steps, p, narrow)
    initial_embedding, descents = embedding, [descent]

    # G~_0 = S_l~(X~_0), the graph of the embedding.
    graph = normalize_columns(_graph_of_embedding(embedding, narrow, is_linear))

    communities = None
    for i in range(p.n_iterations):
        on_step(f"iteration {i + 1}", 3 + i, n_stages)

        # Graph embedding update (Eq. 5): X~_i = argmin (1 - a) L(S_l~(X~), G~_i-1) + a L(.., G_0).
        # The loss is linear in its target, so that both graphs are blended. The notebook applies
        # the temporal prior here, before it embeds.
        learned = normalize_columns(graph) if p.variant == "paper" else _temporal_prior(graph, p)
        target = (1.0 - p.initial_graph_weight) * learned + p.initial_graph_weight * initial_graph
        embedding, descent = _embed(target, embedding, p.n_loop_steps, p, narrow)
        descents.append(descent)

        # Graph structure update, temporal prior (Eq. 6): G~_i = f_eta(S_l~(X~_i) * K_p).
        graph = _graph_of_embedding(embedding, narrow, is_linear)
        graph = _temporal_prior(graph, p) if p.variant == "paper" else normalize_columns(graph)

        # Semantic prior (Eq. 7): C = kmeans(X~_i; N_C), G~_i = g_mu(G~_i, C).
        communities = find_communities(embedding, p.n_communities, p.random_state)
        graph = weaken_edges_between_communities(graph, communities, p.semantic_prior)

    if communities is None:
        communities = find_communities(embedding, p.n_communities, p.random_state)
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


def denoise_features(x: Array, p: Parameters) -> Array:
    """Scale and denoise features (Eq. 1 and 2) as a variant of the method does.

    The default standardizes columns (see `comparable_columns`) and denoises lightly; "paper" scales
    to [-1, 1] and denoises as in the text; "authors" does both as in the notebook.
    """
    if p.variant == "authors":
        h = float(p.denoise_bandwidth)
        return authors_nonlocal_means(x, p.search_radius, p.patch_radius, h)
    if p.variant == "paper":
        scaled = scale_to_range(x)
        return nonlocal_means(scaled, p.search_radius, p.patch_radius, p.denoise_bandwidth)
    denoised = nonlocal_means(
        comparable_columns(x),
        p.search_radius,
        p.patch_radius,
        p.denoise_bandwidth,
        kernel="gaussian",
        decay=0.25,
        include_self=True,
    )
    center_columns(denoised)
    return denoised


def _graph_of_embedding(embedding: Array, narrow: float, is_linear: bool) -> Graph:
    """Link frames by their embedding, S_l~(X~); in linear form it has landmarks of its own."""
    landmarks = choose_landmarks(embedding, bandwidth=narrow) if is_linear else None
    return affinity_graph(embedding, bandwidth=narrow, landmarks=landmarks)


def _embed(
    target: Graph, begin: Array, n_steps: int, p: Parameters, narrow: float
) -> tuple[Array, Descent]:
    """Embed a graph (Eq. 4 and 5), and scale the result as the variant goes on with it."""
    if p.variant == "authors":
        descent = embed_graph(target, begin, narrow, n_steps, "barzilai-borwein", p.gradient)
        embedding = descent.x
    else:
        descent = embed_graph(target, begin, narrow, n_steps)
        # The loss ignores lengths; unit rows keep them out of the communities too.
        embedding = fix_rotation(unit_rows(descent.x))
    return scale_to_range(embedding, by_column=True) if p.rescale_columns else embedding, descent


def _temporal_prior(graph: Graph, p: Parameters) -> Graph:
    """Average edges locally and weaken distant ones: f_eta(G * K_p) (Eq. 6)."""
    return weaken_distant_edges(smooth_edges(graph, p.smoothing_width), p.temporal_prior)
