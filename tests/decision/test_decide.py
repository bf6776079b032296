"""What a decision makes of its evidence; wishes and constraints are tested through the estimator."""

import numpy as np
import pytest

from dayline.decision.decide import decide, gather_evidence
from dayline.decision.penalties import Prices

NONE = np.zeros(0, dtype=np.int64)


def test_a_discount_does_not_make_a_boundary_sure():
    """Two equal cuts, one at an eighth of the price: it stands eight times as high, and is no surer."""
    angles = np.repeat([0.0, 1.0, 0.0], 40)
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    full = np.full(120, 2.0)
    asked = full.copy()
    asked[80] /= 8.0
    made = decide(gather_evidence(x, Prices(asked, full, np.zeros(120)), must=NONE, forbidden=NONE, times=None))
    plain = decide(gather_evidence(x, Prices(full, full, np.zeros(120)), must=NONE, forbidden=NONE, times=None))
    assert made.boundaries.tolist() == plain.boundaries.tolist() == [40, 80]
    assert plain.confidence[0] == pytest.approx(plain.confidence[1], abs=0.05)
    assert made.confidence[1] == pytest.approx(plain.confidence[1], abs=0.12)
    surer = decide(gather_evidence(x, Prices(asked, asked, np.zeros(120)), must=NONE, forbidden=NONE, times=None))
    assert surer.confidence[1] > plain.confidence[1] + 0.1
