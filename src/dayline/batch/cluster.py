"""Run tasks on an existing Dask cluster."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dayline import __version__
from dayline.batch.record import BatchRecord
from dayline.batch.task import Task, failed_record, run_task
from dayline.installation import needs_extra
from dayline.result_folder import MARK
from dayline.text import bytes_text

ADDRESS = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:.]+\]|[^\s/:]+):\d+")
CONNECT_SECONDS = 10
LOOK_SECONDS = 2.0
"""How often to look for workers that joined or left while no task finishes."""


@needs_extra("cluster", "a Dask cluster")
def connect(address: str) -> Any:
    """Connect to a Dask scheduler.

    Parameters
    ----------
    address : str
        Such as tcp://host:8786.
    """
    from distributed import Client

    if not ADDRESS.fullmatch(address):
        raise ValueError(
            f"{address!r} is not the address of a Dask scheduler; write it as tcp://host:8786"
        )
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        why = " ".join(str(error).split())
        raise ValueError(
            f"{address}: no Dask scheduler answers there ({why}); start one with: dask scheduler"
        ) from None


def run_on_cluster(
    tasks: Sequence[Task], client: Any, *, memory: int | None
) -> Iterator[BatchRecord]:
    """Run tasks on a cluster and yield their records as they finish.

    Each worker process gets one task at a time. Dask runs a task again if its worker is lost.

    Parameters
    ----------
    tasks : sequence of Task
        The work. All workers must see its sources and its output folder under the same paths.
    client : distributed.Client
        See `connect`.
    memory : int or None
        Bytes that one task may need by its forecast; None for the memory limit of the largest
        worker.
    """
    from distributed import CancelledError, KilledWorker, wait
    from distributed.comm import CommClosedError

    limit = _checked_workers(client, tasks[0].output)
    most = min((size for size in (memory, limit) if size is not None), default=None)
    waiting = []
    for task in tasks:
        if most is not None and task.memory > most:
            yield failed_record(
                task,
                f"needs about {bytes_text(task.memory)} of memory, and a worker may use"
                f" {bytes_text(most)}; start a worker with more (dask worker --memory-limit)",
            )
        else:
            waiting.append(task)
    waiting.reverse()
    running: dict[Any, Task] = {}
    is_empty = False
    try:
        while waiting or running:
            n_workers = len(client.nthreads())
            if not n_workers and not is_empty:
                warnings.warn("the cluster has no worker left; waiting for a new one", stacklevel=2)
            is_empty = not n_workers
            while waiting and len(running) < n_workers:
                task = waiting.pop()
                with warnings.catch_warnings():
                    # Features in memory travel with their task: data scattered to a worker would be
                    # lost with it.
                    warnings.filterwarnings("ignore", message="Sending large graph")
                    running[client.submit(run_task, task, pure=False)] = task
            try:
                with client.as_current():
                    done = wait(
                        list(running), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED"
                    ).done
            except TimeoutError:
                continue
            for future in done:
                task = running.pop(future)
                if future.status == "finished":
                    yield future.result()
                elif future.status != "error":  # the scheduler was restarted and has forgotten it
                    waiting.append(task)
                elif isinstance(error := future.exception(), KilledWorker):
                    yield failed_record(
                        task,
                        f"{error.allowed_failures + 1} workers were lost while computing it; it may"
                        f" need more memory than they have (about {bytes_text(task.memory)})",
                    )
                else:
                    yield failed_record(
                        task, f"{type(error).__name__}: {' '.join(str(error).split())}"
                    )
    except (CancelledError, CommClosedError):
        running.clear()
        raise ValueError(
            f"the connection to the scheduler at {client.scheduler.address} was lost; start it, and"
            " the same command resumes"
        ) from None
    finally:
        client.cancel(list(running))


def _checked_workers(client: Any, output: Path) -> int | None:
    """Return the memory limit of the largest worker; raise if there is none or one cannot do the work."""
    answers = client.run(_look_around, str(output / MARK), on_error="return")
    if not answers:
        raise ValueError("the cluster has no workers; start one with: dask worker ADDRESS")
    for worker, answer in answers.items():
        if isinstance(answer, ImportError):
            raise ValueError(f"worker {worker} cannot import dayline ({answer}); install it there")
        if isinstance(answer, BaseException):
            raise ValueError(f"worker {worker} does not work: {answer}")
        version, sees_output, _ = answer
        if version != __version__:
            raise ValueError(
                f"worker {worker} has dayline {version}, not {__version__}; install the same"
                " version"
            )
        if not sees_output:
            raise ValueError(
                f"worker {worker} does not see {output}; use a folder that all machines share"
            )
    limits = [limit for _, _, limit in answers.values()]
    return None if any(limit is None for limit in limits) else max(limits)


def _look_around(mark: str, dask_worker: Any = None) -> tuple[str, bool, int | None]:
    """Return the version of dayline on a worker, whether it sees the output folder, and its memory limit."""
    limit = getattr(getattr(dask_worker, "memory_manager", None), "memory_limit", None)
    return __version__, Path(mark).is_file(), limit or None
