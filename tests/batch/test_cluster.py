"""A real Dask scheduler and two workers, as processes on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from batch.made_sequences import killing, save_features
from dayline.batch.run import read_batch, segment_many
from dayline.events import read_events

distributed = pytest.importorskip(
    "distributed", reason='Dask is not installed (pip install "dayline[cluster]")'
)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="kills processes")]

NAMES = [f"{k:02d}.npy" for k in range(12)]


@dataclass
class Cluster:
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    address: str = ""

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            command = [sys.executable, "-m", "dask", *map(str, arguments)]
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
            )
        return self.processes[-1]

    def start_scheduler(self) -> None:
        about = self.folder / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", about)
        self.start("scheduler", *options)
        wait_until(
            lambda: about.exists() and about.read_text().endswith("}")
        )  # it is not written at once
        self.address = json.loads(about.read_text())["address"]

    def start_workers(self, n_workers: int) -> None:
        options = ("--no-nanny", "--nthreads", 1, "--no-dashboard", "--local-directory", ".")
        for _ in range(n_workers):
            self.start("worker", self.address, *options)
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=30)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def wait_until(is_true: Callable[[], bool], *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "cluster").mkdir()
    made = Cluster(tmp_path / "cluster")
    try:
        made.start_scheduler()
        yield made
    finally:
        made.end()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for k, name in enumerate(NAMES):
        save_features(tmp_path / "root" / name, seed=k)
    return tmp_path / "root"


def test_a_lost_worker_loses_nothing_and_a_second_run_computes_nothing(cluster, root, tmp_path):
    cluster.start_workers(2)
    out, local = tmp_path / "out", tmp_path / "local"
    with killing(out / NAMES[5], times=1) as killed:
        records = list(segment_many(root, output=out, cluster=cluster.address))
    assert len(killed) == 1
    assert [process.poll() for process in cluster.processes].count(-signal.SIGKILL) == 1
    assert {record.source: record.status for record in records} == dict.fromkeys(NAMES, "done")
    list(segment_many(root, output=local, jobs=2))
    for name in NAMES:
        assert (out / name / "events.json").read_bytes() == (
            local / name / "events.json"
        ).read_bytes()
        assert len(read_events(out / name / "events.json").events) > 1
    before = {name: (out / name / "events.json").stat().st_mtime_ns for name in NAMES}
    again = list(segment_many(root, output=out, cluster=cluster.address))
    assert {record.status for record in again} == {"skipped"}
    assert {record.status for record in read_batch(out / "batch.jsonl")} == {"skipped"}
    assert {name: (out / name / "events.json").stat().st_mtime_ns for name in NAMES} == before


def test_what_is_wrong_with_a_cluster_is_said_in_one_line(cluster, root, tmp_path, monkeypatch):
    out = tmp_path / "out"

    def error_at(address: str) -> str:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is what is tested
            list(segment_many(root, output=out, cluster=address))
        assert not out.exists()
        return str(caught.value)

    assert "nowhere: no Dask scheduler answers there (missing port" in error_at("nowhere")
    assert "the cluster has no workers; start one with: dask worker" in error_at(cluster.address)
    cluster.start_workers(1)
    monkeypatch.setattr("dayline.batch.run.__version__", "0.0.0")
    assert "cannot run dayline 0.0.0 (" in error_at(cluster.address)
    monkeypatch.undo()
    # The scheduler goes away in the middle.
    run = segment_many(root, output=out, cluster=cluster.address)
    next(run)
    cluster.processes[0].kill()
    with pytest.raises(ValueError, match=r"the connection to the scheduler at tcp://.* was lost"):
        list(run)
    assert 1 <= len(read_batch(out / "batch.jsonl")) < len(NAMES)
