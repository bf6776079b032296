"""Turn images into features, by a network or by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dayline.features.preprocess import Image
from dayline.installation import needs_extra


class Extractor(Protocol):
    """Turns images into features."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that affects the values: weights and preprocessing."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def input_size(self) -> int:
        """Minimum shorter side of decoded images."""

    def prepare(self, image: Image) -> NDArray[Any]:
        """Turn decoded pixels into one input; thread-safe."""

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return one row of features per prepared image."""


@needs_extra("photos", "computing features of images")
def load_extractor(
    model: str = "lite0",
    *,
    threads: int | None = None,
) -> Extractor:
    """Open a feature extractor by name.

    Parameters
    ----------
    model : str
        "lite0" (EfficientNet-Lite0), "color" or "color-lab" (histogram of HSV or Lab colors),
        "hog", or the path of an ONNX file with its preprocessing in a JSON file next to it.
    threads : int, optional
        CPU threads of the network; all cores if not given.
    """
    if model == "lite0":
        from dayline.features.lite0 import load_lite0

        return load_lite0(threads=threads)
    if model in ("color", "color-lab", "hog"):
        from dayline.features.handmade import load_handmade

        return load_handmade(model)
    if model.lower().endswith(".onnx"):
        from dayline.features.onnx import load_onnx_file

        return load_onnx_file(Path(model), threads=threads)
    raise ValueError(
        f'model "{model}" is not known; use lite0, color, color-lab, hog or the path of a .onnx'
        " file"
    )


def extract_features(
    images: Sequence[Image], extractor: Extractor, *, names: Sequence[str] | None = None
) -> NDArray[np.float32]:
    """Compute one row of features per image.

    Parameters
    ----------
    images : sequence of ndarray of uint8, (height, width, 3)
        Decoded pixels; smaller than `extractor.input_size` only if the original is.
    extractor : Extractor
        See `load_extractor`.
    names : sequence of str, optional
        Names of the images for messages; their numbers by default.
    """
    inputs = []
    for i, image in enumerate(images):
        try:
            inputs.append(extractor.prepare(image))
        except ValueError as error:
            raise ValueError(f"frame {i if names is None else names[i]}: {error}") from error
    if not inputs:
        return np.empty((0, extractor.n_features), dtype=np.float32)

    features = extractor.extract(np.stack(inputs))
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if len(bad):
        file = getattr(extractor, "file", None)
        model = f"{file}:" if file is not None else f"model {extractor.name}"
        frame = bad[0] if names is None else names[bad[0]]
        raise ValueError(
            f"{model} returns values that are not finite for frame {frame}; use another model"
        )
    return features
