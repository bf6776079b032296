"""The method and its steps as public functions, for any arrays.

Arguments are checked here, once; the function of the same name that does the work trusts them.
"""

from __future__ import annotations

from typing import Any, Literal

from dayline.arrays import Array, IntArray
from dayline.checks import (
    LARGEST,
    LARGEST_COUNT,
    MOST_STEPS,
    NARROWEST,
    check_between,
    check_choice,
    check_flag,
    check_matrix,
    check_seed,
    show_value,
)
from dayline.method import denoise as _denoise
from dayline.method import embedding as _embedding
from dayline.method import graph as _graph
from dayline.method.denoise import Kernel
from dayline.method.descent import Descent
from dayline.method.dge import DynamicGraph, Parameters, learn_graph
from dayline.method.embedding import Gradient, Optimizer
from dayline.method.graph import Graph
from dayline.method.landmarks import Landmarks
from dayline.method.linear import LinearGraph
from dayline.progress import OnStep, no_report


def dynamic_graph_embedding(
    features: Array, *, on_step: OnStep = no_report, **parameters: Any
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
    chosen = Parameters(**parameters)
    chosen.check_parameters()
    return learn_graph(check_matrix("features", features), chosen, on_step)


def nonlocal_means(
    x: Array,
    *,
    search_radius: int,
    patch_radius: int,
    bandwidth: float | Literal["median"],
    kernel: Kernel = "exponential",
    decay: float = 1.0,
    include_self: bool = False,
) -> Array:
    """Replace every frame by a weighted mean of frames with similar neighborhoods (Eq. 1 and 2).

    The defaults are the paper's, with the L1 distance averaged over frames and features.

    Parameters
    ----------
    x : array of shape (n_frames, n_features)
        Features, already scaled.
    search_radius : int >= 0
        Frames averaged on either side (L); 0 changes nothing.
    patch_radius : int >= 1
        Frames on either side that form the patch of a frame, without the frame itself (M).
    bandwidth : float > 0 or "median"
        Decay of the weights (h); "median" uses the median patch distance of the sequence.
    kernel : {"exponential", "gaussian"}
        exp(-D / h) as in the paper, or exp(-(D / h)^2).
    decay : float in (0, 1]
        Factor on the weight per frame of distance in time.
    include_self : bool
        Whether a frame contributes to its own mean.
    """
    check_between("search_radius", search_radius, 0, whole=True)
    check_between("patch_radius", patch_radius, 1, whole=True)
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, ("median",))
    else:
        check_between("bandwidth", bandwidth, 1 / LARGEST)
    check_choice("kernel", kernel, ("exponential", "gaussian"))
    check_between("decay", decay, 0, 1, above=True)
    check_flag("include_self", include_self)
    return _denoise.nonlocal_means(
        check_matrix("x", x),
        search_radius=search_radius,
        patch_radius=patch_radius,
        bandwidth=bandwidth,
        kernel=kernel,
        decay=decay,
        include_self=include_self,
    )


def affinity_graph(x: Array, *, bandwidth: float, landmarks: Landmarks | None = None) -> Graph:
    """Link every pair of frames by how alike they look (Eq. 3).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding, one row per frame. A zero row counts as orthogonal to every other.
    bandwidth : float >= 1e-6
        Decay of the weights (l); small values link only near-identical frames.
    landmarks : Landmarks, optional
        Through which to see pairs of frames far apart in time; None computes every pair.

    Returns
    -------
    Graph of shape (n_frames, n_frames)
        exp(-(1 - cosine) / bandwidth), symmetric, in (0, 1]; a `LinearGraph` with landmarks.
    """
    check_between("bandwidth", bandwidth, NARROWEST)
    return _graph.affinity_graph(check_matrix("x", x), bandwidth=bandwidth, landmarks=landmarks)


def principal_components(x: Array, n_components: int) -> Array:
    """Project centered frames on their main directions (the start of Eq. 4).

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features.
    n_components : int >= 1
        Number of directions to keep (d), at most n_frames and n_dims.

    Returns
    -------
    array of shape (n_frames, min(n_components, n_frames, n_dims))
        Strongest direction first; the largest entry of each column is positive.
    """
    check_between("n_components", n_components, 1, whole=True)
    return _embedding.principal_components(check_matrix("x", x), n_components)


def graph_cross_entropy(embedding: Array, graph: Graph, *, bandwidth: float) -> tuple[float, Array]:
    """Return the loss and gradient of an embedding whose graph should match a given one (Eq. 4).

    Every column of weights is treated as a distribution over frames; the loss is the sum over
    columns of the relative entropy of the embedding's column to the given one.

    Parameters
    ----------
    embedding : array of shape (n_frames, n_components)
        One row per frame; only directions matter. A zero row has gradient 0.
    graph : Graph of shape (n_frames, n_frames)
        Target weights, non-negative.
    bandwidth : float >= 1e-6
        Decay of the embedding's weights (l-tilde).

    Returns
    -------
    loss : float
        Zero if both graphs have the same normalized columns.
    gradient : array of the embedding's shape
        Derivative of the loss with respect to the embedding.
    """
    _check_pair("embedding", embedding, graph)
    check_between("bandwidth", bandwidth, NARROWEST)
    return _embedding.graph_cross_entropy(embedding, graph, bandwidth=bandwidth)


def embed_graph(
    graph: Graph,
    *,
    start: Array,
    bandwidth: float,
    n_steps: int = 60,
    optimizer: Optimizer = "lbfgs",
    gradient: Gradient = "full",
) -> Descent:
    """Find the embedding whose graph best matches a given one (Eq. 4 and 5).

    Eq. 5 blends two losses; the loss is linear in its target, so one call with the blended graph is
    equivalent.

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Target weights.
    start : array of shape (n_frames, n_components)
        Starting point.
    bandwidth : float >= 1e-6
        Decay of the embedding's weights (l-tilde).
    n_steps : int
        Maximum number of evaluations for "lbfgs", exact number of steps for "barzilai-borwein".
    optimizer : {"lbfgs", "barzilai-borwein"}
        A safeguarded descent from unit rows, or the authors' own.
    gradient : {"full", "half"}
        The true gradient, or the authors' (only for "barzilai-borwein").
    """
    _check_pair("start", start, graph)
    check_between("bandwidth", bandwidth, NARROWEST)
    check_choice("optimizer", optimizer, ("lbfgs", "barzilai-borwein"))
    check_choice("gradient", gradient, ("full", "half"))
    check_between("n_steps", n_steps, 1 if optimizer == "lbfgs" else 0, MOST_STEPS, whole=True)
    return _embedding.embed_graph(
        graph,
        start=start,
        bandwidth=bandwidth,
        n_steps=n_steps,
        optimizer=optimizer,
        gradient=gradient,
    )


def smooth_edges(graph: Graph, *, width: int) -> Graph:
    """Average every weight over a width x width window (local averaging before Eq. 6).

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Edge weights; entries outside count as 0.
    width : int >= 1
        Window (p); 1 changes nothing. An even window reaches one frame further back than forward.
    """
    _check_graph(graph)
    check_between("width", width, 1, LARGEST_COUNT, whole=True)
    return _graph.smooth_edges(graph, width=width)


def weaken_distant_edges(graph: Graph, *, temporal_prior: float) -> Graph:
    """Shrink the weights between frames that are not neighbors in time (Eq. 6).

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Edge weights.
    temporal_prior : float in [0, 1]
        Fraction removed from edges between frames more than one apart (eta); 0 changes nothing.
    """
    _check_graph(graph)
    check_between("temporal_prior", temporal_prior, 0, 1)
    return _graph.weaken_distant_edges(graph, temporal_prior=temporal_prior)


def find_communities(x: Array, n_communities: int, *, random_state: int | None = 0) -> IntArray:
    """Group frames by k-means (10 restarts); groups are numbered in order of first appearance.

    Parameters
    ----------
    x : array of shape (n_frames, n_dims)
        Features or embedding.
    n_communities : int >= 1
        Number of groups (N_C), at most the number of distinct frames.
    random_state : int or None
        Seed of the restarts.
    """
    check_between("n_communities", n_communities, 1, whole=True)
    check_seed(random_state)
    x = check_matrix("x", x)
    return _graph.find_communities(x, n_communities, random_state=random_state)


def weaken_edges_between_communities(
    graph: Graph, communities: Array, *, semantic_prior: float
) -> Graph:
    """Shrink the weights between frames of different communities (Eq. 7).

    Parameters
    ----------
    graph : Graph of shape (n_frames, n_frames)
        Edge weights.
    communities : array of int, shape (n_frames,)
        Community of every frame.
    semantic_prior : float in [0, 1]
        Fraction removed from edges between communities (mu); 0 changes nothing.
    """
    _check_graph(graph)
    if tuple(getattr(communities, "shape", ())) != (graph.shape[0],):
        raise ValueError(
            f"communities={show_value(communities)}; give an array with one number for each frame"
        )
    check_between("semantic_prior", semantic_prior, 0, 1)
    return _graph.weaken_edges_between_communities(
        graph, communities, semantic_prior=semantic_prior
    )


def _check_graph(graph: Graph) -> None:
    if not isinstance(graph, LinearGraph):
        check_matrix("graph", graph)


def _check_pair(name: str, embedding: Array, graph: Graph) -> None:
    check_matrix(name, embedding)
    _check_graph(graph)
    n = embedding.shape[0]
    if tuple(graph.shape) != (n, n):
        raise ValueError(
            f"graph has shape {tuple(graph.shape)}, but {name} has {n} rows; give the same frames"
        )
