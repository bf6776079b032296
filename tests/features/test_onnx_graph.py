from __future__ import annotations

import numpy as np
import pytest

from dayline.features.onnx_graph import fold_batch_norm

PARTS = {"scale": [2.0, 3.0], "shift": [0.5, -1.0], "mean": [4.0, 5.0], "variance": [0.25, 4.0]}


def folded(**changes):
    parts = {
        name: np.asarray(values, dtype=np.float32) for name, values in (PARTS | changes).items()
    }
    return fold_batch_norm(np.ones((2, 1, 1, 1), dtype=np.float32), epsilon=0.0, **parts)


def test_a_folded_convolution_scales_and_shifts_as_the_normalisation_did():
    weight, bias = folded()
    np.testing.assert_allclose(weight.ravel(), [2 / 0.5, 3 / 2])
    np.testing.assert_allclose(bias, [0.5 - 4 * 4.0, -1 - 5 * 1.5])


@pytest.mark.parametrize(
    "change",
    [{"scale": [np.inf, 1]}, {"variance": [-1, 1]}, {"variance": [1e-30, 1], "scale": [1e38, 1]}],
)
def test_weights_beyond_all_numbers_are_refused(change):
    with pytest.raises(ValueError, match="contains weights that are not finite or too large"):
        folded(**change)
