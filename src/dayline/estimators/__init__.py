"""Scikit-learn estimators: classes that check, call one function and store what it returns."""

from dayline.estimators.embedder import DynamicGraphEmbedding
from dayline.estimators.segmenter import EventSegmenter

__all__ = ["DynamicGraphEmbedding", "EventSegmenter"]
