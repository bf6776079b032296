from __future__ import annotations

import errno
import os
import re
import struct

import pytest

from dayline.files import (
    UnreadableFileError,
    check_allocation,
    read_no_follow,
    reading,
    write_text_whole,
    writing_whole,
)


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


def test_a_folder_in_the_way_of_a_file_is_named_and_stays(tmp_path):
    (tmp_path / "a.txt").mkdir()
    message = f"{tmp_path / 'a.txt'}: a folder is in the way of a file; move or remove it"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        write_text_whole(tmp_path / "a.txt", "new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_write_that_fails_names_the_file(tmp_path):
    with (
        pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path / 'a.txt'}'")),
        writing_whole(tmp_path / "a.txt"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "none" / "a.txt"))):
        write_text_whole(tmp_path / "none" / "a.txt", "x")


@pytest.mark.parametrize(
    "error", [struct.error("short"), KeyError("x"), AssertionError(), RecursionError("deep")]
)
def test_whatever_a_library_raises_becomes_one_line_that_names_the_file(error):
    with (
        pytest.raises(UnreadableFileError, match=r"^a\.mat: damaged, or not a MATLAB file \(.+\)$"),
        reading("a.mat", "a MATLAB file"),
    ):
        raise error


def test_only_the_first_line_of_a_long_message_is_shown():
    with pytest.raises(UnreadableFileError) as caught, reading("a.onnx", "a network"):
        raise RuntimeError("\nfirst\nsecond")
    assert str(caught.value) == "a.onnx: damaged, or not a network (first)"


def test_what_we_refuse_ourselves_passes_unchanged():
    with pytest.raises(UnreadableFileError, match=r"^ours$"), reading("a.npy", "a NumPy file"):
        raise UnreadableFileError("ours")


def test_an_operating_system_error_keeps_its_reason():
    with (
        pytest.raises(
            UnreadableFileError,
            match=r"^a\.npy: cannot be read as a NumPy file: Permission denied$",
        ),
        reading("a.npy", "a NumPy file"),
    ):
        raise PermissionError(13, "Permission denied")


def test_small_files_may_take_256_mb_and_large_ones_16_times_their_size():
    check_allocation("a.npz", 256 * 2**20, file_size=10)
    with pytest.raises(UnreadableFileError, match=r"array 'x' declares 257 MB, over the limit"):
        check_allocation("a.npz", 257 * 2**20, file_size=10, what="array 'x'")
    check_allocation("a.npz", 16 * 2**30, file_size=2**30)
    with pytest.raises(UnreadableFileError, match=r"over the limit of 16\.0 GB"):
        check_allocation("a.npz", 16 * 2**30 + 1, file_size=2**30)
