"""A linear graph does what the dense one does, without anything of size frames x frames."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

from dayline import DynamicGraphEmbedding, EventSegmenter, score_boundaries
from dayline import arrays as threads
from dayline.album.page.graph_picture import block_means, graph_image
from dayline.arrays import to_numpy, unit_rows
from dayline.method import landmarks as kernel_graph
from dayline.method.embedding import graph_cross_entropy
from dayline.method.graph import (
    EXACT_REACH,
    affinity_graph,
    normalize_columns,
    smooth_edges,
    weaken_distant_edges,
    weaken_edges_between_communities,
)
from dayline.method.landmarks import RIDGE, choose_landmarks
from dayline.method.linear import SymmetricBand

N = 300


def made_frames(n_frames=N, n_dims=6, *, seed=0):
    random = np.random.default_rng(seed)
    looks = random.normal(size=(9, n_dims))
    order = np.repeat(random.integers(0, 9, n_frames), random.integers(5, 45, n_frames))[:n_frames]
    return looks[order] + 0.3 * random.normal(size=(n_frames, n_dims))


def chain_of_graphs(x, landmarks, width):
    """Every graph of Algorithm 1, in the order of the notebook and in that of the text."""
    communities = np.random.default_rng(1).integers(0, 4, len(x))
    affinity = affinity_graph(x, bandwidth=0.5, landmarks=landmarks)
    normalized = normalize_columns(affinity)
    grouped = weaken_edges_between_communities(normalized, communities, semantic_prior=0.3)
    smoothed = smooth_edges(grouped, width=width)
    temporal = weaken_distant_edges(smoothed, temporal_prior=0.4)
    grouped_last = weaken_edges_between_communities(temporal, communities, semantic_prior=0.3)
    return {
        "affinity": affinity,
        "normalized": normalized,
        "grouped": grouped,
        "smoothed": smoothed,
        "temporal": temporal,
        "grouped last": grouped_last,
        "normalized last": normalize_columns(grouped_last),
        "blended": 0.9 * temporal + 0.1 * normalized,
    }


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("n_diagonals", [1, 3])
def test_a_band_is_multiplied_as_the_matrix_it_stands_for(library, n_diagonals):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    random = np.random.default_rng(0)
    diagonals, x, scale = (
        random.normal(size=(n_diagonals, 7)),
        random.normal(size=(7, 2)),
        random.normal(size=7),
    )
    upper = sum(np.diag(d[: 7 - lag], lag) for lag, d in enumerate(diagonals))
    whole = upper + upper.T - np.diag(diagonals[0])
    band = SymmetricBand([xp.asarray(d) for d in diagonals])
    for made, matrix in (
        (band, whole),
        (
            band.with_columns_scaled_and_transpose(xp.asarray(scale)),
            whole * scale + (whole * scale).T,
        ),
    ):
        product = xp.ones((7, 2), dtype=xp.float64)
        made.add_product(product, xp.asarray(x))
        np.testing.assert_allclose(to_numpy(product), 1.0 + matrix @ x, rtol=1e-12)


@pytest.mark.parametrize("width", [1, 15, 16, 30])
def test_products_with_any_number_of_columns_are_those_of_each_column(width):
    x = made_frames()
    graph = affinity_graph(x, bandwidth=0.5, landmarks=choose_landmarks(x, bandwidth=0.5, most=50))
    right = np.random.default_rng(0).normal(size=(N, width))
    one_by_one = np.concatenate([graph @ right[:, k : k + 1] for k in range(width)], axis=1)
    product = graph @ right
    assert product.shape == right.shape
    np.testing.assert_allclose(product, one_by_one, rtol=1e-4, atol=1e-4)


def relative(exact, found):
    return float(np.abs(exact - to_numpy(found)).max() / np.abs(exact).max())


@pytest.mark.parametrize("width", [1, 3, 4])
@pytest.mark.parametrize("most", [N, 150])
def test_every_graph_multiplies_like_the_dense_one(width, most):
    x = made_frames()
    exact = chain_of_graphs(x, None, width)
    linear = chain_of_graphs(x, choose_landmarks(x, bandwidth=0.5, most=most), width)
    v = np.random.default_rng(2).normal(size=(N, 3))
    frames = np.array([0, 7, 8, N - 1])
    for name, dense in exact.items():
        graph = linear[name]
        assert graph.shape == (N, N)
        assert relative(dense @ v, graph @ v) < 4e-3, name
        assert relative(dense.T @ v, graph.transposed_times(v)) < 4e-3, name
        assert relative((dense + dense.T) @ v, graph.with_transpose_times(v)) < 4e-3, name
        assert relative(dense.sum(axis=0), graph.column_sums()) < 4e-3, name
        assert relative(dense[:, frames], graph.columns(frames)) < 2e-2, name
        assert relative(block_means(dense, 40), graph.picture(40)) < 1e-2, name


@pytest.mark.parametrize("width", [1, 3, 4])
def test_diagonals_are_exact_near_the_main_one(width):
    x = made_frames()
    exact = chain_of_graphs(x, None, width)
    linear = chain_of_graphs(x, choose_landmarks(x, bandwidth=0.5, most=150), width)
    for name, dense in exact.items():
        for lag in (-2, -1, 0, 1, 2):
            entries = np.zeros(N)
            entries[max(-lag, 0) : N - max(lag, 0)] = np.diag(dense, lag)
            assert relative(entries, linear[name].diagonal(lag)) < 1e-3, (name, lag)


def test_kernels_that_are_computed_again_equal_those_that_are_kept(monkeypatch):
    x, v = made_frames(), np.random.default_rng(2).normal(size=(N, 3))
    landmarks = choose_landmarks(x, bandwidth=0.5, most=100)
    kept = affinity_graph(x, bandwidth=0.5, landmarks=landmarks) @ v
    monkeypatch.setattr(kernel_graph, "MOST_KEPT", 0)
    again = affinity_graph(x, bandwidth=0.5, landmarks=landmarks) @ v
    np.testing.assert_array_equal(again, kept)


def test_threads_and_blocks_do_not_change_the_result(monkeypatch):
    x = made_frames(700)
    monkeypatch.setattr(kernel_graph, "BLOCK_ROWS", 100)
    results = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "n_threads", lambda count=count: count)
        monkeypatch.setattr(threads, "_pool", None)
        results.append(DynamicGraphEmbedding(graph_form="linear").fit(x).embedding_)
    np.testing.assert_array_equal(results[0], results[1])


def test_torch_gives_the_same_products():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x, v = made_frames(), np.random.default_rng(2).normal(size=(N, 3))
    landmarks = choose_landmarks(x, bandwidth=0.5, most=100)
    on_torch = choose_landmarks(torch.as_tensor(x), bandwidth=0.5, most=100)
    np.testing.assert_array_equal(to_numpy(on_torch.members), landmarks.members)
    graph = affinity_graph(x, bandwidth=0.5, landmarks=landmarks)
    other = affinity_graph(torch.as_tensor(x), bandwidth=0.5, landmarks=on_torch)

    # What differs are the entries near the diagonal, from which c_i M^-1 c_j is subtracted: M^-1 is
    # rounded to single precision, then its product with c_i. Both have the size of the inverse, and
    # roundings are independent, so that an entry has this standard deviation in each library.
    centers = landmarks.centers(x)
    among = np.exp((centers @ centers.T - 1.0) / 0.5) + RIDGE * len(centers) * np.eye(len(centers))
    with_landmarks = np.exp((unit_rows(x) @ centers.T - 1.0) / 0.5)
    squares = with_landmarks**2 @ np.linalg.inv(among) ** 2 @ (with_landmarks**2).T
    rounding = np.finfo(np.float32).eps / 2 / np.sqrt(3)
    deviation = rounding * np.sqrt(2 * squares.max())

    # Six deviations of a difference of two; a product adds as many entries as are near.
    entry = 6 * np.sqrt(2) * deviation
    nearby = 2 * EXACT_REACH + 1
    product = graph @ v - to_numpy(other @ torch.as_tensor(v))
    assert np.abs(product).max() < entry * np.sqrt(nearby) * np.abs(v).max()
    assert np.abs(graph.picture(40) - to_numpy(other.picture(40))).max() < entry


def test_every_rare_frame_has_a_landmark():
    x = np.repeat(np.eye(8)[:2], 500, axis=0) + 1e-3 * np.random.default_rng(0).normal(
        size=(1000, 8)
    )
    x[[123, 777]] = np.eye(8)[[4, 6]]
    centres = choose_landmarks(x, bandwidth=0.5, most=50).centers(unit_rows(x))
    nearest = (unit_rows(x) @ centres.T).max(axis=1)
    assert nearest.min() > 0.99


def test_frames_alike_need_few_landmarks():
    x = np.repeat(np.eye(5), 200, axis=0)
    landmarks = choose_landmarks(x, bandwidth=0.5, most=100)
    assert len(landmarks.members) == 5
    exact = affinity_graph(x, bandwidth=0.5)
    assert (
        relative(
            exact.sum(axis=0), affinity_graph(x, bandwidth=0.5, landmarks=landmarks).column_sums()
        )
        < 1e-4
    )


@pytest.mark.parametrize(
    ("gradient", "bandwidth", "tolerance"), [("full", 0.1, 0.01), ("half", 5.0, 0.02)]
)
def test_loss_and_gradients_are_those_of_the_dense_graph(gradient, bandwidth, tolerance):
    x, own = made_frames(), {"bandwidth": 0.5 if gradient == "full" else 1.0, "gradient": gradient}
    landmarks = choose_landmarks(x, bandwidth=bandwidth, most=N)
    dense = normalize_columns(affinity_graph(x, bandwidth=bandwidth))
    linear = normalize_columns(affinity_graph(x, bandwidth=bandwidth, landmarks=landmarks))
    loss, exact = graph_cross_entropy(x[:, :4], dense, **own)
    near_loss, near = graph_cross_entropy(x[:, :4], linear, **own)
    assert near_loss == pytest.approx(loss, rel=0.02)
    assert relative(exact, near) < tolerance


@pytest.mark.slow
@pytest.mark.parametrize("preset", [EventSegmenter, EventSegmenter.paper, EventSegmenter.authors])
def test_boundaries_are_those_of_the_dense_form(preset):
    x = made_frames(900, 40)
    results = []
    for form in ("dense", "linear"):
        segmenter = preset()
        embedding = DynamicGraphEmbedding() if segmenter.embedding is None else segmenter.embedding
        segmenter.set_params(embedding=embedding.set_params(graph_form=form))
        results.append(segmenter.fit(x).boundaries_)
    assert len(results[0]) > 5
    assert score_boundaries(results[1], results[0], tolerance=1, n_frames=len(x)).f1 > 0.9


def test_nothing_of_size_frames_by_frames_is_held():
    n = 4000
    x = made_frames(n, 12)
    tracemalloc.start()
    try:
        segmenter = EventSegmenter().fit(x)
        image = graph_image(segmenter.graph_)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert image.startswith(b"\x89PNG")
    assert peak < 4 * n * n, "single precision would need this much for one matrix"


def test_short_sequences_and_published_variants_are_dense_unless_requested():
    x = made_frames(60, 5)
    assert isinstance(DynamicGraphEmbedding().fit(x).graph_, np.ndarray)
    assert not isinstance(DynamicGraphEmbedding(graph_form="linear").fit(x).graph_, np.ndarray)
    long = made_frames(1600, 5)
    short_loop = {"n_steps": 2, "n_loop_steps": 2, "n_iterations": 1}
    assert isinstance(DynamicGraphEmbedding.paper(**short_loop).fit(long).graph_, np.ndarray)
    assert not isinstance(DynamicGraphEmbedding(**short_loop).fit(long).graph_, np.ndarray)
    with pytest.raises(ValueError, match="graph_form='sparse' is not known"):
        DynamicGraphEmbedding(graph_form="sparse").fit(x)


@pytest.mark.parametrize(
    "x",
    [
        *(made_frames(n, 3) for n in (1, 2, 3, 5)),
        np.ones((50, 4)),
        np.repeat(np.eye(4), 20, axis=0),
        np.zeros((40, 3)),
    ],
)
def test_few_equal_and_repeated_frames_work_in_linear_form(x):
    segmenter = EventSegmenter(DynamicGraphEmbedding(graph_form="linear")).fit(x)
    assert len(segmenter.embedding_) == len(x)
    assert np.isfinite(segmenter.embedding_).all()


def test_a_fitted_segmenter_of_a_long_sequence_can_be_pickled_and_copied():
    x = made_frames(1600, 5)
    segmenter = EventSegmenter(DynamicGraphEmbedding(n_steps=3, n_loop_steps=3), keep="all").fit(x)
    v = np.random.default_rng(2).normal(size=(1600, 2))
    for again in (pickle.loads(pickle.dumps(segmenter)), copy.deepcopy(segmenter)):
        np.testing.assert_array_equal(again.boundaries_, segmenter.boundaries_)
        np.testing.assert_array_equal(again.graph_ @ v, segmenter.graph_ @ v)
        np.testing.assert_array_equal(
            again.choose(n_events=4).boundaries, segmenter.choose(n_events=4).boundaries
        )
