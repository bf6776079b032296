from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.decide import forbidden_frames, required_frames

SCORES = np.asarray([0, 1, 5, 2, 9, 3, 0, 0.5])
NONE = np.zeros(0, dtype=np.int64)


def test_frames_and_ranges():
    assert forbidden_frames([2, (4, 6)], 8).tolist() == [2, 4, 5]
    assert required_frames([6, (1, 4)], SCORES, forbidden=NONE).tolist() == [2, 6]
    assert required_frames([(1, 6)], SCORES, forbidden=np.asarray([4])).tolist() == [2]
    assert forbidden_frames([], 8).tolist() == []


@pytest.mark.parametrize(
    ("must", "must_not", "message"),
    [
        ([2], [2], "contradict each other at frame 2"),
        ([(2, 4)], [(1, 5)], "contradict each other at frames 2 to 3"),
        ([0], [], "must: frame 0 cannot be a boundary; boundaries are at 1 to 7"),
        ([8], [], "frame 8 cannot be a boundary"),
        (
            [],
            [(5, 3)],
            r"must_not: range \(5, 3\) is empty; give \(first, stop\) with first < stop",
        ),
        (["noon"], [], "neither a frame number nor a range"),
        ([2.5], [], "neither a frame number nor a range"),
    ],
)
def test_wrong_constraints_are_named(must, must_not, message):
    with pytest.raises(ValueError, match=message):
        required_frames(must, SCORES, forbidden=forbidden_frames(must_not, 8))
