"""Progress reports of long-running work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

OnStep: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of the task, the number of steps done, and the total."""


def no_report(_what: str, _done: int, _total: int) -> None:
    """Report nothing."""
