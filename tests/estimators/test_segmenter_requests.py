"""Levels, numbers, durations, constraints and growing sequences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dayline import EventSegmenter, score_boundaries
from dayline.research.datasets.synthetic import make_communities

MADE = make_communities(240, stay=300.0, n_features=10, random_state=4)
FITTED = EventSegmenter().fit(MADE.features)


def test_made_events_are_found_with_their_contexts():
    assert score_boundaries(FITTED.boundaries_, MADE.boundaries, tolerance=2).f1 > 0.9
    assert len(np.unique(FITTED.communities_)) == 4
    same = MADE.communities[:, None] == MADE.communities[None, :]
    found = FITTED.communities_[:, None] == FITTED.communities_[None, :]
    assert np.mean(same == found) > 0.95


def test_an_event_has_one_community_and_neighbours_differ():
    for event in FITTED.events_:
        assert set(FITTED.communities_[event.start : event.stop]) == {event.community}
    numbers = [event.community for event in FITTED.events_]
    assert all(a != b for a, b in pairwise(numbers))
    assert numbers[0] == 0


def test_confidence_is_a_share_and_absent_for_the_first_event():
    assert FITTED.events_[0].confidence is None
    assert all(0 < e.confidence <= 1 for e in FITTED.events_[1:])
    assert len(FITTED.confidence_) == len(FITTED.boundaries_)


@given(st.integers(1, 60))
@settings(max_examples=15, deadline=None)
def test_a_number_of_events_is_met_exactly(n_events):
    assert len(FITTED.choose(n_events=n_events).events) == n_events


def test_numbers_are_nested_far_beyond_the_candidates():
    assert len(FITTED.evidence_.strengths) < 40
    numbers = [set(FITTED.choose(n_events=n).boundaries) for n in (2, 5, 9, *range(14, 90, 3))]
    assert all(few < many for few, many in pairwise(numbers))


@pytest.mark.parametrize("duration", [10, 20, 30])
def test_levels_of_a_short_duration_differ_by_a_factor_of_two(duration):
    random = np.random.default_rng(1)
    fitted = EventSegmenter().fit(
        np.repeat(random.normal(size=(6, 8)), 40, axis=0) + 0.1 * random.normal(size=(240, 8))
    )
    numbers = [
        len(fitted.choose(expected_duration=duration, level=level).events)
        for level in (-3, -2, -1, 0)
    ]
    assert numbers[-1] == 240 // duration
    assert all(few < many <= 2 * few for few, many in pairwise(numbers))


def test_asking_at_construction_and_afterwards_is_the_same():
    assert EventSegmenter(n_events=4).fit(MADE.features).segmentation_ == FITTED.choose(n_events=4)
    assert EventSegmenter(level=-2).fit(MADE.features).segmentation_ == FITTED.choose(level=-2)


@pytest.mark.parametrize(
    ("request_", "warning", "n_events"),
    [
        ({"level": -99}, "the coarsest level has 1 event$", range(1, 2)),
        ({"n_events": 1000}, "n_events=1000 is not possible: the most events", range(61, 241)),
        ({"n_events": 4, "level": 2}, "takes precedence over the level and the dur", range(4, 5)),
        ({"n_events": 12, "min_duration": 30}, "of n_events=12 events", range(1, 12)),
        (
            {"min_duration": 1000},
            r"longer than the recording \(240, not counting pauses\); it becomes one event",
            range(1, 2),
        ),
        ({"expected_duration": 3, "level": 20}, "the finest level has", range(80, 121)),
    ],
)
def test_a_request_that_cannot_be_met_gives_the_nearest_with_a_warning(request_, warning, n_events):
    with pytest.warns(UserWarning, match=warning):
        assert len(FITTED.choose(**request_).events) in n_events


def test_one_frame_has_no_finer_level():
    with pytest.warns(UserWarning, match="the finest level has 1 event"):
        EventSegmenter(level=3).fit(np.ones((1, 3)))


def test_shortest_events_in_frames_and_seconds():
    assert min(e.n_frames for e in FITTED.choose(min_duration=25).events) >= 25
    timed = EventSegmenter(min_duration=25 * 30).fit(MADE.features, times=np.arange(240) * 30.0)
    assert timed.boundaries_.tolist() == list(FITTED.choose(min_duration=25).boundaries)


def test_a_requested_duration_changes_the_number():
    coarse, fine = (len(FITTED.choose(expected_duration=d).events) for d in (120, 8))
    assert coarse < len(FITTED.events_) <= fine


@given(st.sets(st.integers(1, 239), max_size=5), st.sets(st.integers(1, 239), max_size=20))
@settings(max_examples=5, deadline=None)
def test_constraints_are_honoured_exactly(must, must_not):
    must -= must_not
    fitted = EventSegmenter().fit(MADE.features, must=sorted(must), must_not=sorted(must_not))
    found = set(fitted.boundaries_.tolist())
    assert must <= found
    assert not found & must_not
    asked = {e.start for e in fitted.events_ if e.reason == "required"}
    assert asked == must
    for level in fitted.levels_:
        assert must <= set(level.boundaries.tolist())


def test_constraints_reach_the_ces_rule_too():
    free = EventSegmenter.paper().fit(MADE.features).boundaries_.tolist()
    bound = (
        EventSegmenter.paper().fit(MADE.features, must=[3], must_not=[free[0]]).boundaries_.tolist()
    )
    assert bound == [3, *free[1:]]


def test_contradictions_and_misplaced_requests_are_named():
    with pytest.raises(ValueError, match="contradict each other at frame 9"):
        EventSegmenter().fit(MADE.features, must=[9], must_not=[(5, 12)])
    with pytest.raises(ValueError, match='n_events needs detector="partition"'):
        EventSegmenter(n_events=3, detector="ces").fit(MADE.features)
    with pytest.raises(ValueError, match="n_events=0"):
        FITTED.choose(n_events=0)
    with pytest.raises(ValueError, match=r'choose.. needs detector="partition"'):
        EventSegmenter.paper().fit(MADE.features).choose(n_events=3)


@given(st.integers(2, 238))
@settings(max_examples=4, deadline=None)
def test_appending_agrees_with_a_fresh_run(n_first):
    grown = EventSegmenter().fit(MADE.features[:n_first]).append(MADE.features[n_first:])
    assert grown.segmentation_ == FITTED.segmentation_


def test_appending_repairs_gaps_as_a_fresh_run_does():
    x = MADE.features[:80].copy()
    x[58:62, 0] = np.nan
    fresh = EventSegmenter(missing="interpolate").fit(x)
    grown = EventSegmenter(missing="interpolate").fit(x[:60]).append(x[60:])
    assert grown.segmentation_ == fresh.segmentation_


@pytest.mark.parametrize(
    "arguments", [{"must": [99]}, {"must": [5], "must_not": [5]}, {"times": [0.0]}]
)
def test_a_failed_fit_leaves_the_past_untouched(arguments):
    segmenter = EventSegmenter().fit(MADE.features[:60])
    before, scores, chosen = segmenter.boundaries_, segmenter.scores_, segmenter.choose(n_events=2)
    with pytest.raises(ValueError, match=r"contradict|cannot be a boundary|one time per frame"):
        segmenter.fit(MADE.features[100:140, :2], **arguments)
    assert segmenter.boundaries_ is before
    assert segmenter.scores_ is scores
    assert segmenter.choose(n_events=2) == chosen
    assert len(segmenter.append(MADE.features[60:80]).labels_) == 80


def test_a_contradiction_is_found_before_anything_is_learnt():
    steps = []
    with pytest.raises(ValueError, match="contradict"):
        EventSegmenter().fit(
            MADE.features, must=[(5, 7)], must_not=[(4, 9)], on_step=lambda *s: steps.append(s)
        )
    assert steps == []


def test_parameters_are_checked_when_frames_are_appended():
    segmenter = EventSegmenter().fit(MADE.features[:60]).set_params(n_events=0)
    with pytest.raises(ValueError, match="n_events=0"):
        segmenter.append(MADE.features[60:80])


def test_a_caller_may_use_the_array_again():
    buffer = MADE.features[:60].copy()
    segmenter = EventSegmenter().fit(buffer)
    buffer[:] = 0.0
    appended = segmenter.append(MADE.features[60:120]).boundaries_
    np.testing.assert_array_equal(appended, EventSegmenter().fit(MADE.features[:120]).boundaries_)


def test_changing_the_boundaries_leaves_the_levels():
    segmenter = EventSegmenter().fit(MADE.features[:120])
    levels = [level.boundaries.copy() for level in segmenter.levels_]
    segmenter.boundaries_[:] = 7
    for level, before in zip(segmenter.levels_, levels, strict=True):
        np.testing.assert_array_equal(level.boundaries, before)


def test_times_in_whole_seconds_and_rare_photos_keep_their_durations():
    coarse = EventSegmenter(expected_duration=8.0).fit(
        MADE.features, times=np.repeat(np.arange(80.0), 3)
    )
    assert 5 <= len(coarse.events_) <= 20
    shots = np.cumsum(np.tile([600.0, 2.0, 2.0, 2.0], 60))
    rare = EventSegmenter(min_duration=600.0).fit(MADE.features, times=shots)
    assert len(rare.events_) == len(FITTED.events_)


def test_a_range_that_must_hold_a_boundary_is_asked_for():
    fitted = EventSegmenter().fit(MADE.features, must=[(100, 104)])
    asked = [e.start for e in fitted.events_ if e.reason == "required"]
    assert len(asked) == 1
    assert 100 <= asked[0] < 104


def test_appending_needs_times_where_there_were_times():
    timed = EventSegmenter().fit(MADE.features[:60], times=np.arange(60.0))
    with pytest.raises(ValueError, match="either all frames have times or none"):
        timed.append(MADE.features[60:80])
    timed.append(MADE.features[60:80], times=np.arange(60.0, 80.0))
    assert timed.segmentation_.times[-1] == 79


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.05])
@pytest.mark.parametrize("lengths", [(10, 12), (12, 14, 12), (40, 60, 30)])
def test_a_hard_cut_between_still_scenes_is_one_boundary(noise, lengths, random):
    contexts = random.normal(size=(2, 50))
    x = np.concatenate([np.repeat(contexts[[k % 2]], n, axis=0) for k, n in enumerate(lengths)])
    found = EventSegmenter().fit(x + noise * random.normal(size=x.shape)).boundaries_
    assert found.tolist() == np.cumsum(lengths)[:-1].tolist()


@pytest.mark.slow
def test_what_a_source_usually_has_moves_the_number_less_than_a_request():
    counts = []
    for seed in (0, 1, 2):
        noisy = make_communities(
            280, stay=60.0, variance=9.0, n_features=8, random_state=seed
        ).features
        requests: tuple[dict[str, float], ...] = (
            {},
            {"typical_duration": 6.0},
            {"expected_duration": 4.0},
        )
        counts.append([len(EventSegmenter(**request).fit(noisy).events_) for request in requests])
    usual, weak, strong = np.transpose(counts)
    assert np.all(usual <= weak)
    assert np.all(weak < strong)
    assert np.sum(usual) < np.sum(weak)


def test_a_pause_does_not_make_events_longer():
    times = np.arange(240.0)
    times[120:] += 10_000
    timed = EventSegmenter(expected_duration=20.0).fit(MADE.features, times=times)
    plain = EventSegmenter(expected_duration=20.0).fit(MADE.features)
    assert abs(len(timed.events_) - len(plain.events_)) <= 2


def test_a_shortest_duration_costs_no_more_boundaries_than_it_must():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(mean, 1.0, (40, 8)) for mean in (0, 5, -5, 3)])
    assert EventSegmenter().fit(x).boundaries_.tolist() == [40, 80, 120]
    assert EventSegmenter(min_duration=41).fit(x).boundaries_.tolist() == [80]


def test_a_duration_below_the_finest_level_gives_as_many_events_as_it_makes():
    assert len(FITTED.choose(expected_duration=3).events) == 80
    for duration in (1e-9, 1e-310):
        with pytest.warns(
            UserWarning, match=rf"expected_duration={duration:g} \(240 events\) is not possible"
        ):
            finest = FITTED.choose(expected_duration=duration).boundaries
    assert len(finest) > 80


def test_one_frame_that_is_no_list_is_refused_and_none_is_none():
    with pytest.raises(ValueError, match=r"must=5; give a list of frames or ranges"):
        EventSegmenter().fit(MADE.features[:60], must=5)
    fitted = EventSegmenter().fit(MADE.features[:60], must=None, must_not=None)
    np.testing.assert_array_equal(
        fitted.boundaries_, EventSegmenter().fit(MADE.features[:60]).boundaries_
    )


def test_names_of_columns_are_forgotten_with_the_table_that_had_them():
    pandas = pytest.importorskip("pandas")
    x = MADE.features[:60]
    segmenter = EventSegmenter().fit(
        pandas.DataFrame(x, columns=[f"f{k}" for k in range(x.shape[1])])
    )
    assert hasattr(segmenter, "feature_names_in_")
    segmenter.fit(x)
    assert not hasattr(segmenter, "feature_names_in_")
    assert len(segmenter.append(MADE.features[60:70]).labels_) == 70


def nested_boundaries(result):
    return {level.level: set(level.boundaries) for level in result.levels}


def test_the_saved_levels_are_those_that_level_gives():
    saved = nested_boundaries(FITTED.segmentation_)
    assert {-1, 0, 1} <= set(saved) <= set(range(-3, 4))
    for level, boundaries in saved.items():
        assert boundaries == set(FITTED.choose(level=level).boundaries)
    for coarser, finer in pairwise(saved.values()):
        assert coarser < finer


def test_saved_confidences_are_those_of_the_events():
    usual = next(level for level in FITTED.segmentation_.levels if level.level == 0)
    assert list(usual.confidences) == [event.confidence for event in FITTED.events_[1:]]


def test_level_zero_of_a_request_is_what_was_requested():
    for request in ({"level": 1}, {"n_events": 5}, {"min_duration": 20}, {"expected_duration": 60}):
        chosen = FITTED.choose(**request)
        saved = nested_boundaries(chosen)
        assert saved[0] == set(chosen.boundaries), request
        for coarser, finer in pairwise(saved.values()):
            assert coarser < finer
    # The shortest event holds for finer levels, too.
    finest = FITTED.choose(min_duration=20).levels[-1]
    assert min(np.diff([0, *finest.boundaries])) >= 20


def test_the_ces_rule_has_no_levels():
    assert EventSegmenter.paper().segment(MADE.features).levels == ()


def test_requests_of_the_fast_variant_are_given_at_once():
    assert len(EventSegmenter.fast(n_events=5, n_components=6).fit(MADE.features).events_) == 5


def test_events_that_stay_too_short_are_counted():
    fitted = EventSegmenter().fit(MADE.features, must=[100, 103])
    with pytest.warns(UserWarning, match="min_duration=30: 1 shorter event remains"):
        events = fitted.choose(min_duration=30).events
    assert sum(event.n_frames < 30 for event in events) == 1
    with pytest.warns(UserWarning, match="2 required boundaries, the fewest events are 3"):
        fitted.choose(n_events=2)
    # Not "becomes one event": the required boundaries stay.
    with pytest.warns(UserWarning, match="min_duration=1000: 3 shorter events remain"):
        assert len(fitted.choose(min_duration=1000).events) == 3
