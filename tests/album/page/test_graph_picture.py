from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from dayline.album.page.graph_picture import block_means, graph_image, palette


def lightness(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(png)).convert("L"), dtype=float)


def test_block_means_of_blocks_that_do_not_divide_evenly():
    graph = np.arange(25.0).reshape(5, 5)
    # Rows and columns 0-1 and 2-4: the means of 2x2, 2x3, 3x2 and 3x3 blocks.
    np.testing.assert_allclose(block_means(graph, 2), [[3.0, 5.5], [15.5, 18.0]])


def test_stronger_links_are_brighter():
    graph = np.full((90, 90), 0.2)
    graph[:30, :30] = 0.9
    graph[30:60, 30:60] = 0.6
    seen = lightness(graph_image(graph))
    assert seen[10, 20] > seen[40, 50] + 20 > seen[10, 80] + 60


def test_a_large_graph_becomes_a_small_picture():
    random = np.random.default_rng(0).random((1500, 1500), dtype=np.float32)
    png = graph_image(random, size=200)
    assert Image.open(BytesIO(png)).size == (200, 200)
    assert len(png) < 60_000


def test_every_weight_gets_its_own_color_in_a_file_that_pillow_reads():
    weights = np.linspace(0.0, 1.0, 36).reshape(6, 6)
    picture = Image.open(BytesIO(graph_image(weights)))
    picture.verify()
    picture = Image.open(BytesIO(graph_image(weights)))
    assert (picture.format, picture.mode, picture.size) == ("PNG", "P", (6, 6))
    low, high = np.quantile(weights[~np.eye(6, dtype=bool)].astype(np.float32), (0.01, 0.995))
    steps = np.rint(np.clip((weights - low) / (high - low), 0, 1) * 255).astype(int)
    np.testing.assert_array_equal(np.asarray(picture.convert("RGB")), palette()[steps])


def test_equal_weights_give_one_color():
    assert np.ptp(lightness(graph_image(np.full((6, 6), 0.3)))) == 0
    assert lightness(graph_image(np.ones((1, 1)))).shape == (1, 1)


def test_lightness_of_the_colors_grows_all_the_way():
    weights = np.array([0.2126, 0.7152, 0.0722])
    seen = (palette()[::4] / 255.0) ** 2.2 @ weights
    assert (np.diff(seen) > 0).all()
    assert seen[-1] > 0.8 > 0.02 > seen[0]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 4)), r"graph has shape \(3, 4\)"),
        (np.ones((0, 0)), r"graph has shape \(0, 0\)"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), "row 1 of the graph holds NaN"),
    ],
)
def test_what_is_no_graph_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        graph_image(graph)
