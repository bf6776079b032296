from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path

import archives
import pytest


@pytest.fixture(autouse=True)
def _pip_has_one_folder(monkeypatch, tmp_path):
    """Set pip up for one folder and nothing else."""
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))


def make_archive(folder: Path, *, marker: Path) -> Path:
    """Write the source archive of a package whose setup.py leaves a trace when it is run."""
    path = folder / "some_recordings-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        contents = {
            "setup.py": f"open({str(marker)!r}, 'w')",
            "data/sound.txt": "la la",
            "PKG-INFO": "Metadata-Version: 2.1\nName: some-recordings\nVersion: 1.0\n",
        }
        for name, text in contents.items():
            member = tarfile.TarInfo(f"some_recordings-1.0/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def test_archives_come_from_the_index_of_pip_and_nothing_in_them_is_run(tmp_path, monkeypatch):
    archive = make_archive(tmp_path / "index", marker=tmp_path / "was_run")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setitem(archives.ARCHIVES, "some-recordings==1.0", digest)
    folder = tmp_path / "archives"
    assert archives.Archive(folder, "some-recordings==1.0").read("data/sound.txt") == b"la la"
    assert [path.name for path in folder.iterdir()] == [archive.name]
    assert not (tmp_path / "was_run").exists()
    archive.unlink()
    assert archives.fetched(folder, "some-recordings==1.0") == folder / archive.name


def test_an_archive_with_another_digest_is_refused(tmp_path, monkeypatch):
    make_archive(tmp_path / "index", marker=tmp_path / "was_run")
    digest = hashlib.sha256(b"another").hexdigest()
    monkeypatch.setitem(archives.ARCHIVES, "some-recordings==1.0", digest)
    with pytest.raises(SystemExit, match=r"some-recordings==1\.0: pip could not download"):
        archives.fetched(tmp_path / "archives", "some-recordings==1.0")
    assert not (tmp_path / "was_run").exists()
    assert list((tmp_path / "archives").iterdir()) == []
