"""Arrays in NumPy files (.npy, .npz): sizes are checked first, and pickles never loaded."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dayline.files import UnreadableFileError, check_allocation, reading

MAGIC_NPY, MAGIC_ZIP, MAGIC_PICKLE = b"\x93NUMPY", b"PK", b"\x80"
HEADER_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
LONGEST_HEADER = 2**16
ZIP_END, ZIP64_END = b"PK\x05\x06", b"PK\x06\x06"
LONGEST_ZIP_END = 2**16 + 98  # a comment plus the end records of either kind of archive
PICKLED = "Python objects (pickle), which could run code"


@dataclass(frozen=True)
class ArrayHeader:
    """Declared header of one array in a file.

    Attributes
    ----------
    shape : tuple of int
        Shape of the array.
    kind : str
        Type of its values for messages: "float64", "cell".
    is_numeric : bool
        Whether the values are real numbers.
    """

    shape: tuple[int, ...]
    kind: str
    is_numeric: bool


def load_npy(path: Path) -> NDArray[Any]:
    """Read the array in an .npy file."""
    with reading(path, "a NumPy file"), path.open("rb") as file:
        head = file.read(len(MAGIC_NPY))
        if head.startswith(MAGIC_ZIP):
            raise UnreadableFileError(f"{path}: contains several arrays; rename it to .npz")
        if head.startswith(MAGIC_PICKLE):
            raise _pickled(path)
        file.seek(0)
        return _read_array(file, path.stat().st_size, path, "the array")


def list_npz(path: Path) -> dict[str, ArrayHeader]:
    """Read the names, shapes and types of the arrays in an .npz file."""
    with reading(path, "a NumPy file"), _open_npz(path) as archive:
        headers = {}
        for name, member in _members(archive, path).items():
            with archive.open(member) as file:
                headers[name] = _described(file)
        return headers


def load_npz(
    path: Path, names: Iterable[str] | None = None, *, stored: bool = False
) -> dict[str, NDArray[Any]]:
    """Read arrays from an .npz file.

    Parameters
    ----------
    path : Path
        The file.
    names : iterable of str, optional
        Arrays to read; all if not given.
    stored : bool
        Whether to reject a compressed file.
    """
    with reading(path, "a NumPy file"), _open_npz(path) as archive:
        members = _members(archive, path)
        wanted = list(members if names is None else names)
        missing = [name for name in wanted if name not in members]
        if missing:
            raise UnreadableFileError(
                f"{path}: has no array {missing[0]!r}; it contains"
                f" {', '.join(members) or 'nothing'}"
            )
        if stored and any(members[name].compress_type != zipfile.ZIP_STORED for name in wanted):
            raise UnreadableFileError(f"{path}: is compressed")
        check_allocation(
            path, sum(members[name].file_size for name in wanted), what=" and ".join(wanted)
        )
        arrays = {}
        for name in wanted:
            with archive.open(members[name]) as file:
                arrays[name] = _read_array(file, members[name].file_size, path, f"array {name!r}")
        return arrays


def _open_npz(path: Path) -> zipfile.ZipFile:
    with path.open("rb") as file:
        head = file.read(len(MAGIC_NPY))
    if head == MAGIC_NPY:
        raise UnreadableFileError(f"{path}: contains a single array; rename it to .npy")
    if head.startswith(MAGIC_PICKLE):
        raise _pickled(path)
    return zipfile.ZipFile(path)


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    if len(archive.infolist()) != _announced_members(path):
        raise UnreadableFileError(f"{path}: damaged: its directory is incomplete")
    for member in archive.infolist():
        if not member.filename.endswith(".npy"):
            # An array with a damaged name in the directory looks like another file; opening it
            # compares the names.
            archive.open(member).close()
            continue
        name = member.filename.removesuffix(".npy")
        if name in members:
            raise UnreadableFileError(f"{path}: contains two arrays named {name!r}")
        # For other compression methods, zipfile ignores the size declared in the directory.
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableFileError(
                f"{path}: damaged, or not a NumPy file ({name!r} has an unknown compression)"
            )
        members[name] = member
    return members


def _announced_members(path: Path) -> int:
    """Return how many members the end of a zip archive declares, which zipfile does not check."""
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, LONGEST_ZIP_END), os.SEEK_END)
        end = file.read()
    at = end.rfind(ZIP64_END)
    if at >= 0:
        return int(struct.unpack_from("<Q", end, at + 32)[0])
    return int(struct.unpack_from("<H", end, end.rindex(ZIP_END) + 10)[0])


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return the shape and type of an array, and where its values start."""
    head = io.BytesIO(file.read(LONGEST_HEADER))
    version = npy.read_magic(head)
    if version not in HEADER_READERS:
        raise ValueError(f"unknown format version {version[0]}.{version[1]}")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # Python warns of odd literals in a damaged header, NumPy of Python 2 files
        shape, _, dtype = HEADER_READERS[version](head)
    if any(n < 0 for n in shape):
        raise ValueError(f"an array has shape {shape}")
    return tuple(int(n) for n in shape), dtype, head.tell()


def _described(file: IO[bytes]) -> ArrayHeader:
    shape, dtype, _ = _header(file)
    return ArrayHeader(shape, PICKLED if dtype.hasobject else str(dtype), dtype.kind in "biuf")


def _read_array(file: IO[bytes], size: int, path: Path, what: str) -> NDArray[Any]:
    shape, dtype, start = _header(file)
    if dtype.hasobject:
        raise _pickled(path)
    # Fewer values than the bytes allow also means a damaged header.
    if prod(shape) * dtype.itemsize != size - start:
        raise ValueError(f"{what} declares {shape} values of type {dtype} but has another size")
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array


def _pickled(path: Path) -> UnreadableFileError:
    return UnreadableFileError(
        f"{path}: not read because it contains {PICKLED}; save plain numbers"
    )
