"""Features: one vector per frame, from pixels. Heavy packages are loaded only with an extractor."""

from __future__ import annotations

from dayline.features.extract import Extractor, extract_features, iter_features, load_extractor
from dayline.features.resume import ExtractedFeatures, extract_with_store
from dayline.features.store import FeatureStore, FrameKeys, StoredFeatures

__all__ = [
    "ExtractedFeatures",
    "Extractor",
    "FeatureStore",
    "FrameKeys",
    "StoredFeatures",
    "extract_features",
    "extract_with_store",
    "iter_features",
    "load_extractor",
]
