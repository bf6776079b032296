"""The paper's synthetic example: a sequence that moves between four communities in the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.checks import check_between, check_seed
from dayline.events import labels_to_boundaries

MEANS = np.asarray([(-7.8, 5.1), (-1.4, 2.8), (-2.9, 12.1), (2.5, 3.4)])

MOST_FRAMES = 10_000_000
"""Frames are drawn one by one: ten million take a minute."""


@dataclass(frozen=True)
class CommunitySequence:
    """A synthetic sequence and its truth.

    Attributes
    ----------
    features : ndarray of shape (n_frames, n_features)
        One point per frame.
    communities : ndarray of int
        Community that each frame was drawn from.
    boundaries : ndarray of int
        First frame of every visit but the first.
    """

    features: FloatArray
    communities: IntArray
    boundaries: IntArray


def make_communities(
    n_frames: int = 350,
    *,
    stay: float = 50.0,
    variance: float = 3.7,
    n_features: int = 2,
    random_state: int | None = 0,
) -> CommunitySequence:
    """Draw a sequence that switches between four Gaussian communities (the paper's synthetic data).

    Parameters
    ----------
    n_frames : int
        Length (350 in the paper).
    stay : float > 0
        A visit continues t frames after its onset with probability exp(-t / stay). The paper does
        not state the rate. The F-score that it reports for the plain features, 0.59 on one draw,
        lies between the means for 100 (0.55) and 200 (0.67); that for 50 is 0.46 (`docs/paper.md`).
    variance : float > 0
        Variance of each coordinate (the paper's sigma).
    n_features : int >= 2
        Each coordinate beyond the paper's two is noise around a mean per community.
    random_state : int or None
        Seed.
    """
    check_between("n_frames", n_frames, 1, MOST_FRAMES, whole=True)
    check_between("n_features", n_features, 2, MOST_FRAMES, whole=True)
    check_between("stay", stay, 0, above=True)
    check_between("variance", variance, 0, 1e100)
    check_seed(random_state, largest=np.inf)
    generator = np.random.default_rng(random_state)
    communities = np.empty(n_frames, dtype=np.int64)
    current, age = int(generator.integers(len(MEANS))), 0
    for t in range(n_frames):
        if age > 0 and generator.random() > np.exp(-age / stay):
            current, age = int((current + generator.integers(1, len(MEANS))) % len(MEANS)), 0
        communities[t] = current
        age += 1
    spread = np.sqrt(float(variance))
    means = np.hstack([MEANS, generator.normal(scale=3.0, size=(len(MEANS), n_features - 2))])
    features = means[communities] + spread * generator.normal(size=(n_frames, n_features))
    return CommunitySequence(features, communities, labels_to_boundaries(communities))
