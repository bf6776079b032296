"""`EventSegmenter.score`, and what scikit-learn does with it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from dayline import EventSegmenter, make_communities, score_boundaries
from dayline.events import boundaries_to_labels


@pytest.fixture(scope="module")
def steps():
    """Three sequences of 60 frames, the number of each, and the event of every frame."""
    made = [make_communities(60, stay=300.0, n_features=4, random_state=k) for k in (1, 2, 3)]
    labels = [boundaries_to_labels(m.boundaries, 60) for m in made]
    return (
        np.concatenate([m.features for m in made]),
        np.repeat(range(3), 60),
        np.concatenate(labels),
    )


def test_the_score_is_the_f1_of_the_boundaries(steps):
    x, y = steps[0][:60], steps[2][:60]
    fitted = EventSegmenter.fast().set_params(n_events=5).fit(x)
    expected = score_boundaries(fitted.boundaries_, np.flatnonzero(np.diff(y)) + 1).f1
    assert fitted.score(x, y) == expected
    assert 0 < expected < 1
    # Names of events will do as well, and the frames of another tolerance.
    assert fitted.score(x, np.array(["lunch", "walk"])[y % 2]) == expected
    assert (
        fitted.score(x, y, tolerance=0)
        == score_boundaries(fitted.boundaries_, np.flatnonzero(np.diff(y)) + 1, tolerance=0).f1
    )


def test_another_sequence_is_segmented_and_the_fitted_one_is_not_segmented_again(
    steps, monkeypatch
):
    x, _, y = steps
    fitted = EventSegmenter.fast().fit(x[:60])
    boundaries = fitted.boundaries_.copy()
    other = EventSegmenter.fast().fit(x[60:120])
    assert fitted.score(x[60:120], y[60:120]) == other.score(x[60:120], y[60:120])
    assert np.array_equal(fitted.boundaries_, boundaries)
    monkeypatch.setattr(EventSegmenter, "fit", lambda *_, **__: pytest.fail("fitted again"))
    fitted.score(x[:60], y[:60])


def test_grid_search_over_whole_sequences_finds_the_level(steps):
    x, sequence, y = steps
    whole = [(frames, frames) for frames in (np.flatnonzero(sequence == k) for k in range(3))]
    search = GridSearchCV(EventSegmenter.fast(), {"n_events": [2, 5]}, cv=whole, refit=False).fit(
        x, y
    )
    expected = [
        np.mean(
            [
                EventSegmenter.fast().set_params(n_events=n).fit(x[f]).score(x[f], y[f])
                for f, _ in whole
            ]
        )
        for n in (2, 5)
    ]
    assert search.cv_results_["mean_test_score"] == pytest.approx(expected)
    assert search.best_params_ == {"n_events": (2, 5)[int(np.argmax(expected))]}
    assert expected[0] != expected[1]


def test_wrong_truth_is_said_in_one_line(steps):
    x = steps[0][:60]
    with pytest.raises(NotFittedError):
        EventSegmenter.fast().score(x, np.zeros(60))
    fitted = EventSegmenter.fast().fit(x)
    with pytest.raises(ValueError, match=r"y has shape \(2,\) for 60 frames; pass the event"):
        fitted.score(x, [20, 40])
    with pytest.raises(ValueError, match="y: frames 3 and 9 have no label"):
        fitted.score(x, [np.nan if k in (3, 9) else 1.0 for k in range(60)])
    with pytest.raises(ValueError, match="y: frame 3 has no label"):
        fitted.score(x, np.array([None if k == 3 else "a" for k in range(60)]))


def test_dates_give_a_segmentation_with_dates(steps):
    x = steps[0][:60]
    days = np.datetime64("1950-03-01") + np.arange(60)
    segmenter = EventSegmenter.fast()
    found = segmenter.segment(x[:50], times=days[:50])
    assert found.clock == "wall"
    assert repr(found).endswith("1950-03-01 00:00 to 1950-04-19 00:00)")
    assert segmenter.append(x[50:], times=days[50:]).segmentation_.clock == "wall"
    assert EventSegmenter.fast().segment(x, times=np.arange(60.0)).clock is None
    assert EventSegmenter.fast().segment(x, times=1.7e9 + np.arange(60)).clock == "wall"
    assert (
        EventSegmenter.fast().segment(x, times=np.arange(60) * np.timedelta64(10**9, "s")).clock
        is None
    )


def test_a_search_passes_the_times_of_each_sequence(steps):
    x, sequence, y = steps
    times = np.tile(30.0 * np.arange(60), 3)
    whole = [(frames, frames) for frames in (np.flatnonzero(sequence == k) for k in range(3))]
    search = GridSearchCV(EventSegmenter.fast(), {"min_duration": [900.0]}, cv=whole, refit=False)
    search.fit(x, y, times=times)
    segmenter = EventSegmenter.fast().set_params(min_duration=900.0)
    expected = [segmenter.fit(x[f], times=times[f]).score(x[f], y[f]) for f, _ in whole]
    assert [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)] == expected
    assert (
        segmenter.fit(x[:60], times=times[:60]).score(x[60:120], y[60:120], times=times[60:120])
        == expected[1]
    )
