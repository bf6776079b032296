from __future__ import annotations

import subprocess
import sys

import pytest

import dayline

PICTURES = ("av", "PIL", "pillow_heif", "opentimelineio")
HEAVY = (*PICTURES, "torch", "onnxruntime", "matplotlib", "dask", "sklearn")


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("dayline", HEAVY),
        ("dayline.cli", HEAVY),
        ("dayline.media", PICTURES),
        ("dayline.album.export.formats", PICTURES),
    ],
)
def test_importing_loads_nothing_heavy(module, heavy):
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_public_name_is_there():
    for name in dayline.__all__:
        assert getattr(dayline, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dayline.nothing  # noqa: B018
