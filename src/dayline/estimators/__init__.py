"""Scikit-learn estimators: classes that check parameters, call one function and store its results."""

from dayline.estimators.embedder import DynamicGraphEmbedding
from dayline.estimators.principal import PrincipalComponents
from dayline.estimators.segmenter import EventSegmenter

__all__ = ["DynamicGraphEmbedding", "EventSegmenter", "PrincipalComponents"]
