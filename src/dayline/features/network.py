"""Run an ONNX network on prepared images, on a GPU if onnxruntime has one."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dayline.features.preprocess import Image, Preprocessing, normalise, prepare
from dayline.io.untrusted import reading

__all__ = ["NetworkExtractor", "Pooling", "fingerprint_of", "open_session"]

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
    # Some onnxruntime packages send telemetry unless this is set before they are imported. Nobody else should learn
    # what is segmented here, or when.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread per call, several calls at once: threads that share one operation wait for each other
    # hundreds of times per batch, which is slowest while other threads decode images on the same cores.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    providers: list[Any] = ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        # TensorFloat-32 would round features to three digits, unlike on the CPU.
        providers.insert(0, ("CUDAExecutionProvider", {"use_tf32": "0"}))
    source = str(model) if isinstance(model, Path) else model
    with reading(model if isinstance(model, Path) else "the network", "a network onnxruntime can run"):
        # onnxruntime prints the fallback to the CPU on standard output, even if there is nothing to fall back from.
        fallback = int(len(providers) > 1)
        return onnxruntime.InferenceSession(source, options, providers=providers, enable_fallback=fallback)


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
            inputs = np.concatenate([inputs, np.repeat(inputs[-1:], source.shape[0] - len(part), axis=0)])
        with reading(self.file or self.name, f"a network for {len(inputs)} images at once"):
            (values,) = self.session.run([self.output], {source.name: inputs})
        if np.ndim(values) == 0 or len(values) != len(inputs):
            rows = len(values) if np.ndim(values) else "no"
            raise ValueError(f"the network returns {rows} rows for {len(inputs)} images; it must return one for each")
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
        raise ValueError(f"the network returns an output of shape {values.shape}; it must have 2, 3 or 4 axes")
    if pooling == "none":
        raise ValueError(
            f"the network returns {values.shape[1]} positions per image; set pooling to mean, max or first"
        )
    if pooling == "first":
        return values[:, 0]
    return np.asarray(values.mean(axis=1) if pooling == "mean" else values.max(axis=1))
