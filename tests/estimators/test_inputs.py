"""What people pass: one value per frame, Series and data frames, dates, durations; and pickles."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from dayline import (
    EventSegmenter,
    WholeSequences,
    make_communities,
    plot,
    read_events,
    write_page,
)
from dayline.checks import check_duration
from dayline.events import boundaries_to_labels

X = make_communities(120, stay=300.0, n_features=8, random_state=2).features
FAST = EventSegmenter.fast()


def fitted(x, **how):
    return EventSegmenter.fast(**how).fit(x)


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars"])
def test_one_value_per_frame_is_a_sequence_of_one_column(kind):
    values = np.repeat([0.0, 3.0, 1.0], 30)
    given = {"array": lambda: values, "list": values.tolist}.get(kind)
    given = given() if given else pytest.importorskip(kind).Series(values)
    assert fitted(given).boundaries_.tolist() == [30, 60]
    assert fitted(given).predict(given).tolist() == np.repeat([0, 1, 2], 30).tolist()


def test_the_dates_of_a_data_frame_are_its_times():
    pandas = pytest.importorskip("pandas")
    minutes = pandas.date_range("2024-05-12", periods=120, freq="min")
    expected = fitted(X, expected_duration=1200.0).boundaries_  # nothing but the number 20
    by_time = EventSegmenter.fast(expected_duration=1200.0).fit(X, times=minutes)
    assert by_time.boundaries_.tolist() != expected.tolist()

    frame = pandas.DataFrame(X, index=minutes)
    frames = [frame, frame.set_index(minutes.to_period("min")), frame.tz_localize("UTC")]
    column = frame.reset_index(drop=True)
    column.insert(3, "when", minutes)
    column.columns = [f"c{k}" for k in range(9)]
    polars = pytest.importorskip("polars")
    for one in [*frames, column, polars.DataFrame(column.to_dict("list"))]:
        found = fitted(one, expected_duration="20min")
        assert found.boundaries_.tolist() == by_time.boundaries_.tolist()
        assert found.n_features_in_ == 8
        assert found.segmentation_.times[1] - found.segmentation_.times[0] == 60.0
        assert found.predict(one).tolist() == found.labels_.tolist()

    # Durations count from anywhere; what is given goes before what the frame has.
    lasting = frame.set_index(minutes - minutes[0])
    assert fitted(lasting).segmentation_.clock is None
    assert FAST.segment(frame, times=np.arange(120.0)).times[-1] == 119.0
    assert fitted(frame[0]).segmentation_.clock == "wall"

    with pytest.raises(ValueError, match="time goes backwards at frame"):
        fitted(frame[::-1])
    with pytest.raises(ValueError, match=r"dates in its index and in column 'when'; drop some"):
        fitted(frame.assign(when=minutes))


def test_later_rows_of_a_data_frame_continue_with_their_dates():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=pandas.date_range("2024-05-12", periods=120, freq="h"))
    at_once, later = fitted(frame), fitted(frame[:100]).append(frame[100:])
    assert later.boundaries_.tolist() == at_once.boundaries_.tolist()
    assert later.segmentation_.times == at_once.segmentation_.times


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("30min", 1800), ("1h 30min", 5400), ("1h30min", 5400), ("2.5 h", 9000), ("45s", 45),
        ("2d", 172800), (timedelta(minutes=30), 1800), (np.timedelta64(30, "m"), 1800),
        (900.0, 900), (None, None),
    ],
)  # fmt: skip
def test_a_duration_may_be_text_or_an_object(given, seconds):
    assert check_duration("min_duration", given, has_times=True) == seconds


@pytest.mark.parametrize("wrong", ["", "30", "min", "30 parsecs", "30min!", "-30min", "1h 30"])
def test_a_text_that_is_no_duration_is_named(wrong):
    with pytest.raises(ValueError, match=f"min_duration='{wrong}' is not a duration; write it as"):
        EventSegmenter(min_duration=wrong).check_parameters()


def test_a_duration_has_no_meaning_without_times():
    with pytest.raises(ValueError, match=r"expected_duration='30min' needs times.*pass times="):
        fitted(X, expected_duration="30min")
    segmenter = fitted(X)
    with pytest.raises(ValueError, match="min_duration='30min' needs times"):
        segmenter.choose(min_duration="30min")
    segmenter.fit(X, times=60.0 * np.arange(120))
    by_number = segmenter.choose(min_duration=1800)
    assert segmenter.choose(min_duration="30min").boundaries == by_number.boundaries
    assert segmenter.choose(expected_duration=timedelta(minutes=30)).n_frames == 120


def test_predict_segments_any_sequence_on_its_own():
    segmenter = fitted(X[:60])
    before = segmenter.boundaries_.tolist()
    assert segmenter.predict(X[60:]).tolist() == fitted(X[60:]).labels_.tolist()
    assert segmenter.boundaries_.tolist() == before


def test_a_pickle_is_small_and_goes_on_where_it_was():
    x = make_communities(1400, stay=300.0, n_features=5, random_state=2).features
    segmenter = EventSegmenter().fit(x)
    y = segmenter.labels_
    packed = pickle.dumps(segmenter)
    assert len(packed) < 1e6  # a graph of 1,400 x 1,400 numbers has 15.7 MB
    assert segmenter.graph_.shape == (1400, 1400)

    again = pickle.loads(packed)
    assert again.graph_ is None
    assert again.segmentation_ == segmenter.segmentation_
    assert again.choose(level=-1) == segmenter.choose(level=-1)
    assert again.score(x, y) == 1.0
    assert again.predict(x).tolist() == y.tolist()
    if pytest.importorskip("matplotlib"):
        assert plot(again, x).axes


def test_a_pickle_keeps_everything_if_asked_to():
    segmenter = EventSegmenter(keep="all").fit(X)
    for again in (pickle.loads(pickle.dumps(segmenter)), copy.deepcopy(segmenter)):
        assert np.array_equal(again.graph_, segmenter.graph_)
    light = pickle.loads(pickle.dumps(EventSegmenter().fit(X[:100])))
    later = EventSegmenter().fit(X)
    assert light.append(X[100:]).boundaries_.tolist() == later.boundaries_.tolist()
    assert np.array_equal(light.graph_, later.graph_)
    with pytest.raises(ValueError, match="keep='some' is not known"):
        EventSegmenter(keep="some").fit(X)


@pytest.fixture(scope="module")
def three():
    """Rows of three sequences of 60 frames, the name of each, and the event of every frame."""
    made = [make_communities(60, stay=300.0, n_features=4, random_state=k) for k in (1, 2, 3)]
    labels = [boundaries_to_labels(one.boundaries, 60) for one in made]
    rows = np.concatenate([one.features for one in made])
    return rows, np.repeat(["mon", "tue", "wed"], 60), np.concatenate(labels)


def test_whole_sequences_are_scored_as_they_are(three):
    x, groups, y = three
    expected = [
        fitted(x[groups == day]).score(x[groups == day], y[groups == day])
        for day in ("mon", "tue", "wed")
    ]
    scores = cross_val_score(FAST, x, y, cv=WholeSequences(), groups=groups)
    assert scores.tolist() == expected
    search = GridSearchCV(FAST, {"level": [0, -1]}, cv=WholeSequences(), refit=False)
    search.fit(x, y, groups=groups)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(expected))
    assert search.n_splits_ == 3


def test_wrong_groups_are_said_in_one_line(three):
    x, groups, y = three
    with pytest.raises(ValueError, match="needs groups=, the sequence of every frame"):
        cross_val_score(FAST, x, y, cv=WholeSequences())
    with pytest.raises(ValueError, match="sequence 'mon' do not stand together"):
        list(WholeSequences().split(x, y, ["mon", "tue", "mon"]))
    with pytest.raises(ValueError, match="groups has more than 2 entries"):
        list(WholeSequences().split(x[:2], groups=groups[:3]))


def test_folds_that_cut_a_sequence_and_scores_without_truth_are_not_silent(three):
    x, _, y = three
    with pytest.warns(UserWarning, match=r"cut a sequence .* pass cv=WholeSequences\(\)"):
        cross_val_score(FAST, x, y, cv=3)
    with pytest.raises(ValueError, match="needs y, the event of every frame"):
        cross_val_score(FAST, x, cv=3, error_score="raise")
    # Another sequence may be scored outside of a cross-validation.
    assert 0 <= fitted(x[:60]).score(x[60:120], y[60:120]) <= 1


def test_the_page_and_the_plot_take_data_frames_with_their_dates(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    frame = pandas.DataFrame(X).add_prefix("c")
    frame["when"] = pandas.date_range("2024-05-12", periods=120, freq="min")
    for given in (frame, frame.set_index("when"), frame["c0"]):
        assert plot(fitted(given), given).axes
        page = write_page(given, tmp_path / "out", segmenter=FAST)
        found = read_events(page.with_name("events.json"))
        assert found.boundaries == tuple(fitted(given).boundaries_.tolist())
        assert found.clock == ("wall" if given.ndim == 2 else None)
