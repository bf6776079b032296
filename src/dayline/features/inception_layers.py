"""The layers of Inception-v3 under torchvision's names, from either kind of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dayline.features.checkpoint import Tensors
from dayline.features.onnx_graph import fold_batch_norm

Layers = dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Weight and bias of each convolution, with batch normalisation folded in."""

_EPSILON = 1e-3

# Names of the same layers in torchvision's and TensorFlow's networks, in order of use.
_BLOCKS = {
    "Mixed_5b": "mixed",
    "Mixed_5c": "mixed_1",
    "Mixed_5d": "mixed_2",
    "Mixed_6a": "mixed_3",
    "Mixed_6b": "mixed_4",
    "Mixed_6c": "mixed_5",
    "Mixed_6d": "mixed_6",
    "Mixed_6e": "mixed_7",
    "Mixed_7a": "mixed_8",
    "Mixed_7b": "mixed_9",
    "Mixed_7c": "mixed_10",
}
_STEM = {
    "Conv2d_1a_3x3": "conv",
    "Conv2d_2a_3x3": "conv_1",
    "Conv2d_2b_3x3": "conv_2",
    "Conv2d_3b_1x1": "conv_3",
    "Conv2d_4a_3x3": "conv_4",
}
_LAYERS_5 = {
    "branch1x1": "conv",
    "branch5x5_1": "tower.conv",
    "branch5x5_2": "tower.conv_1",
    "branch3x3dbl_1": "tower_1.conv",
    "branch3x3dbl_2": "tower_1.conv_1",
    "branch3x3dbl_3": "tower_1.conv_2",
    "branch_pool": "tower_2.conv",
}
_LAYERS_6A = {
    "branch3x3": "conv",
    "branch3x3dbl_1": "tower.conv",
    "branch3x3dbl_2": "tower.conv_1",
    "branch3x3dbl_3": "tower.conv_2",
}
_LAYERS_6 = {
    "branch1x1": "conv",
    "branch7x7_1": "tower.conv",
    "branch7x7_2": "tower.conv_1",
    "branch7x7_3": "tower.conv_2",
    "branch7x7dbl_1": "tower_1.conv",
    "branch7x7dbl_2": "tower_1.conv_1",
    "branch7x7dbl_3": "tower_1.conv_2",
    "branch7x7dbl_4": "tower_1.conv_3",
    "branch7x7dbl_5": "tower_1.conv_4",
    "branch_pool": "tower_2.conv",
}
_LAYERS_7A = {
    "branch3x3_1": "tower.conv",
    "branch3x3_2": "tower.conv_1",
    "branch7x7x3_1": "tower_1.conv",
    "branch7x7x3_2": "tower_1.conv_1",
    "branch7x7x3_3": "tower_1.conv_2",
    "branch7x7x3_4": "tower_1.conv_3",
}
_LAYERS_7 = {
    "branch1x1": "conv",
    "branch3x3_1": "tower_conv",
    "branch3x3_2a": "tower_mixed_conv",
    "branch3x3_2b": "tower_mixed_conv_1",
    "branch3x3dbl_1": "tower_1_conv",
    "branch3x3dbl_2": "tower_1_conv_1",
    "branch3x3dbl_3a": "tower_1_mixed_conv",
    "branch3x3dbl_3b": "tower_1_mixed_conv_1",
    "branch_pool": "tower_2_conv",
}
_LAYERS = {
    "Mixed_5b": _LAYERS_5,
    "Mixed_5c": _LAYERS_5,
    "Mixed_5d": _LAYERS_5,
    "Mixed_6a": _LAYERS_6A,
    "Mixed_6b": _LAYERS_6,
    "Mixed_6c": _LAYERS_6,
    "Mixed_6d": _LAYERS_6,
    "Mixed_6e": _LAYERS_6,
    "Mixed_7a": _LAYERS_7A,
    "Mixed_7b": _LAYERS_7,
    "Mixed_7c": _LAYERS_7,
}
_TORCHVISION_PARTS = ("conv.weight", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var")
_TENSORFLOW_PARTS = ("weight", None, "beta", "mean", "var")


def is_tensorflow_port(tensors: Tensors) -> bool:
    """Whether weights are ported from TensorFlow (TorchScript) rather than torchvision's."""
    return any(name.endswith("mixed_10.tower_2_conv.weight") for name in tensors)


def inception_layers(tensors: Tensors) -> Layers:
    """Return every convolution of Inception-v3; raise ValueError if one is missing.

    Parameters
    ----------
    tensors : dict of str to ndarray
        Tensors of a checkpoint; their names may share a prefix ("module.").
    """
    ported = is_tensorflow_port(tensors)
    names = {name: _STEM[name] if ported else name for name in _STEM}
    for block, layers in _LAYERS.items():
        for layer, port in layers.items():
            names[f"{block}.{layer}"] = f"{_BLOCKS[block]}.{port}" if ported else f"{block}.{layer}"
    parts = _TENSORFLOW_PARTS if ported else _TORCHVISION_PARTS
    first = f"{next(iter(names.values()))}.{parts[0]}"
    prefix = min(
        (name.removesuffix(first) for name in tensors if _ends(name, first)), key=len, default=""
    )
    return {name: _folded(tensors, f"{prefix}{source}", parts) for name, source in names.items()}


def _ends(name: str, ending: str) -> bool:
    return name == ending or name.endswith(f".{ending}")


def _folded(
    tensors: Tensors, layer: str, parts: tuple[str | None, ...]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    missing = [f"{layer}.{part}" for part in parts if part and f"{layer}.{part}" not in tensors]
    if missing:
        raise ValueError(f"does not contain {missing[0]}; these are not Inception-v3 weights")
    weight, scale, shift, mean, variance = (f"{layer}.{part}" if part else None for part in parts)
    return fold_batch_norm(
        tensors[str(weight)],
        scale=tensors[scale] if scale else None,
        shift=tensors[str(shift)],
        mean=tensors[str(mean)],
        variance=tensors[str(variance)],
        epsilon=_EPSILON,
    )
