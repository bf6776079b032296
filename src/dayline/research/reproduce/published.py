"""The figures of the papers, as printed there: rows and columns of our tables."""

from __future__ import annotations


def _frp(f: float, r: float, p: float) -> dict[str, float]:
    return {"F 5": f, "R 5": r, "P 5": p}


DAYS: dict[str, dict[str, dict[str, float]]] = {
    "edub-seg": {
        "k-means smoothed": _frp(0.51, 0.39, 0.82),
        "AC-color": _frp(0.38, 0.25, 0.90),
        "SR-Clustering": _frp(0.53, 0.68, 0.49),
        "KTS": _frp(0.53, 0.40, 0.87),
        "CES-TSC": _frp(0.66, 0.69, 0.67),
        "CES-VCP": _frp(0.69, 0.77, 0.66) | {"F 4": 0.67, "F 3": 0.64, "F 2": 0.59, "F 1": 0.44},
        "CES-DGE": _frp(0.70, 0.70, 0.72) | {"F 4": 0.68, "F 3": 0.65, "F 2": 0.59, "F 1": 0.48},
        "second annotators": _frp(0.72, 0.68, 0.80),
    },
    "edub-seg-desc": {
        "CES-TSC": _frp(0.63, 0.60, 0.70),
        "CES-VCP": _frp(0.57, 0.59, 0.60) | {"F 4": 0.56, "F 3": 0.52, "F 2": 0.49, "F 1": 0.43},
        "CES-DGE": _frp(0.65, 0.67, 0.65) | {"F 4": 0.63, "F 3": 0.60, "F 2": 0.54, "F 1": 0.45},
    },
}
ABLATION = {
    "CES-raw": _frp(0.52, 0.56, 0.56),
    "CES-NLmeans-1D": _frp(0.60, 0.63, 0.61),
    "CES-Embedding": _frp(0.61, 0.61, 0.65),
    "CES-DGE": _frp(0.70, 0.70, 0.72),
}
CORE_ABLATION = {"full": 0.70, "alpha = 0": 0.69, "p = 0": 0.69, "eta = 0": 0.68, "mu = 0": 0.67}
# fmt: off
GRID: dict[str, tuple[str, dict[float, float]]] = {
    "d": ("n_components", {5: 0.59, 7: 0.61, 10: 0.65, 15: 0.70, 20: 0.69, 25: 0.68, 35: 0.67,
                           45: 0.68, 100: 0.65, 150: 0.64}),
    "K": ("n_iterations", {1: 0.66, 2: 0.70, 3: 0.68, 4: 0.67, 5: 0.66}),
    "alpha": ("initial_graph_weight", {0.05: 0.679, 0.1: 0.70, 0.2: 0.69, 0.3: 0.69, 0.4: 0.68}),
    "p": ("smoothing_width", {2: 0.69, 3: 0.70, 4: 0.69, 5: 0.69, 6: 0.68}),
    "eta": ("temporal_prior", {0.01: 0.69, 0.1: 0.69, 0.3: 0.70, 0.4: 0.69, 0.6: 0.67}),
    "mu": ("semantic_prior", {0.03: 0.68, 0.05: 0.70, 0.1: 0.70, 0.2: 0.69, 0.3: 0.67}),
    "N_C": ("n_communities", {3: 0.65, 4: 0.66, 6: 0.67, 8: 0.68, 10: 0.70, 12: 0.69, 14: 0.69,
                              16: 0.68, 18: 0.67, 20: 0.68}),
}
# fmt: on
SYNTHETIC = {0: 0.59, 1: 0.62, 3: 0.64, 10: 0.67}
"""F by iteration of the loop."""

MOTION = {
    "keck": {"TSC": (0.48, 0.71), "LRT": (0.55, 0.82), "MTS": (0.60, 0.83), "DGE": (0.72, 0.83)},
    "mad": {"TSC": (0.56, 0.77), "LRT": (0.60, 0.82), "MTS": (0.62, 0.83), "DGE": (0.67, 0.82)},
}
"""Accuracy and NMI by data set and method."""
