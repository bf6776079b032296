"""Write a convolutional network as an ONNX graph, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Graph", "fold_batch_norm"]

# Old enough for every onnxruntime we allow, new enough for all operations we use.
_OPSET = 17
_IR_VERSION = 8

Pads = tuple[int, int, int, int]
"""Rows above, columns left, rows below, columns right."""


def fold_batch_norm(
    weight: NDArray[Any],
    *,
    scale: NDArray[Any] | None,
    shift: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    epsilon: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Merge a convolution without bias and the batch normalisation after it into one convolution.

    Returns
    -------
    weight, bias : ndarray of float32
        Computed in float64, so that folding adds no error of its own.
    """
    with np.errstate(all="ignore"):  # values that are not finite are refused below
        gain = 1.0 / np.sqrt(variance.astype(np.float64) + epsilon)
        if scale is not None:
            gain = gain * scale
        bias = (shift - mean * gain).astype(np.float32)
        folded = (weight * gain[:, None, None, None]).astype(np.float32)
    if not (np.isfinite(folded).all() and np.isfinite(bias).all()):
        raise ValueError("holds weights that are not finite, or too large to work with")
    return folded, bias


class Graph:
    """An ONNX graph under construction: every method adds an operation and returns its output's name."""

    def __init__(self, name: str, *, size: int) -> None:
        self.input = "image"
        self._name = name
        self._size = size
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operation: str, *inputs: str, attributes: Mapping[str, Any] | None = None) -> str:
        """Add any operation of the ONNX standard."""
        from onnx import helper

        output = f"{operation.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, inputs, [output], **(attributes or {})))
        return output

    def constant(self, values: NDArray[Any]) -> str:
        """Add fixed numbers."""
        from onnx import numpy_helper

        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def convolution(
        self,
        x: str,
        weight: NDArray[np.float32],
        bias: NDArray[np.float32],
        *,
        stride: int = 1,
        pads: Pads = (0, 0, 0, 0),
        groups: int = 1,
    ) -> str:
        """Add a convolution with bias."""
        attributes = {
            "kernel_shape": list(weight.shape[2:]),
            "strides": [stride, stride],
            "pads": list(pads),
            "group": groups,
        }
        return self.add("Conv", x, self.constant(weight), self.constant(bias), attributes=attributes)

    def relu6(self, x: str) -> str:
        """Cut values to 0 .. 6."""
        low, high = (self.constant(np.asarray(bound, dtype=np.float32)) for bound in (0.0, 6.0))
        return self.add("Clip", x, low, high)

    def pool(self, x: str, kind: str, *, stride: int, padding: int = 0, count_padding: bool | None = None) -> str:
        """Add a 3 x 3 pooling, "MaxPool" or "AveragePool"."""
        attributes: dict[str, Any] = {
            "kernel_shape": [3, 3],
            "strides": [stride, stride],
            "pads": [padding] * 4,
        }
        if count_padding is not None:
            attributes["count_include_pad"] = int(count_padding)
        return self.add(kind, x, attributes=attributes)

    def concatenate(self, parts: Sequence[str]) -> str:
        """Put channels one after the other."""
        return self.add("Concat", *parts, attributes={"axis": 1})

    def serialise(self, outputs: Mapping[str, tuple[str, int]]) -> bytes:
        """Finish the graph.

        Parameters
        ----------
        outputs : mapping of str to (str, int)
            For each output's public name, the operation that gives it and its number of columns.
        """
        import onnx
        from onnx import TensorProto, helper

        nodes = [
            *self._nodes,
            *(helper.make_node("Identity", [x], [name]) for name, (x, _) in outputs.items()),
        ]
        graph = helper.make_graph(
            nodes,
            self._name,
            [helper.make_tensor_value_info(self.input, TensorProto.FLOAT, ["n", 3, self._size, self._size])],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", columns])
                for name, (_, columns) in outputs.items()
            ],
            self._constants,
        )
        model = helper.make_model(
            graph,
            producer_name="dayline",
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", _OPSET)],
        )
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
