from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from dayline import DynamicGraphEmbedding, EventSegmenter, PrincipalComponents
from dayline.method.dge import bandwidths
from dayline.research.baselines.novelty import WindowDifferenceSegmenter
from dayline.research.datasets.synthetic import make_communities

MADE = make_communities(120, stay=300.0, n_features=8, random_state=2)
SEGMENTERS = [
    EventSegmenter(),
    EventSegmenter.fast(),
    EventSegmenter.paper(),
    EventSegmenter.authors(),
]
EMBEDDERS = [
    DynamicGraphEmbedding(),
    DynamicGraphEmbedding.paper(),
    DynamicGraphEmbedding.authors(),
    PrincipalComponents(),
]
names = ["default", "fast", "paper", "authors"]


ON_PURPOSE = {
    "check_fit1d": "an array of one dimension is a sequence of one value per frame",
    "check_fit2d_predict1d": "as above; another number of columns is refused in other words",
    "check_methods_sample_order_invariance": "events depend on the order of frames",
    "check_methods_subset_invariance": "events depend on all frames",
}


@parametrize_with_checks([*EMBEDDERS, *SEGMENTERS])
def test_scikit_learn_s_own_checks(estimator, check):
    if check.func.__name__ in ON_PURPOSE:
        pytest.skip(ON_PURPOSE[check.func.__name__])
    check(estimator)


@pytest.mark.parametrize("segmenter", SEGMENTERS, ids=names)
def test_boundaries_labels_events_and_scores_agree(segmenter):
    segmenter = clone(segmenter)
    labels = segmenter.fit_predict(MADE.features)
    boundaries = segmenter.boundaries_
    assert boundaries.dtype.kind == "i"
    assert np.all(np.diff(boundaries) > 0)
    assert np.all((boundaries >= 1) & (boundaries < 120))
    assert len(boundaries) > 0
    assert np.flatnonzero(np.diff(labels)).tolist() == (boundaries - 1).tolist()
    assert [e.start for e in segmenter.events_] == [0, *boundaries]
    assert segmenter.scores_.shape == segmenter.communities_.shape == (120,)
    assert len(segmenter.embedding_) == 120


def test_presets_take_every_parameter_and_refuse_others():
    changed = EventSegmenter.paper(n_components=35, smoothing_width=50, device="torch")
    assert changed.embedding.n_components == 35
    assert changed.embedding.n_loop_steps == 150
    authors = DynamicGraphEmbedding.authors(start="pca", gradient="full")
    assert (authors.start, authors.gradient, authors.rescale_columns) == ("pca", "full", True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        DynamicGraphEmbedding.paper(color=1)


def test_bandwidths_follow_the_variant():
    assert bandwidths(DynamicGraphEmbedding.paper(), 2048) == (5.12, 0.3)
    assert bandwidths(DynamicGraphEmbedding.authors(), 2048) == (5.12, 4.6875)
    assert bandwidths(DynamicGraphEmbedding.paper(feature_bandwidth=0.0025), 2048) == (0.0025, 0.3)


@pytest.mark.parametrize("segmenter", SEGMENTERS, ids=names)
@pytest.mark.parametrize(
    "x",
    [
        np.zeros((30, 4)),
        np.full((30, 4), 0.1),
        np.ones((1, 5)),
        np.eye(2),
        np.eye(3),
        np.ones((3, 1)),
    ],
    ids=["zero", "identical", "1 frame", "2 frames", "3 frames", "3 equal frames of one column"],
)
def test_where_nothing_happens_there_is_one_event(segmenter, x):
    assert clone(segmenter).fit_predict(x).tolist() == [0] * len(x)


@pytest.mark.parametrize("segmenter", SEGMENTERS, ids=names)
def test_constant_columns_and_zero_frames_do_no_harm(segmenter):
    x = np.hstack([MADE.features, np.full((120, 2), 3.3)])
    x[50] = 0
    fitted = clone(segmenter).fit(x)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.scores_).all()


def test_fewer_frames_than_components_and_communities():
    fitted = EventSegmenter().fit(MADE.features[:6])
    assert fitted.embedding_.shape == (6, 6)
    assert len(fitted.communities_) == 6


@pytest.mark.parametrize("change", ["float32", "int64", "fortran", "memmap", "DataFrame", "list"])
def test_any_container_gives_the_same_boundaries(change, tmp_path):
    x = np.round(MADE.features * 100)
    expected = EventSegmenter().fit(x).boundaries_.tolist()
    if change == "memmap":
        np.save(tmp_path / "x.npy", x)
        given = np.load(tmp_path / "x.npy", mmap_mode="r")
    elif change == "DataFrame":
        given = pytest.importorskip("pandas").DataFrame(
            x, columns=[f"f{i}" for i in range(x.shape[1])]
        )
    else:
        given = {
            "float32": x.astype("f4"),
            "int64": x.astype("i8"),
            "fortran": np.asfortranarray(x),
            "list": x.tolist(),
        }[change]
    assert EventSegmenter().fit(given).boundaries_.tolist() == expected


@pytest.mark.parametrize("fill", [0.0, np.nan])
@pytest.mark.parametrize(
    "made", [EventSegmenter.fast(), PrincipalComponents(), WindowDifferenceSegmenter()]
)
def test_sparse_columns_of_pandas_are_read_as_dense_ones(made, fill):
    pandas = pytest.importorskip("pandas")
    x = MADE.features * (MADE.features > 0)

    def sparse(values):
        columns = {
            f"f{k}": pandas.arrays.SparseArray(c, fill_value=fill) for k, c in enumerate(values.T)
        }
        return pandas.DataFrame(columns)

    fitted = clone(made).fit(sparse(x))
    assert fitted.n_features_in_ == 8
    assert fitted.feature_names_in_[0] == "f0"
    if isinstance(fitted, EventSegmenter):
        assert fitted.boundaries_.tolist() == clone(made).fit(x).boundaries_.tolist()
        assert fitted.score(sparse(x), fitted.labels_) == 1.0
        assert len(fitted.append(sparse(x[:10])).labels_) == 130

    x[17, 2] = np.nan
    with pytest.raises(ValueError, match="frame 17 holds NaN"):
        clone(made).fit(sparse(x))


def test_a_column_with_the_name_of_another_is_named():
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame(MADE.features[:, :3], columns=["left", "right", "left"])
    message = r"several columns are named 'left'; rename them, or pass X.to_numpy\(\)$"
    fitted = EventSegmenter.fast().fit(MADE.features[:, :3])
    for call in (
        EventSegmenter().fit,
        PrincipalComponents().fit_transform,
        WindowDifferenceSegmenter().fit,
        fitted.append,
        lambda x: fitted.score(x, fitted.labels_),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            call(twice)
        assert type(caught.value) is ValueError


@pytest.mark.parametrize("preset", ["fast", "paper", "authors"])
def test_presets_interpolate_too(preset):
    x = MADE.features.copy()
    x[7] = np.nan
    segmenter = getattr(EventSegmenter, preset)(missing="interpolate")
    later = getattr(EventSegmenter, preset)().set_params(missing="interpolate")
    assert segmenter.fit(x).boundaries_.tolist() == later.fit(x).boundaries_.tolist()


def test_pytorch_gives_the_same_boundaries():
    pytest.importorskip("torch")
    expected = EventSegmenter().fit(MADE.features).boundaries_.tolist()
    assert EventSegmenter(device="torch").fit(MADE.features).boundaries_.tolist() == expected


def test_a_large_file_mapped_into_memory_is_not_loaded_whole(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    looks = random.normal(size=(6, 40)).astype(np.float32)
    x = looks[np.repeat(random.integers(0, 6, 40), 40)] + random.normal(size=(1600, 40)).astype(
        np.float32
    )
    np.save(tmp_path / "x.npy", x)
    in_double = EventSegmenter().fit(x)
    monkeypatch.setattr("dayline.checks.MANY_VALUES", 1000)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    segmenter = EventSegmenter().fit(mapped)
    assert np.shares_memory(segmenter._rows, mapped)
    assert segmenter.embedder_.denoised_.dtype == np.float32
    np.testing.assert_array_equal(segmenter.boundaries_, in_double.boundaries_)
    broken = x.copy()
    broken[7, 3] = np.nan
    with pytest.raises(ValueError, match="frame 7 holds NaN"):
        EventSegmenter().fit(broken)
    assert EventSegmenter.fast().set_params(missing="interpolate").fit(broken).labels_.shape == (
        1600,
    )
    assert np.isnan(broken[7, 3]), "the caller's array is never modified"


def test_parameters_of_the_default_embedding_can_be_set():
    segmenter = EventSegmenter().set_params(embedding__n_components=5, level=1)
    assert (segmenter.embedding.n_components, segmenter.level) == (5, 1)
    assert clone(segmenter).embedding.n_components == 5
    assert EventSegmenter.fast(typical_duration=20).typical_duration == 20


def test_equal_frames_are_said_to_be_equal():
    assert EventSegmenter().fit(np.ones((40, 3))).segmentation_.notes == (
        "one event: all frames are equal",
    )
