from __future__ import annotations

import subprocess
import sys

import pytest

import dayline

HEAVY = ("torch", "onnxruntime", "av", "PIL", "matplotlib", "dask", "sklearn")


@pytest.mark.parametrize("module", ["dayline", "dayline.cli"])
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


def test_every_public_name_is_there():
    for name in dayline.__all__:
        assert getattr(dayline, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dayline.nothing  # noqa: B018
