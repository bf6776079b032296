"""Dynamic Graph Embedding: alternately learn a graph over the frames and its embedding (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from dayline.arrays import Array, IntArray, array_namespace, double, unit_rows
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
from dayline.method.communities import find_communities
from dayline.method.denoise import (
    authors_nonlocal_means,
    centre_columns,
    comparable_columns,
    nonlocal_means,
    scale_to_range,
)
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
from dayline.method.linear import LinearGraph
from dayline.progress import OnStep

Variant: TypeAlias = Literal["default", "paper", "authors"]
"""Whose scaling, denoising, loop order and optimiser to use."""

GraphForm: TypeAlias = Literal["auto", "dense", "linear"]
"""How weights between frames are represented."""

LINEAR_FROM = 1500
"""Frames from which "auto" is linear: about where it becomes the faster form."""

FEATURE_LANDMARKS = 384
"""Largest number of landmarks of the features, whose kernel is narrower than that of the embedding."""

GUIDES = 40
"""Main directions of the features by which frames are grouped to choose landmarks."""

CHOICES = {
    "variant": ("default", "paper", "authors"),
    "start": ("pca", "columns"),
    "gradient": ("full", "half"),
    "graph_form": ("auto", "dense", "linear"),
}
COUNTS = {
    "n_components": (1, LARGEST_COUNT),
    "n_iterations": (0, 1000),
    "smoothing_width": (1, LARGEST_COUNT),
    "n_communities": (1, LARGEST_COUNT),
    "search_radius": (0, LARGEST_COUNT),
    "patch_radius": (1, LARGEST_COUNT),
    "n_steps": (1, MOST_STEPS),
    "n_loop_steps": (1, MOST_STEPS),
}
SHARES = ("initial_graph_weight", "temporal_prior", "semantic_prior")
BANDWIDTHS = ("feature_bandwidth", "embedding_bandwidth")


@dataclass(frozen=True)
class DynamicGraph:
    """What the method learnt about one sequence.

    Attributes
    ----------
    embedding : array
        The learnt vector per frame, after the last iteration.
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


def check_embedding_parameters(given: Mapping[str, Any]) -> None:
    """Raise ValueError if a parameter of `dynamic_graph_embedding` is invalid, before any work is done.

    Parameters
    ----------
    given : mapping of str to object
        Parameters by name; missing ones are not checked.
    """
    for name, allowed in CHOICES.items():
        if name in given:
            check_choice(name, given[name], allowed)
    for name, (low, high) in COUNTS.items():
        if name in given:
            check_between(name, given[name], low, high, whole=True)
    for name in SHARES:
        if name in given:
            check_between(name, given[name], 0, 1)
    for name in BANDWIDTHS:
        if name in given:
            check_bandwidth(name, given[name])
    if "denoise_bandwidth" in given:
        _check_denoise_bandwidth(given["denoise_bandwidth"], given.get("variant"))
    if "rescale_columns" in given:
        check_flag("rescale_columns", given["rescale_columns"])
    if "random_state" in given:
        check_seed(given["random_state"])


def _check_denoise_bandwidth(value: Any, variant: Any) -> None:
    if isinstance(value, str) and value == "median":
        if variant == "authors":
            raise ValueError(
                'denoise_bandwidth="median" does not work with authors(); give a number'
            )
        return
    if not isinstance(value, (int, float)):
        raise ValueError(
            f'denoise_bandwidth={show_value(value)}; it must be "median" or a number above 0'
        )
    check_between("denoise_bandwidth", value, 1 / LARGEST)


def denoise_features(
    features: Array,
    *,
    variant: Variant = "default",
    search_radius: int = 4,
    patch_radius: int = 1,
    denoise_bandwidth: float | Literal["median"] = "median",
) -> Array:
    """Scale and denoise features (Eq. 1 and 2) as a variant of the method does.

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        One row per frame.
    variant : {"default", "paper", "authors"}
        "default" standardizes columns (see `comparable_columns`) and denoises lightly; "paper"
        scales to [-1, 1] and denoises as in the text; "authors" does both as in the notebook.
    search_radius, patch_radius, denoise_bandwidth
        L, M and h; see `nonlocal_means`.
    """
    radii = {"search_radius": search_radius, "patch_radius": patch_radius}
    features = check_matrix("features", features)
    check_choice("variant", variant, CHOICES["variant"])
    check_embedding_parameters(
        {"variant": variant, "denoise_bandwidth": denoise_bandwidth, **radii}
    )
    if variant == "authors":
        bandwidth = float(denoise_bandwidth)
        return authors_nonlocal_means(
            features, search_radius=search_radius, patch_radius=patch_radius, bandwidth=bandwidth
        )
    paper = variant == "paper"
    denoised = nonlocal_means(
        scale_to_range(features) if paper else comparable_columns(features),
        search_radius=search_radius,
        patch_radius=patch_radius,
        bandwidth=denoise_bandwidth,
        kernel="exponential" if paper else "gaussian",
        decay=1.0 if paper else 0.25,
        include_self=not paper,
    )
    if not paper:
        centre_columns(denoised)
    return denoised


def dynamic_graph_embedding(
    features: Array,
    *,
    variant: Variant = "default",
    n_components: int = 15,
    n_iterations: int = 2,
    initial_graph_weight: float = 0.1,
    smoothing_width: int = 3,
    temporal_prior: float = 0.3,
    semantic_prior: float = 0.1,
    n_communities: int = 10,
    search_radius: int = 4,
    patch_radius: int = 1,
    denoise_bandwidth: float | Literal["median"] = "median",
    feature_bandwidth: float = 0.1,
    embedding_bandwidth: float = 0.5,
    n_steps: int = 60,
    n_loop_steps: int = 20,
    start: Literal["pca", "columns"] = "pca",
    gradient: Literal["full", "half"] = "full",
    rescale_columns: bool = False,
    graph_form: GraphForm = "auto",
    random_state: int | None = 0,
    on_step: OnStep | None = None,
) -> DynamicGraph:
    """Learn the graph and the embedding of one sequence (Algorithm 1).

    The defaults are our own; `DynamicGraphEmbedding.paper()` and `.authors()` hold the published
    ones.

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        One row per frame, NumPy or PyTorch, without NaN.
    variant : {"default", "paper", "authors"}
        Variant of the method: whose scaling, denoising, loop order and optimiser to use. The text
        embeds first and then applies the priors; the notebook, and our default, apply the temporal
        prior first. Only "authors" has no safeguard in its descent.
    n_components, n_iterations : int
        d and K.
    initial_graph_weight : float in [0, 1]
        Weight of the initial graph in the loop (alpha).
    smoothing_width, temporal_prior, semantic_prior, n_communities
        p, eta, mu and N_C.
    search_radius, patch_radius, denoise_bandwidth
        L, M and h.
    feature_bandwidth, embedding_bandwidth : float > 0
        l-hat and l-tilde.
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
    on_step : callable, optional
        Called before every stage.
    """
    features = check_matrix("features", features)
    check_embedding_parameters(locals())  # only the parameters so far
    tell = _Teller(on_step, total=3 + n_iterations)
    rescale = partial(scale_to_range, by_column=True) if rescale_columns else _leave
    temporal = partial(
        _temporal_prior, smoothing_width=smoothing_width, temporal_prior=temporal_prior
    )
    embed = partial(
        _embed,
        bandwidth=embedding_bandwidth,
        steady=variant != "authors",
        gradient=gradient,
        rescale=rescale,
    )
    denoising = {
        "search_radius": search_radius,
        "patch_radius": patch_radius,
        "denoise_bandwidth": denoise_bandwidth,
    }
    tell("denoising")
    denoised = denoise_features(features, variant=variant, **denoising)  # type: ignore[arg-type]
    clean = rescale(denoised)
    tell("linking frames")
    linear = graph_form == "linear" or (
        graph_form == "auto" and variant == "default" and len(clean) >= LINEAR_FROM
    )
    needs_directions = linear or start == "pca"
    directions = (
        principal_components(clean, max(n_components, GUIDES if linear else 0))
        if needs_directions
        else None
    )
    if linear:
        # The kernels are in single precision, whatever that of the features; what is small is
        # better in double.
        directions = double(directions)
    begin = (
        clean[:, :n_components]
        if directions is None or start == "columns"
        else directions[:, :n_components]
    )
    link = partial(_link, linear=linear)
    initial_graph = normalize_columns(link(clean, bandwidth=feature_bandwidth, guide=directions))
    tell("embedding")
    embedding, descent = embed(initial_graph, rescale(begin), n_steps)
    initial_embedding, descents = embedding, [descent]
    graph = normalize_columns(link(embedding, bandwidth=embedding_bandwidth))
    communities = None
    for iteration in range(n_iterations):
        tell(f"iteration {iteration + 1}")
        learnt = normalize_columns(graph) if variant == "paper" else temporal(graph)
        target = (1.0 - initial_graph_weight) * learnt + initial_graph_weight * initial_graph
        embedding, descent = embed(target, embedding, n_loop_steps)
        descents.append(descent)
        graph = link(embedding, bandwidth=embedding_bandwidth)
        graph = temporal(graph) if variant == "paper" else normalize_columns(graph)
        communities = find_communities(embedding, n_communities, random_state=random_state)
        graph = _semantic_prior(graph, communities, semantic_prior)
    if communities is None:
        communities = find_communities(embedding, n_communities, random_state=random_state)
    return DynamicGraph(
        embedding,
        graph,
        communities,
        denoised,
        begin,
        initial_embedding,
        initial_graph,
        tuple(descents),
    )


def _leave(x: Array) -> Array:
    return x


def _link(x: Array, *, bandwidth: float, linear: bool, guide: Array | None = None) -> Graph:
    """Link frames; with landmarks, if linear, that are chosen by the guide or by `x` itself."""
    if not linear:
        return affinity_graph(x, bandwidth=bandwidth)
    landmarks = (
        choose_landmarks(x, bandwidth=bandwidth)
        if guide is None
        else choose_landmarks(guide, bandwidth=bandwidth, most=FEATURE_LANDMARKS)
    )
    return affinity_graph(x, bandwidth=bandwidth, landmarks=landmarks)


def _embed(
    target: Graph,
    begin: Array,
    n_steps: int,
    *,
    bandwidth: float,
    steady: bool,
    gradient: Literal["full", "half"],
    rescale: Callable[[Array], Array],
) -> tuple[Array, Descent]:
    """Embed, and convert the result to the form that the next stage expects."""
    if steady:
        descent = embed_graph(target, start=begin, bandwidth=bandwidth, n_steps=n_steps)
        # The loss ignores lengths; unit rows keep them out of the communities too.
        return rescale(fix_rotation(unit_rows(descent.x))), descent
    descent = embed_graph(
        target,
        start=begin,
        bandwidth=bandwidth,
        n_steps=n_steps,
        optimizer="barzilai-borwein",
        gradient=gradient,
    )
    return rescale(descent.x), descent


def _temporal_prior(graph: Graph, *, smoothing_width: int, temporal_prior: float) -> Graph:
    return weaken_distant_edges(
        smooth_edges(graph, width=smoothing_width), temporal_prior=temporal_prior
    )


def _semantic_prior(graph: Graph, communities: IntArray, semantic_prior: float) -> Graph:
    sample = graph.sample if isinstance(graph, LinearGraph) else graph
    numbers = array_namespace(sample).asarray(communities, device=sample.device)
    return weaken_edges_between_communities(graph, numbers, semantic_prior=semantic_prior)


class _Teller:
    """Counts the stages for `on_step`."""

    def __init__(self, on_step: OnStep | None, *, total: int) -> None:
        self.on_step, self.total, self.done = on_step, total, 0

    def __call__(self, what: str) -> None:
        if self.on_step is not None:
            self.on_step(what, self.done, self.total)
        self.done += 1
