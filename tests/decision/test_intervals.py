"""In which frames a boundary lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dayline import EventSegmenter
from dayline.decision.evidence import gather_evidence
from dayline.decision.intervals import boundary_intervals, grow, place_weights, places_of
from dayline.research.datasets.synthetic import make_communities

NONE = np.zeros(0, dtype=np.int64)
MADE = make_communities(160, stay=200.0, n_features=12, random_state=1).features


@pytest.fixture(scope="module")
def evidence():
    directions = np.linalg.svd(MADE - MADE.mean(axis=0), full_matrices=False)[0][:, :5]
    return gather_evidence(MADE, directions, None, required=NONE, forbidden=NONE, times=None)


def test_the_gain_of_every_place_is_that_of_the_two_events_there(evidence):
    # Three equal frames and three that are orthogonal to them. A boundary at p adds to length times
    # squared mean: 3 + 3 - 18 / 6 = 3 at 3, 2 + (1 + 9) / 4 - 3 = 1.5 at 2, and 0.6 at 1.
    x = np.repeat(np.eye(2), 3, axis=0)
    made = replace(
        evidence,
        hierarchy=replace(
            evidence.hierarchy,
            x=x,
            penalty=0.5,
            log_weights=np.array([0.0, 0, 0, 2, 0, 1]),
            forbidden=np.array([4]),
        ),
    )
    [(frames, terms)] = places_of(made, np.array([3]))
    assert frames.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(terms[:, 0], [-4.8, -3, 0, -np.inf, -4.8], atol=1e-12)
    assert terms[:, 1].tolist() == [0, 0, 1, 0, 1]
    np.testing.assert_allclose(terms[:, 2], np.log([3, 2, 1, 2, 3]))
    assert place_weights(terms)[3] == 0


def test_only_frames_nearer_than_to_any_other_boundary_are_places(evidence):
    found = np.array([20, 30, 41, 42])
    frames = [places.tolist() for places, _ in places_of(evidence, found)]
    assert frames[0] == list(range(1, 25))  # 25 is as near to 30
    assert frames[1] == list(range(26, 36))
    assert frames[2] == list(range(36, 42))
    assert frames[3] == list(range(42, 160))


@pytest.mark.parametrize("share", [0.3, 0.8, 0.999])
def test_an_interval_has_its_share_and_none_to_spare(share):
    weights = np.array([0.05, 0.3, 0.1, 0.25, 0.2, 0.1])
    first, last = grow(weights, 3, share)
    assert first <= 3 <= last
    assert weights[first : last + 1].sum() >= share
    # Without the lighter of its ends, or of the one that is not the boundary, it has less.
    ends = [weights[end] for end in {first, last} - {3}]
    assert not ends or weights[first : last + 1].sum() - max(ends) < share


def test_a_surer_share_needs_more_frames_and_intervals_never_meet(evidence):
    found = np.sort(evidence.hierarchy.first(12))
    half, most = (boundary_intervals(evidence, found, share=share) for share in (0.5, 0.95))
    assert np.all(most[:, 0] <= half[:, 0])
    assert np.all(half[:, 1] <= most[:, 1])
    assert (most[:, 1] - most[:, 0]).sum() > (half[:, 1] - half[:, 0]).sum()
    assert np.all(most[1:, 0] > most[:-1, 1])
    assert np.all((most[:, 0] <= found) & (found <= most[:, 1]))


def test_required_boundaries_have_one_frame():
    fitted = EventSegmenter.fast().fit(MADE, must=[50])
    known = dict(zip(fitted.boundaries_.tolist(), fitted.segmentation_.intervals, strict=True))
    assert known[50] == (50, 50)
    assert any(first < last for first, last in known.values())
    assert fitted.choose(n_events=2).intervals == ((50, 50),)


def test_skipped_rows_count_in_the_frames_of_intervals():
    plain = EventSegmenter.fast().fit(MADE)
    late = np.vstack([np.full((9, 12), np.nan), MADE])
    shifted = EventSegmenter.fast(missing="interpolate").fit(late)
    expected = [(first + 9, last + 9) for first, last in plain.segmentation_.intervals]
    assert list(shifted.segmentation_.intervals) == expected


def test_a_method_without_evidence_has_no_intervals():
    found = EventSegmenter.paper(n_iterations=1).fit(np.repeat(np.eye(3), 20, axis=0))
    assert set(found.segmentation_.intervals) == {None}
