"""Run any ONNX network on prepared images, on a GPU if onnxruntime has one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dayline.features.preprocess import (
    PRESETS,
    Image,
    Interpolation,
    Preprocessing,
    fingerprint_of,
    normalize,
    prepare,
)
from dayline.files import check_allocation, reading
from dayline.installation import needs_extra

Pooling = Literal["none", "mean", "max", "first"]

# Few, so that threads finish a batch together; more than one, to share the overhead of a call.
_IMAGES_PER_CALL = 2

LARGEST_NETWORK = 3 * 2**30
"""Bytes that a network of the user's may take on the CPU: its weights, and all within one call.
Those of a few bytes can ask for any number."""

_one_call_at_a_time = Lock()
_one_opens = Lock()


@lru_cache(maxsize=1)  # what is registered holds for the whole process
def _limit_memory() -> None:
    """Register memory with an upper limit, for the sessions that ask for it."""
    import onnxruntime

    memory = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    # Extended by what is requested, not to the next power of two.
    arena = onnxruntime.OrtArenaCfg({"max_mem": LARGEST_NETWORK, "arena_extend_strategy": 1})
    onnxruntime.create_and_register_allocator(memory, arena)


@needs_extra("photos", "computing features of images")
def open_session(model: bytes | Path, *, weights_in: Path | None = None) -> Any:
    """Open a network with onnxruntime, on CUDA if available, else on the CPU.

    Parameters
    ----------
    model : bytes or Path
        ONNX. Custom operator libraries are never loaded. A file takes at most `LARGEST_NETWORK`
        bytes of memory.
    weights_in : Path, optional
        Folder of the weights that a `model` given as bytes has in other files.
    """
    # Some onnxruntime packages send telemetry unless this is set before they are imported. Nobody
    # else should learn what is segmented here, or when.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread per call, several calls at once: threads that share one operation wait for each
    # other hundreds of times per batch, which is slowest while other threads decode images on the
    # same cores.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if weights_in is not None:
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(weights_in)
        )

    disabled: list[str] = []
    if isinstance(model, Path):
        _limit_memory()
        options.add_session_config_entry("session.use_env_allocators", "1")
        # It runs parts of the network while it is opened, in memory without this limit.
        disabled.append("ConstantFolding")
        # Calls share the memory, so they come one at a time, each in all threads.
        options.intra_op_num_threads = 0

    providers: list[Any] = ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        # TensorFloat-32 would round features to three digits, unlike on the CPU.
        providers.insert(0, ("CUDAExecutionProvider", {"use_tf32": "0"}))

    name, source = (model, str(model)) if isinstance(model, Path) else ("the network", model)
    with reading(name, "a network onnxruntime can run"):
        # onnxruntime prints the fallback to the CPU on standard output, even if there is nothing to
        # fall back from.
        return onnxruntime.InferenceSession(
            source,
            options,
            providers=providers,
            disabled_optimizers=disabled,
            enable_fallback=int(len(providers) > 1),
        )


@dataclass(frozen=True)
class NetworkExtractor:
    """Features from an ONNX network.

    Attributes
    ----------
    name : str
        Name of the model.
    fingerprint : str
        Hash of weights and preprocessing.
    n_features : int
        Number of features.
    open : callable
        Opens the network; called once, when it is first used.
    preprocessing : Preprocessing
        Preprocessing of its images.
    output : str
        Name of the output with the features.
    pooling : {"none", "mean", "max", "first"}
        How an output with positions becomes one vector per image.
    threads : int or None
        CPU threads; all cores if None.
    file : Path or None
        The user's file with the weights, for messages.
    """

    name: str
    fingerprint: str
    n_features: int
    open: Callable[[], Any] = field(repr=False)
    preprocessing: Preprocessing
    output: str = "features"
    pooling: Pooling = "none"
    threads: int | None = None
    file: Path | None = None

    @property
    def session(self) -> Any:
        """The network, an onnxruntime.InferenceSession; a second run may not need it."""
        with _one_opens:
            return self._opened

    @cached_property
    def _opened(self) -> Any:
        return self.open()

    @property
    def input_size(self) -> int:
        """Minimum shorter side of decoded images."""
        return self.preprocessing.shorter_side

    def prepare(self, image: Image) -> NDArray[np.uint8]:
        """Turn decoded pixels into one input."""
        return prepare(image, self.preprocessing)

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return one row of features per prepared image."""
        on_gpu = "CUDAExecutionProvider" in self.session.get_providers()
        fixed = self.session.get_inputs()[0].shape[0]
        at_once = fixed if isinstance(fixed, int) else len(batch) if on_gpu else _IMAGES_PER_CALL
        parts = [batch[start : start + at_once] for start in range(0, len(batch), max(at_once, 1))]

        n_threads = 1 if on_gpu else self.threads or os.cpu_count() or 1
        if n_threads == 1:
            return np.concatenate([self._run(part) for part in parts])
        with ThreadPoolExecutor(n_threads) as pool:
            return np.concatenate(list(pool.map(self._run, parts)))

    def _run(self, part: NDArray[Any]) -> NDArray[np.float32]:
        """Run the network once."""
        source = self.session.get_inputs()[0]
        inputs = normalize(part, self.preprocessing)
        if source.type == "tensor(float16)":
            inputs = inputs.astype(np.float16)

        # For a fixed batch size, the last image is repeated.
        if isinstance(source.shape[0], int) and len(part) < source.shape[0]:
            missing = source.shape[0] - len(part)
            inputs = np.concatenate([inputs, np.repeat(inputs[-1:], missing, axis=0)])

        alone = nullcontext() if self.file is None else _one_call_at_a_time
        with alone, reading(self.file or self.name, f"a network for {len(inputs)} images at once"):
            (values,) = self.session.run([self.output], {source.name: inputs})
        if np.ndim(values) == 0 or len(values) != len(inputs):
            rows = len(values) if np.ndim(values) else "no"
            raise ValueError(
                f"the network returns {rows} rows for {len(inputs)} images; it must return one for"
                " each"
            )
        return _pool(values[: len(part)], self.pooling).astype(np.float32, copy=False)


def _pool(values: NDArray[Any], pooling: Pooling) -> NDArray[Any]:
    """Reduce tokens (n, positions, channels) or maps (n, channels, y, x) to a vector per image."""
    if values.ndim == 4:
        values = values.reshape(*values.shape[:2], -1).swapaxes(1, 2)
    if values.ndim == 3 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        return values

    if values.ndim != 3:
        raise ValueError(
            f"the network returns an output of shape {values.shape}; it must have 2, 3 or 4 axes"
        )
    if pooling == "none":
        raise ValueError(
            f"the network returns {values.shape[1]} positions per image; set pooling to mean, max"
            " or first"
        )
    if pooling == "first":
        return values[:, 0]
    return np.asarray(values.mean(axis=1) if pooling == "mean" else values.max(axis=1))


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "preset": tuple(PRESETS),
    "layout": ("NCHW", "NHWC"),
    "interpolation": get_args(Interpolation),
    "pooling": get_args(Pooling),
}
_ENTRIES = ("size", "crop", "mean", "std", "output", *_CHOICES)
LARGEST_SIDE = 4096
LARGEST_NUMBER = 1e6


def load_onnx_file(path: Path, *, threads: int | None = None) -> NetworkExtractor:
    """Open an ONNX file as a feature extractor.

    Parameters
    ----------
    path : Path
        The network. `path` with the suffix .json may describe its preprocessing (docs/models.md);
        without it, that of ImageNet is used.
    threads : int, optional
        CPU threads; all cores if not given.
    """
    weights = _hashes(path)
    described = _read_description(path.with_suffix(".json"))
    session = open_session(path)
    preprocessing = _preprocessing(session, described, path)

    outputs = [output.name for output in session.get_outputs()]
    output = described.get("output", next(iter(outputs), ""))
    if output not in outputs:
        raise ValueError(f"{path}: has no output {output!r}; it has {', '.join(outputs)}")

    pooling = cast("Pooling", described.get("pooling", "none"))
    extractor = NetworkExtractor(
        path.stem, "", 0, lambda: session, preprocessing, output, pooling, threads
    )
    n_features = _try_out(extractor, path, 1)
    # A network may be fixed to one image internally even if its input is declared to take any
    # number.
    if _try_out(extractor, path, 2) != n_features:
        raise ValueError(
            f"{path}: returns a different number of features for two images; export it for any"
            " number"
        )
    fingerprint = fingerprint_of("onnx", weights, asdict(preprocessing), output, pooling)
    return replace(extractor, fingerprint=fingerprint, n_features=n_features, file=path)


def _try_out(extractor: NetworkExtractor, path: Path, n_images: int) -> int:
    """Return the number of features; report wrong sizes and layouts before the work starts."""
    size = extractor.preprocessing.size
    blank = extractor.prepare(np.full((size, size, 3), 128, dtype=np.uint8))
    try:
        return int(extractor.extract(np.stack([blank] * n_images)).shape[1])
    except Exception as error:
        images, way_out = "one image", f"see {path.stem}.json"
        if n_images > 1:
            images = f"{n_images} images at once"
            way_out = "export it for any number of images, or fix its input to one"
        reason = str(error.__cause__ or error).strip().splitlines()[0]
        if "smaller than requested" in reason:
            reason = f"takes more than {LARGEST_NETWORK // 2**30} GB of memory"
            way_out = "export it for smaller images, or use a smaller network"
        raise ValueError(f"{path}: does not run on {images}: {reason}; {way_out}") from error


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(description, dict):
        raise ValueError(f"{path}: must hold one JSON object")

    for key, value in description.items():
        fault = _fault(key, value)
        if fault:
            raise ValueError(f"{path}: {key} {fault}")
    return description


def _fault(key: str, value: Any) -> str | None:
    """Return what is wrong with one entry, or None."""
    if key not in _ENTRIES:
        return f"is not known; use {', '.join(_ENTRIES)}"
    if key in _CHOICES and value not in _CHOICES[key]:
        return f"is {value!r}; use {', '.join(_CHOICES[key])}"
    if key == "size" and not (type(value) is int and 8 <= value <= LARGEST_SIDE):
        return f"is {value!r}; use a whole number of pixels, 8 to {LARGEST_SIDE}"
    if key == "crop" and not (_is_number(value) and 0 < value <= 1):
        return f"is {value!r}; use a number above 0, at most 1"
    if key in ("mean", "std") and not (
        isinstance(value, list) and len(value) == 3 and all(_is_number(v) for v in value)
    ):
        return f"is {value!r}; use three numbers for red, green and blue values of 0 to 255"
    if key == "std" and not all(v >= 1 / LARGEST_NUMBER for v in value):
        return f"is {value!r}; all three must be above 0"
    if key == "output" and not isinstance(value, str):
        return f"is {value!r}; use the name of an output"
    return None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= LARGEST_NUMBER


def _preprocessing(session: Any, described: Mapping[str, Any], path: Path) -> Preprocessing:
    """Combine a description with the input that the network declares, which is checked."""
    with reading(path, "an ONNX file"):  # names that are not valid text fail only when accessed
        inputs = session.get_inputs()
        [(each.name, each.type, each.shape) for each in (*inputs, *session.get_outputs())]
    if len(inputs) != 1:
        names = ", ".join(i.name for i in inputs)
        raise ValueError(
            f"{path}: takes {len(inputs)} inputs ({names}); export only the image part"
        )
    kind, shape = inputs[0].type, inputs[0].shape
    if kind not in ("tensor(float)", "tensor(float16)") or len(shape) != 4:
        raise ValueError(
            f"{path}: takes {kind} of shape {shape}; it must take float images with 4 axes"
        )

    changes = {k: v for k, v in described.items() if k not in ("preset", "output", "pooling")}
    for key in changes.keys() & {"mean", "std"}:
        changes[key] = tuple(map(float, changes[key]))
    side = shape[1 if described.get("layout") == "NHWC" else 2]
    if isinstance(side, int) and side > 0:
        changes.setdefault("size", side)
    result = replace(PRESETS[described.get("preset", "imagenet")], **changes)

    # An input too large for memory is rejected before the network runs.
    n_images = shape[0] if isinstance(shape[0], int) else 1
    if result.size > LARGEST_SIDE or n_images < 1:
        raise ValueError(
            f"{path}: takes {n_images} images of {result.size} pixels a side; it must take images"
            f" of at most {LARGEST_SIDE}"
        )
    n_bytes = n_images * result.size**2 * 3 * 4
    check_allocation(path, n_bytes, what=f"its input of {n_images} images")
    return result


def _hashes(path: Path) -> list[str]:
    """Hash a network and its weights in files next to it; refuse weights from elsewhere."""
    with reading(path, "an ONNX file"):
        content = path.read_bytes()
        locations = sorted(set(_external_files(memoryview(content), "Model")))
    hashes = [hashlib.sha256(content).hexdigest()]

    for location in locations:
        data = path.parent / location
        is_inside = not Path(location).is_absolute() and ".." not in Path(location).parts
        if not (is_inside and data.is_file()):
            raise ValueError(f"{path}: its weights {location!r} are not in the same folder")
        with reading(data, "weights"), data.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes


# The messages of onnx.proto through which a tensor can be reached, by the numbers of their fields.
_MESSAGES: Mapping[str, Mapping[int, str]] = {
    "Model": {7: "Graph", 20: "Training", 25: "Function"},
    "Training": {1: "Graph", 2: "Graph"},
    "Function": {7: "Node", 11: "Attribute"},
    "Graph": {1: "Node", 5: "Tensor", 15: "SparseTensor"},
    "Node": {5: "Attribute"},
    "Attribute": {
        5: "Tensor",
        6: "Graph",
        10: "Tensor",
        11: "Graph",
        22: "SparseTensor",
        23: "SparseTensor",
    },
    "SparseTensor": {1: "Tensor", 2: "Tensor"},
    "Tensor": {13: "Entry"},
}
_ENTRY_KEY, _ENTRY_VALUE = 1, 2


def _external_files(message: memoryview, kind: str) -> Iterator[str]:
    """Yield the files in which tensors anywhere in a network have their values.

    onnxruntime opens them without asking, before 1.24 wherever they are, and does not name them.
    """
    texts = {}
    for number, content in _fields(message):
        if kind == "Entry":
            texts[number] = bytes(content)
        elif number in _MESSAGES[kind]:
            yield from _external_files(content, _MESSAGES[kind][number])
    if texts.get(_ENTRY_KEY) == b"location":
        yield texts.get(_ENTRY_VALUE, b"").decode()


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of the fields of a protobuf message that hold bytes."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            _, at = _varint(message, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        elif wire == 2:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        else:
            raise ValueError("a field of an unknown kind")
    if at > len(message):
        raise ValueError("truncated")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number that never ends")
