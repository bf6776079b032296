"""DynamicGraphEmbedding and PrincipalComponents: a vector per frame, learned from the sequence itself."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, Self, TypedDict, Unpack

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from dayline.arrays import (
    Array,
    FloatArray,
    IntArray,
    check_device,
    is_single_precision,
    to_device,
    to_numpy,
    unit_rows,
)
from dayline.checks import Missing, check_choice, check_features, unmask
from dayline.method.communities import find_communities
from dayline.method.denoise import fit_single_precision
from dayline.method.dge import (
    BANDWIDTHS,
    DynamicGraph,
    GraphForm,
    Variant,
    check_embedding_parameters,
    denoise_features,
    dynamic_graph_embedding,
)
from dayline.method.embedding import principal_components
from dayline.method.linear import LinearGraph
from dayline.method.outliers import (
    draw_in,
    outlying_frames,
    warn_of_missing_value_codes,
    warn_of_outliers,
)
from dayline.progress import OnStep


class SequenceEmbedder(BaseEstimator):  # type: ignore[misc]
    """An estimator that learns a vector per frame from one sequence."""

    missing: Missing
    embedding_: FloatArray

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Learn from one sequence.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features)
            One row per frame, in order. Never modified.
        y : None
            Ignored.
        """
        numbers = validate_data(self, unmask(X), dtype="numeric", ensure_all_finite=False)
        features = check_features(numbers, missing=self.missing)
        return self.learn(self.without_outliers(features))

    def fit_transform(self, X: Any, y: None = None) -> FloatArray:
        """Learn from one sequence and return its embedding, of shape (n_frames, n_components)."""
        return self.fit(X, y).embedding_

    def without_outliers(self, features: FloatArray) -> FloatArray:
        """Warn of outliers and, unless the variant is a published one, scale them down."""
        self.check_parameters()
        frames = outlying_frames(features)
        if len(frames) == 0:
            warn_of_missing_value_codes(features)
            return features
        warn_of_outliers(frames, drawn_in=self.scales_outliers)
        return draw_in(features, frames) if self.scales_outliers else features

    @property
    def scales_outliers(self) -> bool:
        """Whether outliers are scaled down."""
        return True

    @abstractmethod
    def learn(self, features: FloatArray, *, on_step: OnStep | None = None) -> Self:
        """Learn from features that `check_features` has returned."""

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid; `fit` calls this first."""


class EmbeddingParameters(TypedDict, total=False):
    """Every parameter of `DynamicGraphEmbedding` that can be changed in a preset."""

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
    missing: Missing
    device: str
    dtype: Literal["float64", "float32"]
    random_state: int | None


PUBLISHED: EmbeddingParameters = {"search_radius": 3, "denoise_bandwidth": 0.25, "n_steps": 150}


class DynamicGraphEmbedding(SequenceEmbedder):
    """Alternately learn a graph over the frames and a low-dimensional embedding of it.

    Parameters
    ----------
    n_components : int, default=15
        Dimensions of the embedding (d); fewer if the features have fewer.
    n_iterations : int, default=2
        Iterations of the loop (K).
    initial_graph_weight : float, default=0.1
        Weight of the initial graph in the loop (alpha).
    smoothing_width : int, default=3
        Width of the local average of edges (p); 1 turns it off.
    temporal_prior : float, default=0.3
        Fraction removed from edges between frames that are not neighbours (eta); 0 turns it off.
    semantic_prior : float, default=0.1
        Fraction removed from edges between communities (mu); 0 turns it off.
    n_communities : int, default=10
        Number of communities in the loop (N_C).
    search_radius, patch_radius : int, default=4 and 1
        Frames averaged and compared in denoising (L and M); `search_radius=0` turns it off.
    denoise_bandwidth : float or "median", default="median"
        Decay of the denoising weights (h).
    feature_bandwidth, embedding_bandwidth : float or None
        Decay of the weights of the initial and the learnt graph (l-hat and l-tilde). None uses the
        variant's own: 0.1 and 0.5; paper 0.0025 n_features and 0.02 d; authors 0.0025 n_features
        and 0.3125 d.
    n_steps, n_loop_steps : int, default=60 and 20
        Maximum number of evaluations for the initial embedding and for each iteration.
    start : {"pca", "columns"}, default="pca"
        Start of the initial embedding.
    gradient : {"full", "half"}, default="full"
        "half" is the notebook's, used by `authors()`.
    rescale_columns : bool, default=False
        Rescale columns to [-1, 1] at every stage, as the notebook does.
    graph_form : {"auto", "dense", "linear"}, default="auto"
        Whether to compute every pair of frames, or to see pairs far apart in time through
        landmarks, so that time and memory grow with the number of frames, not with its square.
        "auto" is linear from 1,500 frames on, and always dense for `paper()` and `authors()`.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    device : str, default="cpu"
        "cpu" (NumPy), "torch" (PyTorch on the CPU), "cuda" or "mps".
    dtype : {"float64", "float32"}, default="float64"
        Floating-point precision.
    random_state : int or None, default=0
        Seed of the communities.
    variant : {"default", "paper", "authors"}, default="default"
        Variant of the method: whose scaling, denoising, loop order and optimiser to use; `paper()`
        and `authors()` also set the other parameters.

    Attributes
    ----------
    embedding_, graph_, communities_
        The learnt vectors, weights and communities. A graph is a matrix or, in linear form, a
        `LinearGraph`, which has products (`graph @ x`), `columns`, `column_sums` and a downsampled
        `picture`.
    initial_embedding_, initial_graph_, denoised_, start_
        The same before the first iteration, the denoised features before any column rescaling, and
        where the initial embedding starts.
    loss_ : float
        Loss of the last embedding.
    n_evaluations_ : int
        Total number of evaluations, over all embeddings.
    stopped_ : str
        Why the last embedding stopped, in words.
    descents_ : tuple of dict
        Start loss, loss, evaluations and reason for every embedding, the initial one first.
    """

    def __init__(
        self,
        n_components: int = 15,
        *,
        n_iterations: int = 2,
        initial_graph_weight: float = 0.1,
        smoothing_width: int = 3,
        temporal_prior: float = 0.3,
        semantic_prior: float = 0.1,
        n_communities: int = 10,
        search_radius: int = 4,
        patch_radius: int = 1,
        denoise_bandwidth: float | Literal["median"] = "median",
        feature_bandwidth: float | None = None,
        embedding_bandwidth: float | None = None,
        n_steps: int = 60,
        n_loop_steps: int = 20,
        start: Literal["pca", "columns"] = "pca",
        gradient: Literal["full", "half"] = "full",
        rescale_columns: bool = False,
        graph_form: GraphForm = "auto",
        missing: Missing = "raise",
        device: str = "cpu",
        dtype: Literal["float64", "float32"] = "float64",
        random_state: int | None = 0,
        variant: Variant = "default",
    ) -> None:
        self.n_components = n_components
        self.n_iterations = n_iterations
        self.initial_graph_weight = initial_graph_weight
        self.smoothing_width = smoothing_width
        self.temporal_prior = temporal_prior
        self.semantic_prior = semantic_prior
        self.n_communities = n_communities
        self.search_radius = search_radius
        self.patch_radius = patch_radius
        self.denoise_bandwidth = denoise_bandwidth
        self.feature_bandwidth = feature_bandwidth
        self.embedding_bandwidth = embedding_bandwidth
        self.n_steps = n_steps
        self.n_loop_steps = n_loop_steps
        self.start = start
        self.gradient = gradient
        self.rescale_columns = rescale_columns
        self.graph_form = graph_form
        self.missing = missing
        self.device = device
        self.dtype = dtype
        self.random_state = random_state
        self.variant = variant

    @classmethod
    def paper(cls, **changes: Unpack[EmbeddingParameters]) -> Self:
        """Follow the text of the paper: its loop order, denoising and parameters, run to convergence."""
        preset: EmbeddingParameters = {**PUBLISHED, "n_loop_steps": 150, **changes}
        estimator: Self = cls(variant="paper").set_params(**preset)
        return estimator

    @classmethod
    def authors(cls, **changes: Unpack[EmbeddingParameters]) -> Self:
        """Follow the authors' published notebook, including its unsafeguarded descent and column rescaling.

        It starts from the first columns and uses half of the gradient; another of their notebooks
        has `start="pca"` and `gradient="full"`.
        """
        notebook: EmbeddingParameters = {
            "start": "columns",
            "gradient": "half",
            "rescale_columns": True,
        }
        preset: EmbeddingParameters = {**PUBLISHED, "n_loop_steps": 3, **notebook, **changes}
        estimator: Self = cls(variant="authors").set_params(**preset)
        return estimator

    @property
    def scales_outliers(self) -> bool:
        """Whether outliers are scaled down: not in the published variants."""
        return self.variant == "default"

    def learn(self, features: FloatArray, *, on_step: OnStep | None = None) -> Self:
        """Learn from features that `check_features` has returned."""
        self.check_parameters()
        feature_bandwidth, embedding_bandwidth = self._bandwidths(features.shape[1])
        given = self.get_params(deep=False)
        for name in ("missing", "device", "dtype", "feature_bandwidth", "embedding_bandwidth"):
            del given[name]
        # The matrix products are thin: more BLAS threads gain nothing on an idle machine and wait
        # for each other on a busy one (we measured 10 times the run time).
        with threadpool_limits(1):
            learnt = dynamic_graph_embedding(
                self._on_device(features),
                feature_bandwidth=feature_bandwidth,
                embedding_bandwidth=embedding_bandwidth,
                on_step=on_step,
                **given,
            )
        self._store(learnt)
        return self

    def _on_device(self, features: FloatArray) -> Array:
        if features.dtype == np.float32:
            # Long recordings stay in single precision; see `check_features`.
            return to_device(features, self.device, "float32")
        if is_single_precision(self.device, self.dtype):
            features = fit_single_precision(features, by_column=self.variant == "default")
        return to_device(features, self.device, self.dtype)

    def _bandwidths(self, n_features: int) -> tuple[float, float]:
        own = {
            "default": (0.1, 0.5),
            "paper": (0.0025 * n_features, 0.02 * self.n_components),
            "authors": (0.0025 * n_features, 0.3125 * self.n_components),
        }[self.variant]
        wide = own[0] if self.feature_bandwidth is None else self.feature_bandwidth
        narrow = own[1] if self.embedding_bandwidth is None else self.embedding_bandwidth
        return wide, narrow

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid; `fit` calls this first."""
        given = self.get_params(deep=False)
        check_choice("missing", given.pop("missing"), ("raise", "interpolate"))
        check_choice("dtype", given.pop("dtype"), ("float64", "float32"))
        check_device(given.pop("device"))
        # A bandwidth of None means the variant's own.
        check_embedding_parameters(
            {k: v for k, v in given.items() if v is not None or k not in BANDWIDTHS}
        )

    def _store(self, learnt: DynamicGraph) -> None:
        for name in ("embedding", "denoised", "start", "initial_embedding"):
            setattr(self, f"{name}_", to_numpy(getattr(learnt, name)))
        for name in ("graph", "initial_graph"):
            graph = getattr(learnt, name)
            setattr(self, f"{name}_", graph if isinstance(graph, LinearGraph) else to_numpy(graph))
        self.communities_ = np.asarray(learnt.communities)
        self.descents_ = tuple(
            {k: getattr(d, k) for k in ("start_loss", "loss", "n_evaluations", "stopped")}
            for d in learnt.descents
        )
        self.loss_ = learnt.descents[-1].loss
        self.n_evaluations_ = sum(d.n_evaluations for d in learnt.descents)
        self.stopped_ = learnt.descents[-1].stopped


class PrincipalComponentParameters(TypedDict, total=False):
    """Every parameter of `PrincipalComponents`."""

    n_components: int
    n_communities: int
    search_radius: int
    patch_radius: int
    denoise_bandwidth: float | Literal["median"]
    missing: Missing
    device: str
    dtype: Literal["float64", "float32"]
    random_state: int | None


class PrincipalComponents(SequenceEmbedder):
    """Project denoised features on their main directions; no graph is learnt.

    The default of `DynamicGraphEmbedding` starts from the same directions. Time and memory grow
    linearly with the number of frames.

    Parameters
    ----------
    n_components : int, default=15
        Number of directions; fewer if the features have fewer.
    n_communities : int, default=10
        Number of communities.
    search_radius, patch_radius : int, default=4 and 1
        Frames averaged and compared in denoising (L and M); `search_radius=0` turns it off.
    denoise_bandwidth : float or "median", default="median"
        Decay of the denoising weights (h).
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    device : str, default="cpu"
        "cpu" (NumPy), "torch" (PyTorch on the CPU), "cuda" or "mps".
    dtype : {"float64", "float32"}, default="float32"
        Floating-point precision; both gave the same boundaries in all sequences that we tried.
    random_state : int or None, default=0
        Seed of the communities.

    Attributes
    ----------
    directions_ : ndarray of shape (n_frames, n_components)
        Every frame on the main directions, the strongest first.
    embedding_ : ndarray of shape (n_frames, n_components)
        The same with rows of length 1.
    graph_ : None
        There is no graph.
    """

    graph_ = None

    def __init__(
        self,
        n_components: int = 15,
        *,
        n_communities: int = 10,
        search_radius: int = 4,
        patch_radius: int = 1,
        denoise_bandwidth: float | Literal["median"] = "median",
        missing: Missing = "raise",
        device: str = "cpu",
        dtype: Literal["float64", "float32"] = "float32",
        random_state: int | None = 0,
    ) -> None:
        self.n_components = n_components
        self.n_communities = n_communities
        self.search_radius = search_radius
        self.patch_radius = patch_radius
        self.denoise_bandwidth = denoise_bandwidth
        self.missing = missing
        self.device = device
        self.dtype = dtype
        self.random_state = random_state

    def learn(self, features: FloatArray, *, on_step: OnStep | None = None) -> Self:
        """Find the main directions of features that `check_features` has returned."""
        self.check_parameters()
        if is_single_precision(self.device, self.dtype):
            features = fit_single_precision(features, by_column=True)
        if on_step is not None:
            on_step("denoising", 0, 2)
        with threadpool_limits(1):
            denoised = denoise_features(
                to_device(features, self.device, self.dtype),
                search_radius=self.search_radius,
                patch_radius=self.patch_radius,
                denoise_bandwidth=self.denoise_bandwidth,
            )
            if on_step is not None:
                on_step("main directions", 1, 2)
            directions = principal_components(denoised, self.n_components)
        self.directions_ = to_numpy(directions)
        self.embedding_ = to_numpy(unit_rows(directions))
        return self

    @property
    def communities_(self) -> IntArray:
        """Community of every frame, by k-means; computed when it is read, since the events do not need it."""
        return np.asarray(
            find_communities(self.embedding_, self.n_communities, random_state=self.random_state)
        )

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid; `fit` calls this first."""
        given = self.get_params(deep=False)
        check_choice("missing", given.pop("missing"), ("raise", "interpolate"))
        check_choice("dtype", given.pop("dtype"), ("float64", "float32"))
        check_device(given.pop("device"))
        check_embedding_parameters(given)
