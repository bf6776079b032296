from __future__ import annotations

import errno
import os
import re

import pytest

from dayline.files import prepare_output, write_text_whole, writing_whole


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_text_whole(path, "old")
    with pytest.raises(RuntimeError):  # noqa: PT012, SIM117 (the block is what is tested)
        with writing_whole(path) as file:
            file.write("half")
            raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_an_output_folder_of_others_is_refused(tmp_path):
    (tmp_path / "letter.txt").touch()
    with pytest.raises(ValueError, match="holds other files"):
        prepare_output(tmp_path)
    ours = prepare_output(tmp_path / "a" / "b")
    (ours / "events.json").touch()
    assert prepare_output(ours) == ours


def test_a_write_that_fails_names_the_file(tmp_path):
    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path / 'a.txt'}'")):  # noqa: SIM117
        with writing_whole(tmp_path / "a.txt"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "none" / "a.txt"))):
        write_text_whole(tmp_path / "none" / "a.txt", "x")
