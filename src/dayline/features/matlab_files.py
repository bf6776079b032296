"""Numbers in MATLAB files (.mat), versions 4 to 7.

SciPy's reader of versions 5 to 7 trusts the type codes in a file: a damaged file crashes the
interpreter, in plain matrices as well as in cell arrays. This reader supports only numeric matrices
and checks every step.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dayline.features.numpy_files import ArrayHeader
from dayline.files import UnreadableFileError, check_allocation, reading

HEADER_SIZE = 128
TAG_SIZE = 8
MATRIX, COMPRESSED = 14, 15
FLAGS, DIMENSIONS, NAME = (6,), (5, 6), (1, 16)
"""Types of the parts of a header; the second is written by programs other than MATLAB."""
STORED_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
CLASSES = {1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single"}
CLASSES |= {
    8: "int8",
    9: "uint8",
    10: "int16",
    11: "uint16",
    12: "int32",
    13: "uint32",
    14: "int64",
    15: "uint64",
}
NUMERIC = {name for code, name in CLASSES.items() if code >= 6}
OPAQUE, COMPLEX = 17, 0x0800
# Enough for flags, 32 dimensions and a name.
LONGEST_HEAD = 4096


@dataclass(frozen=True)
class _Element:
    """Bytes of one variable in the file, starting at its tag; compressed if `is_compressed`."""

    start: int
    size: int
    is_compressed: bool


@dataclass(frozen=True)
class _Variable:
    """Declared header of a variable; `n_bytes` is its uncompressed size, including its tag."""

    header: ArrayHeader
    element: _Element
    n_bytes: int


def list_mat(path: Path) -> dict[str, ArrayHeader]:
    """Read the names, shapes and types of the variables in a .mat file."""
    with reading(path, "a MATLAB file"):
        if _is_version_4(path):
            from scipy.io import whosmat

            found = whosmat(io.BytesIO(path.read_bytes()))
            return {
                name: ArrayHeader(tuple(shape), kind, kind == "double")
                for name, shape, kind in found
            }
        return {name: variable.header for name, variable in _variables(path).items()}


def load_mat(path: Path, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read numeric matrices from a .mat file.

    Parameters
    ----------
    path : Path
        The file.
    names : iterable of str, optional
        Numeric variables to read; all of them if not given.
    """
    if names is None:
        names = [name for name, header in list_mat(path).items() if header.is_numeric]
    names = list(names)
    with reading(path, "a MATLAB file"):
        if _is_version_4(path):
            from scipy.io import loadmat

            content = loadmat(io.BytesIO(path.read_bytes()), variable_names=names)
            return {name: content[name] for name in names}
        variables = _variables(path)
        wanted = {name: variables[name] for name in names}
        for name, variable in wanted.items():
            if not variable.header.is_numeric:
                raise UnreadableFileError(
                    f"{path}: {name!r} has type {variable.header.kind}; it must contain real"
                    " numbers"
                )
        check_allocation(path, sum(v.n_bytes for v in wanted.values()), what=" and ".join(names))
        with path.open("rb") as file:
            order = _byte_order(file)
            return {name: _values(_content(file, v), order) for name, v in wanted.items()}


def _is_version_4(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(HEADER_SIZE)
    if head.startswith(b"\x89HDF") or head[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
        raise UnreadableFileError(f"{path}: a MATLAB 7.3 file; save it with -v7")
    # Version 4 starts with a number below 5,000, which has a zero byte; version 5 starts with text.
    return 0 in head[:4]


def _byte_order(file: IO[bytes]) -> str:
    file.seek(HEADER_SIZE - 2)
    mark = file.read(2)
    if mark not in (b"IM", b"MI"):
        raise ValueError("wrong header")
    return "<" if mark == b"IM" else ">"


def _variables(path: Path) -> dict[str, _Variable]:
    variables: dict[str, _Variable] = {}
    with path.open("rb") as file:
        order = _byte_order(file)
        for element in _elements(file, order):
            beginning = _beginning(file, element)
            kind, n_bytes = struct.unpack_from(f"{order}II", beginning)
            if kind != MATRIX:
                raise ValueError("a variable has an unknown type")
            name, header, _ = _head(memoryview(beginning), order)
            if name in variables:
                raise UnreadableFileError(f"{path}: contains two variables named {name!r}")
            # MATLAB stores function workspaces without a name.
            if name:
                variables[name] = _Variable(header, element, n_bytes + TAG_SIZE)
    return variables


def _elements(file: IO[bytes], order: str) -> Iterator[_Element]:
    size = os.fstat(file.fileno()).st_size
    position = HEADER_SIZE
    while position < size:
        file.seek(position)
        kind, n_bytes = struct.unpack(f"{order}II", file.read(TAG_SIZE))
        stop = position + TAG_SIZE + n_bytes
        if kind not in (MATRIX, COMPRESSED) or n_bytes == 0 or stop > size:
            raise ValueError("a variable is truncated or has an unknown type")
        start = position + TAG_SIZE if kind == COMPRESSED else position
        yield _Element(start, stop - start, kind == COMPRESSED)
        position = stop


def _beginning(file: IO[bytes], element: _Element) -> bytes:
    """Read enough of a variable for its tag and header."""
    file.seek(element.start)
    stored = file.read(min(element.size, LONGEST_HEAD))
    return (
        zlib.decompressobj().decompress(stored, LONGEST_HEAD) if element.is_compressed else stored
    )


def _content(file: IO[bytes], variable: _Variable) -> bytes:
    """Read a variable, and decompress no more than its declared size."""
    file.seek(variable.element.start)
    stored = file.read(variable.element.size)
    if not variable.element.is_compressed:
        return stored
    packed = zlib.decompressobj()
    content = packed.decompress(stored, variable.n_bytes)
    # This also verifies the checksum at the end; any further byte was not declared.
    if packed.decompress(packed.unconsumed_tail, 1) or not packed.eof:
        raise ValueError("a compressed variable does not end where it should")
    return content


def _head(content: memoryview, order: str) -> tuple[str, ArrayHeader, int]:
    """Return the name and header of a variable, and where its values start."""
    flags_part, position = _part(content, TAG_SIZE, FLAGS, order)
    flags = struct.unpack_from(f"{order}I", flags_part)[0]
    kind = CLASSES.get(flags & 0xFF, "object")
    shape: tuple[int, ...] = ()
    if flags & 0xFF != OPAQUE:
        dims, position = _part(content, position, DIMENSIONS, order)
        shape = struct.unpack(f"{order}{len(dims) // 4}i", dims)
        if len(shape) < 2 or min(shape) < 0:
            raise ValueError(f"a variable has shape {shape}")
    name, position = _part(content, position, NAME, order)
    if flags & COMPLEX:
        kind = f"complex {kind}"
    return str(name, "latin-1"), ArrayHeader(shape, kind, kind in NUMERIC), position


def _values(content: bytes, order: str) -> NDArray[Any]:
    view = memoryview(content)
    name, header, position = _head(view, order)
    stored = struct.unpack_from(f"{order}I", view, position)[0] & 0xFFFF
    if not header.is_numeric or stored not in STORED_TYPES:
        raise ValueError(f"{name} has values of an unknown type")
    numbers, _ = _part(view, position, (stored,), order)
    dtype = np.dtype(order + STORED_TYPES[stored])
    if len(numbers) != prod(header.shape) * dtype.itemsize:
        raise ValueError(f"{name} declares {header.shape} values but has another number")
    # MATLAB stores columns contiguously; the copy does too, so that sums are reproducible.
    return (
        np.frombuffer(numbers, dtype)
        .reshape(header.shape, order="F")
        .astype(dtype.newbyteorder("="), order="F")
    )


def _part(
    content: memoryview, position: int, kinds: tuple[int, ...], order: str
) -> tuple[memoryview, int]:
    """Return one part of a variable and the start of the next; up to four bytes are stored inside the tag."""
    tag = struct.unpack_from(f"{order}I", content, position)[0]
    if tag >> 16:
        found, n_bytes, start = tag & 0xFFFF, tag >> 16, position + 4
        following = position + TAG_SIZE
    else:
        found, n_bytes, start = (
            tag,
            struct.unpack_from(f"{order}I", content, position + 4)[0],
            position + TAG_SIZE,
        )
        following = start + (n_bytes + 7) // 8 * 8
    part = content[start : start + n_bytes]
    if found not in kinds or len(part) != n_bytes or (tag >> 16 and n_bytes > 4):
        raise ValueError("a variable is truncated or malformed")
    return part, following
