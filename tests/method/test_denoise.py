from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dayline.method.denoise import authors_nonlocal_means, nonlocal_means, scale_to_range, standardize

sequences = arrays(np.float64, st.tuples(st.integers(1, 14), st.integers(1, 4)), elements=st.floats(-5, 5, width=16))
TEXT = {"search_radius": 3, "patch_radius": 1, "bandwidth": 0.25}
LIGHT = {"search_radius": 4, "patch_radius": 1, "bandwidth": "median", "kernel": "gaussian", "decay": 0.25}


def mirrored(i, n):
    while not 0 <= i < n:
        i = -i if i < 0 else 2 * (n - 1) - i
    return i


def slow_text_denoising(x, *, search_radius, patch_radius, bandwidth):
    """Eq. 1 and 2, word by word."""
    n = len(x)
    out = np.zeros_like(x)
    for k in range(n):
        weights = {}
        for j in range(max(0, k - search_radius), min(n, k + search_radius + 1)):
            if j != k:
                sides = [m for m in range(-patch_radius, patch_radius + 1) if m]
                distance = np.mean([np.abs(x[mirrored(k + m, n)] - x[mirrored(j + m, n)]).mean() for m in sides])
                weights[j] = np.exp(-distance / bandwidth)
        out[k] = sum(w * x[j] for j, w in weights.items()) / sum(weights.values())
    return out


@pytest.mark.parametrize("patch_radius", [1, 2])
def test_text_denoising_agrees_with_a_slow_twin(xp, assert_close, random, patch_radius):
    x = random.normal(size=(17, 3))
    expected = slow_text_denoising(x, search_radius=3, patch_radius=patch_radius, bandwidth=0.25)
    actual = nonlocal_means(xp.asarray(x), search_radius=3, patch_radius=patch_radius, bandwidth=0.25)
    assert_close(actual, expected)


@pytest.mark.parametrize("settings_", [TEXT, LIGHT])
@given(x=sequences)
@settings(max_examples=40)
def test_denoising_commutes_with_time_reversal(settings_, x):
    np.testing.assert_allclose(nonlocal_means(x[::-1], **settings_), nonlocal_means(x, **settings_)[::-1], atol=1e-9)


@given(x=sequences)
@settings(max_examples=40)
def test_authors_denoising_commutes_with_time_reversal(x):
    np.testing.assert_allclose(
        authors_nonlocal_means(x[::-1], **TEXT), authors_nonlocal_means(x, **TEXT)[::-1], atol=1e-9
    )


def test_radius_zero_is_exactly_the_identity(random):
    x = random.normal(size=(9, 2))
    assert np.array_equal(nonlocal_means(x, search_radius=0, patch_radius=1, bandwidth=0.25), x)


def test_input_is_untouched(random):
    x = random.normal(size=(9, 2))
    x.setflags(write=False)
    for denoised in (nonlocal_means(x, **TEXT), nonlocal_means(x, **LIGHT), authors_nonlocal_means(x, **TEXT)):
        assert denoised.shape == x.shape


def test_scaling_to_range(xp, assert_close):
    x = xp.asarray([[0.0, 5.0, 7.0], [2.0, 5.0, 10.0]])
    assert_close(scale_to_range(x), [[-1.0, 0.0, 0.4], [-0.6, 0.0, 1.0]], atol=1e-6)
    assert_close(scale_to_range(x, by_column=True), [[-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]])


def test_standardizing_drops_constant_columns(xp, assert_close):
    x = standardize(xp.asarray([[1.0, 0.1, 3e150], [4.0, 0.1, 1e150], [1.0, 0.1, 1e150]], dtype=xp.float64))
    assert x.shape == (3, 2)
    assert_close(x[:, 0], [-np.sqrt(0.5), np.sqrt(2), -np.sqrt(0.5)])
    assert_close(x[:, 1], [np.sqrt(2), -np.sqrt(0.5), -np.sqrt(0.5)])


def test_standardizing_a_constant_sequence_gives_zeros():
    assert np.array_equal(standardize(np.full((4, 3), 0.1)), np.zeros((4, 1)))
