"""Folders of small feature files, and a way to kill the process that works on one of them."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from dayline.research.datasets.synthetic import make_communities


def save_features(path: Path, *, n_frames: int = 120, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    features = make_communities(n_frames, stay=300.0, n_features=8, random_state=seed).features
    if path.suffix == ".csv":
        np.savetxt(path, features, delimiter=",")
    elif path.suffix == ".npz":
        np.savez(path, features=features, times=np.arange(n_frames) * 30.0)
    else:
        np.save(path, features)
    return path


def worker_of(result: Path) -> int | None:
    """The process that holds the lock of a result."""
    try:
        found = re.match(r"process (\d+) on", (result / ".dayline-lock").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1])


def wait_for_worker(*results: Path) -> int:
    """The first process that works on one of these results."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for result in results:
            worker = worker_of(result)
            if worker is not None:
                return worker
        time.sleep(0.002)
    pytest.fail("no sequence was started")


@contextmanager
def killing(result: Path, *, times: int) -> Iterator[list[int]]:
    """Kill -9 the first processes that work on a result, while the block runs; yields their
    numbers."""
    killed: list[int] = []
    end = threading.Event()

    def watch() -> None:
        while not end.is_set() and len(killed) < times:
            process = worker_of(result)
            if process is not None and process not in (*killed, os.getpid()):
                os.kill(process, signal.SIGKILL)
                killed.append(process)
            time.sleep(0.002)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        end.set()
        thread.join()
