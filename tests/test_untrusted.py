from __future__ import annotations

import struct

import pytest

from dayline.files import UnreadableFileError, check_allocation, reading


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
    with pytest.raises(
        UnreadableFileError, match=r"array 'x' declares 257 MB, over the limit of 256 MB"
    ):
        check_allocation("a.npz", 257 * 2**20, file_size=10, what="array 'x'")
    check_allocation("a.npz", 16 * 2**30, file_size=2**30)
    with pytest.raises(UnreadableFileError, match=r"over the limit of 16\.0 GB"):
        check_allocation("a.npz", 16 * 2**30 + 1, file_size=2**30)
