"""PrincipalComponents: a vector per frame without a graph, in a fraction of the time."""

from __future__ import annotations

from typing import Literal, Self, TypedDict

import numpy as np
from threadpoolctl import threadpool_limits

from dayline.arrays import FloatArray, IntArray, check_device, is_single_precision, to_device, to_numpy
from dayline.checks import Missing, check_choice
from dayline.estimators.base import SequenceEmbedder
from dayline.method.communities import find_communities
from dayline.method.denoise import fit_single_precision
from dayline.method.dge import check_embedding_parameters, denoise_features
from dayline.method.embedding import principal_components
from dayline.method.graph import unit_rows
from dayline.progress import OnStep

__all__ = ["PrincipalComponentParameters", "PrincipalComponents"]


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

    The default of `DynamicGraphEmbedding` starts from the same directions. Time and memory grow linearly with the
    number of frames.

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
        return np.asarray(find_communities(self.embedding_, self.n_communities, random_state=self.random_state))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid; `fit` calls this first."""
        given = self.get_params(deep=False)
        check_choice("missing", given.pop("missing"), ("raise", "interpolate"))
        check_choice("dtype", given.pop("dtype"), ("float64", "float32"))
        check_device(given.pop("device"))
        check_embedding_parameters(given)
