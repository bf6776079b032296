"""The table of baselines: name on the command line, rows in the tables, class and caveats.

The command line, `BaselineSegmenter` and the tables of `dayline.reproduce` all use this table.
Modules are imported only when a baseline is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class BaselineEntry:
    """One baseline that needs nothing but the features of one sequence.

    Attributes
    ----------
    name : str
        On the command line.
    module, estimator : str
        Where its class is, in `dayline.research.baselines`.
    parameters : mapping of str to object
        Parameters of the class that differ from its defaults.
    boundary_row : str
        Its row in tables of boundaries, where the number of events is not given; empty if it has
        none.
    label_row : str
        Its row in the table of labels, where the number of classes is given; empty if it has none.
    number_parameter : str or None
        The parameter that takes the number of classes; None if the baseline always finds its own
        number.
    labels : str
        The attribute with the label of each frame: events, or groups that may recur.
    is_seeded : bool
        Whether the result depends on `random_state`.
    caveat : str
        Warning when it runs on a single sequence, if it is designed to use others too.
    """

    name: str
    module: str
    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    boundary_row: str = ""
    label_row: str = ""
    number_parameter: str | None = "n_events"
    labels: str = "labels_"
    is_seeded: bool = False
    caveat: str = ""


_ENTRIES = (
    BaselineEntry(
        "tsc",
        "tsc",
        "TemporalSubspaceSegmenter",
        boundary_row="CES-TSC",
        label_row="TSC",
        labels="communities_",
        is_seeded=True,
    ),
    BaselineEntry(
        "tw-finch",
        "tw_finch",
        "TemporalFinch",
        boundary_row="TW-FINCH",
        label_row="TW-FINCH",
        labels="communities_",
    ),
    BaselineEntry("kts", "kts", "KernelTemporalSegmenter", boundary_row="KTS", label_row="KTS"),
    BaselineEntry(
        "kernel-rbf",
        "kernel_change",
        "KernelChangeSegmenter",
        {"kernel": "rbf"},
        boundary_row="kernel change points, rbf",
        label_row="kernel change points, rbf",
    ),
    BaselineEntry(
        "kernel-cosine",
        "kernel_change",
        "KernelChangeSegmenter",
        {"kernel": "cosine"},
        boundary_row="kernel change points, cosine",
        label_row="kernel change points, cosine",
    ),
    BaselineEntry(
        "ces",
        "ces",
        "ContextualSegmenter",
        boundary_row="CES on raw features",
        label_row="CES on raw features",
    ),
    BaselineEntry(
        "window-difference",
        "window_difference",
        "WindowDifferenceSegmenter",
        boundary_row="window difference",
        label_row="window difference",
    ),
    BaselineEntry(
        "sr-clustering",
        "sr_clustering",
        "SRClustering",
        boundary_row="SR-Clustering",
        label_row="SR-Clustering (number not given)",
        number_parameter=None,
    ),
    BaselineEntry(
        "kmeans",
        "kmeans_smoothed",
        "SmoothedKMeans",
        boundary_row="k-means smoothed (k = 30)",
        label_row="k-means smoothed",
        number_parameter="n_communities",
        labels="communities_",
        is_seeded=True,
    ),
    BaselineEntry(
        "lrt",
        "lrt",
        "LowRankTransferSegmenter",
        labels="communities_",
        is_seeded=True,
        caveat="uses this sequence itself as its source; the published system has a labeled one",
    ),
    BaselineEntry(
        "vcp",
        "vcp",
        "VisualContextSegmenter",
        is_seeded=True,
        caveat=(
            "is trained on this sequence itself; the published system has a training set of many"
            " days"
        ),
    ),
    BaselineEntry("ac-color", "ac_color", "ColorSegmenter", labels="communities_"),
)
BASELINES: dict[str, BaselineEntry] = {entry.name: entry for entry in _ENTRIES}
"""By name."""


def make_baseline(name: str) -> Any:
    """Make one of `BASELINES`, with its published settings."""
    from dayline.checks import check_choice

    check_choice("method", name, tuple(BASELINES))
    entry = BASELINES[name]
    return getattr(import_module(f"dayline.research.baselines.{entry.module}"), entry.estimator)(
        **entry.parameters
    )
