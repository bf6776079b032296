"""NumPy files: only what is asked for is read, and what they declare is checked first."""

from __future__ import annotations

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from dayline.features.numpy_files import list_npz, load_npy, load_npz
from dayline.features.tables import read_features
from dayline.files import UnreadableFileError
from dayline.research.datasets.annotations import read_boundaries

X = np.arange(12.0).reshape(6, 2) / 7


def npy_bytes(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def peak_memory(function, *arguments, **options):
    tracemalloc.start()
    try:
        return function(*arguments, **options), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("key", [None, "features"])
def test_only_the_wanted_array_is_read(tmp_path, key):
    np.savez_compressed(
        tmp_path / "x.npz", features=X, times=np.arange(6), other=np.zeros((2000, 2000))
    )
    table, peak = peak_memory(read_features, tmp_path / "x.npz", key=key)
    np.testing.assert_array_equal(table.features, X)
    assert table.times.tolist() == list(range(6))
    assert peak < 4e6
    read, peak = peak_memory(list_npz, tmp_path / "x.npz")
    assert {name: header.shape for name, header in read.items()}["other"] == (2000, 2000)
    assert peak < 4e6


def test_only_the_boundaries_of_an_archive_are_read(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", features=np.zeros((3000, 500)), boundaries=[7])
    read, peak = peak_memory(read_boundaries, tmp_path / "x.npz")
    assert (read.boundaries.tolist(), read.n_frames) == ([7], 3000)
    assert peak < 4e6


def write_zeros(path, n_bytes, *, method=zipfile.ZIP_DEFLATED, head=b""):
    with zipfile.ZipFile(path, "w", method) as archive, archive.open("features.npy", "w") as file:
        file.write(head)
        for _ in range(n_bytes // 2**20):
            file.write(bytes(2**20))


@pytest.mark.parametrize("reader", [read_features, load_npz, read_boundaries])
def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused_before_it_is_read(
    tmp_path, reader
):
    head = npy_bytes(np.empty(0)).replace(b"(0,), }" + b" " * 20, b"(33554432, 1), }" + b" " * 11)
    assert len(head) == 128
    write_zeros(tmp_path / "x.npz", 257 * 2**20, head=head)
    tracemalloc.start()
    with pytest.raises(
        ValueError,
        match=r"x\.npz: (features declares 257 MB, over the limit of 256 MB|holds features)",
    ):
        reader(tmp_path / "x.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_limit_are_refused(tmp_path, method):
    write_zeros(tmp_path / "x.npz", 2**20, method=method)
    with pytest.raises(ValueError, match=r"x\.npz: damaged.*has an unknown compression"):
        read_features(tmp_path / "x.npz")


def test_a_header_that_declares_its_own_length_as_huge_takes_no_memory(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 100)
    tracemalloc.start()
    with pytest.raises(UnreadableFileError, match=r"x\.npy: damaged, or not a NumPy file"):
        load_npy(tmp_path / "x.npy")
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


@pytest.mark.parametrize("shape", [(5, 2), (7, 2), (-6, -2), (6, 2, 0), (10**30, 2)])
def test_a_shape_that_is_not_that_of_the_values_is_refused(tmp_path, shape):
    head = npy_bytes(X)[:128].replace(b"(6, 2), }", f"{shape}, }}".encode())
    content = head[:127].rstrip().ljust(127) + b"\n"
    (tmp_path / "x.npy").write_bytes(content[:128] + X.tobytes())
    with pytest.raises(ValueError, match=r"x\.npy: damaged, or not a NumPy file"):
        read_features(tmp_path / "x.npy")


def test_a_damaged_value_inside_an_archive_is_found_by_its_checksum(tmp_path):
    np.savez(tmp_path / "x.npz", features=X)
    content = bytearray((tmp_path / "x.npz").read_bytes())
    content[content.index(X.tobytes()) + 40] ^= 1
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz: damaged, or not a NumPy file \(Bad CRC-32"):
        read_features(tmp_path / "x.npz")


def test_pickled_objects_beside_the_wanted_array_are_left_alone(tmp_path):
    np.savez(tmp_path / "x.npz", features=X, about=np.asarray([{}], dtype=object))
    np.testing.assert_array_equal(read_features(tmp_path / "x.npz").features, X)
    with pytest.raises(ValueError, match=r"Python objects .pickle., which could run code"):
        load_npz(tmp_path / "x.npz", ["about"])


def test_two_arrays_of_times_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", features=X, time=np.arange(6), seconds=np.arange(6))
    with pytest.raises(ValueError, match="has times in 'time' and 'seconds'; keep one and rename"):
        read_features(tmp_path / "x.npz")


@pytest.mark.parametrize("damage", ["name", "ending", "length of a name"])
def test_an_array_that_the_directory_of_an_archive_names_wrongly_is_not_lost(tmp_path, damage):
    path = tmp_path / "x.npz"
    np.savez(path, features=X, times=np.arange(6))
    data = bytearray(path.read_bytes())
    first, second = data.index(b"PK\x01\x02"), data.rindex(b"PK\x01\x02")
    if damage == "length of a name":
        # The comment of the first entry covers the second.
        data[first + 32 : first + 34] = (data.rindex(b"PK\x05\x06") - second).to_bytes(2, "little")
    else:
        data[data.rindex(b"times.npy") + (2 if damage == "name" else 7)] ^= 2
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError, match=r"x\.npz: damaged"):
        read_features(path)


def test_members_that_are_no_arrays_do_no_harm(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, features=X)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"six frames"
        archive.writestr("read me.txt", "how it was made")
    np.testing.assert_array_equal(read_features(path).features, X)
