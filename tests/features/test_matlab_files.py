"""MATLAB files: read as SciPy reads them, without its crashes on damaged ones."""

from __future__ import annotations

import io
import os
import resource
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
import scipy.sparse
from scipy.io import loadmat, savemat

from dayline.features.matlab_files import list_mat, load_mat
from dayline.features.tables import read_features
from dayline.files import UnreadableFileError
from dayline.research.datasets.boundary_file import read_boundaries

RNG = np.random.default_rng(0)
CELLS = np.empty((2, 3), dtype=object)
for place in np.ndindex(2, 3):
    CELLS[place] = np.arange(4.0)
CONTENT = {
    "features": RNG.normal(size=(8, 5)),
    "single": RNG.normal(size=(3, 4)).astype(np.float32),
    "bytes": np.arange(3, dtype=np.uint8),
    "long": np.arange(4) - 2,
    "flags": np.asarray([[True, False]]),
    "cube": RNG.normal(size=(2, 3, 4)),
    "none": np.zeros((0, 3)),
    "one": 3.5,
}
OTHERS = {
    "cells": CELLS,
    "record": {"a": 1, "b": np.eye(2)},
    "text": "words",
    "complex": np.asarray([[1 + 2j]]),
    "sparse": scipy.sparse.eye(3).tocsc(),
}


@pytest.mark.filterwarnings(
    "ignore:The default value for `spmatrix`:DeprecationWarning"
)  # SciPy's own, from 1.18 on
@pytest.mark.parametrize("compressed", [False, True])
def test_numbers_are_read_as_scipy_reads_them(tmp_path, compressed):
    path = tmp_path / "x.mat"
    savemat(path, CONTENT | OTHERS, do_compression=compressed)
    read, expected = load_mat(path), loadmat(path)
    assert list(read) == list(CONTENT)
    for name, array in read.items():
        np.testing.assert_array_equal(array, expected[name], strict=True)
        assert array.flags.f_contiguous
    kinds = {name: header.kind for name, header in list_mat(path).items()}
    assert list(kinds) == list(CONTENT | OTHERS)
    assert [kinds[name] for name in OTHERS] == [
        "cell",
        "struct",
        "char",
        "complex double",
        "sparse",
    ]


def test_version_4_is_read(tmp_path):
    savemat(tmp_path / "x.mat", {"features": CONTENT["features"], "text": "words"}, format="4")
    np.testing.assert_array_equal(read_features(tmp_path / "x.mat").features, CONTENT["features"])


def part(kind: int, data: bytes) -> bytes:
    return struct.pack(">II", kind, len(data)) + data.ljust(-(-len(data) // 8) * 8, b"\0")


def test_files_of_machines_of_the_other_byte_order_are_read(tmp_path):
    content = (
        part(6, struct.pack(">II", 6, 0)) + part(5, struct.pack(">ii", 2, 3)) + part(1, b"features")
    )
    content += part(9, np.arange(6, dtype=">f8").tobytes())
    (tmp_path / "x.mat").write_bytes(b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + part(14, content))
    np.testing.assert_array_equal(
        read_features(tmp_path / "x.mat").features, [[0, 2, 4], [1, 3, 5]]
    )


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_a_matrix_of_numbers_is_named(tmp_path, name):
    savemat(tmp_path / "x.mat", CONTENT | OTHERS)
    with pytest.raises(
        ValueError, match=rf"x\.mat: '{name}' has type .*; it must contain real numbers"
    ):
        read_features(tmp_path / "x.mat", key=name)


def test_labels_in_a_cell_array_are_refused_in_one_line(tmp_path):
    savemat(tmp_path / "x.mat", {"labels": CELLS})
    with pytest.raises(
        ValueError, match=r"x\.mat: 'labels' has type cell; it must contain real numbers"
    ):
        read_boundaries(tmp_path / "x.mat")


@pytest.mark.parametrize(
    "version", [b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3".ljust(124) + b"\x00\x02IM"]
)
def test_version_7_3_has_a_way_out(tmp_path, version):
    (tmp_path / "x.mat").write_bytes(version.ljust(600))
    with pytest.raises(ValueError, match=r"x\.mat: a MATLAB 7\.3 file; save it with -v7"):
        read_features(tmp_path / "x.mat")


@pytest.mark.parametrize("declared", [300 * 2**20, 4096])
def test_a_variable_that_unpacks_to_far_more_than_it_declares_or_may_is_refused(tmp_path, declared):
    savemat(tmp_path / "x.mat", {"features": np.zeros((100, 5))})
    good = (tmp_path / "x.mat").read_bytes()
    content = struct.pack("<II", 14, declared) + good[136:] + bytes(300 * 2**20)
    packed = zlib.compress(content, 1)
    (tmp_path / "x.mat").write_bytes(good[:128] + struct.pack("<II", 15, len(packed)) + packed)
    del content
    tracemalloc.start()
    with pytest.raises(
        UnreadableFileError, match=r"x\.mat: (features declares 300 MB, over the limit|damaged)"
    ):
        read_features(tmp_path / "x.mat")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


def test_two_variables_of_one_name_are_refused(tmp_path):
    savemat(tmp_path / "x.mat", {"features": np.eye(3)})
    good = (tmp_path / "x.mat").read_bytes()
    (tmp_path / "x.mat").write_bytes(good + good[128:])
    with pytest.raises(ValueError, match="contains two variables named 'features'"):
        read_features(tmp_path / "x.mat")


def mutated(good: bytes, rng: np.random.Generator) -> bytes:
    content = bytearray(good)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(128, len(content)))
        match int(rng.integers(4)):
            case 0:
                content[at] ^= 1 << int(rng.integers(8))
            case 1:
                content[at] = int(rng.integers(256))
            case 2:
                content[at : at + 4] = struct.pack("<i", int(rng.choice([-1, 0, 1, 2**31 - 1])))
            case 3:
                del content[at:]
                return bytes(content)
    return bytes(content)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "options", [{}, {"do_compression": True}, {"format": "4"}], ids=["5", "compressed", "4"]
)
def test_no_damage_ends_the_interpreter(tmp_path, options):
    # SciPy's reader dies on some of these, also when it is asked for the numeric variables only.
    good = io.BytesIO()
    savemat(
        good,
        {"features": CONTENT["features"]} if options.get("format") else CONTENT | OTHERS,
        **options,
    )
    path = tmp_path / "x.mat"
    child = os.fork()
    if child == 0:  # a crash must not take the test with it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        rng, status = np.random.default_rng(1), 0
        for _ in range(1000):
            path.write_bytes(mutated(good.getvalue(), rng))
            try:
                load_mat(path)
            except UnreadableFileError as error:
                status = status if "x.mat: " in str(error) and "\n" not in str(error) else 3
            except BaseException:
                status = 4
        os._exit(status)
    _, status, used = os.wait4(child, 0)
    assert status == 0
    assert used.ru_maxrss < 2**20  # kilobytes
