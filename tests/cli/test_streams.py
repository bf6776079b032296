"""Outputs that cannot show every character: what is done is done, and told as well as can be."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from cli.run_command import ENVIRONMENT
from dayline.cli import main
from dayline.research.datasets.synthetic import make_communities

ENCODINGS = ["ascii", "cp1252", "utf-8"]


def run_in(encoding, *arguments):
    """Run a command in this process with an output of that encoding; return its exit code and what
    it wrote."""
    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding=encoding, errors="strict", write_through=True)
    code = 0
    with (
        patch.object(sys, "argv", ["dayline", *map(str, arguments)]),
        patch.dict(os.environ, ENVIRONMENT),
        patch.object(sys, "stdout", out),
    ):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    # Click takes ASCII for a locale that nobody has set, and writes UTF-8.
    return code, written.getvalue().decode("utf-8" if encoding == "ascii" else encoding)


@pytest.fixture
def features(tmp_path):
    made = make_communities(60, stay=300.0, n_features=4, random_state=1)
    np.savez(tmp_path / "Ωmade.npz", features=made.features, boundaries=made.boundaries)
    return tmp_path / "Ωmade.npz"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_segment_export_evaluate_and_datasets_print_on_any_output(encoding, features, tmp_path):
    out = tmp_path / "Ω"
    code, said = run_in(encoding, "segment", features, "-o", out)
    assert code == 0
    assert "events in 60 frames" in said
    assert ("#" in said, "█" in said) == (encoding != "utf-8", encoding == "utf-8")
    name = "\\u03a9" if encoding == "cp1252" else "Ω"
    assert f"The page is {tmp_path}/{name}/index.html" in said
    for arguments in (
        ("segment", features, "--json"),
        ("export", out / "events.json", "-f", "csv", "-o", tmp_path / "Ωcsv"),
        ("evaluate", out / "events.json", features),
        ("datasets", "--root", tmp_path),
        ("--help",),
        ("segment", "--help"),
        ("--version",),
    ):
        code, said = run_in(encoding, *arguments)
        assert (code, bool(said)) == (0, True), arguments


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_with_spreads_is_printed_on_any_output(encoding, tmp_path):
    arguments = ("--most", 2, "--seeds", 2, "--jobs", 1, "--methods", "random cuts (true number)")
    code, said = run_in(encoding, "reproduce", "synthetic", "-o", tmp_path / "out", *arguments)
    assert code == 0
    assert "±" in said
    assert "±" in (tmp_path / "out" / "synthetic.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_process_whose_output_is_not_utf_8_ends_well(features, tmp_path):
    start = [sys.executable, "-c", "from dayline.cli import main; main()"]
    command = [*start, "segment", features, "-o", tmp_path / "o"]
    environment = os.environ | ENVIRONMENT | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"events in 60 frames" in done.stdout
    assert json.loads(Path(tmp_path / "o" / "events.json").read_text())["n_frames"] == 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("motion", "--root", "/nonexistent"), "/nonexistent: no such folder"),
        (("synthetic", "--root", "/nonexistent"), "/nonexistent: no such folder"),
        (("cost", "--root", "/nonexistent"), "/nonexistent: no such folder"),
        (("edub-seg", "--root", "/nonexistent"), "/nonexistent: no such folder"),
        (("motion", "--root", "EMPTY"), "no data found (keck in Keck_feature; mad in"),
        (("motion", "--root", "EMPTY", "--only", "keck"), "no data found (keck in Keck_feature)"),
        (("edub-seg", "--root", "EMPTY"), "EDUB-Seg not found"),
        (("ablation", "--root", "EMPTY"), "EDUB-Seg not found"),
        (("robustness", "--root", "EMPTY", "--only", "bbc"), "has no group bbc"),
        (("motion", "--root", "EMPTY", "--seeds", "1000000000"), "--seeds"),
        (("synthetic", "--most", "1000000000"), "--most"),
        (
            ("edub-seg", "--root", "EMPTY", "--predictor", "/nonexistent"),
            "/nonexistent: no such file",
        ),
    ],
)
def test_a_table_without_its_data_is_one_line_and_exit_code_2(arguments, message, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    arguments = [tmp_path / "empty" if a == "EMPTY" else a for a in arguments]
    code, said = run_in("utf-8", "reproduce", *arguments, "-o", tmp_path / "out")
    wrong = capsys.readouterr().err
    assert (code, said, wrong.count("\n")) == (2, "", 1)
    assert message in wrong
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("datasets", "--root", "/nonexistent"), "/nonexistent: no such folder"),
        (
            ("evaluate", "FOUND", "TRUE", "--n-frames", str(10**30)),
            "n_frames=1000000000000000000000000000000",
        ),
        (("evaluate", "FOUND", "/nonexistent"), "/nonexistent"),
        (("evaluate", "FOUND", "TRUE", "--n-frames", "5"), "outside the sequence of 5 frames"),
    ],
)
def test_wrong_arguments_of_evaluate_and_datasets_are_one_line(command, message, tmp_path, capsys):
    for name in ("FOUND", "TRUE"):
        (tmp_path / f"{name}.txt").write_text("3\n9\n")
    arguments = [tmp_path / f"{a}.txt" if a in ("FOUND", "TRUE") else a for a in command]
    code, said = run_in("utf-8", *arguments)
    wrong = capsys.readouterr().err
    assert (code, said, wrong.count("\n")) == (2, "", 1)
    assert message in wrong


def test_controls_of_a_long_sequence_need_no_memory(tmp_path):
    for name in ("found", "true"):
        (tmp_path / f"{name}.txt").write_text("3\n9\n")
    code, said = run_in(
        "utf-8", "evaluate", tmp_path / "found.txt", tmp_path / "true.txt", "--n-frames", 10**15
    )
    assert code == 0
    assert "random cuts" in said
