"""What works with `pip install dayline` alone, and what is said where an extra is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dayline.installation import EXTRAS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def with_dependencies(requirements: Iterable[str]) -> set[str]:
    """Names of the distributions that these requirements install, theirs too."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        needed = waiting.pop()
        wanted = [{"extra": extra} for extra in needed.extras] or [{"extra": ""}]
        name = canonicalize_name(needed.name)
        if name in found:
            continue
        found.add(name)
        try:
            theirs = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue
        waiting += [
            r
            for r in theirs
            if r.marker is None or any(r.marker.evaluate(extra) for extra in wanted)
        ]
    return found


@pytest.fixture(scope="module")
def absent() -> list[str]:
    """Modules that are installed here and that the base install does not bring."""
    base = with_dependencies(PROJECT["dependencies"]) | {"dayline"}
    owners = {
        module: {canonicalize_name(n) for n in names}
        for module, names in packages_distributions().items()
    }
    return sorted(
        module for module, names in owners.items() if not names & base and module.isidentifier()
    )


HIDE = """
import sys
from importlib.machinery import PathFinder

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
"""


def run_base(
    absent: list[str], code: str, *arguments: object, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run code in a process that finds the base install and nothing more."""
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        HIDE.format(absent=absent) + code,
        *map(str, arguments),
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


COMMAND = "from dayline.cli import main; main()"


def test_the_base_install_has_no_package_of_an_extra(absent):
    assert {"PIL", "av", "google", "onnxruntime", "pillow_heif"} <= set(absent)
    assert not {
        "numpy",
        "scipy",
        "sklearn",
        "jinja2",
        "joblib",
        "rich",
        "typer",
        "threadpoolctl",
    } & set(absent)


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_package_of_an_extra_is_known_by_the_name_it_is_imported_under(extra):
    owners = packages_distributions()
    if not set(EXTRAS[extra][1]) <= set(owners):
        pytest.skip("not all of its packages are installed")
    groups = PROJECT["optional-dependencies"]
    needed = [Requirement(text) for text in groups[extra]]
    for inner in {name for one in needed if one.name == "dayline" for name in one.extras}:
        needed += [Requirement(text) for text in groups[inner]]
    packages = [one for one in needed if one.name != "dayline"]
    listed = {canonicalize_name(name) for one in packages for name in (one.name, *one.extras)}
    named = {canonicalize_name(owner) for module in EXTRAS[extra][1] for owner in owners[module]}
    assert named == listed


def test_the_base_install_imports_every_public_name_and_shows_help(absent, tmp_path):
    done = run_base(
        absent, "import dayline; [getattr(dayline, name) for name in dayline.__all__]", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    done = run_base(absent, COMMAND, "--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "segment" in done.stdout


def test_the_base_install_segments_a_feature_file_to_a_page(absent, tmp_path):
    rows = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(
        scale=0.1, size=(60, 3)
    )
    np.save(tmp_path / "features.npy", rows)
    options = ("-o", "out", "--export", "webvtt", "--export", "edl")
    done = run_base(absent, COMMAND, "segment", "features.npy", *options, cwd=tmp_path)
    # Chapters need times, which this file does not have; that is said, and all else is there.
    assert done.returncode == 2, done.stderr
    assert "webvtt: " in done.stderr
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"index.html", "events.json", "events.csv", "graph.png"} <= written
    done = run_base(absent, COMMAND, "evaluate", "out/events.json", "out/events.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_base_install_writes_the_page_of_an_array_and_says_what_pictures_and_figures_need(
    absent, tmp_path
):
    code = """
import numpy as np, dayline
rows = np.repeat(np.eye(3), 20, axis=0)
print(dayline.write_page(rows, "out"))
segmentation = dayline.read_events("out/events.json")
for show in (
    lambda: dayline.write_page(rows, "new", pictures=[np.zeros((4, 4))] * 60),
    lambda: dayline.plot(segmentation),
    lambda: segmentation.to_frame(),
):
    try:
        show()
    except ValueError as error:
        print(error)
print(len(segmentation.to_dicts()))
"""
    done = run_base(absent, code, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    page, pictures, figure, frame, number = done.stdout.splitlines()
    assert page == "out/index.html"
    assert (
        pictures == "showing photos on the page needs more packages (PIL is missing); pip install"
        ' "dayline[photos]"'
    )
    assert (
        figure
        == 'a figure needs more packages (matplotlib is missing); pip install "dayline[figures]"'
    )
    assert frame.startswith(
        "backend='pandas' needs pandas, which is not installed; pip install pandas"
    )
    assert int(number) == 3
    assert not (tmp_path / "new").exists()


def test_the_base_install_segments_many_feature_files(absent, tmp_path):
    (tmp_path / "root" / "day").mkdir(parents=True)
    (tmp_path / "root" / "day" / "a.jpg").write_bytes(b"a photo")
    rows = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(
        scale=0.1, size=(60, 3)
    )
    np.save(tmp_path / "root" / "features.npy", rows)
    # The processes of the pool find all that is installed here, so that only the broken photo
    # itself fails.
    done = run_base(absent, COMMAND, "batch", "root", "-o", "out", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "features.npy: " in done.stdout
    assert (tmp_path / "out" / "features.npy" / "events.json").is_file()
    done = run_base(
        absent,
        COMMAND,
        "batch",
        "root",
        "-o",
        "new",
        "--cluster",
        "tcp://127.0.0.1:9",
        cwd=tmp_path,
    )
    needed = (
        "a Dask cluster needs more packages (distributed is missing); pip install"
        ' "dayline[cluster]"'
    )
    assert (done.returncode, done.stderr) == (2, f"dayline: {needed}\n")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("segment", "photos"), 'pip install "dayline[photos]"'),
        (("segment", "photos", "--dry-run"), "reading photos needs more packages (PIL is missing)"),
        (("segment", "film.mp4"), 'pip install "dayline[photos]"'),
        (("segment", "film"), 'pip install "dayline[photos]"'),
        (
            ("demo",),
            (
                "the demo's sequence of photos needs more packages (PIL is missing); pip install"
                ' "dayline[demo]"'
            ),
        ),
        (
            ("segment", "talk.srt", "--word-vectors"),
            'is missing); pip install "dayline[talk]"',
        ),
        (
            ("export", "events.json", "--format", "clips", "--source", "film"),
            'reading a video needs more packages (av is missing); pip install "dayline[photos]"',
        ),
    ],
)
def test_what_needs_an_extra_says_so_in_one_line(absent, tmp_path, arguments, message):
    from dayline.events import Segmentation

    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"a photo")
    for name in ("film.mp4", "film"):
        (tmp_path / name).write_bytes(b"a film")
    (tmp_path / "talk.srt").write_text("1\n00:00:00,000 --> 00:00:02,000\nGood morning.\n")
    times = tuple(float(t) for t in range(6))
    segmentation = Segmentation.from_boundaries([3], n_frames=6, times=times)
    (tmp_path / "events.json").write_text(segmentation.to_json())
    before = sorted(path.name for path in tmp_path.rglob("*"))
    done = run_base(absent, COMMAND, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_every_model_says_which_extra_it_needs(absent, tmp_path):
    code = """
import numpy as np
from pathlib import Path
from dayline.features.extract import load_extractor
Path("own.onnx").write_bytes(b"")
for model in ("lite0", "hog", "color", "own.onnx"):
    try:
        load_extractor(model).prepare(np.zeros((20, 20, 3), dtype=np.uint8))
    except ValueError as error:
        print(error)
"""
    done = run_base(absent, code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('pip install "dayline[photos]"') == 4
