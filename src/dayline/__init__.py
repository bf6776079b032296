"""dayline splits a sequence of images, or of feature vectors, into events. No training set."""

from __future__ import annotations

__version__ = "0.1.0"
