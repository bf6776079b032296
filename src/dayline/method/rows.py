"""Rows of unit length, which cosines compare."""

from __future__ import annotations

import numpy as np

from dayline.arrays import Array, array_namespace, is_on_host

__all__ = ["unit_rows"]

SAFE_SQUARES = 1e20
"""Squared lengths this far from under- and overflow can be used as they are."""


def unit_rows(x: Array) -> Array:
    """Scale every row to length 1; a zero row stays zero (it resembles nothing)."""
    xp = array_namespace(x)
    if is_on_host(x) and x.shape[0] and xp.isdtype(x.dtype, "real floating"):
        with np.errstate(over="ignore", under="ignore"):
            squares = xp.vecdot(x, x)
        limit = SAFE_SQUARES * float(xp.finfo(x.dtype).smallest_normal)
        if float(xp.min(squares)) > limit and float(xp.max(squares)) < 1.0 / limit:
            return x / xp.sqrt(squares)[:, None]
    # Otherwise two steps, so that tiny or huge rows do not under- or overflow when squared.
    largest = xp.max(xp.abs(x), axis=1, keepdims=True)
    x = x / xp.where(largest > 0, largest, xp.ones_like(largest))
    length = xp.sqrt(xp.sum(x * x, axis=1, keepdims=True))
    return x / xp.where(length > 0, length, xp.ones_like(length))
