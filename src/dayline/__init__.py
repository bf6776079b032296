"""dayline splits a sequence of images or feature vectors into events, without a training set."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dayline.album.array_page import write_page as write_page
    from dayline.album.segment import segment_source as segment_source
    from dayline.album.write import write_result as write_result
    from dayline.decision.contexts import context_distance as context_distance
    from dayline.decision.contexts import pick_boundaries as pick_boundaries
    from dayline.decision.decide import Level as Level
    from dayline.decision.learned import Learned as Learned
    from dayline.decision.partition import partition as partition
    from dayline.estimators import DynamicGraphEmbedding as DynamicGraphEmbedding
    from dayline.estimators import EventSegmenter as EventSegmenter
    from dayline.estimators import EventStream as EventStream
    from dayline.estimators import PrincipalComponents as PrincipalComponents
    from dayline.estimators import WholeSequences as WholeSequences
    from dayline.events import Event as Event
    from dayline.events import Segmentation as Segmentation
    from dayline.events import read_events as read_events
    from dayline.method.periods import dominant_period as dominant_period
    from dayline.method.periods import without_period as without_period
    from dayline.method.steps import affinity_graph as affinity_graph
    from dayline.method.steps import dynamic_graph_embedding as dynamic_graph_embedding
    from dayline.method.steps import embed_graph as embed_graph
    from dayline.method.steps import find_communities as find_communities
    from dayline.method.steps import graph_cross_entropy as graph_cross_entropy
    from dayline.method.steps import nonlocal_means as nonlocal_means
    from dayline.method.steps import principal_components as principal_components
    from dayline.method.steps import smooth_edges as smooth_edges
    from dayline.method.steps import weaken_distant_edges as weaken_distant_edges
    from dayline.method.steps import (
        weaken_edges_between_communities as weaken_edges_between_communities,
    )
    from dayline.method.windows import signal_windows as signal_windows
    from dayline.metrics import equal_pieces as equal_pieces
    from dayline.metrics import no_boundaries as no_boundaries
    from dayline.metrics import random_cuts as random_cuts
    from dayline.metrics import score_boundaries as score_boundaries
    from dayline.metrics import score_labels as score_labels
    from dayline.plotting import plot as plot
    from dayline.research.datasets.synthetic import make_communities as make_communities

__version__ = "0.2.0.dev0"

# Every public name, the most important first, and its module, which is loaded on first use, so that
# `import dayline` stays light.
_HOMES = {
    "EventSegmenter": "estimators",
    "DynamicGraphEmbedding": "estimators",
    "PrincipalComponents": "estimators",
    "EventStream": "estimators",
    "WholeSequences": "estimators",
    "Event": "events",
    "Segmentation": "events",
    "Level": "decision.decide",
    "Learned": "decision.learned",
    "read_events": "events",
    "segment_source": "album.segment",
    "write_result": "album.write",
    "write_page": "album.array_page",
    "plot": "plotting",
    "score_boundaries": "metrics",
    "score_labels": "metrics",
    "dynamic_graph_embedding": "method.steps",
    "nonlocal_means": "method.steps",
    "affinity_graph": "method.steps",
    "principal_components": "method.steps",
    "graph_cross_entropy": "method.steps",
    "embed_graph": "method.steps",
    "smooth_edges": "method.steps",
    "weaken_distant_edges": "method.steps",
    "find_communities": "method.steps",
    "weaken_edges_between_communities": "method.steps",
    "signal_windows": "method.windows",
    "dominant_period": "method.periods",
    "without_period": "method.periods",
    "context_distance": "decision.contexts",
    "pick_boundaries": "decision.contexts",
    "partition": "decision.partition",
    "make_communities": "research.datasets.synthetic",
    "no_boundaries": "metrics",
    "equal_pieces": "metrics",
    "random_cuts": "metrics",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"dayline.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dayline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
