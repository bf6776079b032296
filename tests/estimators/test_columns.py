"""Which columns drive a boundary, and the note on columns that drift."""

from __future__ import annotations

import numpy as np
import pytest

from dayline import EventSegmenter
from dayline.estimators.columns import column_shares, drifting_columns, misleading_columns

STEPS = np.array([60, 120])


def steps(n_columns, *, seed=0):
    """Noise, and two steps of three deviations in the first three columns."""
    x = np.random.default_rng(seed).normal(size=(180, n_columns))
    x[60:120, :3] += [3, -3, 3]
    return x


def test_shares_are_those_of_the_squared_change_in_units_of_each_column():
    # The means of the first column are 0, 1, 0, those of the second 0, 0, 10; nothing else varies.
    x = np.zeros((6, 3))
    x[2:4, 0], x[4:, 1] = 1, 10
    # Standard deviations are sqrt(2) / 3 and ten times that: both change as much in these units.
    shares = column_shares(x, np.array([2, 4]))
    np.testing.assert_allclose(shares, [[1, 0, 0], [0.5, 0.5, 0]])
    np.testing.assert_allclose(column_shares(x * [5, 0.1, 1] + 7, np.array([2, 4])), shares)
    assert column_shares(np.ones((4, 2)), np.array([2])).tolist() == [[0, 0]]


def test_a_change_of_spread_counts():
    x = np.tile([[1.0, 1.0], [-1.0, -1.0]], (20, 1))
    x[20:, 1] *= 9
    np.testing.assert_allclose(column_shares(x, np.array([20])), [[0, 1]])


def test_explain_names_the_columns_that_changed():
    pandas = pytest.importorskip("pandas")
    x = np.repeat(np.eye(4)[[0, 1, 2]], 20, axis=0) + 0.01 * steps(4)[:60]
    fitted = EventSegmenter.fast().fit(pandas.DataFrame(x, columns=["a", "b", "c", "d"]))
    assert fitted.boundaries_.tolist() == [20, 40]
    why = fitted.explain(20)
    assert list(why)[:2] in (["a", "b"], ["b", "a"])
    assert sum(why.values()) == pytest.approx(1)
    assert why["a"] + why["b"] > 0.95
    assert list(fitted.explain(40, most=2)) in (["b", "c"], ["c", "b"])
    assert list(EventSegmenter.fast().fit(x).explain(40, most=2)) in ([1, 2], [2, 1])
    with pytest.raises(
        ValueError, match=r"^boundary=30 is none of boundaries_; the nearest is 20$"
    ):
        fitted.explain(30)


def test_explain_counts_frames_of_all_rows_if_some_are_missing():
    x = np.repeat(np.eye(4)[[0, 1, 2]], 20, axis=0) + 0.01 * steps(4)[:60]
    late = np.vstack([np.full((7, 4), np.nan), x])
    fitted = EventSegmenter.fast(missing="interpolate").fit(late)
    assert fitted.boundaries_.tolist() == [27, 47]
    assert list(fitted.explain(47, most=2)) in ([1, 2], [2, 1])


def test_explain_sees_the_windows_in_which_events_were_found():
    # Only the frequency of the second column changes: its mean and spread stay.
    t = np.arange(1200)
    random = np.random.default_rng(0)
    phase = np.cumsum(np.where((t >= 400) & (t < 800), 1.9, 0.6))
    x = np.column_stack([random.normal(size=1200), np.sin(phase), random.normal(size=1200)])
    x[:, 1] += 0.2 * random.normal(size=1200)
    fitted = EventSegmenter.fast().fit(x)
    assert "windows" in fitted.segmentation_.notes[0]
    assert len(fitted.boundaries_) > 0
    for boundary in fitted.boundaries_:
        assert next(iter(fitted.explain(boundary))) == 1


def test_a_note_names_columns_that_drift_if_the_others_have_fewer_boundaries():
    x = np.column_stack([steps(6), 8 * np.sin(np.arange(180) / 12)])
    drifting = np.unique([*range(20, 180, 20), *STEPS])
    columns, n_led = misleading_columns(x, drifting)
    assert columns == [6]
    assert len(drifting) / 2 < n_led <= len(drifting) - len(STEPS)


def test_columns_that_drift_are_not_blamed_where_the_others_have_no_events_or_other_ones():
    noise = np.random.default_rng(0).normal(size=(180, 6))
    drift = 8 * np.sin(np.arange(180) / 12)
    boundaries = np.arange(20, 180, 20)
    of_noise, of_steps = (np.column_stack([x, drift]) for x in (noise, steps(6)))
    for x, found in ((of_noise, boundaries), (of_steps, boundaries + 10)):
        assert drifting_columns(x, found)[0][0] == [6]
        assert misleading_columns(x, found)[0] == []


def test_columns_that_jump_do_not_drift():
    x = np.random.default_rng(0).normal(size=(180, 6))
    x[:, 5] += np.repeat([0, 9, 0, 9, 0, 9], 30)
    assert drifting_columns(x, np.arange(30, 180, 30)) == []


def test_the_note_belongs_to_the_usual_level():
    t = np.arange(1100)
    random = np.random.default_rng(3)
    x = random.normal(size=(1100, 8))
    x[400:700, :3] += [3, -3, 3]
    x[:, 6:] = 8 * np.sin(t[:, None] / [90, 127] + [0, 1])
    fitted = EventSegmenter.fast().fit(x)
    assert {400, 700} <= set(fitted.boundaries_.tolist())
    assert any(
        "columns 6 and 7 (counted from 0) drift" in note for note in fitted.segmentation_.notes
    )
    assert not any("drift" in note for note in fitted.choose(n_events=3).notes)
    assert not any("drift" in n for n in EventSegmenter.fast().fit(x[:, :6]).segmentation_.notes)
