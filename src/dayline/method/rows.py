"""Rows of unit length, which cosines compare."""

from __future__ import annotations

from dayline.arrays import Array, array_namespace

__all__ = ["unit_rows"]


def unit_rows(x: Array) -> Array:
    """Scale every row to length 1; a zero row stays zero (it resembles nothing)."""
    xp = array_namespace(x)
    # Two steps, so that tiny or huge rows do not under- or overflow when squared.
    largest = xp.max(xp.abs(x), axis=1, keepdims=True)
    x = x / xp.where(largest > 0, largest, xp.ones_like(largest))
    length = xp.sqrt(xp.sum(x * x, axis=1, keepdims=True))
    return x / xp.where(length > 0, length, xp.ones_like(length))
