from __future__ import annotations

import errno
import os
import re

import pytest

from dayline.files import read_no_follow, write_text_whole, writing_whole


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_text_whole(path, "old")
    with pytest.raises(RuntimeError):  # noqa: PT012, SIM117 (the block is what is tested)
        with writing_whole(path) as file:
            file.write("half")
            raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "private.txt").write_text("mine")
    (tmp_path / "a.txt").symlink_to(tmp_path / "private.txt")
    write_text_whole(tmp_path / "a.txt", "new")
    assert (tmp_path / "private.txt").read_text() == "mine"
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="Windows opens links otherwise")
def test_a_link_a_folder_or_a_pipe_is_not_read(tmp_path):
    assert read_no_follow(tmp_path / "none") is None
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(ValueError, match="is a link to another place"):
        read_no_follow(tmp_path / "a")
    with pytest.raises(ValueError, match=f"{tmp_path.name}: is not a regular file"):
        read_no_follow(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file"):
        read_no_follow(tmp_path / "pipe")


def test_a_write_that_fails_names_the_file(tmp_path):
    with (
        pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path / 'a.txt'}'")),
        writing_whole(tmp_path / "a.txt"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "none" / "a.txt"))):
        write_text_whole(tmp_path / "none" / "a.txt", "x")
