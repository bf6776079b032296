from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from dayline import EventSegmenter
from dayline.baselines.kts import KernelTemporalSegmenter
from dayline.estimators.baseline import PeerSegmenter
from dayline.pipeline import segment_table


@pytest.fixture
def steps(random):
    return np.repeat(np.eye(4), 15, axis=0) + 0.1 * random.normal(size=(60, 4))


def test_a_peer_gives_what_its_baseline_gives(steps):
    found = PeerSegmenter("kts").segment(steps, times=np.arange(60) * 2.0)
    assert found.boundaries == tuple(KernelTemporalSegmenter().fit(steps).boundaries_) == (15, 30, 45)
    assert found.events[-1].stop_time == 118.0
    assert [e.confidence for e in found.events] == [None] * 4


def test_asked_boundaries_are_added_and_forbidden_ones_taken_away(steps):
    found = PeerSegmenter("kts").segment(steps, must=[7], must_not=[(29, 32)])
    assert found.boundaries == (7, 15, 45)
    assert [e.reason for e in found.events] == ["start", "asked", "looks", "looks"]


def test_contexts_recur(random):
    x = np.concatenate([np.repeat(np.eye(3), 15, axis=0)] * 2) + 0.1 * random.normal(size=(90, 3))
    found = PeerSegmenter("kts").segment(x)
    assert [e.community for e in found.events] == [0, 1, 2, 0, 1, 2]


def test_a_number_that_is_not_reached_is_said(steps):
    with pytest.warns(UserWarning, match="kts was asked for 3 events and 4 came"):
        assert len(PeerSegmenter("kts", n_events=3).segment(steps, must=[7]).events) == 4
    with pytest.warns(UserWarning, match="lrt takes this sequence itself as its source"):
        PeerSegmenter("lrt").segment(steps)


def test_unknown_peers_and_wishes_are_refused(steps):
    with pytest.raises(ValueError, match="method"):
        PeerSegmenter("nobody").check_parameters()
    with pytest.raises(ValueError, match="n_events cannot be told to kmeans"):
        PeerSegmenter("kmeans", n_events=3).segment(steps)


@pytest.mark.parametrize("segmenter", [PeerSegmenter("kts", n_events=3), EventSegmenter(n_events=3)])
def test_the_pipeline_works_on_a_copy(steps, segmenter):
    before = clone(segmenter)
    result = segment_table(steps, segmenter=segmenter)
    assert len(result.segmentation.events) == 3
    assert vars(segmenter).keys() == vars(before).keys()
