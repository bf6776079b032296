"""The methods that `--method` names, for `dayline segment` and `dayline batch`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dayline.baselines.catalogue import BASELINES

if TYPE_CHECKING:
    from collections.abc import Callable

    from dayline.pipeline import Segmenter

__all__ = ["Method", "chosen_segmenter", "usual_model"]

PRESETS = ("default", "fast", "paper", "authors")
Method = StrEnum("Method", [(name, name) for name in (*PRESETS, *BASELINES)])  # type: ignore[misc]
"""Our default, the same decision without a graph, the two published variants, and the baselines."""


def usual_model(method: Method) -> str:
    """Return the name of the model that computes features for a method unless another one is chosen."""
    return "color-lab" if method.value == "ac-color" else "lite0"


def chosen_segmenter(method: Method, *, interpolate: bool = False, **parameters: Any) -> Segmenter:
    """Return the segmenter of a method; raise if an option does not apply to it."""
    from dayline.checks import Missing
    from dayline.estimators import EventSegmenter
    from dayline.estimators.baseline import BaselineSegmenter

    missing: Missing = "interpolate" if interpolate else "raise"
    if method.value in BASELINES:
        n_events = parameters.pop("n_events", None)
        for name, value in parameters.items():
            if value not in (None, 0, "cpu"):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} does not apply to --method {method.value}; leave it out")
        return BaselineSegmenter(method.value, n_events=n_events, missing=missing)
    presets: dict[str, Callable[[], EventSegmenter]]
    presets = {
        "default": EventSegmenter,
        "fast": EventSegmenter.fast,
        "paper": EventSegmenter.paper,
        "authors": EventSegmenter.authors,
    }
    segmenter = presets[method.value]()
    segmenter.set_params(missing=missing, **parameters)
    return segmenter
