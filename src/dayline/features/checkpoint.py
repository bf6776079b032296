"""Read tensors from a PyTorch file without PyTorch and without running code from the file."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from itertools import count
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dayline.features.tensor_pickle import Module, Storage, TensorPlace, read_pickle
from dayline.files import UnreadableFileError, check_allocation, reading

Tensors = dict[str, NDArray[Any]]

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
# A network has a few hundred tensors; a file with endless nesting is malicious or damaged.
_MOST_ENTRIES = 100_000
_DEEPEST = 32
_LONGEST_NAME = 1024
_LARGEST_PICKLE = 64 * 2**20


def read_checkpoint(path: str | Path) -> Tensors:
    """Read the tensors of a PyTorch checkpoint or TorchScript file by their dotted names.

    Supports the zip format, the older plain format and TorchScript archives. Only data is read:
    code in the file is neither imported nor run.

    Parameters
    ----------
    path : str or Path
        A `.pth` or `.pt` file.

    Returns
    -------
    dict of str to ndarray
        Names are those of the state dictionary, or attribute paths in a TorchScript module.
    """
    path = Path(path)
    with reading(path, "a readable PyTorch checkpoint"), path.open("rb") as file:
        is_zip = zipfile.is_zipfile(file)
        file.seek(0)
        tensors = _read_zip(file, path) if is_zip else _read_legacy(file, path)
    if not tensors:
        raise UnreadableFileError(
            f"{path}: contains no tensors; pass a state dictionary or a TorchScript file"
        )
    return tensors


def _read_zip(file: BinaryIO, path: Path) -> Tensors:
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        pickles = [name for name in names if name.count("/") == 1 and name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ValueError("has no data.pkl")
        root = pickles[0].removesuffix("data.pkl")
        if f"{root}byteorder" in names and _member(archive, f"{root}byteorder") != b"little":
            raise ValueError("is stored big-endian; save it again on a little-endian machine")
        content = read_pickle(io.BytesIO(_member(archive, pickles[0], most=_LARGEST_PICKLE)), {})
        return _materialise(
            content, lambda storage: _member(archive, f"{root}data/{storage.key}"), path
        )


def _member(archive: zipfile.ZipFile, name: str, *, most: int | None = None) -> bytes:
    member = archive.getinfo(name)
    # PyTorch stores data uncompressed; a compressed member could unpack to any size.
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise ValueError(f"contains {name} compressed, which PyTorch never does")
    size = os.fstat(archive.fp.fileno()).st_size if archive.fp else 0
    if member.file_size > (size if most is None else min(size, most)):
        raise ValueError(f"contains {name} of {member.file_size:,} bytes, which is too large")
    return archive.read(member)


def _read_legacy(file: BinaryIO, path: Path) -> Tensors:
    storages: dict[str, Storage] = {}
    if (
        read_pickle(file, storages) != _LEGACY_MAGIC
        or read_pickle(file, storages) != _LEGACY_PROTOCOL
    ):
        raise ValueError("does not start like one")
    if read_pickle(file, storages).get("little_endian") is not True:
        raise ValueError("is stored big-endian; save it again on a little-endian machine")
    content = read_pickle(file, storages)
    keys = read_pickle(file, storages)
    size = os.fstat(file.fileno()).st_size
    stored: dict[str, bytes] = {}
    for key in keys:
        if not isinstance(key, str):
            raise ValueError("has an unknown kind of storage key")
        n_elements = int.from_bytes(file.read(8), "little")
        n_bytes = n_elements * np.dtype(storages[key].dtype).itemsize
        if n_elements != storages[key].n_elements or n_bytes > size - file.tell() or key in stored:
            raise ValueError(f"is truncated: the data {key[:40]!r} is incomplete")
        stored[key] = file.read(n_bytes)
    return _materialise(content, lambda storage: stored[storage.key], path)


def _materialise(content: Any, read: Callable[[Storage], bytes], path: Path) -> Tensors:
    places = list(_tensor_places(content, "", _DEEPEST, count()))
    # Many tensors may share one storage, and each is copied.
    n_bytes = sum(prod(place.shape) * np.dtype(place.storage.dtype).itemsize for _, place in places)
    check_allocation(path, n_bytes, what="its tensors together")
    tensors: Tensors = {name: np.empty(0) for name, _ in places}  # in file order
    key, data = None, b""
    for name, place in sorted(places, key=lambda named: named[1].storage.key):
        if place.storage.key != key:  # read each storage once and keep one at a time
            key, data = place.storage.key, read(place.storage)
        tensors[name] = _tensor(name, place, data)
    return tensors


def _tensor(name: str, place: TensorPlace, data: bytes) -> NDArray[Any]:
    """Copy a tensor out of its data. Bounds are checked here again, so nothing outside the data is read."""
    dtype = np.dtype(place.storage.dtype)
    if len(data) < place.storage.n_elements * dtype.itemsize:
        raise ValueError(f"is truncated: the data of {name} is incomplete")
    values = np.frombuffer(data, dtype, count=place.storage.n_elements)
    n_values = prod(place.shape)
    if n_values == 0:
        return np.empty(place.shape, dtype)
    last = place.offset + sum(
        (n - 1) * step for n, step in zip(place.shape, place.strides, strict=True)
    )
    numbers = (place.offset, *place.shape, *place.strides)
    if min(numbers) < 0 or n_values > len(values) or last >= len(values):
        raise ValueError("contains a tensor that extends beyond its data")
    steps = tuple(step * dtype.itemsize for step in place.strides)
    return np.lib.stride_tricks.as_strided(values[place.offset :], place.shape, steps).copy()


def _tensor_places(
    value: Any, name: str, depth: int, seen: Iterator[int]
) -> Iterator[tuple[str, TensorPlace]]:
    if next(seen) > _MOST_ENTRIES or not depth or len(name) > _LONGEST_NAME:
        raise ValueError("nests more objects than any network has")
    if isinstance(value, TensorPlace):
        yield name, value
        return
    children = value.state if isinstance(value, Module) else value
    if isinstance(children, dict):
        for key, child in children.items():
            yield from _tensor_places(child, f"{name}.{key}" if name else str(key), depth - 1, seen)
