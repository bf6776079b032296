"""Decisions from evidence; requests and constraints are tested through the estimator."""

import numpy as np
import pytest

from dayline.decision.decide import decide, gather_evidence
from dayline.decision.penalties import Penalties

NONE = np.zeros(0, dtype=np.int64)


def test_a_discount_does_not_raise_confidence():
    """Two equal cuts, one at an eighth of the penalty: its height is eight times as high, its confidence is not."""
    angles = np.repeat([0.0, 1.0, 0.0], 40)
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    full = np.full(120, 2.0)
    discounted = full.copy()
    discounted[80] /= 8.0
    made = decide(
        gather_evidence(x, Penalties(discounted, full, np.zeros(120)), required=NONE, forbidden=NONE, times=None)
    )
    plain = decide(
        gather_evidence(x, Penalties(full, full, np.zeros(120)), required=NONE, forbidden=NONE, times=None)
    )
    assert made.boundaries.tolist() == plain.boundaries.tolist() == [40, 80]
    assert plain.confidence[0] == pytest.approx(plain.confidence[1], abs=0.05)
    assert made.confidence[1] == pytest.approx(plain.confidence[1], abs=0.12)
    higher = decide(
        gather_evidence(
            x, Penalties(discounted, discounted, np.zeros(120)), required=NONE, forbidden=NONE, times=None
        )
    )
    assert higher.confidence[1] > plain.confidence[1] + 0.1
