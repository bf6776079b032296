"""Windows of signals: by hand, at the ends, and for rows of zeros."""

from __future__ import annotations

import numpy as np
import pytest

from dayline import signal_windows
from dayline.method.windows import LEAST_SPREAD


def by_hand(x, width):
    """Return the same features from slices of a mirrored column, before they are standardized."""
    z = (x - x.mean()) / x.std()
    before, after = width // 2, width - 1 - width // 2
    mirrored = np.concatenate([z[before:0:-1], z, z[-2 : -after - 2 : -1]])
    rows = []
    for t in range(len(x)):
        own = mirrored[t : t + width]
        row = [own.mean(), np.log(own.std() + LEAST_SPREAD)]
        row += [np.log(np.abs(own[k:] - own[:-k]).mean() + LEAST_SPREAD) for k in (1, 2, 4)]
        rows.append(row)
    return np.asarray(rows)


@pytest.mark.parametrize("width", [8, 9, 16])
def test_windows_are_level_spread_and_differences(width):
    x = np.cumsum(np.random.default_rng(0).normal(size=100))
    expected = by_hand(x, width)
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0)
    assert signal_windows(x[:, None], width=width) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("width", [8, 9])
def test_the_slope_is_that_of_the_line_through_a_window(width):
    x = np.cumsum(np.random.default_rng(0).normal(size=100))
    windows = np.lib.stride_tricks.sliding_window_view(x, width)
    slopes = [np.polyfit(np.arange(width), window, 1)[0] for window in windows]
    features = signal_windows(x[:, None], width=width, level="slope")
    inner = features[width // 2 : width // 2 + len(slopes), 0]
    assert np.corrcoef(inner, slopes)[0, 1] == pytest.approx(1, abs=1e-9)
    assert features[:, 1:] == pytest.approx(signal_windows(x[:, None], width=width)[:, 1:])


def test_a_line_has_one_slope_up_to_both_ends():
    # The slope is left out, as all that never changes; rounding errors are no features. Spread and
    # differences of a line change only where it is mirrored.
    line = signal_windows(np.arange(50.0)[:, None] / 3, width=9, level="slope")
    assert line.shape == (50, 4 - 1)
    assert np.all(np.ptp(line[8:-8], axis=0) == 0)


def test_each_row_sees_its_own_window():
    x = np.zeros(101)
    x[50] = 1.0
    level = signal_windows(x[:, None], width=9)[:, 0]
    assert np.flatnonzero(level > 0).tolist() == list(range(46, 55))


def test_features_of_one_kind_stand_together():
    x = np.random.default_rng(0).normal(size=(200, 2))
    both = signal_windows(x)
    alone = signal_windows(x[:, 1:])
    assert both[:, 1::2] == pytest.approx(alone, abs=1e-5)


def test_scale_and_offset_of_a_column_do_not_matter():
    x = np.random.default_rng(0).normal(size=(200, 2))
    assert signal_windows(x * [1e-6, 1e6] + [1e3, 0]) == pytest.approx(signal_windows(x), abs=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16, 17])
def test_short_signals_have_windows_too(n):
    x = np.random.default_rng(0).normal(size=(n, 2))
    features = signal_windows(x, width=16)
    assert len(features) == n
    assert np.isfinite(features).all()


def test_equal_rows_and_stretches_of_zeros_are_finite():
    assert not signal_windows(np.ones((50, 2))).any()
    x = np.zeros((400, 1))
    x[200:, 0] = np.random.default_rng(0).normal(size=200)
    features = signal_windows(x)
    assert np.isfinite(features).all()
    # Log spread of nothing and of noise: two clear levels.
    assert features[20:180, 1].max() < features[220:380, 1].min()


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="9 columns"):
        signal_windows(np.zeros((50, 9)))
    with pytest.raises(ValueError, match="level='median'"):
        signal_windows(np.zeros((50, 1)), level="median")
    with pytest.raises(ValueError, match="width=2"):
        signal_windows(np.zeros((50, 1)), width=2)
