"""Tensors out of a PyTorch file, without PyTorch and without running anything the file asks for."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tensors", "read_checkpoint"]

Tensors = dict[str, NDArray[Any]]

_DTYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
# A network has a few hundred tensors; a file that nests objects without end is an attack or an accident.
_MOST_ENTRIES = 100_000
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class _StorageType:
    dtype: str


@dataclass(frozen=True, slots=True)
class _Storage:
    dtype: str
    key: str
    n_elements: int


@dataclass(frozen=True, slots=True)
class _TensorPlace:
    """Where a tensor lies: the bytes of a legacy file come only after the pickle that describes them."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _RebuildTensor:
    """Stands for torch._utils._rebuild_tensor_v2. Slotless, so that no file can alter it."""

    __slots__ = ()

    def __call__(self, storage: Any, offset: Any, shape: Any, strides: Any, *rest: Any) -> _TensorPlace:
        numbers = (offset, *shape, *strides)
        if not isinstance(storage, _Storage) or not all(type(n) is int and n >= 0 for n in numbers):
            raise ValueError("holds a tensor that is described wrongly")
        if len(shape) != len(strides) or len(rest) > 3:
            raise ValueError("holds a tensor that is described wrongly")
        last = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        if prod(shape) > storage.n_elements or (prod(shape) and last >= storage.n_elements):
            raise ValueError("holds a tensor that reaches beyond its data")
        return _TensorPlace(storage, offset, tuple(shape), tuple(strides))


class _First:
    """Stands for functions that only wrap their first argument (parameters, TorchScript lists)."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> Any:
        return arguments[0]


def _module_class(name: str) -> type:
    """Make an inert class for one TorchScript module; a new one each time, so that files cannot meet."""

    def keep(self: Any, state: Any) -> None:
        self.state = state

    return type("Module", (), {"__setstate__": keep, "module_name": name})


class _TensorUnpickler(pickle.Unpickler):
    """An unpickler that knows tensors, ordered dictionaries and the shells of TorchScript modules only."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _RebuildTensor()
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _First()
        if module == "torch.jit._pickle" and name in ("build_intlist", "build_doublelist", "build_boollist"):
            return _First()
        if module == "torch" and name in _DTYPES:
            return _StorageType(_DTYPES[name])
        if module.startswith("__torch__."):
            return _module_class(f"{module}.{name}")
        raise ValueError(f"asks for {module}.{name}, which is no tensor; refused")

    def persistent_load(self, pid: Any) -> _Storage:
        match pid:
            case ("storage", _StorageType(dtype=dtype), str(key), str(), int(n)) if n >= 0:
                return _Storage(dtype, key, n)
            case ("storage", _StorageType(dtype=dtype), str(key), str(), int(n), None) if n >= 0:
                return _Storage(dtype, key, n)
        raise ValueError("refers to data in a way that is not known")


def read_checkpoint(path: str | Path) -> Tensors:
    """Read the tensors of a PyTorch checkpoint or TorchScript file by their dotted names.

    Understands the zip format, the older plain format and TorchScript archives. Only data is taken:
    code in the file is neither imported nor run.

    Parameters
    ----------
    path : str or Path
        A `.pth` or `.pt` file.

    Returns
    -------
    dict of str to ndarray
        Names as in the state dictionary, or as the path of attributes in a TorchScript module.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            is_zip = zipfile.is_zipfile(file)
            file.seek(0)
            tensors = _read_zip(file) if is_zip else _read_legacy(file)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:
        # A damaged pickle may fail with any exception type; each means the same to the person.
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path}: not a readable PyTorch checkpoint: {reason}") from error
    if not tensors:
        raise ValueError(f"{path}: holds no tensors; give a state dictionary or a TorchScript file")
    return tensors


def _read_zip(file: BinaryIO) -> Tensors:
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        pickles = [name for name in names if name.count("/") == 1 and name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ValueError("has no data.pkl")
        root = pickles[0].removesuffix("data.pkl")
        if f"{root}byteorder" in names and _member(archive, f"{root}byteorder") != b"little":
            raise ValueError("is stored big-endian; save it again on a usual machine")
        content = _TensorUnpickler(io.BytesIO(_member(archive, pickles[0]))).load()
        return _materialise(content, lambda storage: _member(archive, f"{root}data/{storage.key}"))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    # PyTorch stores data as it is; a compressed member could unpack to any size.
    if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"has {name} compressed, which PyTorch never does")
    return archive.read(name)


def _read_legacy(file: BinaryIO) -> Tensors:
    if _TensorUnpickler(file).load() != _LEGACY_MAGIC or _TensorUnpickler(file).load() != _LEGACY_PROTOCOL:
        raise ValueError("does not begin as one")
    if _TensorUnpickler(file).load().get("little_endian") is not True:
        raise ValueError("is stored big-endian; save it again on a usual machine")
    content = _TensorUnpickler(file).load()
    keys = _TensorUnpickler(file).load()
    sizes = {
        place.storage.key: place.storage.n_elements * np.dtype(place.storage.dtype).itemsize
        for _, place in _tensor_places(content)
    }
    stored: dict[str, bytes] = {}
    for key in keys:
        file.read(struct.calcsize("<q"))  # the number of elements, known from the pickle
        stored[key] = file.read(sizes[key])
    return _materialise(content, lambda storage: stored[storage.key])


def _materialise(content: Any, read: Callable[[_Storage], bytes]) -> Tensors:
    tensors: Tensors = {}
    for name, place in _tensor_places(content):
        dtype = np.dtype(place.storage.dtype)
        data = read(place.storage)
        if len(data) < place.storage.n_elements * dtype.itemsize:
            raise ValueError(f"is cut off: the data of {name} is incomplete")
        view = np.frombuffer(data, dtype, count=place.storage.n_elements)[place.offset :]
        steps = tuple(step * dtype.itemsize for step in place.strides)
        tensors[name] = np.lib.stride_tricks.as_strided(view, place.shape, steps).copy()
    return tensors


def _tensor_places(content: Any) -> Iterator[tuple[str, _TensorPlace]]:
    return _walk(content, "", _DEEPEST, count())


def _walk(value: Any, name: str, depth: int, seen: Iterator[int]) -> Iterator[tuple[str, _TensorPlace]]:
    if next(seen) > _MOST_ENTRIES or not depth:
        raise ValueError("nests more objects than any network has")
    if isinstance(value, _TensorPlace):
        yield name, value
        return
    children = getattr(value, "state", value)
    if isinstance(children, Mapping):
        for key, child in children.items():
            yield from _walk(child, f"{name}.{key}" if name else str(key), depth - 1, seen)
