"""The fourth day is better for people who corrected three, and the same after two accidents."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_people import KINDS, simulate


@pytest.mark.parametrize("kind", KINDS)
def test_two_people(kind):
    doublings, before, after = np.mean([simulate(kind, seed) for seed in (0, 1)], axis=0)
    if kind == KINDS[2]:
        assert doublings == 0
        assert before == after == 1
    else:
        assert np.sign(doublings) == (-1 if kind == KINDS[0] else 1)
        assert after > before
