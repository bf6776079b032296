"""A real Dask scheduler with workers as processes on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batch.made_sequences import killing, save_features
from dayline.batch.run import read_batch, segment_many
from dayline.events import read_events

distributed = pytest.importorskip(
    "distributed", reason='Dask is not installed (pip install "dayline[cluster]")'
)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="kills processes")]

NAMES = [f"{k:02d}.npy" for k in range(12)]


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A scheduler in this process, with workers in others that are started as they are needed."""
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for k, name in enumerate(NAMES):
        save_features(tmp_path / "root" / name, seed=k)
    return tmp_path / "root"


def test_a_lost_worker_loses_nothing_and_a_second_run_computes_nothing(cluster, root, tmp_path):
    cluster.scale(2)
    cluster.wait_for_workers(2)
    out, local = tmp_path / "out", tmp_path / "local"
    with killing(out / NAMES[5], times=1) as killed:
        records = list(segment_many(root, output=out, cluster=cluster.scheduler_address))
    assert len(killed) == 1
    assert {record.source: record.status for record in records} == dict.fromkeys(NAMES, "done")
    list(segment_many(root, output=local, jobs=2))
    for name in NAMES:
        assert (out / name / "events.json").read_bytes() == (
            local / name / "events.json"
        ).read_bytes()
        assert len(read_events(out / name / "events.json").events) > 1
    before = {name: (out / name / "events.json").stat().st_mtime_ns for name in NAMES}
    again = list(segment_many(root, output=out, cluster=cluster.scheduler_address))
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
    assert "the cluster has no workers; start one with: dask worker" in error_at(
        cluster.scheduler_address
    )
    cluster.scale(1)
    cluster.wait_for_workers(1)
    monkeypatch.setattr("dayline.batch.run.__version__", "0.0.0")
    assert "cannot run dayline 0.0.0 (" in error_at(cluster.scheduler_address)
    monkeypatch.undo()
    # The scheduler goes away in the middle.
    run = segment_many(root, output=out, cluster=cluster.scheduler_address)
    next(run)
    cluster.close()
    with pytest.raises(ValueError, match=r"the connection to the scheduler at tcp://.* was lost"):
        list(run)
    assert 1 <= len(read_batch(out / "batch.jsonl")) < len(NAMES)


def test_a_killed_scheduler_is_one_line_of_ours_and_none_of_dask(root, tmp_path):
    def start(*command: object) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        pipe = subprocess.PIPE
        words = [sys.executable, *map(str, command)]
        return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environment)

    known = tmp_path / "scheduler.json"
    command = ("-m", "distributed.cli.dask_scheduler", "--port", 0, "--no-dashboard")
    started = [start(*command, "--host", "127.0.0.1", "--scheduler-file", known)]
    try:
        while not (known.exists() and known.read_text().endswith("}")):
            time.sleep(0.05)
        address = json.loads(known.read_text())["address"]
        worker = ("-m", "distributed.cli.dask_worker", address, "--nthreads", 1, "--no-dashboard")
        started.append(start(*worker, "--death-timeout", 30))
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(1)

        program = "from dayline.cli import main; main()"
        batch = start("-c", program, "batch", root, "-o", tmp_path / "out", "--cluster", address)
        started.append(batch)
        assert batch.stdout is not None
        assert "events in 120 frames" in batch.stdout.readline()
        started[0].kill()
        _, err = batch.communicate(timeout=60)
    finally:
        for process in started:
            process.kill()
            process.communicate()
    assert batch.returncode == 2
    assert err == (
        f"dayline: the connection to the scheduler at {address} was lost; start it, and the same"
        " command resumes\n"
    )
