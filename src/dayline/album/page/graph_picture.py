"""Pictures of graphs: every frame against every other, bright where they are strongly linked."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import Array, FloatArray, IntArray, to_numpy
from dayline.method.linear import LinearGraph

# Mixed in between; their lightness grows evenly.
COLORS = ((5, 14, 37), (0, 59, 96), (0, 117, 119), (0, 165, 108), (172, 200, 121), (251, 238, 201))


class Drawable(Protocol):
    """A graph too large to hold that can be drawn."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_frames, n_frames)."""

    def picture(self, size: int) -> Array:
        """Average the weights over at most `size` x `size` groups of consecutive frames."""


@dataclass(frozen=True)
class _GraphOfFrames:
    """A graph in linear form, drawn as one of all frames."""

    graph: LinearGraph
    row_of_frame: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_of_frame), len(self.row_of_frame)

    def picture(self, size: int) -> Array:
        return self.graph.picture(size, rows=self.row_of_frame)


def graph_of_frames(
    graph: Array | LinearGraph | None, row_of_frame: IntArray
) -> Array | Drawable | None:
    """Return the graph over all frames, on the host, to be drawn; None if there is none.

    Parameters
    ----------
    graph : array, LinearGraph or None
        What was learned of the frames that the method saw.
    row_of_frame : ndarray of int, shape (n_frames,)
        The row of each frame in the graph: the method saw bursts as one frame, and skipped missing
        rows.
    """
    if graph is None:
        return None
    is_of_all = len(row_of_frame) == graph.shape[0]
    if isinstance(graph, LinearGraph):
        return graph if is_of_all else _GraphOfFrames(graph, row_of_frame)
    matrix: FloatArray = to_numpy(graph)
    return matrix if is_of_all else matrix[np.ix_(row_of_frame, row_of_frame)]


def graph_image(graph: Array | Drawable, *, size: int = 640) -> bytes:
    """Draw the graph as a PNG, bright where frames are strongly linked.

    Parameters
    ----------
    graph : array of shape (n_frames, n_frames), or Drawable
        Edge weights, non-negative.
    size : int
        Maximum width and height in pixels; a larger graph is reduced to block means.

    Returns
    -------
    bytes
        The PNG file.
    """
    return _png(np.rint(graph_levels(graph, size=size) * 255).astype(np.uint8), palette())


def graph_levels(graph: Array | Drawable, *, size: int) -> FloatArray:
    """Return the brightness of every pixel of the graph's picture, in [0, 1]; see `graph_image`."""
    small = block_means(_checked(graph.picture(size) if hasattr(graph, "picture") else graph), size)
    # The diagonal links every frame to itself and would dominate the scale.
    apart = small[~np.eye(len(small), dtype=bool)] if len(small) > 1 else small.ravel()
    low, high = (float(q) for q in np.quantile(apart, (0.01, 0.995)))
    if high <= low:
        return np.full_like(small, 0.5)
    return np.asarray(np.clip((small - low) / (high - low), 0.0, 1.0))


def block_means(graph: FloatArray, size: int) -> FloatArray:
    """Shrink a square matrix to at most `size` rows by the means of near-equal blocks."""
    n = len(graph)
    if n <= size:
        return graph
    starts = np.arange(size) * n // size
    counts = np.diff(np.append(starts, n))
    sums = np.add.reduceat(np.add.reduceat(graph, starts, axis=0), starts, axis=1)
    return np.asarray(sums / np.outer(counts, counts))


def _checked(graph: Array) -> FloatArray:
    weights = np.asarray(to_numpy(graph))
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.size == 0:
        raise ValueError(
            f"graph has shape {weights.shape}; it needs one row and one column per frame"
        )
    finite = np.isfinite(weights).all(axis=1)
    if not finite.all():
        raise ValueError(f"row {int(np.argmin(finite))} of the graph holds NaN or infinity")
    return weights.astype(np.float32, copy=False)


def palette() -> NDArray[np.uint8]:
    """Return 256 colors from dark blue to light yellow, each lighter than the one before."""
    steps = np.arange(256) / 255 * (len(COLORS) - 1)
    channels = np.array(COLORS, dtype=float).T
    mixed = [np.interp(steps, range(len(COLORS)), channel) for channel in channels]
    return np.asarray(np.rint(np.stack(mixed, axis=1)), dtype=np.uint8)


def _png(pixels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """Encode palette indices as PNG, without an imaging library."""
    height, width = pixels.shape
    # Every row starts with a byte that names its filter; 0 is none.
    rows = np.pad(pixels, ((0, 0), (1, 0))).tobytes()
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": palette.tobytes(),
        b"IDAT": zlib.compress(rows, 9),
        b"IEND": b"",
    }
    parts = (
        struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c))
        for k, c in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
