"""Made features, and plain autograd versions of the method to compare dayline with.

The autograd versions run the same stages (denoise, graph, PCA, three embeddings) with PyTorch's
automatic differentiation, with cosines broadcast over frames x frames x components as in the
published notebook.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def made_features(n_frames: int, n_features: int) -> np.ndarray:
    """Return noisy features that change every 25 frames on average.

    They are about as smooth as those of a wearable camera.
    """
    return made_sequence(n_frames, n_features)[0]


def made_sequence(n_frames: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of `made_features` and their true boundaries."""
    random = np.random.default_rng(0)
    contexts = np.maximum(random.normal(size=(40, n_features)), 0)
    order = np.repeat(random.integers(0, 40, n_frames), random.integers(5, 45, n_frames))[:n_frames]
    features = contexts[order] + 0.7 * np.abs(random.normal(size=(n_frames, n_features)))
    return features, np.flatnonzero(np.diff(order)) + 1


def autograd_embedding(graph, start, bandwidth: float, cosines: Callable, n_steps: int):
    """Descend an automatically differentiated cross-entropy with Barzilai-Borwein steps."""
    import torch

    x = start.clone().requires_grad_(True)
    step, before = 1e-3, None
    for _ in range(n_steps):
        logits = (cosines(x) - 1) / bandwidth
        loss = -(graph * torch.log_softmax(logits, dim=0)).sum()
        (gradient,) = torch.autograd.grad(loss, x)
        with torch.no_grad():
            if before is not None:
                bend = gradient - before[1]
                step = float(
                    (bend * (x - before[0])).sum().abs() / (bend * bend).sum().clamp_min(1e-30)
                )
            before = (x.detach().clone(), gradient)
            x = (x - step * gradient).requires_grad_(True)
    return x.detach()


def autograd_run(features: np.ndarray, cosines: Callable, n_steps: int) -> None:
    import torch

    from dayline.method.denoise import denoise_features
    from dayline.method.embedding import principal_components
    from dayline.method.graph import (
        affinity_graph,
        normalize_columns,
        smooth_edges,
        weaken_distant_edges,
    )

    clean = denoise_features(torch.as_tensor(features, dtype=torch.float32))
    initial = normalize_columns(affinity_graph(clean, bandwidth=0.1))
    x = autograd_embedding(initial, principal_components(clean, 15), 0.5, cosines, n_steps)
    for _ in range(2):
        graph = normalize_columns(affinity_graph(x, bandwidth=0.5))
        graph = weaken_distant_edges(smooth_edges(graph, width=3), temporal_prior=0.3)
        x = autograd_embedding(0.9 * graph + 0.1 * initial, x, 0.5, cosines, n_steps)


def broadcast_cosines(x):
    import torch

    return torch.nn.functional.cosine_similarity(x[:, None, :], x[None, :, :], dim=2)
