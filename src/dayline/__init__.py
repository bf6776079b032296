"""dayline splits a sequence of images, or of feature vectors, into events. No training set."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dayline.baselines.controls import equal_pieces, no_boundaries, random_cuts
    from dayline.boundaries import context_distance, partition, pick_boundaries
    from dayline.communities import find_communities
    from dayline.datasets.synthetic import make_communities
    from dayline.denoise import nonlocal_means
    from dayline.dge import dynamic_graph_embedding
    from dayline.embedding import embed_graph, graph_cross_entropy, principal_components
    from dayline.estimators import DynamicGraphEmbedding, EventSegmenter
    from dayline.events import Event, Segmentation, read_events
    from dayline.graph import (
        affinity_graph,
        smooth_edges,
        weaken_distant_edges,
        weaken_edges_between_communities,
    )
    from dayline.levels import Level
    from dayline.metrics import score_boundaries, score_labels

__version__ = "0.1.0"

# Where each public name lives; loaded on first use, so that `import dayline` stays light.
_HOMES = {
    "DynamicGraphEmbedding": "estimators",
    "Event": "events",
    "EventSegmenter": "estimators",
    "Level": "levels",
    "Segmentation": "events",
    "affinity_graph": "graph",
    "context_distance": "boundaries",
    "dynamic_graph_embedding": "dge",
    "embed_graph": "embedding",
    "equal_pieces": "baselines.controls",
    "find_communities": "communities",
    "graph_cross_entropy": "embedding",
    "make_communities": "datasets.synthetic",
    "no_boundaries": "baselines.controls",
    "nonlocal_means": "denoise",
    "partition": "boundaries",
    "pick_boundaries": "boundaries",
    "principal_components": "embedding",
    "random_cuts": "baselines.controls",
    "read_events": "events",
    "score_boundaries": "metrics",
    "score_labels": "metrics",
    "smooth_edges": "graph",
    "weaken_distant_edges": "graph",
    "weaken_edges_between_communities": "graph",
}

__all__ = [  # noqa: RUF022 (the order a reader meets them)
    "EventSegmenter",
    "DynamicGraphEmbedding",
    "Event",
    "Segmentation",
    "Level",
    "read_events",
    "score_boundaries",
    "score_labels",
    "dynamic_graph_embedding",
    "nonlocal_means",
    "affinity_graph",
    "principal_components",
    "graph_cross_entropy",
    "embed_graph",
    "smooth_edges",
    "weaken_distant_edges",
    "find_communities",
    "weaken_edges_between_communities",
    "context_distance",
    "pick_boundaries",
    "partition",
    "make_communities",
    "no_boundaries",
    "equal_pieces",
    "random_cuts",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"dayline.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dayline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
