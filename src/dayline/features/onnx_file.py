"""Any ONNX network of the user's, with its preprocessing in a JSON file beside it (docs/models.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from dayline.features.network import NetworkExtractor, Pooling, fingerprint_of, open_session
from dayline.features.preprocess import Interpolation, Preprocessing

__all__ = ["load_onnx_file"]

_IMAGENET = Preprocessing(size=224, crop=0.875, mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "layout": ("NCHW", "NHWC"),
    "interpolation": get_args(Interpolation),
    "pooling": get_args(Pooling),
}
_KNOWN = ("size", "crop", "mean", "std", "output", *_CHOICES)


def load_onnx_file(
    path: Path,
    *,
    preprocessing: Preprocessing = _IMAGENET,
    pooling: Pooling = "none",
    threads: int | None = None,
) -> NetworkExtractor:
    """Open an ONNX file as a feature extractor.

    Parameters
    ----------
    path : Path
        The network. `path` with the ending .json may hold its preprocessing.
    preprocessing : Preprocessing
        What holds where the JSON file says nothing; ImageNet's usual one if not given.
    pooling : {"none", "mean", "max", "first"}
        Likewise, for outputs with positions.
    threads : int, optional
        CPU threads; all cores if not given.
    """
    weights = _hash_with_external_data(path)
    description = _read_description(path.with_suffix(".json"))
    session = open_session(path)
    _check_input(session, path)
    preprocessing = _described(preprocessing, description, _fixed_size(session, description.get("layout")))
    output = _choose_output(session, path, description.get("output"))
    pooling = cast("Pooling", description.get("pooling", pooling))
    blank = np.full((preprocessing.size, preprocessing.size, 3), 128, dtype=np.uint8)
    extractor = NetworkExtractor(path.stem, "", 0, session, preprocessing, output, pooling, threads)
    try:
        features = extractor.extract(extractor.prepare(blank)[None])
    except Exception as error:
        # A trial finds wrong sizes and layouts now, with one line, instead of in the middle of the work.
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"{path}: does not run on one image: {reason}; see {path.stem}.json") from error
    fingerprint = fingerprint_of("onnx", weights, asdict(preprocessing), output, pooling)
    return replace(extractor, fingerprint=fingerprint, n_features=features.shape[1])


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
        reason = _fault(key, value)
        if reason:
            raise ValueError(f"{path}: {key} {reason}")
    return description


def _fault(key: str, value: Any) -> str | None:
    """Say what is wrong with one entry, or None."""
    if key not in _KNOWN:
        return f"is not known; use {', '.join(_KNOWN)}"
    if key in _CHOICES and value not in _CHOICES[key]:
        return f"is {value!r}; use {', '.join(_CHOICES[key])}"
    if key == "size" and not (type(value) is int and 8 <= value <= 4096):
        return f"is {value!r}; use a whole number of pixels, 8 to 4096"
    if key == "crop" and not (_is_number(value) and 0 < value <= 1):
        return f"is {value!r}; use a number above 0, at most 1"
    if key in ("mean", "std") and not (
        isinstance(value, list) and len(value) == 3 and all(_is_number(v) for v in value)
    ):
        return f"is {value!r}; use three numbers for red, green and blue values of 0 to 255"
    if key == "std" and not all(v > 0 for v in value):
        return f"is {value!r}; all three must be above 0"
    if key == "output" and not isinstance(value, str):
        return f"is {value!r}; use the name of an output"
    return None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and bool(np.isfinite(value))


def _described(start: Preprocessing, description: Mapping[str, Any], fixed_size: int | None) -> Preprocessing:
    return Preprocessing(
        size=description.get("size", fixed_size or start.size),
        crop=float(description.get("crop", start.crop)),
        mean=cast("tuple[float, float, float]", tuple(map(float, description.get("mean", start.mean)))),
        std=cast("tuple[float, float, float]", tuple(map(float, description.get("std", start.std)))),
        layout=description.get("layout", start.layout),
        interpolation=description.get("interpolation", start.interpolation),
    )


def _check_input(session: Any, path: Path) -> None:
    inputs = session.get_inputs()
    if len(inputs) != 1:
        names = ", ".join(i.name for i in inputs)
        raise ValueError(f"{path}: wants {len(inputs)} inputs ({names}); export the image part alone")
    if inputs[0].type not in ("tensor(float)", "tensor(float16)") or len(inputs[0].shape) != 4:
        raise ValueError(
            f"{path}: wants {inputs[0].type} of shape {inputs[0].shape}; it must take float images with 4 axes"
        )


def _fixed_size(session: Any, layout: Literal["NCHW", "NHWC"] | None) -> int | None:
    side = session.get_inputs()[0].shape[1 if layout == "NHWC" else 2]
    return side if isinstance(side, int) and side > 0 else None


def _choose_output(session: Any, path: Path, wanted: str | None) -> str:
    names = [output.name for output in session.get_outputs()]
    if wanted is None:
        return str(names[0])
    if wanted not in names:
        raise ValueError(f"{path}: has no output {wanted!r}; it has {', '.join(names)}")
    return wanted


def _hash_with_external_data(path: Path) -> list[str]:
    """Hash the file and the weights it keeps in files beside it."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
        hashes = [hashlib.sha256(path.read_bytes()).hexdigest()]
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:
        raise ValueError(f"{path}: not an ONNX file") from error
    for location in sorted(set(_external_files(model.graph))):
        data = path.parent / location
        if Path(location).is_absolute() or ".." in Path(location).parts or not data.is_file():
            raise ValueError(f"{path}: its weights in {location!r} are not beside it")
        with data.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes


def _external_files(graph: Any) -> Iterator[str]:
    """Yield the files named by the weights of a graph and of the graphs inside its operations."""
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    tensors = [*graph.initializer, *(a.t for a in attributes), *(t for a in attributes for t in a.tensors)]
    for tensor in tensors:
        yield from (entry.value for entry in tensor.external_data if entry.key == "location")
    for attribute in attributes:
        for inner in (attribute.g, *attribute.graphs):
            yield from _external_files(inner) if inner.node else ()
