"""How long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["OnStep"]

OnStep: TypeAlias = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and the total."""
