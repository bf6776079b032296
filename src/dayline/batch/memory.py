"""The memory that is free for work."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["available_memory"]

USED_SHARE = 0.8
"""Share of the free memory to plan with: forecasts are rough, and other programs run too."""

CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return how many bytes can be used without swapping, or None if the system does not say."""
    free = [size for size in (_free_of_machine(), _free_of_container()) if size is not None]
    return int(USED_SHARE * min(free)) if free else None


def _free_of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, ValueError, OSError):
        # macOS does not say how much is free; half of all memory is a careful guess.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _free_of_container() -> int | None:
    with suppress(OSError, ValueError):  # no limit reads "max"
        most, used = (int((CGROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        return max(most - used, 0)
    return None
