"""Put the run of the authors' notebook in a few figures.

They are its input, made anew, and a digest of every stage.

Run as a script with the path of the whole run (`authors_run.npz`) it writes
`tests/data/authors_run.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

FIGURES = Path(__file__).parent / "data" / "authors_run.json"
BOUNDARIES = [25, 43, 73, 95, 115, 142]
N_FRAMES, N_FEATURES, N_COMPONENTS = 160, 48, 15

STAGES = [
    "X",
    "denoised",
    "rescaled",
    "initial_graph",
    *(
        f"{what}_{start}"
        for start in ("pca", "columns")
        for what in ("start", "gradient", "gradient_authors")
    ),
    *(f"embedded_{start}_{n}steps" for start in ("pca", "columns") for n in (5, 150)),
    *("embedding0", "graph0"),
    *(
        f"{what}{turn}"
        for turn in (1, 2)
        for what in ("graph_smoothed", "graph_temporal", "embedding", "graph")
    ),
]
LOSSES = [f"loss_{at}" for at in ("start_pca", "pca_5steps", "pca_150steps")]
LOSSES += [f"loss_{at}" for at in ("start_columns", "columns_5steps", "columns_150steps")]


def make_features() -> np.ndarray:
    """Seven events in five contexts; two of them come back."""
    generator = np.random.default_rng(7)
    contexts = generator.normal(size=(5, N_FEATURES))
    visited = np.repeat([0, 1, 2, 0, 3, 4, 1], np.diff([0, *BOUNDARIES, N_FRAMES]))
    return contexts[visited] + 0.8 * generator.normal(size=(N_FRAMES, N_FEATURES))


def digest(x: np.ndarray) -> dict[str, Any]:
    """Return some entries, and what every entry takes part in.

    That is the norm, and the products with waves along both axes.

    The waves have unit length, so that no product is off by more than the matrix is (Frobenius).
    """
    rows, columns = x.shape
    return {
        "norm": np.linalg.norm(x),
        "first_row": x[0, :N_COMPONENTS],
        "block": x[41:45, 2:6],
        "last_row": x[-1, -4:],
        "waves": _waves(rows) @ x @ _waves(columns).T,
    }


def _waves(n: int) -> np.ndarray:
    """Four waves that share no symmetry of the frames."""
    phases = np.outer([0.0, 0.37, 1.1, 2.3], np.arange(n)) + np.arange(4)[:, None]
    waves = np.cos(phases)
    return waves / np.linalg.norm(waves, axis=1, keepdims=True)


def authors_scores(past: np.ndarray, future: np.ndarray) -> np.ndarray:
    """Return the cosine distance of the authors' means up to t-1 and from t+1.

    The two frames at either end score 0.
    """
    before, after = past[1:-3], future[3:-1]
    cosine = (
        np.sum(before * after, axis=1)
        / np.linalg.norm(before, axis=1)
        / np.linalg.norm(after, axis=1)
    )
    return np.pad(1.0 - cosine, 2)


def distil(run: dict[str, np.ndarray]) -> dict[str, Any]:
    """Reduce the whole run to its figures."""
    scores = run["metric_scores"]
    pairs = zip(run["metric_predictions"][:12], run["metric_truths"][:12], scores[:12], strict=True)
    return {
        "stages": {name: digest(run[name]) for name in STAGES},
        "losses": {name: run[name] for name in LOSSES},
        "communities": {f"communities{turn}": run[f"communities{turn}"] for turn in (1, 2)},
        "context_distances": {
            what: authors_scores(run[f"ces_past_{what}"], run[f"ces_future_{what}"])
            for what in ("raw", "denoised", "dge")
        },
        "boundaries": {
            what: np.flatnonzero(run[f"ces_prediction_{what}"])[1:-1]
            for what in ("raw", "denoised", "dge")
        },
        "scores": {what: run[f"ces_scores_{what}"] for what in ("raw", "denoised", "dge")},
        "metric_pairs": [
            {"found": np.flatnonzero(f), "true": np.flatnonzero(t), "scores": s}
            for f, t, s in pairs
        ],
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    if value.dtype.kind == "i":
        return value.tolist()
    return np.vectorize(lambda x: float(f"{x:.12g}"), otypes=[float])(value).tolist()


def main(path: str) -> None:
    with np.load(path) as content:
        figures = _rounded(distil({name: content[name] for name in content.files}))
    about = "Figures of the run of the authors' notebook; tests/authors_figures.py says which."
    lines = [f' "{name}": {json.dumps(part)}' for name, part in {"about": about, **figures}.items()]
    FIGURES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
