"""Scores against counts made by hand, and the controls."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline.events import boundaries_to_labels
from dayline.metrics import (
    BoundaryScore,
    equal_pieces,
    hungarian_accuracy,
    random_cuts,
    score_boundaries,
    score_labels,
)

frames = st.lists(st.integers(1, 30), max_size=6, unique=True)


def largest_matching(found, true, tolerance):
    """Try every way to pair."""
    if not found:
        return 0
    rest = largest_matching(found[1:], true, tolerance)
    for t in true:
        if abs(found[0] - t) <= tolerance:
            rest = max(
                rest, 1 + largest_matching(found[1:], [x for x in true if x != t], tolerance)
            )
    return rest


@given(frames, frames, st.integers(0, 6))
@settings(max_examples=80, deadline=None)
def test_interior_matching_is_the_largest_there_is(found, true, tolerance):
    assert score_boundaries(found, true, tolerance=tolerance).n_matched == largest_matching(
        found, true, tolerance
    )


def test_interior_by_hand():
    score = score_boundaries([10, 22, 50, 51], [12, 30, 55], tolerance=5)
    assert score == BoundaryScore(n_matched=2, n_found=4, n_true=3)
    assert score.precision == 0.5
    assert score.recall == pytest.approx(2 / 3)
    assert score.f1 == pytest.approx(4 / 7)


def test_the_ends_are_ignored_by_one_protocol_and_added_by_the_other():
    for found in ([0, 40, 99], [40], [40, 40]):
        assert score_boundaries(found, [42, 70], n_frames=100) == BoundaryScore(1, 1, 2)
        assert score_boundaries(found, [42, 70], n_frames=100, protocol="ces") == BoundaryScore(
            3, 3, 4
        )


def test_counts_add_up():
    total = BoundaryScore(1, 2, 3) + BoundaryScore(4, 5, 6)
    assert total == BoundaryScore(5, 7, 9)
    assert total.f1 == pytest.approx(10 / 16)


def test_nothing_found():
    assert score_boundaries([], []).f1 == 1
    assert score_boundaries([], [3]).f1 == 0
    assert score_boundaries([], [3]).precision == 0
    assert score_boundaries([3], []).recall == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"found": [1.5], "true": []}, "whole frame numbers"),
        ({"found": [-1], "true": []}, "found boundary -1 is outside"),
        (
            {"found": [], "true": [100], "n_frames": 100},
            "true boundary 100 is outside the sequence of 100 frames",
        ),
        ({"found": [], "true": [], "protocol": "ces"}, "needs n_frames"),
        ({"found": [], "true": [], "protocol": "mine"}, "protocol='mine' is not known"),
        ({"found": [], "true": [], "tolerance": -1}, "tolerance=-1"),
    ],
)
def test_wrong_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        score_boundaries(**arguments)


def test_labels_by_hand():
    found, true = [5, 5, 5, 7, 7, 9, 9, 9], [0, 0, 1, 1, 1, 0, 1, 1]
    score = score_labels(found, true)
    assert score.hungarian_accuracy == pytest.approx(4 / 8)
    assert score.majority_accuracy == pytest.approx(6 / 8)
    best = max(
        sum(dict(zip((5, 7, 9), names, strict=True))[f] == t
            for f, t in zip(found, true, strict=True))
        for names in itertools.permutations([0, 1, 2])
    )  # fmt: skip
    assert score.hungarian_accuracy == best / 8
    assert hungarian_accuracy(found, true) == score.hungarian_accuracy


def test_renamed_labels_agree_fully():
    score = score_labels([3, 3, 1, 1, 2], [0, 0, 7, 7, 5])
    assert list(vars(score).values()) == pytest.approx([1.0] * 5)


def test_normalized_mutual_information_two_ways():
    found, true = [0, 0, 0, 0], [0, 0, 1, 1]
    assert score_labels(found, true).nmi_arithmetic == 0
    found, true = np.asarray([0, 0, 1, 2]), np.asarray([0, 0, 1, 1])
    h_found, h_true, shared = 1.5 * np.log(2), np.log(2), np.log(2)
    assert score_labels(found, true).nmi_geometric == pytest.approx(
        shared / np.sqrt(h_found * h_true)
    )
    assert score_labels(found, true).nmi_arithmetic == pytest.approx(
        2 * shared / (h_found + h_true)
    )


def test_labels_of_different_frames_are_refused():
    with pytest.raises(ValueError, match="labels of the same frames"):
        score_labels([1, 2], [1])


def test_equal_labels_are_never_better_than_equal(random):
    for _ in range(60):
        labels = random.integers(0, random.integers(2, 9), 50)
        score = score_labels(labels, labels)
        for value in (score.nmi_geometric, score.nmi_arithmetic):
            assert type(value) is float
            assert value == pytest.approx(1.0)
            assert value <= 1.0


def test_labels_are_not_boundaries():
    labels = np.repeat(np.arange(6), 50)
    with pytest.raises(ValueError, match="true has 300 values, only 6 of them different, like one"):
        score_boundaries([50, 100], labels)
    assert score_boundaries([3, 3, 7], [3, 7, 7]).f1 == 1.0


cases = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))


@given(cases)
def test_equal_pieces_follow_their_formula(case):
    n, k = case
    expected = [i * k // n for i in range(n)]
    assert boundaries_to_labels(equal_pieces(n, k), n).tolist() == expected


@given(cases, st.integers(0, 99))
def test_random_cuts_are_as_many_as_requested(case, seed):
    n, k = case
    cuts = random_cuts(n, k, random_state=seed)
    assert len(np.unique(cuts)) == k - 1
    assert np.array_equal(cuts, random_cuts(n, k, random_state=seed))
    assert all(1 <= c < n for c in cuts)


def test_more_events_than_frames_are_refused():
    with pytest.raises(ValueError, match="n_events=9"):
        equal_pieces(8, 9)
