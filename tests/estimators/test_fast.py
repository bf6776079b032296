"""EventSegmenter.fast(): the decision on principal components, without a graph."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dayline import EventSegmenter, PrincipalComponents, principal_components, score_boundaries
from dayline.estimators import segmenter
from dayline.method.denoise import denoise_features
from dayline.research.datasets.synthetic import make_communities

MADE = make_communities(240, stay=300.0, n_features=12, random_state=3)
FITTED = EventSegmenter.fast().fit(MADE.features)
FOUND = FITTED.boundaries_.tolist()


def test_it_finds_the_events_of_made_data_without_a_graph():
    assert score_boundaries(FOUND, MADE.boundaries).f1 > 0.7
    assert FITTED.graph_ is None
    assert FITTED.confidence_.shape == (len(FOUND),)
    assert len(FITTED.levels_) > 1


def test_its_directions_are_those_the_default_starts_from():
    learnt = PrincipalComponents().fit(MADE.features)
    expected = principal_components(denoise_features(MADE.features), 15)
    np.testing.assert_allclose(learnt.directions_, expected, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(learnt.embedding_, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(
        EventSegmenter().fit(MADE.features).embedder_.start_, expected, atol=1e-9
    )


def test_deciding_takes_one_thread_of_blas(monkeypatch):
    """Two wait for each other if the machine is busy: fit took one and a half times as long."""
    n_threads, gather = [], segmenter.gather_evidence

    def watched(*rows, **options):
        n_threads.extend(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
        return gather(*rows, **options)

    monkeypatch.setattr(segmenter, "gather_evidence", watched)
    with threadpool_limits(2):
        found = EventSegmenter.fast().fit(MADE.features).boundaries_
    assert set(n_threads) == {1}
    assert found.tolist() == FOUND


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float32),
        lambda x: 1e6 + 100.0 * x,
        lambda x: x[:, ::-1],
        lambda x: np.hstack([x, np.full((len(x), 3), 7.0)]),
        lambda x: x + 1e-9 * np.random.default_rng(0).normal(size=x.shape),
        np.asfortranarray,
    ],
    ids=[
        "float32",
        "offset and scale",
        "shuffled columns",
        "constant columns",
        "1e-9 noise",
        "Fortran order",
    ],
)
def test_what_must_not_matter_does_not(change):
    assert EventSegmenter.fast().fit(change(MADE.features)).boundaries_.tolist() == FOUND


def test_double_precision_and_pytorch_find_the_same_boundaries():
    assert EventSegmenter.fast(dtype="float64").fit(MADE.features).boundaries_.tolist() == FOUND
    pytest.importorskip("torch")
    assert EventSegmenter.fast(device="torch").fit(MADE.features).boundaries_.tolist() == FOUND


def test_it_takes_every_request():
    assert len(FITTED.choose(n_events=7).events) == 7
    assert min(e.n_frames for e in FITTED.choose(min_duration=20).events) >= 20
    bound = (
        EventSegmenter.fast().fit(MADE.features, must=[3], must_not=[FOUND[0]]).boundaries_.tolist()
    )
    assert 3 in bound
    assert FOUND[0] not in bound
    later = EventSegmenter.fast().fit(MADE.features[:200]).append(MADE.features[200:])
    assert later.boundaries_.tolist() == FOUND


def test_the_ces_rule_works_on_it_too():
    by_peaks = EventSegmenter(PrincipalComponents(n_communities=4), detector="ces").fit(
        MADE.features
    )
    assert len(by_peaks.boundaries_) > 3
    assert by_peaks.communities_.max() == 3


def test_progress_is_reported():
    steps = []
    EventSegmenter.fast().fit(MADE.features, on_step=lambda *step: steps.append(step))
    assert steps == [("denoising", 0, 2), ("main directions", 1, 2)]
