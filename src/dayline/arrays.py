"""All code specific to an array library, NumPy or PyTorch, and threads over blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

import numpy as np
from array_api_compat import array_namespace as array_namespace
from array_api_compat import is_torch_array as is_torch_array
from numpy.typing import NDArray

Array: TypeAlias = Any
"""A NumPy array or a PyTorch tensor."""

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]

LANES = 16
"""Numbers of single precision that a CPU multiplies at once."""

HOST_BLOCK, DEVICE_BLOCK = 2**16, 2**26
"""Entries of one block of rows."""


def to_device(x: FloatArray, device: str, dtype: str = "float64") -> Array:
    """Move a NumPy array to a device.

    Parameters
    ----------
    x : ndarray
        Features on the host.
    device : str
        "cpu" uses NumPy; "torch" uses PyTorch on the CPU; "cuda", "cuda:1" and "mps" use PyTorch on
        that device.
    dtype : {"float64", "float32"}
        Precision. "mps" supports only float32 and always uses it.
    """
    target = check_device(device)
    if target is None:
        return x.astype(dtype, copy=False)
    import torch

    precision = torch.float32 if target.type == "mps" else getattr(torch, dtype)
    return torch.as_tensor(np.ascontiguousarray(x), dtype=precision, device=target)


def is_single_precision(device: str, dtype: str) -> bool:
    """Whether `to_device` converts features to single precision."""
    return dtype == "float32" or device.split(":")[0] == "mps"


def check_device(device: Any) -> Any:
    """Return the PyTorch device, or None for NumPy on the CPU.

    Raise ValueError if unknown or unavailable.
    """
    choices = 'use "cpu", "torch", "cuda" or "mps"'
    if not isinstance(device, str):
        raise ValueError(f"device has type {type(device).__name__}; {choices}")
    kind = device.split(":")[0]
    if kind not in ("cpu", "torch", "cuda", "mps"):
        raise ValueError(f'device="{device}" is not known; {choices}')
    if device == "cpu":
        return None
    try:
        import torch
    except ModuleNotFoundError:
        raise ValueError(
            f'device="{device}" needs PyTorch; install it (pip install "dayline[gpu]") or use'
            ' device="cpu"'
        ) from None

    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available.get(kind, True):
        raise ValueError(f'device="{device}" is not available on this machine; use device="cpu"')
    try:
        target = torch.device("cpu" if kind == "torch" else device)
    except RuntimeError:
        raise ValueError(f'device="{device}" is not known; {choices}') from None
    if target.type == "cuda" and (target.index or 0) >= torch.cuda.device_count():
        raise ValueError(f'device="{device}" is not available on this machine; use device="cuda"')
    return target


def to_numpy(x: Array) -> FloatArray:
    """Convert an array of either library to NumPy on the host."""
    if is_torch_array(x):
        return np.asarray(x.detach().cpu().numpy())
    return np.asarray(x)


def like(values: NDArray[Any], x: Array) -> Array:
    """Convert NumPy values to the library, precision and device of `x`."""
    if is_torch_array(x):
        import torch

        return torch.as_tensor(np.ascontiguousarray(values), dtype=x.dtype, device=x.device)
    return np.asarray(values, dtype=x.dtype)


def columns_for_products(x: Array) -> Array:
    """Convert to single precision, on a CPU with columns of zeros up to a multiple of 16.

    A product with 15 columns takes almost twice as long as one with 16.
    """
    n, width = x.shape
    if width % LANES == 0 or width == 1 or is_torch_array(x):
        return single(x)
    padded = np.zeros((n, -(-width // LANES) * LANES), dtype=np.float32)
    padded[:, :width] = x
    return padded


def sum_of_products(a: Array, b: Array) -> float:
    """Sum a * b over all entries of two matrices."""
    if not is_torch_array(a) and a.flags.c_contiguous and b.flags.c_contiguous:
        return float(np.vdot(a, b))
    if a.dtype != b.dtype:
        return float(array_namespace(a).sum(a * b))
    return float(array_namespace(a).einsum("ij,ij->", a, b))


def is_on_host(x: Array) -> bool:
    """Whether `x` is in CPU memory."""
    return not is_torch_array(x) or x.device.type == "cpu"


def is_mapped(x: Any) -> bool:
    """Whether an array, or the one it is a view of, is a file mapped into memory."""
    while x is not None:
        if isinstance(x, np.memmap):
            return True
        x = getattr(x, "base", None)
    return False


def single(x: Array) -> Array:
    """Convert to single precision."""
    if is_torch_array(x):
        return x.float()
    return x.astype(np.float32, copy=False)


def double(x: Array) -> Array:
    """Convert to double precision, where the device has it."""
    if is_torch_array(x):
        return x if x.device.type == "mps" else x.double()
    return x.astype(np.float64, copy=False)


class PositiveSolver:
    """Solves linear systems with a symmetric, positive definite matrix.

    The matrix is factored once, in double precision where the device has it.
    """

    def __init__(self, matrix: Array) -> None:
        self._dtype = matrix.dtype
        if is_torch_array(matrix):
            import torch

            self._factor = torch.linalg.cholesky(double(matrix))
        else:
            from scipy.linalg import cho_factor

            precise = matrix.astype(np.float64)
            self._factor, _ = cho_factor(precise, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, x: Array) -> Array:
        """Return the solution for every column of `x`."""
        if is_torch_array(x):
            import torch

            return torch.cholesky_solve(x.to(self._factor.dtype), self._factor).to(self._dtype)
        from scipy.linalg import cho_solve

        solved = cho_solve((self._factor, True), x, check_finite=False)
        return solved.astype(self._dtype, copy=False)


def main_axes(matrix: Array, n_axes: int) -> Array:
    """Return the eigenvectors of the largest eigenvalues of a symmetric matrix, largest last."""
    if is_torch_array(matrix):
        return array_namespace(matrix).linalg.eigh(matrix)[1][:, -n_axes:]
    from scipy.linalg import eigh

    size = len(matrix)
    # A few of them take half the time of all.
    return eigh(matrix, subset_by_index=[size - n_axes, size - 1], check_finite=False)[1]


def row_blocks(x: Array, *, at_least: int = 1) -> Iterator[slice]:
    """Yield slices over the rows of a matrix, in blocks that fit in the cache (large on a GPU).

    Several steps on one block after the other take a fraction of the time and memory that they take
    on all rows. Matrix products want blocks of `at_least` a few hundred rows, cache or not.
    """
    size = max(at_least, (HOST_BLOCK if is_on_host(x) else DEVICE_BLOCK) // max(1, x.shape[1]))
    for first in range(0, x.shape[0], size):
        yield slice(first, min(first + size, x.shape[0]))


Item = TypeVar("Item")
Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None


def n_threads() -> int:
    """Return the number of cores that this process may use; OMP_NUM_THREADS lowers it."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(wanted))) if wanted.isdigit() else cores


def map_blocks(
    function: Callable[[Item], Result], blocks: Iterable[Item], *, on_host: bool = True
) -> list[Result]:
    """Call a function for every block and return the results in their order.

    Each block is computed by one thread, so that sums do not depend on the number of threads. Work
    that is not on the host has threads of its own.
    """
    global _pool
    items = list(blocks)
    if len(items) < 2 or not on_host or n_threads() < 2:
        return [function(item) for item in items]
    if _pool is None:
        _pool = ThreadPoolExecutor(n_threads(), thread_name_prefix="dayline")
    return list(_pool.map(function, items))


def _forget_pool() -> None:
    """Threads do not survive a fork."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


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
