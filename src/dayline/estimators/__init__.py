"""Scikit-learn estimators: they check parameters, call one function and store its results."""

from dayline.estimators.embedders import DynamicGraphEmbedding, PrincipalComponents
from dayline.estimators.segmenter import EventSegmenter
from dayline.estimators.splitter import WholeSequences
from dayline.estimators.stream import EventStream

__all__ = [
    "DynamicGraphEmbedding",
    "EventSegmenter",
    "EventStream",
    "PrincipalComponents",
    "WholeSequences",
]
