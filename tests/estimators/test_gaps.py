"""Missing rows are skipped, and long gaps in the times are pauses."""

from __future__ import annotations

import numpy as np
import pytest

from dayline import EventSegmenter, plot, score_boundaries, write_page
from dayline.research.datasets.synthetic import make_communities

TRUE = list(range(80, 480, 80))


def steps(seed):
    """Six events of 80 frames whose means are all as far apart, in noise of .4."""
    random = np.random.default_rng(seed)
    means = 3.0 * np.linalg.qr(random.normal(size=(8, 8)))[0][:6]
    return np.repeat(means, 80, axis=0) + 0.4 * random.normal(size=(480, 8))


def with_gap(x, first, stop, columns=slice(None)):
    x = x.copy()
    x[first:stop, columns] = np.nan
    return x


def fitted(x, make=EventSegmenter, **requests):
    return make(missing="interpolate").fit(x, **requests)


MAKERS = pytest.mark.parametrize("make", [EventSegmenter, EventSegmenter.fast])


@MAKERS
@pytest.mark.parametrize("share", [0.1, 0.2])
def test_rows_missing_at_random_hardly_change_the_boundaries(make, share):
    """A boundary moves by the rows missing there: seldom by more than three."""
    differences = []
    for seed in range(8):
        random = np.random.default_rng(100 + seed)
        x = steps(seed)
        whole = score_boundaries(make().fit(x).boundaries_, TRUE, tolerance=3).f1
        x[random.random(480) < share] = np.nan
        gaps = score_boundaries(fitted(x, make).boundaries_, TRUE, tolerance=3).f1
        differences.append(gaps - whole)
    assert np.mean(differences) >= -0.05


@MAKERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_an_event_that_spans_a_gap_keeps_the_missing_rows(make, dtype, seed):
    x = steps(seed).astype(dtype)
    found = fitted(with_gap(x, 100, 140), make)
    assert not [b for b in found.boundaries_ if 95 <= b <= 145]
    assert len(set(found.labels_[95:145])) == 1
    assert found.segmentation_.notes[0] == "40 rows are missing and skipped (8.3% of 480)"
    assert 80 in found.boundaries_


@MAKERS
@pytest.mark.parametrize("seed", range(4))
def test_a_change_across_a_gap_is_one_boundary_at_the_first_row_after_it(make, seed):
    found = fitted(with_gap(steps(seed), 150, 200), make)
    assert [b for b in found.boundaries_ if 145 <= b <= 205] == [200]
    (event,) = [event for event in found.events_ if event.start == 200]
    assert event.reason == "content"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_boundary_begins_where_a_gap_does_or_in_it(seed):
    """Interpolated, these three had boundaries at 242, 199 and 256, and 199 and 252."""
    made = make_communities(480, stay=300.0, n_features=16, random_state=seed)
    found = fitted(with_gap(made.features, 200, 281))
    assert not [b for b in found.boundaries_ if 199 <= b <= 280]
    finer = [b for level in found.segmentation_.levels for b in level.boundaries]
    assert not [b for b in finer if 200 <= b <= 280]
    assert not [b for level in found.levels_ for b in level.boundaries if 200 <= b <= 280]
    assert not [b for b in found.choose(n_events=100).boundaries if 200 <= b <= 280]


def test_attributes_have_an_entry_per_given_row():
    x = with_gap(steps(1), 150, 200)
    found = fitted(x)
    assert len(found.labels_) == len(found.communities_) == len(found.segmentation_.scores) == 480
    assert found.embedding_.shape == (480, 8)
    assert np.all(found.scores_[150:200] == 0)
    assert np.all(found.embedding_[150:200] == 0)
    assert np.all(np.linalg.norm(found.embedding_[:150], axis=1) > 0)
    assert found.seen_.tolist() == [*range(150), *range(200, 480)]
    assert np.all(found.row_of_frame_[[0, 149, 150, 199, 200, 479]] == [0, 149, 149, 149, 150, 429])
    assert found.graph_.shape == (430, 430)
    assert np.all(found.communities_[150:200] == found.communities_[149])


@MAKERS
def test_missing_rows_at_both_ends_belong_to_the_first_and_last_event(make):
    x = steps(0)
    inner = make().fit(x[30:450])
    x[:30], x[450:] = np.nan, np.inf
    found = fitted(x, make)
    assert found.boundaries_.tolist() == (inner.boundaries_ + 30).tolist()
    assert (found.events_[0].start, found.events_[-1].stop) == (0, 480)
    assert np.all(found.labels_[:31] == 0)


def test_one_row_or_none():
    x = with_gap(steps(0), 1, 480)
    found = fitted(x)
    assert found.boundaries_.tolist() == []
    assert found.segmentation_.notes == (
        "479 rows are missing and skipped (99.8% of 480)",
        "one event: fewer than 4 frames",
    )
    for make in (EventSegmenter, EventSegmenter.fast):
        with pytest.raises(ValueError, match=r"^features contain no finite values; pass rows that"):
            fitted(np.full((20, 3), np.nan), make)


def test_single_values_are_interpolated_and_no_row_is_skipped():
    x = steps(2)
    whole = EventSegmenter().fit(x)
    for gap in ((100, 140, 3), (100, 140, slice(0, 4))):
        found = fitted(with_gap(x, *gap))
        assert len(found.seen_) == 480
        assert found.segmentation_.notes == whole.segmentation_.notes
        assert np.all(found.embedding_[100:140].any(axis=1))
    mostly = fitted(with_gap(x, 100, 140, slice(0, 5)))
    assert np.all(np.setdiff1d(np.arange(480), mostly.seen_) == np.arange(100, 140))
    assert not [b for b in mostly.boundaries_ if 95 <= b <= 145]


def test_a_required_boundary_stays_where_it_is_in_a_gap():
    x = steps(0)
    x[:30], x[150:200], x[450:] = np.nan, np.nan, np.nan
    must = [10, 30, 160, 161, 470]
    found = fitted(x, must=must, must_not=[200])
    assert set(must) <= set(found.boundaries_.tolist())
    assert {e.start for e in found.events_ if e.reason == "required"} == set(must)
    assert 200 not in found.boundaries_
    for level in found.levels_:
        assert set(must) <= set(level.boundaries.tolist())

    # Of a range, a row that is present is preferred; one must be a boundary.
    in_range = fitted(x, must=[(190, 203)])
    assert next(b for b in in_range.boundaries_ if 190 <= b < 203) >= 200
    assert 155 in fitted(x, must=[(150, 160)], must_not=[(150, 155)]).boundaries_
    with pytest.raises(ValueError, match="contradict each other at frame 160"):
        fitted(x, must=[160], must_not=[160])


def test_a_break_in_a_gap_and_the_ces_rule():
    x = with_gap(steps(0), 150, 200)
    found = fitted(x, breaks=[160])
    assert [e.start for e in found.events_ if e.reason == "pause"] == [160]
    peaks = EventSegmenter.paper().set_params(missing="interpolate").fit(x)
    assert not [b for b in peaks.boundaries_ if 150 <= b < 200]
    assert len(peaks.communities_) == 480


def test_a_gap_that_is_appended_is_the_same_as_one_that_was_there():
    x = with_gap(steps(0), 150, 200)
    grown = fitted(x[:170]).append(x[170:])
    assert grown.segmentation_ == fitted(x).segmentation_
    assert grown.score(x, np.repeat(range(6), 80)) == fitted(x).score(x, np.repeat(range(6), 80))


def test_outliers_are_named_by_the_rows_that_were_given():
    x = with_gap(steps(0), 150, 200)
    x[300] = 1e6
    with pytest.warns(UserWarning, match="^frame 300 "):
        fitted(x)


def test_durations_and_levels_of_a_sequence_with_gaps():
    x = with_gap(steps(0), 150, 200)
    times = np.arange(480) * 30.0
    found = fitted(x, times=times)
    assert found.boundaries_.tolist() == fitted(x).boundaries_.tolist()
    long = found.choose(min_duration=60 * 30.0)
    assert min(np.diff([0, *long.boundaries, 480])) >= 60
    assert found.segmentation_.times[170] == 170 * 30.0
    assert found.choose(level=-1).n_frames == 480


@MAKERS
def test_a_figure_and_a_page_of_a_sequence_with_gaps(make, tmp_path):
    x = with_gap(steps(0), 150, 200)
    found = fitted(x, make)
    if make is EventSegmenter:
        pytest.importorskip("matplotlib")
        plot(found, x)
    write_page(found, tmp_path / "out")
    for event in found.segmentation_.events:
        assert event.stop > event.start
    write_page(x, tmp_path / "of rows", segmenter=make(missing="interpolate"))
    assert (tmp_path / "of rows" / "index.html").exists()


# Pauses


def holes(*frames, length=5000.0):
    times = np.arange(480.0)
    for frame in frames:
        times[frame:] += length
    return times


def reasons(found):
    return {e.start: e.reason for e in found.events_[1:]}


@MAKERS
def test_a_gap_in_the_times_is_a_pause_that_coarser_levels_join_across(make):
    x = steps(0)
    found = make().fit(x, times=holes(120, 350))
    assert {b for b, why in reasons(found).items() if why == "pause"} == {120, 350}
    assert dict(zip(found.boundaries_, found.confidence_, strict=True))[120] == 1.0
    assert len(found.choose(n_events=1).events) == 1
    assert {120, 350} <= set(found.choose(level=1).boundaries)


def test_pauses_can_be_turned_off_overruled_and_given():
    x = steps(0)
    times = holes(120, 350)
    plain = EventSegmenter().fit(x).boundaries_.tolist()
    for segmenter in (EventSegmenter(pauses=False), EventSegmenter.fast(pauses=False)):
        assert "pause" not in reasons(segmenter.fit(x, times=times)).values()
    off = EventSegmenter(pauses=False).fit(x, times=times)
    assert off.boundaries_.tolist() == plain
    assert EventSegmenter().fit(x, times=times, breaks=()).boundaries_.tolist() == plain

    given = EventSegmenter().fit(x, times=times, breaks=[50])
    assert {b for b, why in reasons(given).items() if why == "pause"} == {50}
    merged = EventSegmenter().fit(x, times=times, must_not=[120])
    assert {b for b, why in reasons(merged).items() if why == "pause"} == {350}
    with pytest.raises(ValueError, match="pauses='no'; it must be True or False"):
        EventSegmenter(pauses="no").fit(x)


def test_regular_times_and_steady_irregular_ones_have_no_pauses():
    x = steps(0)
    random = np.random.default_rng(0)
    plain = EventSegmenter().fit(x).boundaries_.tolist()
    weekdays = 86_400.0 * np.asarray([d for d in range(700) if d % 7 < 5][:480])
    for times in (np.arange(480.0), weekdays, np.cumsum(random.exponential(size=480))):
        assert EventSegmenter().fit(x, times=times).boundaries_.tolist() == plain


def test_a_pause_after_frames_that_are_appended():
    x = steps(0)
    times = holes(350)
    grown = EventSegmenter().fit(x[:300], times=times[:300]).append(x[300:], times=times[300:])
    assert reasons(grown)[350] == "pause"
    assert grown.segmentation_ == EventSegmenter().fit(x, times=times).segmentation_


def test_rows_that_are_missing_around_a_pause():
    x = with_gap(steps(0), 110, 130)
    found = fitted(x, times=holes(120))
    assert reasons(found)[120] == "pause"
    assert [b for b in found.boundaries_ if 105 <= b <= 135] == [120]
