"""The benchmarks of speed: made sequences, limits, and small runs of each script."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import frontier as frontiers
import methods
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "speed"


def test_clear_events_have_known_boundaries():
    features, boundaries = methods.clear_sequence(900, 256)
    lengths = np.diff([0, *boundaries])
    assert features.shape == (900, 256)
    assert features.dtype == np.float32
    assert lengths.min() >= 20
    assert lengths.max() <= 100
    means = [part.mean(axis=0) for part in np.split(features, boundaries)]
    # Of 256 contexts and noise of variance 1: means of two contexts are about sqrt(512) apart.
    assert min(np.linalg.norm(a - b) for a, b in pairwise(means)) > 15


def test_a_method_is_left_out_if_it_would_take_too_long():
    cell, forecast = methods.Cell, methods.forecast
    limits = {"limit": 100, "memory": 8}

    def why(method, seconds, megabytes, n_frames=4000):
        before = cell(method, "clear", 1000, 512, wall=seconds, megabytes=megabytes)
        return forecast(cell(method, "clear", n_frames, 512), before, **limits)

    assert why("rbf", 6, 20) == ""
    assert why("rbf", 7, 20) == "over 100 s expected"
    assert why("default", 24, 20) == ""
    assert why("default", 26, 20) == "over 100 s expected"
    assert why("kts", 1, 490) == ""
    assert why("kts", 1, 510) == "over 8 GB expected"
    assert why("dense", 1, 20, n_frames=9000) == "not tried"
    stopped = cell("kts", "clear", 1000, 512, why="over 8 GB")
    assert forecast(cell("kts", "clear", 4000, 512), stopped, **limits) == "over 8 GB"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_methods_are_measured_and_written(tmp_path):
    pytest.importorskip("ruptures")
    page, numbers = tmp_path / "scale.md", tmp_path / "cells.json"
    page.write_text("before\n<!-- methods.py -->\nold\n<!-- end of methods.py -->\nafter\n")
    command = [
        sys.executable,
        str(FOLDER / "methods.py"),
        "--frames",
        "200",
        "--features",
        "16",
        "--kinds",
        "clear",
    ]
    command += ["--methods", "default", "fast", "rbf", "--write", str(page), str(numbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    cells = json.loads(numbers.read_text())
    assert [cell["method"] for cell in cells] == ["default", "fast", "rbf"]
    assert all(
        cell["f1"] > 0.5 and 0 < cell["wall"] < 60 and cell["megabytes"] < 500 for cell in cells
    )
    stages = cells[0]["stages"]
    assert list(stages) == [
        "checks",
        "denoising",
        "linking frames",
        "embedding",
        "iteration 1",
        "iteration 2",
        "decision",
    ]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| dayline, `fast()` |" in text
    assert "claspy is left out" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_measurement_that_takes_too_much_memory_is_a_dash():
    with methods.made_files("clear", 2000, 16) as files:
        cell = methods.Cell("dense", "clear", 2000, 16)
        measured = methods.run_cell(cell, files, limit=60, memory=0.03, threads=2)
    assert measured.why == "over 0.03 GB"
    assert methods.shown(measured) == "-"


def test_the_frontier_is_what_no_other_method_beats_in_both():
    point, frontier = frontiers.Point, frontiers.frontier
    fast, slow, worse, same = (
        point("a", 0.5, 0.1, 0.1),
        point("b", 0.6, 1.0, 1.0),
        point("c", 0.4, 0.5, 0.5),
        point("d", 0.5, 0.2, 0.2),
    )
    assert frontier([slow, worse, same, fast]) == [fast, slow]


def test_the_frontier_is_printed_and_drawn(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    features, boundaries = methods.clear_sequence(200, 16)
    group = tmp_path / "data" / "made"
    group.mkdir(parents=True)
    np.savez(group / "one.npz", features=features, boundaries=boundaries, tolerance=2)
    picture = tmp_path / "frontier.png"
    arguments = [
        "--root",
        tmp_path / "data",
        "--methods",
        "fast",
        "window-difference",
        "--draw",
        picture,
    ]
    monkeypatch.setattr(sys, "argv", ["frontier.py", *map(str, arguments)])
    frontiers.main()
    printed = capsys.readouterr().out
    assert "1 sequences of 1 groups, 200 frames" in printed
    assert "| dayline, fast(), not held out |" in printed
    assert picture.stat().st_size > 1000
