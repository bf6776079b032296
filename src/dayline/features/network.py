"""Run an ONNX network on prepared images, on a GPU where onnxruntime has one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dayline.features.preprocess import Image, Preprocessing, normalise, prepare

__all__ = ["NetworkExtractor", "Pooling", "fingerprint_of", "open_session", "run_network"]

Pooling = Literal["none", "mean", "max", "first"]


def fingerprint_of(*parts: object) -> str:
    """Hash whatever decides the values of features: weights, preprocessing, version of the recipe."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def open_session(model: bytes | Path, *, threads: int | None = None) -> Any:
    """Open a network with onnxruntime: CUDA where it is present, else the CPU.

    Parameters
    ----------
    model : bytes or Path
        ONNX. No library of custom operations is ever loaded for it.
    threads : int, optional
        CPU threads of the network; all cores if not given.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0
    options.log_severity_level = 3
    # Threads that spin while they wait would take the cores from the threads that decode images.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    providers: list[Any] = ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        # TensorFloat-32 would round features to three digits, other than on the CPU.
        providers.insert(0, ("CUDAExecutionProvider", {"use_tf32": "0"}))
    source = str(model) if isinstance(model, Path) else model
    try:
        return onnxruntime.InferenceSession(source, options, providers=providers)
    except Exception as error:
        # onnxruntime raises types of its own, one per cause, all meaning that the file is unusable.
        where = f"{model}: " if isinstance(model, Path) else ""
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"{where}not a network onnxruntime can run: {reason}") from error


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
        Columns of the result.
    session : onnxruntime.InferenceSession
        The network.
    preprocessing : Preprocessing
        How it wants its images.
    output : str
        Name of the output that holds the features.
    pooling : {"none", "mean", "max", "first"}
        How an output with positions becomes one vector per image.
    """

    name: str
    fingerprint: str
    n_features: int
    session: Any
    preprocessing: Preprocessing
    output: str = "features"
    pooling: Pooling = "none"

    @property
    def input_size(self) -> int:
        """Shorter side that decoded images should have at least."""
        return self.preprocessing.shorter_side

    def prepare(self, image: Image) -> NDArray[np.uint8]:
        """Turn decoded pixels into one input."""
        return prepare(image, self.preprocessing)

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return one row of features per prepared image."""
        inputs = normalise(batch, self.preprocessing)
        return run_network(self.session, inputs, output=self.output, pooling=self.pooling)


def run_network(session: Any, inputs: NDArray[Any], *, output: str, pooling: Pooling) -> NDArray[np.float32]:
    """Run a network on its inputs; networks with a fixed batch size get their batches filled up."""
    source = session.get_inputs()[0]
    fixed = source.shape[0] if isinstance(source.shape[0], int) else len(inputs)
    inputs = inputs.astype(np.float16 if source.type == "tensor(float16)" else np.float32, copy=False)
    rows = []
    for start in range(0, len(inputs), max(fixed, 1)):
        part = inputs[start : start + fixed]
        n_real = len(part)
        if n_real < fixed:
            part = np.concatenate([part, np.repeat(part[-1:], fixed - n_real, axis=0)])
        (values,) = session.run([output], {source.name: part})
        rows.append(_pool(values[:n_real], pooling).astype(np.float32, copy=False))
    return np.concatenate(rows)


def _pool(values: NDArray[Any], pooling: Pooling) -> NDArray[Any]:
    """Make one vector of tokens (n, positions, channels) or of maps (n, channels, rows, columns)."""
    if values.ndim == 4:
        values = values.reshape(*values.shape[:2], -1).swapaxes(1, 2)
    if values.ndim == 3 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        return values
    if values.ndim != 3:
        raise ValueError(f"the network gives an output of shape {values.shape}; it must have 2, 3 or 4 axes")
    if pooling == "none":
        raise ValueError(
            f"the network gives {values.shape[1]} positions per image; set pooling to mean, max or first"
        )
    if pooling == "first":
        return values[:, 0]
    return np.asarray(values.mean(axis=1) if pooling == "mean" else values.max(axis=1))
