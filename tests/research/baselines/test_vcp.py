from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from dayline.decision.contexts import compare_contexts
from dayline.metrics import score_boundaries
from dayline.research.baselines.vcp import (
    ContextPredictor,
    VisualContextSegmenter,
    load_predictor,
    predict_contexts,
    save_predictor,
    train_predictor,
)

pytest.importorskip("torch")
pytest.importorskip("safetensors")

MEANS = np.random.default_rng(0).normal(size=(5, 12))


def made_day(seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(16, 30, size=5)
    x = np.repeat(MEANS[generator.permutation(5)], lengths, axis=0)
    return x + 0.3 * generator.normal(size=x.shape), np.cumsum(lengths)[:-1]


@pytest.fixture(scope="module")
def predictor() -> ContextPredictor:
    days = [made_day(seed)[0] for seed in range(6)]
    return train_predictor(days, n_units=24, batch_size=32, n_epochs=12)


def test_the_loss_falls(predictor):
    assert len(predictor.losses) == 12
    assert predictor.losses[-1] < 0.6 * predictor.losses[0]
    assert (predictor.n_features, predictor.n_units) == (12, 24)


def test_contexts_of_a_new_day_separate_its_events(predictor):
    x, boundaries = made_day(50)
    past, _ = predict_contexts(predictor, x)
    events = np.searchsorted(boundaries, np.arange(len(x)), side="right")
    settled = np.concatenate([np.flatnonzero(events == e)[6:] for e in range(5)])
    u = past[settled] / np.linalg.norm(past[settled], axis=1, keepdims=True)
    same = events[settled][:, None] == events[settled][None, :]
    assert (u @ u.T)[same].mean() > 0.95
    assert (u @ u.T)[same].mean() > (u @ u.T)[~same].mean() + 0.2


def test_the_ces_rule_finds_the_boundaries_of_new_days(predictor):
    total = None
    for seed in range(60, 66):
        x, boundaries = made_day(seed)
        score = score_boundaries(
            VisualContextSegmenter(predictor=predictor).fit(x).boundaries_, boundaries, tolerance=3
        )
        total = score if total is None else total + score
    assert total.f1 > 0.8


def test_reading_backwards_is_reading_the_reversed_day(predictor):
    x, _ = made_day(51)
    past, future = predict_contexts(predictor, x)
    reversed_past, reversed_future = predict_contexts(predictor, x[::-1])
    np.testing.assert_allclose(reversed_past, future[::-1], atol=1e-5)
    np.testing.assert_allclose(reversed_future, past[::-1], atol=1e-5)


def test_scores_compare_the_frame_before_with_the_frame_after():
    past, future = np.tile([1.0, 0.0], (9, 1)), np.tile([1.0, 0.0], (9, 1))
    future[5] = [0.6, 0.8]
    assert compare_contexts(past, future) == pytest.approx([0, 0, 0, 0, 0.4, 0, 0, 0, 0])


def test_a_checkpoint_comes_back_whole_and_is_no_pickle(predictor, tmp_path):
    path = tmp_path / "network.safetensors"
    save_predictor(predictor, path)
    loaded = load_predictor(path)
    x, _ = made_day(52)
    np.testing.assert_array_equal(predict_contexts(loaded, x)[0], predict_contexts(predictor, x)[0])
    assert loaded.losses == predictor.losses
    # Eight bytes of length, then JSON: a header that cannot run.
    assert path.read_bytes()[8:9] == b"{"
    found = VisualContextSegmenter(predictor=path).fit(x).boundaries_
    assert found.tolist() == VisualContextSegmenter(predictor=predictor).fit(x).boundaries_.tolist()


def test_other_files_are_refused_by_name(tmp_path, predictor):
    from safetensors.numpy import save_file

    pickled, other, odd = tmp_path / "a.pt", tmp_path / "b.safetensors", tmp_path / "c.safetensors"
    pickled.write_bytes(b"\x80\x04K\x01.")
    save_file({"x": np.ones(3)}, other)
    with pytest.raises(ValueError, match=r"a\.pt: damaged, or not a safetensors file"):
        load_predictor(pickled)
    with pytest.raises(ValueError, match=r"b\.safetensors: .* not a context predictor"):
        load_predictor(other)
    with pytest.raises(ValueError, match=r"d\.safetensors: no such file"):
        load_predictor(tmp_path / "d.safetensors")
    for array in (np.ones(3), np.ones(())):
        for name in ("decoder.bias_ih_l0", "encoder.weight_hh_l0", "encoder.bias_hh_l0"):
            weights = dict(predictor.weights) | {name: array}
            save_predictor(ContextPredictor(weights, predictor.offset, predictor.scale), odd)
            with pytest.raises(ValueError, match=r"c\.safetensors: the sizes"):
                load_predictor(odd)


def test_what_cannot_be_trained_on_is_refused(predictor, random):
    with pytest.raises(ValueError, match="no sequence has the 20 frames"):
        train_predictor([np.ones((19, 3))])
    with pytest.raises(ValueError, match="different numbers of features"):
        train_predictor([random.random((30, 3)), random.random((30, 4))])
    with pytest.raises(ValueError, match="trained on 12 features, not 4"):
        VisualContextSegmenter(predictor=predictor).fit(random.random((30, 4)))


def test_an_unknown_device_is_refused_and_a_copy_keeps_the_network(predictor):
    x, _ = made_day(53)
    with pytest.raises(ValueError, match='device="abacus" is not known'):
        VisualContextSegmenter(predictor=predictor, device="abacus").fit(x)
    found = VisualContextSegmenter(predictor=predictor).fit(x).boundaries_.tolist()
    assert clone(VisualContextSegmenter(predictor=predictor)).fit(x).boundaries_.tolist() == found


def test_the_seed_decides(random):
    x = random.random((40, 4))
    first = train_predictor([x], n_units=3, n_epochs=2)
    assert train_predictor([x], n_units=3, n_epochs=2).losses == first.losses
    assert train_predictor([x], n_units=3, n_epochs=2, random_state=1).losses != first.losses
