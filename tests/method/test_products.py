"""Shortcuts of products and eigenvectors give what the long way gives."""

from __future__ import annotations

import numpy as np

from dayline.arrays import main_axes, to_numpy
from dayline.method.landmarks import LandmarkBasis


def test_main_axes_are_the_last_eigenvectors(xp, random, assert_close):
    rows = random.normal(size=(200, 12)) * np.arange(1, 13)
    covariance = rows.T @ rows
    found = to_numpy(main_axes(xp.asarray(covariance), 3))
    expected = np.linalg.eigh(covariance)[1][:, -3:]
    assert_close(np.abs(np.sum(found * expected, axis=0)), np.ones(3), rtol=1e-9)


def test_landmarks_solve_the_same_once_the_inverse_is_known(random, assert_close):
    centres = random.normal(size=(20, 6))
    basis = LandmarkBasis(centres / np.linalg.norm(centres, axis=1, keepdims=True), 0.5)
    right = random.normal(size=(20, 4))
    before = basis.solve(right)
    assert_close(basis.inverse() @ right, before, rtol=1e-6, atol=1e-9)
    assert_close(basis.solve(right), before, rtol=1e-6, atol=1e-9)
