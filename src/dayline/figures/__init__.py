"""Figures of a segmentation that show how it was decided (extra "figures")."""

from __future__ import annotations

from dayline.figures.figure import plot

__all__ = ["plot"]
