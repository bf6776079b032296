"""Symmetric matrices in blocks equal the dense ones."""

import numpy as np
import pytest

from dayline.arrays import unit_rows
from dayline.method.graph import affinity_graph
from dayline.method.symmetric import (
    BLOCK_ROWS,
    empty_like_blocks,
    exponential_kernel_into,
    sum_with_transpose,
    times,
)

SIZES = (1, 2, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 3 * BLOCK_ROWS + 5)


def dense(blocks):
    n = blocks[-1].rows.stop
    whole = np.full((n, n), np.nan)
    for block in blocks:
        whole[block.rows, block.columns] = block.values
        whole[block.columns, block.rows] = block.values.T
    return whole


@pytest.mark.parametrize("n", SIZES)
def test_blocks_hold_the_sum_with_the_transpose_and_multiply_like_it(n, random):
    x, vectors = random.normal(size=(n, n)), random.normal(size=(n, 3))
    blocks = sum_with_transpose(x)
    np.testing.assert_allclose(dense(blocks), x + x.T)
    np.testing.assert_allclose(times(blocks, vectors), (x + x.T) @ vectors, atol=1e-11)


@pytest.mark.parametrize("n", SIZES)
def test_the_kernel_its_sums_and_its_agreement_are_those_of_the_graph(n, random):
    u = unit_rows(random.normal(size=(n, 4)))
    target = random.random((n, n))
    blocks = sum_with_transpose(target)
    kernel = empty_like_blocks(blocks)
    sums, agreement = exponential_kernel_into(kernel, u, 0.3, blocks)
    expected = affinity_graph(u, bandwidth=0.3)
    np.testing.assert_allclose(dense(kernel), expected, rtol=1e-12)
    np.testing.assert_allclose(sums, expected.sum(axis=0), rtol=1e-12)
    assert agreement == pytest.approx(
        np.sum((target + target.T) * np.log(expected)), rel=1e-10, abs=1e-10
    )


def test_half_of_the_matrix_is_stored(random):
    blocks = sum_with_transpose(random.random((1000, 1000)))
    assert sum(block.values.size for block in blocks) < 0.57 * 1000**2


def test_pytorch_gives_the_same(random):
    torch = pytest.importorskip("torch")
    x, vectors = random.random((200, 200)), random.normal(size=(200, 3))
    product = times(sum_with_transpose(torch.as_tensor(x)), torch.as_tensor(vectors))
    np.testing.assert_allclose(product.numpy(), (x + x.T) @ vectors, atol=1e-11)
