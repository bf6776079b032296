"""Time and memory of EventSegmenter on 1,000 frames x 2,048 features, compared with plain autograd versions.

    python benchmarks/speed/core.py [--frames 1000] [--features 2048] [--threads 2] [--no-autograd]

The autograd versions run the same stages (denoise, graph, PCA, three embeddings) with PyTorch's
automatic differentiation and 150 gradient steps per embedding, as the paper states: once with
cosines broadcast over frames x frames x components, as in the published notebook (5 steps are run
and their time is multiplied by 30: all would take minutes), and once as a matrix product. Also
compares `dayline --help` with `python -c "import numpy"`. All times are from one run: compare
ratios.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits


def made_features(n_frames: int, n_features: int) -> np.ndarray:
    """Return noisy features that change every 25 frames on average, about as smooth as those of a wearable camera."""
    return made_sequence(n_frames, n_features)[0]


def made_sequence(n_frames: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of `made_features` and their true boundaries."""
    random = np.random.default_rng(0)
    looks = np.maximum(random.normal(size=(40, n_features)), 0)
    order = np.repeat(random.integers(0, 40, n_frames), random.integers(5, 45, n_frames))[:n_frames]
    features = looks[order] + 0.7 * np.abs(random.normal(size=(n_frames, n_features)))
    return features, np.flatnonzero(np.diff(order)) + 1


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def autograd_embedding(graph, start, bandwidth: float, cosines: Callable, n_steps: int):
    """Plain gradient descent with Barzilai-Borwein steps on an automatically differentiated cross-entropy."""
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

    from dayline.method.dge import Parameters, denoise_features
    from dayline.method.embedding import principal_components
    from dayline.method.graph import (
        affinity_graph,
        normalize_columns,
        smooth_edges,
        weaken_distant_edges,
    )

    clean = denoise_features(torch.as_tensor(features, dtype=torch.float32), Parameters())
    initial = normalize_columns(affinity_graph(clean, bandwidth=0.1))
    x = autograd_embedding(initial, principal_components(clean, 15), 0.5, cosines, n_steps)
    for _ in range(2):
        graph = normalize_columns(affinity_graph(x, bandwidth=0.5))
        graph = weaken_distant_edges(smooth_edges(graph, width=3), temporal_prior=0.3)
        x = autograd_embedding(0.9 * graph + 0.1 * initial, x, 0.5, cosines, n_steps)


def broadcast_cosines(x):
    import torch

    return torch.nn.functional.cosine_similarity(x[:, None, :], x[None, :, :], dim=2)


def product_cosines(x):
    u = x / x.norm(dim=1, keepdim=True)
    return u @ u.T


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def command_seconds(command: list[str], times: int = 7) -> float:
    return float(
        np.median(
            [
                seconds(lambda: subprocess.run(command, capture_output=True, check=True))
                for _ in range(times)
            ]
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-autograd", action="store_true")
    arguments = parser.parse_args()
    plain = command_seconds([sys.executable, "-c", "import numpy"])
    helped = command_seconds(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['dayline', '--help']; from dayline.cli import main; main()",
        ]
    )
    print(f"dayline --help {helped:.2f} s, import numpy {plain:.2f} s: {helped / plain:.1f} times")

    from dayline import EventSegmenter

    x = made_features(arguments.frames, arguments.features)
    EventSegmenter().fit(x[:100])  # load libraries before anything is measured
    with threadpool_limits(arguments.threads):
        before = peak_megabytes()
        ours = min(seconds(lambda: EventSegmenter().fit(x)) for _ in range(3))
        more = peak_megabytes() - before
        print(
            f"EventSegmenter().fit, {x.shape[0]} x {x.shape[1]}: {ours:.2f} s, {more:.0f} MB on top"
        )
        if arguments.no_autograd:
            return
        import torch

        torch.set_num_threads(arguments.threads)
        for name, cosines, n_steps in (
            ("broadcast", broadcast_cosines, 5),
            ("matrix product", product_cosines, 150),
        ):
            theirs = seconds(lambda c=cosines, k=n_steps: autograd_run(x, c, k)) * 150 / n_steps
            print(f"plain autograd, {name}: {theirs:.1f} s, {theirs / ours:.1f} times as long")


if __name__ == "__main__":
    main()
