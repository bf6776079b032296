"""Any ONNX network of the user, with its preprocessing in a JSON file next to it (docs/models.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from dayline.features.network import NetworkExtractor, Pooling, fingerprint_of, open_session
from dayline.features.preprocess import Interpolation, Preprocessing
from dayline.io.onnx_messages import onnx_messages, tensors_inside
from dayline.io.untrusted import check_allocation, reading

__all__ = ["load_onnx_file"]

_IMAGENET = Preprocessing(size=224, crop=0.875, mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "layout": ("NCHW", "NHWC"),
    "interpolation": get_args(Interpolation),
    "pooling": get_args(Pooling),
}
LARGEST_SIDE = 4096
LARGEST_NUMBER = 1e6
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
        The network. `path` with the suffix .json may contain its preprocessing.
    preprocessing : Preprocessing
        Defaults for entries missing from the JSON file; those usual for ImageNet if not given.
    pooling : {"none", "mean", "max", "first"}
        Default pooling for outputs with positions.
    threads : int, optional
        CPU threads; all cores if not given.
    """
    weights = _hash_with_external_data(path)
    description = _read_description(path.with_suffix(".json"))
    session = open_session(path)
    _check_input(session, path)
    preprocessing = _described(preprocessing, description, _fixed_size(session, description.get("layout")))
    _check_size(session, preprocessing.size, path)
    output = _choose_output(session, path, description.get("output"))
    pooling = cast("Pooling", description.get("pooling", pooling))
    extractor = NetworkExtractor(path.stem, "", 0, session, preprocessing, output, pooling, threads)
    n_features = _try_out(extractor, path, 1)
    # A network may be fixed to one image internally even if its input is declared to take any number.
    if _try_out(extractor, path, 2) != n_features:
        raise ValueError(f"{path}: returns a different number of features for two images; export it for any number")
    fingerprint = fingerprint_of("onnx", weights, asdict(preprocessing), output, pooling)
    return replace(extractor, fingerprint=fingerprint, n_features=n_features, file=path)


def _try_out(extractor: NetworkExtractor, path: Path, n_images: int) -> int:
    """Run the network once and return its number of features.

    This reports wrong sizes and layouts before the real work starts.
    """
    size = extractor.preprocessing.size
    blank = extractor.prepare(np.full((size, size, 3), 128, dtype=np.uint8))
    try:
        features = extractor.extract(np.stack([blank] * n_images))
    except Exception as error:
        images, way_out = "one image", f"see {path.stem}.json"
        if n_images > 1:
            images, way_out = (
                f"{n_images} images at once",
                "export it for any number of images, or fix its input to one",
            )
        reason = str(error.__cause__ or error).strip().splitlines()[0]
        raise ValueError(f"{path}: does not run on {images}: {reason}; {way_out}") from error
    return int(features.shape[1])


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
    """Return what is wrong with one entry, or None."""
    if key not in _KNOWN:
        return f"is not known; use {', '.join(_KNOWN)}"
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
    with reading(path, "an ONNX file"):  # names that are not valid text fail only when accessed
        inputs = session.get_inputs()
        [(each.name, each.type, each.shape) for each in (*inputs, *session.get_outputs())]
    if len(inputs) != 1:
        names = ", ".join(i.name for i in inputs)
        raise ValueError(f"{path}: takes {len(inputs)} inputs ({names}); export only the image part")
    if inputs[0].type not in ("tensor(float)", "tensor(float16)") or len(inputs[0].shape) != 4:
        raise ValueError(
            f"{path}: takes {inputs[0].type} of shape {inputs[0].shape}; it must take float images with 4 axes"
        )


def _check_size(session: Any, size: int, path: Path) -> None:
    """Reject an input too large for memory before the network runs."""
    fixed = session.get_inputs()[0].shape[0]
    n_images = fixed if isinstance(fixed, int) else 1
    if size > LARGEST_SIDE or n_images < 1:
        raise ValueError(
            f"{path}: takes {n_images} images of {size} pixels a side; it must take images of at most {LARGEST_SIDE}"
        )
    check_allocation(path, n_images * size * size * 3 * 4, what=f"its input of {n_images} images")


def _fixed_size(session: Any, layout: Literal["NCHW", "NHWC"] | None) -> int | None:
    side = session.get_inputs()[0].shape[1 if layout == "NHWC" else 2]
    return side if isinstance(side, int) and side > 0 else None


def _choose_output(session: Any, path: Path, wanted: str | None) -> str:
    names = [output.name for output in session.get_outputs()]
    if not names:
        raise ValueError(f"{path}: has no output")
    if wanted is None:
        return str(names[0])
    if wanted not in names:
        raise ValueError(f"{path}: has no output {wanted!r}; it has {', '.join(names)}")
    return wanted


def _hash_with_external_data(path: Path) -> list[str]:
    """Hash the file and its weights in files next to it."""
    model_type = onnx_messages().ModelProto
    with reading(path, "an ONNX file"):
        content = path.read_bytes()
        model = model_type.FromString(content)
        entries = [entry for tensor in tensors_inside(model) for entry in tensor.external_data]
        locations = sorted({entry.value for entry in entries if entry.key == "location"})
        hashes = [hashlib.sha256(content).hexdigest()]
    for location in locations:
        data = path.parent / location
        with reading(path, "an ONNX file"):
            is_beside = not Path(location).is_absolute() and ".." not in Path(location).parts and data.is_file()
        if not is_beside:
            raise ValueError(f"{path}: its weights {location!r} are not in the same folder")
        with reading(data, "weights"), data.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes
