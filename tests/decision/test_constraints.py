from __future__ import annotations

import numpy as np
import pytest

from dayline.decision.decide import forbidden_frames, frame_ranges, required_frames

SCORES = np.asarray([0, 1, 5, 2, 9, 3, 0, 0.5])
NONE = np.zeros(0, dtype=np.int64)


def required(must, forbidden):
    return required_frames(frame_ranges("must", must, 8), SCORES, forbidden=forbidden).tolist()


def test_frames_and_ranges():
    assert forbidden_frames([2, (4, 6)], 8).tolist() == [2, 4, 5]
    assert required([6, (1, 4)], NONE) == [2, 6]
    assert required([(1, 6)], np.asarray([4])) == [2]
    assert forbidden_frames([], 8).tolist() == []


@pytest.mark.parametrize(
    ("must", "must_not", "message"),
    [
        ([2], [2], "contradict each other at frame 2"),
        ([(2, 4)], [(1, 5)], "contradict each other at frames 2 to 3"),
        ([0], [], "must: 0 cannot be a boundary; boundaries are at 1 to 7"),
        ([8], [], "must: 8 cannot be a boundary"),
        (
            [],
            [(5, 3)],
            r"must_not: \(5, 3\) cannot be a boundary; .* have first < stop",
        ),
        (["noon"], [], "neither a frame number nor a range"),
        ([2.5], [], "neither a frame number nor a range"),
    ],
)
def test_wrong_constraints_are_named(must, must_not, message):
    with pytest.raises(ValueError, match=message):
        required(must, forbidden_frames(must_not, 8))
