"""Blocks of rows, computed by several threads with the same result as by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["map_blocks", "n_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None


def n_threads() -> int:
    """Return the number of cores that this process may use; OMP_NUM_THREADS lowers it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(asked))) if asked.isdigit() else cores


def map_blocks(function: Callable[[Item], Result], blocks: Iterable[Item], *, on_host: bool = True) -> list[Result]:
    """Call a function for every block and return the results in their order.

    Each block is computed by one thread, so that sums do not depend on the number of threads. Work that is not on the
    host has threads of its own.
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
