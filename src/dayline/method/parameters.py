"""Parameters of the method, their defaults and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from dayline.checks import (
    LARGEST,
    LARGEST_COUNT,
    MOST_STEPS,
    check_bandwidth,
    check_between,
    check_choice,
    check_flag,
    check_seed,
    show_value,
)

Variant: TypeAlias = Literal["default", "paper", "authors"]
"""Whose scaling, denoising, loop order and optimizer to use."""

GraphForm: TypeAlias = Literal["auto", "dense", "linear"]
"""How weights between frames are represented."""

LINEAR_FROM = 1500
"""Frames from which "auto" is linear: about where it becomes the faster form."""


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
        of_features, of_embedding = {
            "default": (0.1, 0.5),
            "paper": (0.0025 * n_features, 0.02 * self.n_components),
            "authors": (0.0025 * n_features, 0.3125 * self.n_components),
        }[self.variant]
        return (
            of_features if self.feature_bandwidth is None else self.feature_bandwidth,
            of_embedding if self.embedding_bandwidth is None else self.embedding_bandwidth,
        )

    def is_linear(self, n_frames: int) -> bool:
        """Return whether the graph of so many frames is a `LinearGraph`."""
        if self.graph_form == "auto":
            return self.variant == "default" and n_frames >= LINEAR_FROM
        return self.graph_form == "linear"
