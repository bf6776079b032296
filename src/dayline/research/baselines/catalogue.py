"""The table of baselines: name on the command line, rows in the tables, class and caveats.

The command line, `BaselineSegmenter` and the tables of `dayline reproduce` all use this table.
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
    boundary_row : str
        Its row in tables of boundaries, where the number of events is not given; empty if it has
        none.
    label_row : str
        Its row in the table of labels, where the number of classes is given; empty if it has none.
    parameters : mapping of str to object
        Parameters of the class that differ from its defaults.
    labels : str
        The attribute that is the label of each frame in that row: events, or groups that may recur.
    caveat : str
        Warning when it runs on a single sequence, if it is designed to use others too.
    """

    name: str
    module: str
    estimator: str
    boundary_row: str = ""
    label_row: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: str = "labels_"
    caveat: str = ""


_ENTRIES = (
    BaselineEntry(
        "tsc", "subspace", "TemporalSubspaceSegmenter", "CES-TSC", "TSC", labels="communities_"
    ),
    BaselineEntry(
        "tw-finch", "clustering", "TemporalFinch", "TW-FINCH", "TW-FINCH", labels="communities_"
    ),
    BaselineEntry("kts", "kernel_change", "KernelTemporalSegmenter", "KTS", "KTS"),
    BaselineEntry(
        "kernel-rbf",
        "kernel_change",
        "KernelChangeSegmenter",
        "kernel change points, rbf",
        "kernel change points, rbf",
        {"kernel": "rbf"},
    ),
    BaselineEntry(
        "kernel-cosine",
        "kernel_change",
        "KernelChangeSegmenter",
        "kernel change points, cosine",
        "kernel change points, cosine",
        {"kernel": "cosine"},
    ),
    BaselineEntry(
        "ces", "novelty", "ContextualSegmenter", "CES on raw features", "CES on raw features"
    ),
    BaselineEntry(
        "window-difference",
        "novelty",
        "WindowDifferenceSegmenter",
        "window difference",
        "window difference",
    ),
    BaselineEntry(
        "sr-clustering",
        "sr_clustering",
        "SRClustering",
        "SR-Clustering",
        "SR-Clustering (number not given)",
    ),
    BaselineEntry(
        "kmeans",
        "clustering",
        "SmoothedKMeans",
        "k-means smoothed (k = 30)",
        "k-means smoothed",
        labels="communities_",
    ),
    BaselineEntry(
        "lrt",
        "subspace",
        "LowRankTransferSegmenter",
        caveat="uses this sequence itself as its source; the published system has a labeled one",
    ),
    BaselineEntry(
        "vcp",
        "vcp",
        "VisualContextSegmenter",
        caveat=(
            "is trained on this sequence itself; the published system has a training set of many"
            " days"
        ),
    ),
    BaselineEntry("ac-color", "clustering", "ColorSegmenter"),
)
BASELINES: dict[str, BaselineEntry] = {entry.name: entry for entry in _ENTRIES}
"""By name."""


def make_baseline(name: str, *, number: int | None = None, seed: int | None = None) -> Any:
    """Make one of `BASELINES`, with its published settings.

    Parameters
    ----------
    name : str
        On the command line.
    number : int, optional
        Number of events or of groups, for baselines that take one.
    seed : int, optional
        Seed, for baselines that take one.
    """
    from dayline.checks import check_choice

    check_choice("method", name, tuple(BASELINES))
    entry = BASELINES[name]
    module = import_module(f"dayline.research.baselines.{entry.module}")
    baseline = getattr(module, entry.estimator)(**entry.parameters)

    takes = baseline.get_params()
    given = {"n_events": number, "n_communities": number, "random_state": seed}
    return baseline.set_params(
        **{key: value for key, value in given.items() if value is not None and key in takes}
    )


def is_seeded(name: str) -> bool:
    """Return whether the result of a baseline depends on its seed."""
    return "random_state" in make_baseline(name).get_params()
