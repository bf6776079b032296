"""`EventStream`: boundaries while frames arrive, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from dayline import EventSegmenter, EventStream, score_boundaries

FAST = EventSegmenter.fast()


def regimes(n_events: int, length: int = 40, seed: int = 0):
    """Events of `length` frames with means of their own, so far apart that each is clear."""
    rng = np.random.default_rng(seed)
    means = np.repeat(rng.normal(scale=3.0, size=(n_events, 6)), length, axis=0)
    return means + rng.normal(scale=0.2, size=means.shape)


X = regimes(15)
TRUE = list(range(40, 600, 40))


def streamed(x, block, **how):
    stream = EventStream(FAST, window=400, every=100)
    found = []
    for start in range(0, len(x), block):
        kwargs = {name: values[start : start + block] for name, values in how.items()}
        found += stream.add(x[start : start + block], **kwargs).tolist()
    return found + stream.finish().tolist()


def test_the_result_is_that_of_fit_on_the_whole_and_does_not_depend_on_the_blocks():
    whole = FAST.fit(X).boundaries_
    assert whole.tolist() == TRUE
    found = streamed(X, 100)
    assert score_boundaries(found, whole, tolerance=2).f1 >= 0.95
    for block in (1, 37, 600):
        assert streamed(X, block) == found


def test_boundaries_come_once_in_order_and_before_their_frames_leave_the_window():
    stream = EventStream(FAST, window=400, every=100)
    reported: list[int] = []
    for start in range(0, 600, 20):
        settled = stream.n_settled_
        now = stream.add(X[start : start + 20]).tolist()
        assert all(settled <= b < stream.n_settled_ for b in now)
        assert stream.n_settled_ >= stream.n_frames_ - 400
        reported += now
    assert len(reported) > 5  # before the end
    reported += stream.finish().tolist()
    assert reported == sorted(set(reported))
    assert stream.n_settled_ == stream.n_frames_ == 600


def test_what_two_fits_disagree_on_is_not_reported_yet(monkeypatch):
    first, second = [30, 60], [30, 61, 150]
    third, fourth, last = [30, 60, 150, 180, 240], [30, 60, 151, 240, 300], [60, 240, 300, 380]
    answers = iter([first, second, third, fourth, last])

    def fit(self, rows, times=None):
        self.boundaries_ = np.asarray(next(answers))
        return self

    monkeypatch.setattr(EventSegmenter, "fit", fit)
    stream = EventStream(FAST, window=1000, every=100)
    assert stream.add(X[:100]).tolist() == []  # a single fit settles nothing
    assert stream.add(X[100:200]).tolist() == [30, 61]  # one has moved by a frame; 150 is too new
    assert stream.add(X[200:300]).tolist() == [150]
    assert stream.n_settled_ == 180  # it was not there before
    # It is gone again; what comes after it waits, though two fits agree on 240.
    assert stream.add(X[300:400]).tolist() == []
    assert stream.finish().tolist() == [240, 300, 380]


def test_a_boundary_at_the_first_frame_that_stays_is_reported(monkeypatch):
    answers = iter([[], [40, 100], []])

    def fit(self, rows, times=None):
        self.boundaries_ = np.asarray(next(answers), dtype=int)
        return self

    monkeypatch.setattr(EventSegmenter, "fit", fit)
    stream = EventStream(FAST, window=200, every=100)
    assert stream.add(X[:200]).tolist() == [40, 100]  # frames 0 to 99 leave the window
    assert stream.finish().tolist() == []


def test_memory_does_not_grow_with_the_stream():
    stream = EventStream(FAST, window=300, every=100)
    kept = []
    for start in range(0, 3_000, 150):
        stream.add(regimes(4, seed=start)[:150])
        kept.append(
            sum(rows.nbytes for rows in stream._rows) + stream._before.nbytes if start else 0
        )
    assert max(kept) <= 300 * 6 * 8 + 300 * 8  # the window, and at most a boundary per frame
    state = {name: np.size(value) for name, value in vars(stream).items() if name != "_rows"}
    assert max(state.values()) <= 300


def test_times_go_along_and_pauses_are_boundaries():
    one_event = regimes(1, length=600)
    times = np.arange(600.0) + 7200 * (np.arange(600) >= 250)
    assert streamed(one_event, 50) == []
    assert streamed(one_event, 50, times=times) == [250]
    dates = np.datetime64("2024-05-12") + (1000 * times).astype("timedelta64[ms]")
    assert streamed(one_event, 50, times=dates) == [250]


def test_a_data_frame_gives_its_dates():
    pandas = pytest.importorskip("pandas")
    hours = pandas.date_range("2024-05-12", periods=600, freq="h")
    frame = pandas.DataFrame(X, index=hours).add_prefix("c")
    assert streamed(frame, 100) == streamed(X, 100)


def test_missing_values_are_refused_by_the_number_in_the_stream_or_interpolated():
    gaps = X[:300].copy()
    gaps[250, 1] = np.nan
    stream = EventStream(FAST, window=400, every=100)
    stream.add(gaps[:200])
    with pytest.raises(ValueError, match=r"frame 250 of the stream: NaN or infinity"):
        stream.add(gaps[200:])
    assert stream.n_frames_ == 200  # as if it had not been given
    stream.add(X[200:300])
    filling = EventStream(EventSegmenter(FAST.embedding, missing="interpolate"), every=100)
    assert [*filling.add(gaps), *filling.finish()] == TRUE[:7]


def test_what_cannot_be_is_said_in_one_line():
    with pytest.raises(ValueError, match="n_events=5 is for a whole recording"):
        EventStream(EventSegmenter(n_events=5))
    with pytest.raises(ValueError, match="window=100; it must be a whole number of at least 1000"):
        EventStream(window=100)
    with pytest.raises(ValueError, match="every=0; it must be a whole number of at least 1"):
        EventStream(every=0)
    with pytest.raises(ValueError, match="expected_duration='5min' needs times"):
        EventStream(EventSegmenter(expected_duration="5min")).add(X)

    stream = EventStream(FAST, every=100)
    stream.add(X[:50], times=np.arange(50.0))
    with pytest.raises(ValueError, match="X has 3 features"):
        stream.add(X[:50, :3])
    with pytest.raises(ValueError, match=r"pass times= with every add\(\)"):
        stream.add(X[50:100])
    with pytest.raises(ValueError, match="time goes backwards"):
        stream.add(X[50:100], times=np.arange(50.0))
    with pytest.raises(ValueError, match="times mix"):
        stream.add(X[50:100], times=np.datetime64("2024-05-12") + np.arange(50))
    assert stream.add(X[50:120], times=50.0 + np.arange(70)).tolist() == []
    assert stream.finish().tolist() == [40, 80]
    with pytest.raises(ValueError, match="the stream is finished; make a new EventStream"):
        stream.add(X)
    assert EventStream().finish().tolist() == []
