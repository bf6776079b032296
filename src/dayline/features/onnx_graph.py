"""Build a convolutional network as an ONNX graph, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.features.onnx_messages import FLOAT, INT, INTS, onnx_messages

# Old enough for every supported onnxruntime, new enough for all operations used.
_OPSET = 17
_IR_VERSION = 8

Attributes = dict[str, int | Sequence[int]]
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
        Computed in float64, so that folding adds no error.
    """
    with np.errstate(all="ignore"):  # values that are not finite raise an error below
        gain = 1.0 / np.sqrt(variance.astype(np.float64) + epsilon)
        if scale is not None:
            gain = gain * scale
        bias = (shift - mean * gain).astype(np.float32)
        folded = (weight * gain[:, None, None, None]).astype(np.float32)
    if not (np.isfinite(folded).all() and np.isfinite(bias).all()):
        raise ValueError("contains weights that are not finite or too large")
    return folded, bias


class Graph:
    """An ONNX graph under construction: every method adds an operation and returns the name of its output."""

    def __init__(self, name: str, *, size: int) -> None:
        self.input = "image"
        self._name = name
        self._size = size
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operation: str, *inputs: str, attributes: Attributes | None = None) -> str:
        """Add any operation of the ONNX standard whose attributes are integers."""
        output = f"{operation.lower()}_{len(self._nodes)}"
        self._nodes.append(_node(operation, inputs, output, attributes or {}))
        return output

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant array."""
        name = f"constant_{len(self._constants)}"
        stored = np.ascontiguousarray(values, dtype="<f4")
        self._constants.append(
            onnx_messages().TensorProto(
                dims=stored.shape, data_type=FLOAT, name=name, raw_data=stored.tobytes()
            )
        )
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
        attributes: Attributes = {
            "kernel_shape": list(weight.shape[2:]),
            "strides": [stride, stride],
            "pads": list(pads),
            "group": groups,
        }
        return self.add(
            "Conv", x, self.constant(weight), self.constant(bias), attributes=attributes
        )

    def relu6(self, x: str) -> str:
        """Clip values to [0, 6]."""
        low, high = (self.constant(np.asarray(bound, dtype=np.float32)) for bound in (0.0, 6.0))
        return self.add("Clip", x, low, high)

    def pool(
        self, x: str, kind: str, *, stride: int, padding: int = 0, count_padding: bool | None = None
    ) -> str:
        """Add 3 x 3 pooling, "MaxPool" or "AveragePool"."""
        attributes: Attributes = {
            "kernel_shape": [3, 3],
            "strides": [stride, stride],
            "pads": [padding] * 4,
        }
        if count_padding is not None:
            attributes["count_include_pad"] = int(count_padding)
        return self.add(kind, x, attributes=attributes)

    def concatenate(self, parts: Sequence[str]) -> str:
        """Concatenate channels."""
        return self.add("Concat", *parts, attributes={"axis": 1})

    def serialise(self, outputs: Mapping[str, tuple[str, int]]) -> bytes:
        """Finish the graph and return the ONNX file.

        Parameters
        ----------
        outputs : mapping of str to (str, int)
            For each public output name, the operation that computes it and its number of columns.
        """
        messages = onnx_messages()
        graph = messages.GraphProto(
            node=[
                *self._nodes,
                *(_node("Identity", [x], name, {}) for name, (x, _) in outputs.items()),
            ],
            name=self._name,
            initializer=self._constants,
            input=[_float_array(self.input, ("n", 3, self._size, self._size))],
            output=[_float_array(name, ("n", columns)) for name, (_, columns) in outputs.items()],
        )
        model = messages.ModelProto(
            ir_version=_IR_VERSION,
            producer_name="dayline",
            graph=graph,
            opset_import=[messages.OperatorSetIdProto(domain="", version=_OPSET)],
        )
        return bytes(model.SerializeToString())


def _node(operation: str, inputs: Sequence[str], output: str, attributes: Attributes) -> Any:
    messages = onnx_messages()
    return messages.NodeProto(
        input=inputs,
        output=[output],
        op_type=operation,
        attribute=[
            (
                messages.AttributeProto(name=name, i=value, type=INT)
                if isinstance(value, int)
                else messages.AttributeProto(name=name, ints=value, type=INTS)
            )
            for name, value in sorted(attributes.items())
        ],
    )


def _float_array(name: str, shape: Sequence[int | str]) -> Any:
    """Declare an input or output; an axis of any length has a name instead of a number."""
    messages = onnx_messages()
    axes = [
        (
            messages.DimensionProto(dim_param=side)
            if isinstance(side, str)
            else messages.DimensionProto(dim_value=side)
        )
        for side in shape
    ]
    shape_of = messages.TensorShapeProto(dim=axes)
    kind = messages.TypeProto(tensor_type=messages.TensorTypeProto(elem_type=FLOAT, shape=shape_of))
    return messages.ValueInfoProto(name=name, type=kind)
