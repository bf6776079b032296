from __future__ import annotations

import runpy
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "install" / "licenses.py"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND (Apache-2.0 OR GPL-2.0-only)", True),
        ("Apache-2.0 WITH LLVM-exception AND MIT", True),
        ("BSD-3-Clause AND GPL-2.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("unknown", False),
        ("GNU General Public License v3 (GPLv3)", False),
    ],
)
def test_every_part_must_be_permissive(script, expression, allowed):
    assert script["is_allowed"](expression) is allowed


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("License-Expression: MIT\nLicense: something else\n", "MIT"),
        (
            "License: BSD-3-Clause\nClassifier: License :: OSI Approved :: BSD License\n",
            "BSD-3-Clause",
        ),
        ("Classifier: License :: OSI Approved :: ISC License (ISCL)\n", "ISC"),
        ("License: UNKNOWN\n", "unknown"),
        (
            "Classifier: License :: OSI Approved :: GNU Affero General Public License v3\n",
            "GNU Affero",
        ),
    ],
)
def test_a_license_is_read_from_whatever_a_package_declares(script, tmp_path, about, expected):
    folder = tmp_path / "made-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: made\nVersion: 1.0\n{about}")
    (folder / "RECORD").write_text("")
    assert script["license_of"](PathDistribution(folder)).startswith(expected)


def test_the_first_line_of_a_license_file_is_the_last_resort(script, tmp_path):
    folder = tmp_path / "made-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: made\nVersion: 1.0\nLicense: UNKNOWN\n"
    )
    (folder / "LICENSE").write_text("Apache Software License 2.0\n\nCopyright\n")
    (folder / "RECORD").write_text("made-1.0.dist-info/LICENSE,,\n")
    assert script["license_of"](PathDistribution(folder)) == "Apache-2.0"
