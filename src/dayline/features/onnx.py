"""Run any ONNX network on prepared images, on a GPU if onnxruntime has one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dayline.features.onnx_messages import onnx_messages, tensors_inside
from dayline.files import check_allocation, reading
from dayline.installation import needs_extra

Image: TypeAlias = NDArray[np.uint8]
"""Decoded RGB pixels, (height, width, 3)."""

Interpolation = Literal["bilinear", "bicubic", "lanczos"]


@dataclass(frozen=True)
class Preprocessing:
    """How an image becomes a network's input.

    Attributes
    ----------
    size : int
        Side of the square input.
    crop : float
        Side of the centre square, as a fraction of the shorter side; 1 uses all of it.
    mean, std : three floats
        The mean is subtracted from red, green and blue values of 0 to 255, which are then divided
        by std.
    layout : {"NCHW", "NHWC"}
        Channels first or last.
    interpolation : {"bicubic", "bilinear", "lanczos"}
        How pixels are resampled.
    """

    size: int
    crop: float
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    layout: Literal["NCHW", "NHWC"] = "NCHW"
    interpolation: Interpolation = "bicubic"

    @property
    def shorter_side(self) -> int:
        """Shorter side below which a decoded image is enlarged."""
        return round(self.size / self.crop)


def check_image(image: Image) -> Image:
    """Return the image; raise ValueError if its shape or type is wrong."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(
            f"image has shape {image.shape} and type {image.dtype}; it must be uint8 (height,"
            " width, 3)"
        )
    return image


@needs_extra("photos", "resampling images")
def resize(
    image: Image, *, size: int, crop: float | None, interpolation: Interpolation = "bicubic"
) -> Image:
    """Resample the centre square, or the whole image, to `size` pixels a side in one step.

    Parameters
    ----------
    image : ndarray of uint8, (height, width, 3)
        Decoded pixels.
    size : int
        Side of the result.
    crop : float or None
        Side of the centre square, as a fraction of the shorter side; None squeezes the whole image.
    interpolation : {"bicubic", "bilinear", "lanczos"}
        How pixels are resampled.
    """
    from PIL import Image as Pillow

    height, width = check_image(image).shape[:2]
    wide, high = (width, height) if crop is None else (crop * min(height, width),) * 2
    left, top = (width - wide) / 2, (height - high) / 2
    resampling = Pillow.Resampling[interpolation.upper()]
    pixels = Pillow.fromarray(np.ascontiguousarray(image))
    box = (left, top, left + wide, top + high)
    return np.asarray(pixels.resize((size, size), resampling, box=box))


def prepare(image: Image, preprocessing: Preprocessing) -> NDArray[np.uint8]:
    """Crop, resample and lay out one image, as bytes, which are fast to pass between threads."""
    p = preprocessing
    pixels = resize(image, size=p.size, crop=p.crop, interpolation=p.interpolation)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if p.layout == "NCHW" else pixels


def normalise(batch: NDArray[np.uint8], preprocessing: Preprocessing) -> NDArray[np.float32]:
    """Turn prepared images into the input values of a network."""
    shift = np.asarray(preprocessing.mean, dtype=np.float32)
    scale = 1.0 / np.asarray(preprocessing.std, dtype=np.float32)
    if preprocessing.layout == "NCHW":
        shift, scale = shift[:, None, None], scale[:, None, None]
    values = np.empty(batch.shape, dtype=np.float32)
    # Image by image: one fits into the CPU cache, a batch does not.
    for pixels, row in zip(batch, values, strict=True):
        np.subtract(pixels, shift, out=row)
        row *= scale
    return values


Pooling = Literal["none", "mean", "max", "first"]

# Few, so that threads finish a batch together; more than one, to share the overhead of a call.
_IMAGES_PER_CALL = 2


def fingerprint_of(*parts: object) -> str:
    """Hash everything that affects the values of features: weights, preprocessing, recipe version."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def open_session(model: bytes | Path) -> Any:
    """Open a network with onnxruntime, on CUDA if available, else on the CPU.

    Parameters
    ----------
    model : bytes or Path
        ONNX. Custom operator libraries are never loaded.
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
    providers: list[Any] = ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        # TensorFloat-32 would round features to three digits, unlike on the CPU.
        providers.insert(0, ("CUDAExecutionProvider", {"use_tf32": "0"}))
    source = str(model) if isinstance(model, Path) else model
    with reading(
        model if isinstance(model, Path) else "the network", "a network onnxruntime can run"
    ):
        # onnxruntime prints the fallback to the CPU on standard output, even if there is nothing to
        # fall back from.
        fallback = int(len(providers) > 1)
        return onnxruntime.InferenceSession(
            source, options, providers=providers, enable_fallback=fallback
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
    session : onnxruntime.InferenceSession
        The network.
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
    session: Any
    preprocessing: Preprocessing
    output: str = "features"
    pooling: Pooling = "none"
    threads: int | None = None
    file: Path | None = None

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
        with ThreadPoolExecutor(1 if on_gpu else self.threads or os.cpu_count() or 1) as pool:
            return np.concatenate(list(pool.map(self._run, parts)))

    def _run(self, part: NDArray[Any]) -> NDArray[np.float32]:
        """Run the network once; for a fixed batch size, the last image is repeated."""
        source = self.session.get_inputs()[0]
        inputs = normalise(part, self.preprocessing)
        if source.type == "tensor(float16)":
            inputs = inputs.astype(np.float16)
        if isinstance(source.shape[0], int) and len(part) < source.shape[0]:
            inputs = np.concatenate(
                [inputs, np.repeat(inputs[-1:], source.shape[0] - len(part), axis=0)]
            )
        with reading(self.file or self.name, f"a network for {len(inputs)} images at once"):
            (values,) = self.session.run([self.output], {source.name: inputs})
        if np.ndim(values) == 0 or len(values) != len(inputs):
            rows = len(values) if np.ndim(values) else "no"
            raise ValueError(
                f"the network returns {rows} rows for {len(inputs)} images; it must return one for"
                " each"
            )
        return _pool(values[: len(part)], self.pooling).astype(np.float32, copy=False)


def _pool(values: NDArray[Any], pooling: Pooling) -> NDArray[Any]:
    """Reduce tokens (n, positions, channels) or maps (n, channels, rows, columns) to one vector per image."""
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


_IMAGENET = Preprocessing(
    size=224, crop=0.875, mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375)
)
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
    preprocessing = _described(
        preprocessing, description, _fixed_size(session, description.get("layout"))
    )
    _check_size(session, preprocessing.size, path)
    output = _choose_output(session, path, description.get("output"))
    pooling = cast("Pooling", description.get("pooling", pooling))
    extractor = NetworkExtractor(path.stem, "", 0, session, preprocessing, output, pooling, threads)
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


def _described(
    start: Preprocessing, description: Mapping[str, Any], fixed_size: int | None
) -> Preprocessing:
    return Preprocessing(
        size=description.get("size", fixed_size or start.size),
        crop=float(description.get("crop", start.crop)),
        mean=cast(
            "tuple[float, float, float]", tuple(map(float, description.get("mean", start.mean)))
        ),
        std=cast(
            "tuple[float, float, float]", tuple(map(float, description.get("std", start.std)))
        ),
        layout=description.get("layout", start.layout),
        interpolation=description.get("interpolation", start.interpolation),
    )


def _check_input(session: Any, path: Path) -> None:
    with reading(path, "an ONNX file"):  # names that are not valid text fail only when accessed
        inputs = session.get_inputs()
        [(each.name, each.type, each.shape) for each in (*inputs, *session.get_outputs())]
    if len(inputs) != 1:
        names = ", ".join(i.name for i in inputs)
        raise ValueError(
            f"{path}: takes {len(inputs)} inputs ({names}); export only the image part"
        )
    if inputs[0].type not in ("tensor(float)", "tensor(float16)") or len(inputs[0].shape) != 4:
        raise ValueError(
            f"{path}: takes {inputs[0].type} of shape {inputs[0].shape}; it must take float images"
            " with 4 axes"
        )


def _check_size(session: Any, size: int, path: Path) -> None:
    """Reject an input too large for memory before the network runs."""
    fixed = session.get_inputs()[0].shape[0]
    n_images = fixed if isinstance(fixed, int) else 1
    if size > LARGEST_SIDE or n_images < 1:
        raise ValueError(
            f"{path}: takes {n_images} images of {size} pixels a side; it must take images of at"
            f" most {LARGEST_SIDE}"
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
            is_beside = (
                not Path(location).is_absolute()
                and ".." not in Path(location).parts
                and data.is_file()
            )
        if not is_beside:
            raise ValueError(f"{path}: its weights {location!r} are not in the same folder")
        with reading(data, "weights"), data.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes
