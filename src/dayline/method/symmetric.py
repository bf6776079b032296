"""Symmetric matrices over frames, stored as blocks of rows, each from the diagonal on.

Only half of the entries are computed and stored, and a block stays in cache from one operation to
the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from dayline.arrays import (
    Array,
    array_namespace,
    exp_in_place,
    is_on_host,
    product_into,
    sum_of_products,
)

BLOCK_ROWS = 128


@dataclass(frozen=True)
class SymmetricBlock:
    """Some rows of a symmetric matrix, from the diagonal on.

    Attributes
    ----------
    rows, columns : slice
        Position of the values; both start at the same frame.
    values : array
        The entries. Those to the right of the square on the diagonal also represent their mirror
        image.
    """

    rows: slice
    columns: slice
    values: Array

    @property
    def square(self) -> Array:
        """The part on the diagonal, which contains its own mirror image."""
        return self.values[:, : self.rows.stop - self.rows.start]

    @property
    def beyond(self) -> Array:
        """The part to the right of the square."""
        return self.values[:, self.rows.stop - self.rows.start :]


def sum_with_transpose(x: Array) -> list[SymmetricBlock]:
    """Return x + x^T in blocks; a GPU gets one block of all rows."""
    n = x.shape[0]
    size = BLOCK_ROWS if is_on_host(x) else n
    places = [(slice(begin, min(begin + size, n)), slice(begin, n)) for begin in range(0, n, size)]
    return [
        SymmetricBlock(rows, columns, x[rows, columns] + x[columns, rows].T)
        for rows, columns in places
    ]


def empty_like_blocks(blocks: list[SymmetricBlock]) -> list[SymmetricBlock]:
    """Return uninitialized blocks for another matrix of the same shape."""
    return [
        SymmetricBlock(b.rows, b.columns, array_namespace(b.values).empty_like(b.values))
        for b in blocks
    ]


def exponential_kernel_into(
    kernel: list[SymmetricBlock], u: Array, bandwidth: float, target: list[SymmetricBlock]
) -> tuple[Array, float]:
    """Write E = exp((u u^T - 1) / bandwidth) into `kernel`.

    Parameters
    ----------
    kernel : list of SymmetricBlock
        Overwritten with E.
    u : array of shape (n_frames, n_components)
        Rows of length 1 or 0.
    bandwidth : float > 0
        Decay of the weights.
    target : list of SymmetricBlock
        The matrix to compare E with.

    Returns
    -------
    sums : array of shape (n_frames,)
        Column sums of E.
    agreement : float
        Sum of target * log E over all entries.
    """
    xp = array_namespace(u)
    ones = xp.ones_like(u[:, :1])
    # The -1 enters the product as a column of ones.
    left, right = xp.concat([u, -ones], axis=1) / bandwidth, xp.concat([u, ones], axis=1).T
    agreement = 0.0
    for block, aim in zip(kernel, target, strict=True):
        product_into(left[block.rows], right[:, block.columns], block.values)
        agreement += _sum_of_symmetric_products(aim, block)
        exp_in_place(block.values)
    return times(kernel, ones)[:, 0], agreement


def _sum_of_symmetric_products(a: SymmetricBlock, b: SymmetricBlock) -> float:
    """Sum a * b over both blocks, mirror images included."""
    whole = sum_of_products(a.values, b.values)
    # All but the square counts twice; the square is small, and whole blocks are contiguous in
    # memory.
    return 2.0 * whole - sum_of_products(a.square, b.square) if b.beyond.shape[1] else whole


def times(blocks: list[SymmetricBlock], x: Array) -> Array:
    """Multiply the whole matrix by `x` of shape (n_frames, n_columns)."""
    product = array_namespace(x).zeros_like(x)
    for block in blocks:
        product[block.rows] += block.values @ x[block.columns]
        product[block.rows.stop :] += block.beyond.T @ x[block.rows]
    return product
