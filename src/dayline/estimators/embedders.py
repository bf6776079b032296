"""DynamicGraphEmbedding and PrincipalComponents: a vector per frame, learned from one sequence."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from dayline.arrays import (
    FloatArray,
    IntArray,
    check_device,
    is_single_precision,
    to_device,
    to_numpy,
    unit_rows,
)
from dayline.checks import Missing, check_choice, check_features
from dayline.estimators.inputs import given_rows
from dayline.method.denoise import denoise_features, fit_single_precision
from dayline.method.dge import Parameters, learn_graph
from dayline.method.embedding import principal_components
from dayline.method.graph import find_communities
from dayline.method.linear import LinearGraph
from dayline.method.outliers import (
    draw_in,
    outlying_frames,
    warn_of_missing_value_codes,
    warn_of_outliers,
)
from dayline.progress import OnStep, no_report


class SequenceEmbedder(BaseEstimator):  # type: ignore[misc]
    """An estimator that learns a vector per frame from one sequence."""

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Learn from one sequence.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_features) or (n_frames,)
            One row per frame, in order. Never modified.
        y : None
            Ignored.
        """
        self.check_parameters()
        features = check_features(given_rows(self, X), missing=self.missing)
        self.learn(self.without_outliers(features))
        return self

    def fit_transform(self, X: Any, y: None = None) -> FloatArray:
        """Learn from one sequence and return its embedding, of shape (n_frames, n_components)."""
        embedding: FloatArray = self.fit(X, y).embedding_
        return embedding

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""
        check_choice("missing", self.missing, ("raise", "interpolate"))
        check_choice("dtype", self.dtype, ("float64", "float32"))
        check_device(self.device)

    def without_outliers(self, features: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """Warn of outliers and, unless the variant is a published one, scale them down.

        `rows` are the numbers of the frames for the warning, if they are not 0, 1, 2, ...
        """
        frames = outlying_frames(features)
        if len(frames) == 0:
            warn_of_missing_value_codes(features)
            return features
        scaled_down = getattr(self, "variant", "default") == "default"
        warn_of_outliers(frames if rows is None else rows[frames], drawn_in=scaled_down)
        return draw_in(features, frames) if scaled_down else features

    @abstractmethod
    def learn(self, features: FloatArray, on_step: OnStep = no_report) -> None:
        """Learn from features that were checked."""

    def main_directions(self) -> FloatArray:
        """Return every frame on the main directions of the denoised features."""
        raise NotImplementedError


PUBLISHED: dict[str, Any] = {"search_radius": 3, "denoise_bandwidth": 0.25, "n_steps": 150}


@dataclass(eq=False, repr=False)
class DynamicGraphEmbedding(SequenceEmbedder, Parameters):
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
        Fraction removed from edges between frames that are not neighbors (eta); 0 turns it off.
    semantic_prior : float, default=0.1
        Fraction removed from edges between communities (mu); 0 turns it off.
    n_communities : int, default=10
        Number of communities in the loop (N_C).
    search_radius, patch_radius : int, default=4 and 1
        Frames averaged and compared in denoising (L and M); `search_radius=0` turns it off.
    denoise_bandwidth : float or "median", default="median"
        Decay of the denoising weights (h).
    feature_bandwidth, embedding_bandwidth : float or None
        Decay of the weights of the initial and the learned graph (l-hat and l-tilde). None uses the
        variant's own: 0.1 and 0.5; paper 0.0025 n_features and 0.02 d; authors 0.0025 n_features
        and 0.3125 d.
    n_steps, n_loop_steps : int, default=60 and 20
        Maximum number of evaluations for the initial embedding and for each iteration (exact number
        of steps for `authors()`).
    start : {"pca", "columns"}, default="pca"
        Start of the initial embedding: principal components, or the first columns as in the
        notebook.
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
        Variant of the method: whose scaling, denoising, loop order and optimizer to use; `paper()`
        and `authors()` also set the other parameters.

    Attributes
    ----------
    embedding_, graph_, communities_
        The learned vectors, weights and communities. A graph is a matrix or, in linear form, a
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

    _: KW_ONLY
    missing: Missing = "raise"
    device: str = "cpu"
    dtype: Literal["float64", "float32"] = "float64"

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Follow the text: its loop order, denoising and parameters, run to convergence.

        `changes` are parameters of the class.
        """
        preset = {**PUBLISHED, "n_loop_steps": 150, "variant": "paper"}
        return cls(**{**preset, **changes})

    @classmethod
    def authors(cls, **changes: Any) -> Self:
        """Follow the authors' notebook, with its unsafeguarded descent and column rescaling.

        It starts from the first columns and uses half of the gradient; another of their notebooks
        has `start="pca"` and `gradient="full"`. `changes` are parameters of the class.
        """
        preset = {
            **PUBLISHED,
            "n_loop_steps": 3,
            "start": "columns",
            "gradient": "half",
            "rescale_columns": True,
            "variant": "authors",
        }
        return cls(**{**preset, **changes})

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""
        super().check_parameters()
        Parameters.check_parameters(self)

    def learn(self, features: FloatArray, on_step: OnStep = no_report) -> None:
        """Learn from features that were checked."""
        # Long recordings stay in single precision; see `check_features`.
        dtype = "float32" if features.dtype == np.float32 else self.dtype
        if features.dtype != np.float32 and is_single_precision(self.device, self.dtype):
            features = fit_single_precision(features, by_column=self.variant == "default")
        # The matrix products are thin: more BLAS threads gain nothing on an idle machine and wait
        # for each other on a busy one (we measured 10 times the run time).
        with threadpool_limits(1):
            learned = learn_graph(to_device(features, self.device, dtype), self, on_step)

        self.embedding_ = to_numpy(learned.embedding)
        self.denoised_ = to_numpy(learned.denoised)
        self.start_ = to_numpy(learned.start)
        self.initial_embedding_ = to_numpy(learned.initial_embedding)
        self.graph_, self.initial_graph_ = (
            graph if isinstance(graph, LinearGraph) else to_numpy(graph)
            for graph in (learned.graph, learned.initial_graph)
        )
        self.communities_ = learned.communities

        self.descents_ = tuple(
            {k: getattr(d, k) for k in ("start_loss", "loss", "n_evaluations", "stopped")}
            for d in learned.descents
        )
        self.loss_ = learned.descents[-1].loss
        self.n_evaluations_ = sum(d.n_evaluations for d in learned.descents)
        self.stopped_ = learned.descents[-1].stopped

    def main_directions(self) -> FloatArray:
        """Return every frame on the main directions of the denoised features.

        The embedding usually starts from them.
        """
        if self.start == "pca" and not self.rescale_columns:
            return self.start_
        return to_numpy(principal_components(self.denoised_, self.n_components))


@dataclass(eq=False, repr=False)
class PrincipalComponents(SequenceEmbedder):
    """Project denoised features on their main directions; no graph is learned.

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

    n_components: int = 15
    _: KW_ONLY
    n_communities: int = 10
    search_radius: int = 4
    patch_radius: int = 1
    denoise_bandwidth: float | Literal["median"] = "median"
    missing: Missing = "raise"
    device: str = "cpu"
    dtype: Literal["float64", "float32"] = "float32"
    random_state: int | None = 0

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid."""
        super().check_parameters()
        Parameters(
            n_components=self.n_components,
            n_communities=self.n_communities,
            search_radius=self.search_radius,
            patch_radius=self.patch_radius,
            denoise_bandwidth=self.denoise_bandwidth,
            random_state=self.random_state,
        ).check_parameters()

    def learn(self, features: FloatArray, on_step: OnStep = no_report) -> None:
        """Learn from features that were checked."""
        if is_single_precision(self.device, self.dtype):
            features = fit_single_precision(features, by_column=True)
        with threadpool_limits(1):
            on_step("denoising", 0, 2)
            denoised = denoise_features(
                to_device(features, self.device, self.dtype),
                search_radius=self.search_radius,
                patch_radius=self.patch_radius,
                bandwidth=self.denoise_bandwidth,
            )
            on_step("main directions", 1, 2)
            directions = principal_components(denoised, self.n_components)
        self.directions_ = to_numpy(directions)
        self.embedding_ = to_numpy(unit_rows(directions))

    def main_directions(self) -> FloatArray:
        """Return every frame on the main directions of the denoised features."""
        return self.directions_

    @property
    def graph_(self) -> None:
        """None: there is no graph."""

    @property
    def communities_(self) -> IntArray:
        """Community of every frame, by k-means; computed when read: the events do not need it."""
        return find_communities(self.embedding_, self.n_communities, random_state=self.random_state)
