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

HEADER_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
LONGEST_HEADER = 2**16
ZIP_END, ZIP64_END = b"PK\x05\x06", b"PK\x06\x06"
LONGEST_ZIP_END = 2**16 + 98  # a comment plus the end records of either kind of archive


@dataclass(frozen=True)
class ArrayHeader:
    """Declared shape and type of one array in a file, and where its values start."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int


def load_npy(path: Path) -> NDArray[Any]:
    """Read the array in an .npy file."""
    with reading(path, "a NumPy file"), path.open("rb") as file:
        return _read_array(file, path.stat().st_size, path, "the array")


def list_npz(path: Path) -> dict[str, ArrayHeader]:
    """Read the names, shapes and types of the arrays in an .npz file."""
    with reading(path, "a NumPy file"), zipfile.ZipFile(path) as archive:
        headers = {}
        for name, member in _members(archive, path).items():
            with archive.open(member) as file:
                headers[name] = _header(file)
        return headers


def load_npz(path: Path, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read arrays from an .npz file.

    Parameters
    ----------
    path : Path
        The file.
    names : iterable of str, optional
        Arrays to read; all if not given.
    """
    with reading(path, "a NumPy file"), zipfile.ZipFile(path) as archive:
        members = _members(archive, path)
        wanted = list(members if names is None else names)
        missing = [name for name in wanted if name not in members]
        if missing:
            raise UnreadableFileError(
                f"{path}: has no array {missing[0]!r}; it contains"
                f" {', '.join(members) or 'nothing'}"
            )
        check_allocation(
            path, sum(members[name].file_size for name in wanted), what=" and ".join(wanted)
        )
        arrays = {}
        for name in wanted:
            with archive.open(members[name]) as file:
                arrays[name] = _read_array(file, members[name].file_size, path, f"array {name!r}")
        return arrays


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


def _header(file: IO[bytes]) -> ArrayHeader:
    head = io.BytesIO(file.read(LONGEST_HEADER))
    version = npy.read_magic(head)
    if version not in HEADER_READERS:
        raise ValueError(f"unknown format version {version[0]}.{version[1]}")
    with warnings.catch_warnings():
        # Python warns of odd literals in a damaged header, NumPy of Python 2 files.
        warnings.simplefilter("ignore")
        shape, _, dtype = HEADER_READERS[version](head)
    if any(n < 0 for n in shape):
        raise ValueError(f"an array has shape {shape}")
    return ArrayHeader(tuple(int(n) for n in shape), dtype, head.tell())


def _read_array(file: IO[bytes], size: int, path: Path, what: str) -> NDArray[Any]:
    header = _header(file)
    if header.dtype.hasobject:
        raise UnreadableFileError(
            f"{path}: not read because it contains Python objects (pickle), which could run code;"
            " save plain numbers"
        )
    # Fewer values than the bytes allow also means a damaged header.
    if prod(header.shape) * header.dtype.itemsize != size - header.start:
        raise ValueError(
            f"{what} declares {header.shape} values of type {header.dtype} but has another size"
        )
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array
