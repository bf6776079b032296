from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dayline.events import boundaries_to_labels
from dayline.research.baselines.controls import equal_pieces, no_boundaries, random_cuts

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


def test_none():
    assert no_boundaries(9).tolist() == []


def test_more_events_than_frames_are_refused():
    with pytest.raises(ValueError, match="n_events=9"):
        equal_pieces(8, 9)
