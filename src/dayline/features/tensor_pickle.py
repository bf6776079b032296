"""A pickle machine for PyTorch files: it only builds data and calls nothing.

Python's unpickler lets a file change objects after they are checked, and use any memo index. This
machine rejects every operation that checkpoints do not need.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

DTYPES = {
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
# A network takes about ten thousand; a million of the largest objects take a few hundred megabytes.
MOST_OPERATIONS = 1_000_000
LONGEST_TEXT = 2**16
MOST_AXES = 32
LARGEST_NUMBER = 2**62


@dataclass(frozen=True)
class Storage:
    """The data of one or several tensors: key in the file, type and number of values."""

    dtype: str
    key: str
    n_elements: int


@dataclass(frozen=True)
class TensorPlace:
    """Location of a tensor: in a legacy file, the bytes follow the pickle that describes them."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(eq=False)
class Module:
    """The shell of a TorchScript module."""

    state: Any = None


@dataclass(frozen=True)
class _Global:
    """A name the file may refer to; `_called` builds the object."""

    name: str


class _Mark:
    """Start of the items of a tuple, list or dictionary."""


_MARK = _Mark()
_ORDERED_DICT = _Global("collections.OrderedDict")
_TENSOR = _Global("torch._utils._rebuild_tensor_v2")
_WRAPPERS = {
    _Global("torch._utils._rebuild_parameter"),
    *(_Global(f"torch.jit._pickle.build_{kind}list") for kind in ("int", "double", "bool")),
}
_STORAGES = {_Global(f"torch.{name}"): dtype for name, dtype in DTYPES.items()}
_MODULE = _Global("__torch__")


def read_pickle(file: BinaryIO, storages: dict[str, Storage]) -> Any:
    """Read one pickle.

    Parameters
    ----------
    file : binary file
        Positioned after the pickle when done.
    storages : dict
        Filled with every storage the pickle refers to, by key.
    """
    machine = _Machine(file, storages)
    for _ in range(MOST_OPERATIONS):
        code = file.read(1)
        if code == b".":
            return machine.pop()
        operation = _OPERATIONS.get(code)
        if operation is None:
            raise ValueError(f"uses the pickle operation {code!r}, which is not allowed")
        operation(machine)
    raise ValueError("nests more objects than any network has")


@dataclass
class _Machine:
    file: BinaryIO
    storages: dict[str, Storage]
    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def read(self, n_bytes: int) -> bytes:
        content = self.file.read(n_bytes)
        if len(content) != n_bytes:
            raise ValueError("is truncated")
        return content

    def number(self, layout: str) -> Any:
        return struct.unpack(layout, self.read(struct.calcsize(layout)))[0]

    def text(self, n_bytes: int) -> str:
        if n_bytes > LONGEST_TEXT:
            raise ValueError("contains a name longer than any network has")
        return self.read(n_bytes).decode("utf-8", "surrogatepass")

    def line(self) -> str:
        return self.file.readline(LONGEST_TEXT).rstrip(b"\n").decode("utf-8")

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise ValueError("is malformed")
        return self.stack.pop()

    def top(self, kind: type) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            raise ValueError("is malformed")
        return self.stack[-1]

    def pop_marked(self) -> list[Any]:
        items = []
        while self.stack and self.stack[-1] is not _MARK:
            items.append(self.stack.pop())
        if not self.stack:
            raise ValueError("is malformed")
        self.stack.pop()
        return items[::-1]


def _push(make: Callable[[_Machine], Any]) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(make(machine))


def _store(machine: _Machine, index: int) -> None:
    value = machine.pop()
    machine.stack.append(value)
    # A dictionary takes any index without allocating the ones below it.
    machine.memo[index] = value


def _pop_tuple(n_items: int) -> Callable[[_Machine], tuple[Any, ...]]:
    return lambda machine: tuple([machine.pop() for _ in range(n_items)][::-1])


def _append(machine: _Machine, items: list[Any]) -> None:
    machine.top(list).extend(items)


def _set_items(machine: _Machine, items: list[Any]) -> None:
    target = machine.top(dict)
    if len(items) % 2:
        raise ValueError("is malformed")
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[_checked_key(key)] = value


def _checked_key(key: Any) -> Any:
    # Hashing other keys can take forever: the hash of nested tuples visits all of them.
    if not isinstance(key, str) and not (isinstance(key, int) and abs(key) < LARGEST_NUMBER):
        raise ValueError("contains a dictionary whose keys are neither names nor numbers")
    return key


def _global(module: str, name: str) -> _Global:
    found = _Global(f"{module}.{name}")
    if module.startswith("__torch__.") and "\n" not in name:
        return _MODULE
    if found not in {_ORDERED_DICT, _TENSOR, *_WRAPPERS, *_STORAGES}:
        raise ValueError(f"refers to {module}.{name}, which is not allowed")
    return found


def _stacked_global(machine: _Machine) -> _Global:
    module, name = _pop_tuple(2)(machine)
    if not isinstance(module, str) or not isinstance(name, str):
        raise ValueError("is malformed")
    return _global(module, name)


def _called(machine: _Machine) -> Any:
    function, arguments = _pop_tuple(2)(machine)
    if not isinstance(function, _Global) or not isinstance(arguments, tuple):
        raise ValueError("calls something that is not a function")
    if function == _TENSOR:
        return _tensor_place(*arguments)
    if function == _ORDERED_DICT:
        pairs = arguments[0] if arguments else ()
        return {_checked_key(key): value for key, value in pairs}
    if function in _WRAPPERS:
        return arguments[0]
    raise ValueError(f"calls {function.name}, which is not a function")


def _tensor_place(storage: Any, offset: Any, shape: Any, strides: Any, *rest: Any) -> TensorPlace:
    if (
        not isinstance(storage, Storage)
        or not isinstance(shape, tuple)
        or not isinstance(strides, tuple)
    ):
        raise ValueError("contains a malformed tensor")
    numbers = (offset, *shape, *strides)
    if len(rest) > 3 or len(shape) != len(strides) or len(shape) > MOST_AXES:
        raise ValueError("contains a malformed tensor")
    if not all(type(n) is int and 0 <= n < LARGEST_NUMBER for n in numbers):
        raise ValueError("contains a malformed tensor")
    return TensorPlace(storage, offset, shape, strides)


def _new_module(machine: _Machine) -> Module:
    kind, arguments = _pop_tuple(2)(machine)
    if kind != _MODULE or arguments != ():
        raise ValueError("creates an object that is not a module")
    return Module()


def _build(machine: _Machine) -> None:
    """Set the state of a module. The state of a dictionary, where PyTorch keeps layer versions, is ignored."""
    state = machine.pop()
    target = machine.stack[-1] if machine.stack else None
    if isinstance(target, Module) and target.state is None:
        target.state = state
    elif type(target) is not dict:
        raise ValueError("changes an object after creating it")


def _storage(machine: _Machine) -> Storage:
    match machine.pop():
        case ("storage", _Global() as kind, str(key), str(), int(n), *rest) if (
            kind in _STORAGES and 0 <= n < LARGEST_NUMBER and rest in ([], [None])
        ):
            found = Storage(_STORAGES[kind], key, n)
            if machine.storages.setdefault(key, found) != found:
                raise ValueError(f"describes its data {key[:40]!r} in two ways")
            return found
    raise ValueError("refers to data in an unknown way")


def _protocol(machine: _Machine) -> None:
    machine.read(1)


def _frame(machine: _Machine) -> None:
    machine.read(8)


_OPERATIONS: dict[bytes, Callable[[_Machine], None]] = {
    b"\x80": _protocol,
    b"\x95": _frame,
    b"(": lambda m: m.stack.append(_MARK),
    b"N": _push(lambda _: None),
    b"\x88": _push(lambda _: True),
    b"\x89": _push(lambda _: False),
    b"J": _push(lambda m: m.number("<i")),
    b"K": _push(lambda m: m.number("<B")),
    b"M": _push(lambda m: m.number("<H")),
    b"\x8a": _push(lambda m: int.from_bytes(m.read(m.number("<B")), "little", signed=True)),
    b"G": _push(lambda m: m.number(">d")),
    b"X": _push(lambda m: m.text(m.number("<I"))),
    b"\x8c": _push(lambda m: m.text(m.number("<B"))),
    b"U": _push(lambda m: m.text(m.number("<B"))),
    b"T": _push(lambda m: m.text(m.number("<I"))),
    b")": _push(lambda _: ()),
    b"\x85": _push(_pop_tuple(1)),
    b"\x86": _push(_pop_tuple(2)),
    b"\x87": _push(_pop_tuple(3)),
    b"t": _push(lambda m: tuple(m.pop_marked())),
    b"]": _push(lambda _: []),
    b"a": lambda m: _append(m, [m.pop()]),
    b"e": lambda m: _append(m, m.pop_marked()),
    b"}": _push(lambda _: {}),
    b"s": lambda m: _set_items(m, list(_pop_tuple(2)(m))),
    b"u": lambda m: _set_items(m, m.pop_marked()),
    b"q": lambda m: _store(m, m.number("<B")),
    b"r": lambda m: _store(m, m.number("<I")),
    b"\x94": lambda m: _store(m, len(m.memo)),
    b"h": _push(lambda m: m.memo[m.number("<B")]),
    b"j": _push(lambda m: m.memo[m.number("<I")]),
    b"c": _push(lambda m: _global(m.line(), m.line())),
    b"\x93": _push(_stacked_global),
    b"R": _push(_called),
    b"\x81": _push(_new_module),
    b"b": _build,
    b"Q": _push(_storage),
}
"""The data operations of protocol 2, which PyTorch writes, and their short forms in protocol 4."""
