from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dayline.method.denoise import (
    ScaledRows,
    authors_nonlocal_means,
    comparable_columns,
    fit_single_precision,
    nonlocal_means,
    scale_to_range,
    spread_few_directions,
    standardize,
    standardized_rows,
)

sequences = arrays(
    np.float64,
    st.tuples(st.integers(1, 14), st.integers(1, 4)),
    elements=st.floats(-5, 5, width=16),
)
TEXT = {"search_radius": 3, "patch_radius": 1, "bandwidth": 0.25}
LIGHT = {
    "search_radius": 4,
    "patch_radius": 1,
    "bandwidth": "median",
    "kernel": "gaussian",
    "decay": 0.25,
}


def mirrored(i, n):
    while not 0 <= i < n:
        i = -i if i < 0 else 2 * (n - 1) - i
    return i


def slow_denoising(
    x, *, search_radius, patch_radius, bandwidth, power=1, decay=1.0, include_self=False
):
    """Eq. 1 and 2, term by term, other kernels, less weight far away, the frame itself."""
    n = len(x)
    sides = [m for m in range(-patch_radius, patch_radius + 1) if m]
    distances = {
        (k, j): np.mean(
            [np.abs(x[mirrored(k + m, n)] - x[mirrored(j + m, n)]).mean() for m in sides]
        )
        for k in range(n)
        for j in range(max(0, k - search_radius), min(n, k + search_radius + 1))
        if j != k
    }
    h = np.median(list(distances.values())) if bandwidth == "median" else bandwidth
    out = np.zeros_like(x)
    for k in range(n):
        weights = {
            j: np.exp(-((d / h) ** power)) * decay ** abs(k - j)
            for (i, j), d in distances.items()
            if i == k
        }
        if include_self:
            weights[k] = 1.0
        out[k] = sum(w * x[j] for j, w in weights.items()) / sum(weights.values())
    return out


@pytest.mark.parametrize("patch_radius", [1, 2])
def test_text_denoising_agrees_with_a_slow_twin(xp, assert_close, random, patch_radius):
    x = random.normal(size=(17, 3))
    expected = slow_denoising(x, search_radius=3, patch_radius=patch_radius, bandwidth=0.25)
    actual = nonlocal_means(
        xp.asarray(x), search_radius=3, patch_radius=patch_radius, bandwidth=0.25
    )
    assert_close(actual, expected)


@pytest.mark.parametrize("n", [2, 3, 5, 17])
def test_light_denoising_agrees_with_a_slow_twin(xp, assert_close, random, n):
    x = random.normal(size=(n, 3))
    expected = slow_denoising(
        x,
        search_radius=4,
        patch_radius=1,
        bandwidth="median",
        power=2,
        decay=0.25,
        include_self=True,
    )
    assert_close(nonlocal_means(xp.asarray(x), include_self=True, **LIGHT), expected)


@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_frames_unlike_all_others_stay_as_they_are(xp, assert_close, kernel):
    """Every weight underflows."""
    x = xp.asarray([[0.0], [1e6], [5e6], [5e9], [1e200]], dtype=xp.float64)
    assert_close(
        nonlocal_means(x, search_radius=2, patch_radius=1, bandwidth=1.0, kernel=kernel), x
    )


def test_one_frame_and_equal_frames_stay_as_they_are():
    for x in (np.asarray([[3.0, 4.0]]), np.full((6, 2), 3.0)):
        for settings_ in (TEXT, LIGHT):
            np.testing.assert_array_equal(nonlocal_means(x, **settings_), x)


def test_what_single_precision_cannot_hold_is_scaled_and_the_rest_left():
    """Columns: one that fits, small variation on a large offset, a huge and a tiny one."""
    ramp = np.asarray([0.0, 0.25, 1.0])
    x = np.column_stack(
        [5 + ramp, 1e4 + 9 * ramp, 3e30 * (ramp - 0.5), 1e-31 * ramp, 1e4 + 11 * ramp]
    )
    scaled = fit_single_precision(x, by_column=True)
    np.testing.assert_array_equal(scaled[:, [0, 4]], x[:, [0, 4]])
    np.testing.assert_allclose(scaled[:, 1:4], np.column_stack([2 * ramp - 1] * 3), atol=1e-9)
    whole = fit_single_precision(1e4 + 9 * x[:, :1], by_column=False)
    np.testing.assert_allclose(whole[:, 0], 2 * ramp - 1, atol=1e-9)
    held = np.column_stack([1e4 + 9 * ramp, ramp])
    np.testing.assert_array_equal(fit_single_precision(held, by_column=False), held)


@given(x=sequences)
@settings(max_examples=40)
def test_denoising_commutes_with_time_reversal(x):
    for denoised in (
        lambda x: nonlocal_means(x, **TEXT),
        lambda x: nonlocal_means(x, **LIGHT),
        lambda x: authors_nonlocal_means(x, **TEXT),
    ):
        np.testing.assert_allclose(denoised(x[::-1]), denoised(x)[::-1], atol=1e-9)


def test_radius_zero_is_exactly_the_identity(random):
    x = random.normal(size=(9, 2))
    assert np.array_equal(nonlocal_means(x, search_radius=0, patch_radius=1, bandwidth=0.25), x)


def test_input_is_untouched(random):
    x = random.normal(size=(9, 2))
    x.setflags(write=False)
    for denoised in (
        nonlocal_means(x, **TEXT),
        nonlocal_means(x, **LIGHT),
        authors_nonlocal_means(x, **TEXT),
    ):
        assert denoised.shape == x.shape


def test_scaling_to_range(xp, assert_close):
    x = xp.asarray([[0.0, 5.0, 7.0], [2.0, 5.0, 10.0]])
    assert_close(scale_to_range(x), [[-1.0, 0.0, 0.4], [-0.6, 0.0, 1.0]], atol=1e-6)
    assert_close(scale_to_range(x, by_column=True), [[-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]])


def test_standardizing_drops_constant_columns(xp, assert_close):
    x = standardize(
        xp.asarray([[1.0, 0.1, 3e150], [4.0, 0.1, 1e150], [1.0, 0.1, 1e150]], dtype=xp.float64)
    )
    assert x.shape == (3, 2)
    assert_close(x[:, 0], [-np.sqrt(0.5), np.sqrt(2), -np.sqrt(0.5)])
    assert_close(x[:, 1], [np.sqrt(2), -np.sqrt(0.5), -np.sqrt(0.5)])


def test_standardizing_a_constant_sequence_gives_zeros():
    assert np.array_equal(standardize(np.full((4, 3), 0.1)), np.zeros((4, 1)))


@pytest.mark.parametrize("entries", [1, 12, 60, 400])
def test_blocks_of_rows_give_the_same_as_the_whole(xp, assert_close, random, monkeypatch, entries):
    x = xp.asarray(random.normal(size=(70, 4)))
    done = {
        "standardized": standardize,
        "scaled": scale_to_range,
        "text": lambda x: nonlocal_means(x, **TEXT),
        "light": lambda x: nonlocal_means(x, include_self=True, **LIGHT),
        "wide patches": lambda x: nonlocal_means(
            x, search_radius=9, patch_radius=30, bandwidth=1.0
        ),
        "authors": lambda x: authors_nonlocal_means(x, **TEXT),
    }
    whole = {name: function(x) for name, function in done.items()}
    monkeypatch.setattr("dayline.arrays.HOST_BLOCK", entries)
    for name, function in done.items():
        assert_close(function(x), whole[name])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_on_demand_are_those_of_the_whole(random, monkeypatch, dtype):
    x = np.column_stack([random.normal(size=(50, 9)), np.full(50, 3.0)]).astype(dtype)
    held = standardized_rows(x)
    assert held.dtype == np.float64
    np.testing.assert_allclose(held, standardize(x), atol=1e-6 if dtype == "float32" else 1e-14)
    monkeypatch.setattr("dayline.method.denoise.MOST_HELD", 49)
    rows = standardized_rows(x)
    assert isinstance(rows, ScaledRows)
    assert (len(rows), rows.shape) == (50, held.shape)
    np.testing.assert_array_equal(rows[:], held)
    np.testing.assert_array_equal(rows[7:31], held[7:31])
    np.testing.assert_array_equal(rows[np.asarray([3, 40])], held[[3, 40]])
    assert spread_few_directions(rows) is rows


@pytest.mark.parametrize("n_columns", [2, 9])
def test_few_directions_of_rows_on_demand_are_spread_as_those_of_the_whole(
    random, monkeypatch, n_columns
):
    x = random.normal(size=(700, 2)) @ random.normal(size=(2, n_columns))
    held = spread_few_directions(standardized_rows(x))
    assert held.shape == (700, 32)
    monkeypatch.setattr("dayline.method.denoise.MOST_HELD", 49)
    np.testing.assert_array_equal(spread_few_directions(standardized_rows(x)), held)
    np.testing.assert_allclose(comparable_columns(x), held, atol=1e-9)


def test_denoising_needs_little_memory_beyond_its_result(random):
    x = random.normal(size=(6000, 256)).astype(np.float32)
    tracemalloc.start()
    try:
        denoised = nonlocal_means(standardize(x), include_self=True, **LIGHT)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert denoised.dtype == np.float32
    assert peak < 2.5 * x.nbytes  # the standardized features, the result, and some blocks


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_a_bandwidth_beyond_the_precision_averages_all_or_nothing(random, dtype, kernel):
    x = random.normal(size=(20, 3)).astype(dtype)
    radii = {"search_radius": 40, "patch_radius": 1, "kernel": kernel, "include_self": True}
    np.testing.assert_array_equal(nonlocal_means(x, bandwidth=1e-99, **radii), x)
    every = np.broadcast_to(x.mean(axis=0), x.shape)
    np.testing.assert_allclose(nonlocal_means(x, bandwidth=1e300, **radii), every, atol=1e-6)


def test_columns_that_follow_a_few_factors_are_compared_as_those_factors(random):
    factors, gains = random.normal(size=(700, 2)), random.normal(size=(2, 9))
    x = factors @ gains + 1e-3 * random.normal(size=(700, 9))
    assert comparable_columns(x).shape == (700, 32)
    assert comparable_columns(x[:63]).shape == (63, 9)
    # A few per cent of the variance in other directions are too much.
    assert comparable_columns(x + 0.3 * random.normal(size=(700, 9))).shape == (700, 9)
    assert comparable_columns(np.ones((5, 9))).shape[0] == 5
