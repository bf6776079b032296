from __future__ import annotations

import warnings

import numpy as np
import pytest

from dayline import EventSegmenter, score_boundaries
from dayline.method.outliers import draw_in, outlying_frames, warn_of_missing_value_codes
from dayline.research.baselines.novelty import WindowDifferenceSegmenter
from dayline.research.datasets.annotations import find_groups, read_labeled
from dayline.research.datasets.synthetic import make_communities

MADE = make_communities(240, stay=300.0, n_features=10, random_state=4)


def with_outliers(*frames, value=1e6):
    x = MADE.features.copy()
    x[list(frames)] = value
    return x


@pytest.mark.parametrize("frames", [(57,), (3, 239), (100, 101)])
@pytest.mark.parametrize("value", [1e4, 1e6, -1e90])
def test_frames_far_beyond_all_others_are_found(frames, value):
    assert outlying_frames(with_outliers(*frames, value=value)).tolist() == list(frames)


def test_what_is_usual_or_not_rare_is_left_alone(random):
    assert len(outlying_frames(MADE.features)) == 0
    assert len(outlying_frames(random.standard_cauchy((300, 20)))) == 0
    assert len(outlying_frames(with_outliers(*range(20)))) == 0  # an event of its own
    assert len(outlying_frames(np.zeros((50, 3)))) == 0
    assert len(outlying_frames(np.eye(50))) == 0
    assert len(outlying_frames(np.asarray([[1.0], [2.0], [1e9]]))) == 0


def swinging(n_frames, **frames):
    """Frames at distance 1 from the median frame 0, but for those given."""
    x = np.resize([-1.0, 1.0], (n_frames, 1))
    for frame, value in frames.items():
        x[int(frame[1:])] = value
    return x


def test_an_outlier_is_over_50_times_as_far_as_any_other():
    assert outlying_frames(swinging(100, f3=-49.9, f8=49.9)).tolist() == []
    assert outlying_frames(swinging(100, f3=-50.1, f8=50.1)).tolist() == [3, 8]
    assert outlying_frames(swinging(100, f3=-50.1, f8=50.0 * 50.2)).tolist() == [3, 8]
    assert outlying_frames(swinging(100, f3=-40.0, f8=40.0 * 50.1)).tolist() == [8]


def test_at_most_two_in_a_hundred_or_one_are_outliers_and_none_of_fewer_than_eight():
    assert outlying_frames(swinging(100, f3=-1e6, f8=1e6, f41=1e6)).tolist() == []
    assert outlying_frames(swinging(150, f3=-1e6, f8=1e6, f41=1e6)).tolist() == [3, 8, 41]
    assert outlying_frames(swinging(40, f3=-1e6, f8=1e6)).tolist() == []
    assert outlying_frames(swinging(8, f3=1e6)).tolist() == [3]
    assert outlying_frames(swinging(7, f3=1e6)).tolist() == []


def test_the_size_of_a_frame_is_its_root_mean_square_over_columns_that_usually_move():
    """30 and 90 in two columns: 67 on average; in both 30: below 50. The third never moves."""
    x = np.column_stack([swinging(100, f5=30.0), 7 * swinging(100, f5=90.0), swinging(100) * 0])
    x[5, 2] = 1e9
    assert outlying_frames(x).tolist() == [5]
    x[5, 1] = 7 * 30.0
    assert outlying_frames(x).tolist() == []


def test_an_outlier_comes_as_near_as_the_farthest_other_frame_and_keeps_its_direction():
    x = np.asarray([[-2.0], [-1.0], [0.0], [1.0], [3.0], [-1.0], [1.0], [0.0], [1e8]])
    assert draw_in(x, np.asarray([8]))[:, 0].tolist() == pytest.approx(
        [-2, -1, 0, 1, 3, -1, 1, 0, 3]
    )
    assert x[8, 0] == 1e8
    x[8] = 300.0
    shifted = draw_in(x + 70, np.asarray([8]))[:, 0]
    assert shifted.tolist() == pytest.approx([68, 69, 70, 71, 73, 69, 71, 70, 73])


@pytest.mark.parametrize("frame", [0, 57, 120])
def test_one_wild_frame_is_named_and_hides_no_clear_boundary(frame):
    usual = EventSegmenter().fit(MADE.features)
    expected = np.sort(usual.boundaries_[np.argsort(-usual.confidence_)[:10]])
    with pytest.warns(
        UserWarning, match=rf"^frame {frame} is over 50 times as far .*drop or repair it"
    ):
        found = EventSegmenter().fit(with_outliers(frame)).boundaries_
    assert score_boundaries(expected, found, tolerance=1).precision == 1.0
    assert len(found) <= len(usual.boundaries_) + 2


@pytest.mark.parametrize(
    "make", [EventSegmenter.paper, EventSegmenter.authors, WindowDifferenceSegmenter]
)
def test_published_methods_take_the_frame_as_it_is_with_a_warning(make):
    with pytest.warns(UserWarning, match="frame 57 is over 50 times as far .*this may hide all"):
        make().fit(with_outliers(57))


def test_no_recording_of_the_development_sets_has_an_outlier(shared):
    groups = find_groups(shared)
    if not groups:
        pytest.skip("the development sets are not there")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in (path for files in groups.values() for path in files[:3]):
            assert (
                len(outlying_frames(np.asarray(read_labeled(path).features, dtype=np.float64))) == 0
            ), path


@pytest.mark.parametrize("n", [513, 4097, 9000])
def test_outliers_of_a_long_sequence_are_found_and_drawn_in(random, n):
    """The median frame may be that of some frames only."""
    x = random.normal(size=(n, 5))
    frames = np.sort(random.choice(n, n // 100, replace=False))
    x[frames, 2] = 1e6 * random.choice([-1, 1], len(frames))
    assert outlying_frames(x).tolist() == frames.tolist()
    drawn = draw_in(x, frames)
    assert len(outlying_frames(drawn)) == 0
    np.testing.assert_array_equal(np.delete(drawn, frames, axis=0), np.delete(x, frames, axis=0))
    assert np.abs(drawn).max() < 20


def test_a_frame_that_is_alone_in_an_almost_constant_column_of_many_is_no_outlier(random):
    features = random.normal(size=(40, 200))
    features[:, :4] *= 1e-5
    features[17, :4] = 1.0
    assert outlying_frames(features).tolist() == []
    features[17, 4] = 1e9
    assert outlying_frames(features).tolist() == [17]


def test_noise_of_a_millionth_makes_no_outlier_of_a_rare_state(random):
    """Two sensors that are often on, and one that is on in five frames of 400."""
    sensors = np.zeros((400, 3))
    sensors[:, :2] = np.repeat(random.random((40, 2)) < 0.5, 10, axis=0)
    sensors[200:205, 2] = 1.0
    noise = 1e-6 * sensors.std(axis=0) * random.normal(size=sensors.shape)
    assert outlying_frames(sensors).tolist() == outlying_frames(sensors + noise).tolist() == []
    sensors[300, 0] = 1e3
    assert outlying_frames(sensors).tolist() == outlying_frames(sensors + noise).tolist() == [300]


def warned(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_missing_value_codes(x)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("code", [-9999.0, 999.0])
def test_a_number_that_stands_for_missing_values_is_named(code):
    x = MADE.features.copy()
    x[[3, 70, 71, 200], 2] = code
    (message,) = warned(x)
    assert message.startswith(
        f"{code:g} is far from all other values of column 2 and occurs in 4 frames; "
    )
    x[50:80] = code
    assert "column 0 and occurs in 30 frames (and so in 9 other columns); " in warned(x)[0]
    with pytest.warns(UserWarning, match=f"{code:g} is far from all other values"):
        EventSegmenter().fit(x)


def test_single_values_categories_and_clipped_values_are_no_codes(random):
    x = MADE.features.copy()
    x[7, 2] = 1e5
    off = 1.0 + 1e-3 * random.normal(size=(300, 4))
    off[200:] = 0.0
    counts = random.poisson(0.3, size=(300, 5)).astype(float)
    counts[[3, 9]] = 80
    for features in (
        MADE.features,
        x,
        off,
        counts,
        np.clip(random.normal(size=(300, 4)), -1, 1),
        np.zeros((9, 2)),
        np.eye(9),
    ):
        assert warned(features) == []
