from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from dayline import EventSegmenter
from dayline.album.segment import segment_table
from dayline.research.baselines.kernel_change import KernelTemporalSegmenter
from dayline.research.baselines.segmenter import BaselineSegmenter


@pytest.fixture
def steps(random):
    return np.repeat(np.eye(4), 15, axis=0) + 0.1 * random.normal(size=(60, 4))


def test_the_adapter_gives_what_the_baseline_gives(steps):
    found = BaselineSegmenter("kts").segment(steps, times=np.arange(60) * 2.0)
    assert (
        found.boundaries == tuple(KernelTemporalSegmenter().fit(steps).boundaries_) == (15, 30, 45)
    )
    assert found.events[-1].stop_time == 118.0
    assert [e.confidence for e in found.events] == [None] * 4


def test_required_boundaries_are_added_and_forbidden_ones_removed(steps):
    found = BaselineSegmenter("kts").segment(steps, must=[7], must_not=[(29, 32)])
    assert found.boundaries == (7, 15, 45)
    assert [e.reason for e in found.events] == ["start", "required", "content", "content"]


def test_contexts_recur(random):
    x = np.concatenate([np.repeat(np.eye(3), 15, axis=0)] * 2) + 0.1 * random.normal(size=(90, 3))
    found = BaselineSegmenter("kts").segment(x)
    assert [e.community for e in found.events] == [0, 1, 2, 0, 1, 2]


def test_a_number_that_is_not_reached_is_said(steps):
    with pytest.warns(UserWarning, match="kts found 4 events instead of the 3 requested"):
        assert len(BaselineSegmenter("kts", n_events=3).segment(steps, must=[7]).events) == 4
    with pytest.warns(UserWarning, match="lrt uses this sequence itself as its source"):
        BaselineSegmenter("lrt").segment(steps)


def test_unknown_baselines_and_numbers_they_cannot_take_are_refused(steps):
    with pytest.raises(ValueError, match="method"):
        BaselineSegmenter("nobody").check_parameters()
    with pytest.raises(ValueError, match="kmeans does not take n_events"):
        BaselineSegmenter("kmeans", n_events=3).segment(steps)


@pytest.mark.parametrize(
    "segmenter", [BaselineSegmenter("kts", n_events=3), EventSegmenter(n_events=3)]
)
def test_the_pipeline_works_on_a_copy(steps, segmenter):
    before = clone(segmenter)
    result = segment_table(steps, segmenter=segmenter)
    assert len(result.segmentation.events) == 3
    assert vars(segmenter).keys() == vars(before).keys()
