"""Run tasks in processes on this machine."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any

from dayline.batch.record import BatchRecord
from dayline.batch.task import Task, failed_record, run_task
from dayline.text import bytes_text

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
        most, used = (
            int((CGROUP / name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
        return max(most - used, 0)
    return None


IDLE_SECONDS = 300
"""After which a process without work ends; the pool starts another one if it is needed."""


def run_local(tasks: Sequence[Task], *, jobs: int, memory: int | None) -> Iterator[BatchRecord]:
    """Run tasks in processes and yield their records as they finish.

    If a process is killed, which ends the whole pool, each task that was running is run again
    alone; one that loses its process a second time is reported.

    Parameters
    ----------
    tasks : sequence of Task
        The work.
    jobs : int
        Most processes at a time.
    memory : int or None
        Bytes that all processes together may use, by their forecasts. A task that needs more runs
        alone.
    """
    waiting = list(tasks)
    suspects: list[Task] = []
    tried: set[str] = set()  # suspects that were started again
    running: dict[Future[BatchRecord], Task] = {}
    pool: Any = None
    try:
        while waiting or suspects or running:
            pool = pool or _new_pool(min(jobs, len(tasks)))
            lost = []
            while (
                task := _startable(waiting, suspects, running.values(), tried, jobs, memory)
            ) is not None:
                try:
                    running[pool.submit(run_task, task)] = task
                except (BrokenProcessPool, RuntimeError):  # a process was killed between two tasks
                    lost.append(task)
                    break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if lost or any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done, _ = wait(running)
                pool.shutdown(wait=True, kill_workers=True)
                pool = None
            for future in done:
                task = running.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    lost.append(task)
                else:
                    yield future.result()
            for task in lost:
                if task.source.folder in tried:
                    yield failed_record(task, _lost_twice(task))
                else:
                    suspects.append(task)
    finally:
        if pool is not None:
            _kill(pool)


def _startable(
    waiting: list[Task],
    suspects: list[Task],
    running: Collection[Task],
    tried: set[str],
    jobs: int,
    memory: int | None,
) -> Task | None:
    """Take the next task that may start now; a suspect runs alone, so that it is clear whether it is to blame."""
    if any(task.source.folder in tried for task in running):
        return None
    if suspects:
        if running:
            return None
        tried.add(suspects[0].source.folder)
        return suspects.pop(0)
    if len(running) >= jobs:
        return None
    used = sum(task.memory for task in running)
    for k, task in enumerate(waiting):
        if not running or memory is None or used + task.memory <= memory:
            return waiting.pop(k)
    return None


def _lost_twice(task: Task) -> str:
    return (
        "its process was killed twice; it may need more memory than there is (about"
        f" {bytes_text(task.memory)})"
    )


def _new_pool(n_processes: int) -> Any:
    # Unlike the pool of the standard library, it does not import the caller's script again.
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(
        max_workers=n_processes,
        timeout=IDLE_SECONDS,
        initializer=_prepare_process,
        initargs=(os.getpid(),),
    )


def _kill(pool: Any) -> None:
    # loky forgets its pending tasks when it kills its processes, and its thread then fails on one
    # whose number still waits to be handed out: the case if Ctrl-C comes just after a task was
    # submitted.
    with contextlib.suppress(queue.Empty):
        while True:
            pool._work_ids.get_nowait()
    pool.shutdown(wait=True, kill_workers=True)


def _prepare_process(parent: int) -> None:
    """Leave Ctrl-C to the parent, which then ends this process; end with the parent if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()
