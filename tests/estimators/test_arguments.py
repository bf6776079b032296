"""Any value of a parameter works, or quickly gives one line that names the parameter."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

import dayline
from dayline import DynamicGraphEmbedding, EventSegmenter, PrincipalComponents
from dayline.method.dge import Parameters
from dayline.research.baselines.clustering import ColorSegmenter, SmoothedKMeans, TemporalFinch
from dayline.research.baselines.kernel_change import KernelChangeSegmenter, KernelTemporalSegmenter
from dayline.research.baselines.novelty import ContextualSegmenter, WindowDifferenceSegmenter
from dayline.research.baselines.sr_clustering import SRClustering
from dayline.research.baselines.subspace import LowRankTransferSegmenter, TemporalSubspaceSegmenter
from dayline.research.baselines.vcp import VisualContextSegmenter
from dayline.research.datasets.synthetic import make_communities

X = np.abs(make_communities(24, stay=300.0, n_features=4, random_state=2).features)
ODD = (
    None, "x", 3, -1, 0, 2.5, True, [], (1, 2), object(), np.arange(3), PCA(),
    float("nan"), float("inf"), 1e300, 1e-310, np.float32(2.0), 10**9, 10**30, -(10**30), 10**400,
    10**5000,
)  # fmt: skip
QUICK = {"n_steps": 5, "n_loop_steps": 3, "n_iterations": 1}
ESTIMATORS = {
    "EventSegmenter": EventSegmenter(DynamicGraphEmbedding(**QUICK)),
    "EventSegmenter.fast": EventSegmenter.fast(),
    "EventSegmenter.paper": EventSegmenter.paper(**QUICK),
    "DynamicGraphEmbedding": DynamicGraphEmbedding(**QUICK),
    "DynamicGraphEmbedding.paper": DynamicGraphEmbedding.paper(**QUICK),
    "DynamicGraphEmbedding.authors": DynamicGraphEmbedding.authors(**QUICK),
    "PrincipalComponents": PrincipalComponents(),
    "ces": ContextualSegmenter(),
    "kts": KernelTemporalSegmenter(),
    "tw-finch": TemporalFinch(),
    "window difference": WindowDifferenceSegmenter(),
    "kernel change": KernelChangeSegmenter(),
    "tsc": TemporalSubspaceSegmenter(n_atoms=5, n_iterations=5),
    "lrt": LowRankTransferSegmenter(n_directions=5, n_iterations=3),
    "vcp": VisualContextSegmenter(n_units=4, n_epochs=1),
    "k-means smoothed": SmoothedKMeans(n_communities=3),
    "ac-color": ColorSegmenter(),
    "sr-clustering": SRClustering(),
}
GRAPH = dayline.affinity_graph(X, bandwidth=0.1)
START = dayline.principal_components(X, 3)
SCORES = dayline.context_distance(X)
FUNCTIONS = {
    "dynamic_graph_embedding": {
        "features": X,
        **vars(Parameters(n_components=3, n_communities=4, **QUICK)),
    },
    "nonlocal_means": {
        "x": X, "search_radius": 3, "patch_radius": 1, "bandwidth": 0.25, "kernel": "gaussian",
        "decay": 0.5, "include_self": True,
    },
    "affinity_graph": {"x": X, "bandwidth": 0.1},
    "principal_components": {"x": X, "n_components": 3},
    "graph_cross_entropy": {"embedding": START, "graph": GRAPH, "bandwidth": 0.5},
    "embed_graph": {
        "graph": GRAPH, "start": START, "bandwidth": 0.5, "n_steps": 5, "optimizer": "lbfgs",
        "gradient": "full",
    },
    "smooth_edges": {"graph": GRAPH, "width": 3},
    "weaken_distant_edges": {"graph": GRAPH, "temporal_prior": 0.3},
    "find_communities": {"x": X, "n_communities": 3, "random_state": 0},
    "weaken_edges_between_communities": {
        "graph": GRAPH, "communities": np.arange(24) // 8, "semantic_prior": 0.1,
    },
    "context_distance": {"x": X, "window": 8},
    "pick_boundaries": {"scores": SCORES, "order": 5},
    "partition": {"x": X, "penalty": 2.0, "min_length": 2},
    "make_communities": {
        "n_frames": 24, "stay": 50.0, "variance": 3.0, "n_features": 3, "random_state": 0,
    },
    "no_boundaries": {"n_frames": 24},
    "equal_pieces": {"n_frames": 24, "n_events": 3},
    "random_cuts": {"n_frames": 24, "n_events": 3, "random_state": 0},
    "score_boundaries": {
        "found": [2], "true": [1], "tolerance": 5, "protocol": "ces", "n_frames": 24,
    },
    "score_labels": {"found": [0, 0, 1], "true": [0, 1, 1]},
}  # fmt: skip
CALLS = [
    (
        name,
        partial(getattr(dayline, name), **{k: v for k, v in arguments.items() if k != parameter}),
        parameter,
    )
    for name, arguments in FUNCTIONS.items()
    for parameter in arguments
    if not (
        name == "make_communities" and parameter == "n_frames"
    )  # 10**9 frames are refused, and 3 are fine
]


def works_or_is_refused_in_one_line(call, parameter):
    said = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a request that cannot be met is a warning
        try:
            call()
        except (TypeError, ValueError) as error:
            said = str(error)
    if said is not None:
        assert parameter in said, said
        assert "\n" not in said
        assert len(said) < 300


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_of_an_estimator_works_or_is_named(name):
    estimator = ESTIMATORS[name]
    if name in ("vcp", "kernel change"):
        pytest.importorskip("torch" if name == "vcp" else "ruptures")
    for parameter in estimator.get_params(deep=False):
        for value in ODD:
            if parameter == "predictor" and isinstance(value, str):
                continue  # a file name, which the message is about
            odd = clone(estimator)
            setattr(odd, parameter, value)
            works_or_is_refused_in_one_line(partial(odd.fit, X), parameter)


@pytest.mark.parametrize(
    ("name", "call", "parameter"), CALLS, ids=[f"{name} {p}" for name, _, p in CALLS]
)
def test_every_argument_of_a_public_function_works_or_is_named(name, call, parameter):
    for value in ODD:
        if name == "score_boundaries" and parameter == "n_frames" and value is ODD[2]:
            continue
        works_or_is_refused_in_one_line(partial(call, **{parameter: value}), parameter)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device": 3}, 'device has type int; use "cpu"'),
        ({"embedding": DynamicGraphEmbedding}, "it must be a DynamicGraphEmbedding or Principal"),
        ({"embedding": DynamicGraphEmbedding(n_steps=10**9)}, "n_steps=10.* at most 100000"),
        ({"missing": "drop"}, "missing='drop' is not known"),
    ],
)
def test_wrong_parameters_are_refused_before_the_features_are_looked_at(changes, message):
    with pytest.raises(ValueError, match=message):
        EventSegmenter(**changes).check_parameters()


@pytest.mark.parametrize(
    ("parameter", "enough"),
    [
        ("patch_radius", 23),
        ("search_radius", 23),
        ("smoothing_width", None),
        ("n_communities", 24),
        ("n_components", 4),
    ],
)
@pytest.mark.parametrize("name", ["DynamicGraphEmbedding", "DynamicGraphEmbedding.authors"])
def test_radii_and_widths_beyond_the_sequence_end_and_change_no_more(name, parameter, enough):
    make = clone(ESTIMATORS[name]).set_params
    if name.endswith("authors") and parameter in ("search_radius", "n_components"):
        enough = None  # the notebook divides by them, so that every value has its own result
    far = make(**{parameter: 10**7}).fit(X).embedding_
    assert np.isfinite(far).all()
    if enough is not None:
        np.testing.assert_array_equal(far, make(**{parameter: enough}).fit(X).embedding_)


@pytest.mark.parametrize(
    ("made", "enough"),
    [
        (ContextualSegmenter(window=10**9, order=10**9), {"window": 24, "order": 24}),
        (ContextualSegmenter(n_events=4, order=10**9), {"order": 24}),
        (WindowDifferenceSegmenter(order=10**9), {"order": 24}),
        (SmoothedKMeans(3, radius=10**30), {"radius": 24}),
        (
            TemporalSubspaceSegmenter(n_atoms=5, n_iterations=5, n_neighbors=10**10),
            {"n_neighbors": 48},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_windows_of_baselines_beyond_the_sequence_change_no_more(made, enough):
    assert made.fit_predict(X).tolist() == clone(made).set_params(**enough).fit_predict(X).tolist()


def test_masked_values_are_missing_for_every_estimator():
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    masked[7, 2] = np.ma.masked
    for name in ("EventSegmenter", "DynamicGraphEmbedding", "ces"):
        with pytest.raises(ValueError, match="frame 7 holds NaN"):
            clone(ESTIMATORS[name]).fit(masked)
    with pytest.raises(ValueError, match="frame 31 holds NaN"):
        clone(ESTIMATORS["EventSegmenter"]).fit(X).append(masked)


OFFSETS = pytest.mark.parametrize(
    ("offset", "scale"), [(1e8, 1.0), (-1e12, 1.0), (0.0, 1e80), (0.0, 1e-80), (1e6, 1e-3)]
)


@OFFSETS
def test_single_precision_finds_the_boundaries_of_double_whatever_the_offset(offset, scale):
    made = make_communities(160, stay=300.0, n_features=8, random_state=2)
    x = offset + scale * made.features
    expected = EventSegmenter().fit(x).boundaries_.tolist()
    assert len(expected) > 3
    assert (
        EventSegmenter(DynamicGraphEmbedding(dtype="float32")).fit(x).boundaries_.tolist()
        == expected
    )


@OFFSETS
@pytest.mark.parametrize("make", [DynamicGraphEmbedding.paper, DynamicGraphEmbedding.authors])
def test_published_variants_denoise_alike_in_single_precision_whatever_the_offset(
    make, offset, scale
):
    x = offset + scale * X
    double, single = (
        make(**QUICK, dtype=dtype).fit(x).denoised_ for dtype in ("float64", "float32")
    )
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-5)
