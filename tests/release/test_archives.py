"""The wheel and the source archive, and the wheel alone in a clean environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import dayline

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LICENSES = ROOT / "benchmarks" / "install" / "licenses.py"
LARGEST = 1_000_000
SECRETS = re.compile(
    r"(?i)(^|/)(\.env.*|\.netrc|\.pypirc|id_(rsa|ed25519).*|.*\.(pem|key|p12|pfx|kdbx))$"
)
RECORDINGS = (
    ".npz",
    ".npy",
    ".mat",
    ".jpg",
    ".jpeg",
    ".heic",
    ".mp4",
    ".mov",
    ".mkv",
    ".avi",
    ".parquet",
)

PHOTOS = """
import sys
from pathlib import Path
import numpy as np
from PIL import Image
Path("photos").mkdir()
for scene, colour in enumerate([(200, 40, 30), (30, 170, 60), (40, 60, 210)]):
    detail = np.random.default_rng(scene).normal(scale=25, size=(48, 64, 3))
    for k in range(14):
        noise = np.random.default_rng(20 * scene + k).integers(-1, 2, (48, 64, 3))
        pixels = np.clip(np.asarray(colour) + detail + noise, 0, 255).astype(np.uint8)
        minute = 20 * scene + k
        Image.fromarray(pixels).save(f"photos/20150312_09{minute:02d}00.png")
"""

ARRAY = """
import numpy as np
from pathlib import Path
import dayline
assert "site-packages" in Path(dayline.__file__).parts, dayline.__file__
rows = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(60, 3))
print(dayline.EventSegmenter().fit(rows).boundaries_.tolist())
"""


def clean_environment(home: Path) -> dict[str, str]:
    """This environment without what could lead to the checkout."""
    left_out = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "XDG_CACHE_HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "DAYLINE_TRACEBACK": "1",
        "XDG_CACHE_HOME": str(home / "cache"),
    }


def run(*command: object, cwd: Path) -> str:
    """Run a command in a folder outside the checkout; show all it printed if it fails."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=clean_environment(cwd),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the source archive, and the wheel that is built from it alone."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("built")
    options = ("--quiet", "--no-deps", "--dest", "reached", "hatchling")
    reach = [sys.executable, "-m", "pip", "download", *options]
    if subprocess.run(reach, cwd=folder, capture_output=True, check=False).returncode != 0:
        pytest.skip("pip reaches no package index, which building and installing need")
    run(sys.executable, "-m", "build", "--quiet", "--outdir", folder, ROOT, cwd=folder)
    return folder


def sources(folder: str) -> set[str]:
    """Files of a folder of the checkout that are not made by running it."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".hypothesis" not in path.parts
    }


def test_the_source_archive_holds_what_it_must_and_nothing_private(built):
    (path,) = built.glob("*.tar.gz")
    assert path.stat().st_size < 5 * LARGEST
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    top = f"dayline-{dayline.__version__}/"
    files = {member.name.removeprefix(top): member.size for member in members if member.isfile()}
    assert all(member.isfile() and member.name.startswith(top) for member in members)
    must = {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "Makefile",
        "Containerfile",
        "pyproject.toml",
    }
    assert must | sources("src") | sources("tests") | sources("docs") | sources(
        "benchmarks"
    ) <= set(files)
    assert {name: size for name, size in files.items() if size > LARGEST} == {}
    assert [
        name for name in files if SECRETS.search(name) or name.lower().endswith(RECORDINGS)
    ] == []


def test_the_wheel_holds_the_package_whole_and_nothing_else(built):
    (path,) = built.glob("*.whl")
    assert path.stat().st_size < 2 * LARGEST  # half of it is the photographs of the demo
    with zipfile.ZipFile(path) as archive:
        names = {info.filename for info in archive.infolist()}
        about = archive.read(f"dayline-{dayline.__version__}.dist-info/METADATA").decode()
    package = {name.removeprefix("src/") for name in sources("src")}
    info = {name for name in names if name.startswith(f"dayline-{dayline.__version__}.dist-info/")}
    assert names - info == package
    assert {".js", ".css", ".html", ".json", ".md", ".typed", ".py", ".webp"} <= {
        Path(name).suffix or name for name in package
    }
    assert any(name.endswith("licenses/LICENSE") for name in info)
    assert any(name.endswith("photographs/CREDITS.md") for name in info)
    assert "License-Expression: BSD-3-Clause AND CC0-1.0\n" in about


def test_the_wheel_alone_makes_a_page_of_photos_and_events_of_an_array(built, tmp_path):
    """With the extra demo, no checkout near; all that comes with it has a permissive license."""
    (wheel,) = built.glob("*.whl")
    bin_folder = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    python, command = bin_folder / "python", bin_folder / "dayline"
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[demo]", cwd=tmp_path)
    assert "No broken requirements" in run(python, "-m", "pip", "check", cwd=tmp_path)

    assert run(command, "--version", cwd=tmp_path) == f"dayline {dayline.__version__}\n"
    line = run(command, "doctor", "--line", cwd=tmp_path)
    assert line.startswith(f"dayline {dayline.__version__}; ")
    assert {"demo", "photos"} <= set(line.rpartition("extras: ")[2].split())

    shown = run(command, "demo", "-o", "demo", "--no-open", cwd=tmp_path)
    assert "Against the 15 true boundaries" in shown
    assert "<html" in (tmp_path / "demo" / "index.html").read_text(encoding="utf-8")

    run(python, "-c", PHOTOS, cwd=tmp_path)
    run(command, "segment", "photos", "-o", "out", cwd=tmp_path)
    events = json.loads((tmp_path / "out" / "events.json").read_text(encoding="utf-8"))["events"]
    assert [event["start"] for event in events] == [0, 14, 28]
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<script" in page
    assert "<style" in page
    assert run(python, "-c", ARRAY, cwd=tmp_path) == "[20, 40]\n"

    licenses = json.loads(run(python, LICENSES, "--json", cwd=tmp_path))
    assert {"dayline", "numpy", "av", "onnxruntime"} <= {row["name"] for row in licenses}
