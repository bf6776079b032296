from __future__ import annotations

import os
import subprocess
import sys

import pytest


def run(*arguments):
    command = [sys.executable, "-c", "from dayline.cli import main; main()", *map(str, arguments)]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
def test_a_table_is_printed_as_markdown_and_saved(tmp_path):
    done = run(
        "reproduce",
        "synthetic",
        "-o",
        tmp_path / "out",
        "--most",
        2,
        "--jobs",
        1,
        "--methods",
        "CES on raw features",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "out" / "synthetic.md").read_text()
    assert "| published: iteration 0 | 0.590 |" in done.stdout
    names = {p.name for p in (tmp_path / "out").iterdir()}
    hidden = {".dayline", ".dayline-files.json"}
    assert names == {*hidden, "parts", "synthetic.md", "synthetic.csv", "synthetic.json"}


def test_a_mistake_is_one_line(tmp_path):
    done = run(
        "reproduce", "motion", "--root", tmp_path, "-o", tmp_path / "out", "--methods", "magic"
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'magic' is not known" in done.stderr


def test_data_sets_are_listed(tmp_path):
    done = run("datasets", "--root", tmp_path)
    assert "keck: not found" in done.stdout
    assert "MIT" in done.stdout
