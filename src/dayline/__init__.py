"""dayline splits a sequence of images or feature vectors into events, without a training set."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dayline.album.array_page import write_page
    from dayline.album.segment import segment_source
    from dayline.album.write import write_result
    from dayline.decision.contexts import context_distance, pick_boundaries
    from dayline.decision.decide import Level
    from dayline.decision.partition import partition
    from dayline.estimators import DynamicGraphEmbedding, EventSegmenter, PrincipalComponents
    from dayline.events import Event, Segmentation, read_events
    from dayline.method.steps import (
        affinity_graph,
        dynamic_graph_embedding,
        embed_graph,
        find_communities,
        graph_cross_entropy,
        nonlocal_means,
        principal_components,
        smooth_edges,
        weaken_distant_edges,
        weaken_edges_between_communities,
    )
    from dayline.metrics import score_boundaries, score_labels
    from dayline.plotting import plot
    from dayline.research.baselines.controls import equal_pieces, no_boundaries, random_cuts
    from dayline.research.datasets.synthetic import make_communities

__version__ = "0.2.0.dev0"

# Module of each public name; loaded on first use, so that `import dayline` stays light.
_HOMES = {
    "DynamicGraphEmbedding": "estimators",
    "Event": "events",
    "EventSegmenter": "estimators",
    "Level": "decision.decide",
    "PrincipalComponents": "estimators",
    "Segmentation": "events",
    "affinity_graph": "method.steps",
    "context_distance": "decision.contexts",
    "dynamic_graph_embedding": "method.steps",
    "embed_graph": "method.steps",
    "equal_pieces": "research.baselines.controls",
    "find_communities": "method.steps",
    "graph_cross_entropy": "method.steps",
    "make_communities": "research.datasets.synthetic",
    "no_boundaries": "research.baselines.controls",
    "nonlocal_means": "method.steps",
    "partition": "decision.partition",
    "pick_boundaries": "decision.contexts",
    "plot": "plotting",
    "principal_components": "method.steps",
    "random_cuts": "research.baselines.controls",
    "read_events": "events",
    "score_boundaries": "metrics",
    "score_labels": "metrics",
    "segment_source": "album.segment",
    "smooth_edges": "method.steps",
    "weaken_distant_edges": "method.steps",
    "weaken_edges_between_communities": "method.steps",
    "write_page": "album.array_page",
    "write_result": "album.write",
}

__all__ = [  # noqa: RUF022 (most important names first)
    "EventSegmenter",
    "DynamicGraphEmbedding",
    "PrincipalComponents",
    "Event",
    "Segmentation",
    "Level",
    "read_events",
    "segment_source",
    "write_result",
    "write_page",
    "plot",
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
