from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

from dayline.checks import (
    check_between,
    check_choice,
    check_features,
    check_matrix,
    looks_transposed,
    missing_rows,
)
from dayline.checks import check_times as checked_times


def check_times(times, n_frames):
    return checked_times(times, n_frames).seconds


def test_frames_with_nan_or_infinity_are_named():
    x = np.ones((50, 2))
    x[[12, 13, 40], 0] = np.nan, np.inf, -np.inf
    with pytest.raises(ValueError, match=r"^frames 12, 13 and 40 hold NaN or infinity; drop them"):
        check_features(x)
    x[1:, 0] = np.nan
    with pytest.raises(ValueError, match=r"^frames 1, 2, 3, 4, 5 and 44 more hold"):
        check_features(x)
    with pytest.raises(ValueError, match=r"^frame 7 holds NaN or infinity; drop it or"):
        check_features(np.where(np.arange(50)[:, None] == 7, np.nan, 1.0) * np.ones((50, 2)))
    x[:, 0] = np.nan
    for missing in ("raise", "interpolate"):
        with pytest.raises(ValueError, match="column 0 contains no finite values"):
            check_features(x, missing=missing)


def test_nothing_but_missing_values_is_one_line():
    for missing in ("raise", "interpolate"):
        with pytest.raises(ValueError, match=r"^features contain no finite values; pass rows that"):
            check_features(np.full((4, 2), np.nan), missing=missing)


def test_a_row_is_missing_if_it_has_less_than_half_of_the_usual_values():
    x = np.ones((12, 5))
    x[1], x[2, :3], x[3, :2], x[4, 0] = np.nan, np.inf, np.nan, np.nan
    assert np.flatnonzero(missing_rows(x)).tolist() == [1, 2]
    assert missing_rows(np.asarray([[1.0], [np.nan], [2.0]])).tolist() == [False, True, False]
    assert missing_rows(np.arange(6).reshape(3, 2)).tolist() == [False] * 3


def test_columns_that_are_measured_less_often_make_no_row_missing():
    """One sensor has a value in every row, eight others in every tenth."""
    x = np.full((100, 9), np.nan)
    x[:, 0] = x[::10, 1:] = 1.0
    assert not missing_rows(x).any()
    x[40:45] = np.nan
    assert np.flatnonzero(missing_rows(x)).tolist() == [40, 41, 42, 43, 44]


def test_interpolation_fills_gaps_and_extends_ends():
    x = np.asarray([[np.nan, 1.0], [2.0, 1.0], [np.inf, 1.0], [np.nan, 3.0], [8.0, np.nan]])
    assert check_features(x, missing="interpolate").tolist() == [
        [2, 1],
        [2, 1],
        [4, 1],
        [6, 3],
        [8, 3],
    ]
    assert np.isnan(x[0, 0])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones(5), r"shape \(5,\); pass a matrix"),
        (np.ones((0, 5)), r"shape \(0, 5\); .*at least one"),
        (np.ones((5, 0)), r"shape \(5, 0\); pass a matrix"),
        (np.asarray([[1, "a"]], dtype=object), "type object; pass real numbers"),
        (np.asarray([["a", "b"]]), "type <U1; pass real numbers"),
        (np.ones((2, 2)) * 1j, "type complex128; pass real numbers"),
        ([[1e300, 0.0], [0.0, 0.0]], "frame 0 contains a value above"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(x, message):
    with pytest.raises(ValueError, match=message):
        check_features(x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, np.float32, bool])
def test_any_real_numbers_become_float64(dtype):
    x = np.asarray([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    features = check_features(np.asfortranarray(x))
    assert features.dtype == np.float64
    assert features.flags.c_contiguous
    assert features.tolist() == x.astype(float).tolist()


def test_a_walk_lying_on_its_side_is_noticed(random):
    walk = np.cumsum(random.normal(size=(400, 30)), axis=0)
    assert looks_transposed(walk.T)
    assert not looks_transposed(walk)
    assert not looks_transposed(random.normal(size=(30, 400)))
    with pytest.warns(UserWarning, match="30 rows and 400 columns look transposed: consecutive"):
        check_features(walk.T)


def test_motion_features_on_their_side_are_noticed(shared):
    from scipy.io import loadmat

    for path in sorted((shared / "motion" / "Keck_feature").glob("*.mat")):
        features = loadmat(path)["keck_feature"].astype(float)
        assert looks_transposed(features)
        assert not looks_transposed(features.T)


def test_numbers_and_words_out_of_range_say_what_is_allowed():
    with pytest.raises(
        ValueError, match=r"^eta=2; it must be a number of at least 0 and at most 1$"
    ):
        check_between("eta", 2, 0, 1)
    with pytest.raises(ValueError, match=r"^h=0; it must be a number above 0$"):
        check_between("h", 0, 0, above=True)
    with pytest.raises(ValueError, match="whole number"):
        check_between("p", 2.5, 1, whole=True)
    with pytest.raises(ValueError, match="whole number"):
        check_between("p", True, 1, whole=True)
    with pytest.raises(ValueError, match="start='middle' is not known; use one of \"pca\""):
        check_choice("start", "middle", ("pca", "columns"))
    check_between("p", np.int64(3), 1, whole=True)


def test_a_whole_number_may_be_as_large_as_it_likes():
    check_between("n_events", 10**400, 1, whole=True)
    with pytest.raises(ValueError, match="n_events=inf"):
        check_between("n_events", np.inf, 1)


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


TEN = 1577872800.0  # 2020-01-01 10:00
MINUTES = 60.0 * np.arange(3)
DATES = np.datetime64("2020-01-01T10:00", "m") + np.arange(3)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (objects(0, 1.5, Decimal("2.5")), [0.0, 1.5, 2.5]),
        (objects(*(timedelta(minutes=k) for k in range(3))), MINUTES),
        (objects(*(np.timedelta64(k, "m") for k in range(3))), MINUTES),
        ([datetime(2020, 1, 1, 10, k) for k in range(3)], TEN + MINUTES),
        ([date(2020, 1, k) for k in (1, 2, 3)], TEN - 36_000 + 86_400 * np.arange(3)),
        (np.ma.masked_array([0, 1, 2]), [0, 1, 2]),
        (np.datetime64("2500-01-01") + np.arange(3), 16725225600 + 86_400 * np.arange(3)),
        *((DATES.astype(f"M8[{unit}]"), TEN + MINUTES) for unit in ("ns", "ms", "s", "m")),
        *(((DATES - DATES[0]).astype(f"m8[{unit}]"), MINUTES) for unit in ("ns", "s", "m")),
    ],
)
def test_objects_are_read_for_what_they_are(times, expected):
    np.testing.assert_allclose(check_times(times, 3), expected)


def test_times_of_pandas_are_read_for_what_they_are():
    pandas = pytest.importorskip("pandas")
    # The clocks of Madrid go forward at 2 in the morning of that day; the hours still follow each
    # other.
    madrid = pandas.date_range("2020-03-29 00:00", periods=4, freq="h", tz="Europe/Madrid")
    utc = 1585436400.0 + 3600 * np.arange(4)
    for times in (
        madrid,
        pandas.Series(madrid),
        list(madrid),
        madrid.tz_convert("UTC").tz_localize(None),
    ):
        np.testing.assert_allclose(check_times(times, 4), utc)
    months = pandas.period_range("2020-01", periods=3, freq="M")
    np.testing.assert_allclose(check_times(months, 3), [1577836800, 1580515200, 1583020800])
    np.testing.assert_allclose(check_times(pandas.array([1, 2, 4], dtype="Int64"), 3), [1, 2, 4])
    for gap in (
        pandas.array([1, None, 4], dtype="Int64"),
        pandas.PeriodIndex(["2020-01", "NaT", "2020-03"], freq="M"),
    ):
        with pytest.raises(ValueError, match="frame 1 has no time"):
            check_times(gap, 3)


@pytest.mark.parametrize("n", [60, 240, 5000])
def test_single_precision_is_too_coarse_for_seconds_since_1970(n):
    times = (1.7e9 + np.arange(n)).astype("f4")
    message = (
        r"^times of type float32 are too coarse: near 1.7e\+09 s they are multiples of 128 s; pass"
        r" float64$"
    )
    with pytest.raises(ValueError, match=message):
        check_times(times, n)
    with pytest.raises(ValueError, match=message):
        check_times(list(times), n)


@pytest.mark.parametrize(
    "times",
    [
        np.arange(240, dtype="f4") * 30,
        np.arange(250_000, dtype="f4") / 25,
        np.repeat(np.arange(10, dtype="f4"), 25),
        np.arange(100, dtype="f2"),
        np.zeros(5, dtype="f4"),
        (1.7e9 + 3600 * np.arange(48)).astype("f4"),
        np.array([1.7e9], dtype="f4"),
    ],
    ids=["photos", "film", "rounded", "half precision", "equal", "hours", "one"],
)
def test_single_precision_is_enough_for_other_times(times):
    np.testing.assert_array_equal(check_times(times, len(times)), times.astype("f8"))


def test_dates_with_a_time_zone_are_taken_to_utc_and_not_mixed_with_others():
    east, west = timezone(timedelta(hours=2)), timezone(timedelta(hours=-3))
    aware = [datetime(2020, 1, 1, 12, tzinfo=east), datetime(2020, 1, 1, 8, tzinfo=west)]
    np.testing.assert_allclose(check_times(aware, 2), [1577872800.0, 1577872800.0 + 3600])
    with pytest.raises(ValueError, match=r"^times mix dates and dates with a time zone"):
        check_times([datetime(2020, 1, 1), aware[1]], 2)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (objects("2020", "2021", "2022"), "pass seconds"),
        (["1", "2", "3"], "pass seconds"),
        ([True, False, True], "pass seconds"),
        ([1j, 2, 3], "pass seconds"),
        ([[1], [2, 3], [4]], "pass seconds"),
        (objects(0, datetime(2020, 1, 1), 2), "mix dates and numbers; pass seconds"),
        ([object()] * 3, "pass seconds"),
        (np.arange(3).astype("m8"), "pass seconds, or dates as datetime64"),
        ([10**400, 1, 2], "pass seconds"),
        ({0: 1}, "pass seconds"),
        (3, "pass one time per frame"),
        ([1.58e18, 1.59e18, 1.6e18], r"frames 0, 1 and 2: 1.58e\+18 seconds is not a valid time"),
        (np.asarray(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[s]"), "frame 1 has no time"),
        *(
            (np.ma.masked_array(values, mask=[False, True, False]), "frame 1 has no time")
            for values in (np.arange(3.0), np.arange(3), DATES, objects(0, 1, 2))
        ),
    ],
)
def test_what_is_no_time_is_refused_in_one_line(times, message):
    with pytest.raises(ValueError, match=message) as error:
        check_times(times, 3)
    assert "\n" not in str(error.value)


def test_later_times_are_of_the_same_kind():
    days = np.datetime64("2024-01-01") + np.arange(2)
    aware = [datetime(2024, 1, k, tzinfo=UTC) for k in (3, 4)]
    for first, later, message in (
        (days, [1.8e9, 1.9e9], "^times mix dates and numbers; pass seconds"),
        (days, aware, "^times mix dates and dates with a time zone"),
        ([0, 1], [1.8e9, 1.9e9], "^times mix seconds with and without a date"),
        ([0, 5], [4, 6], "^time goes backwards at frame 2"),
    ):
        with pytest.raises(ValueError, match=message):
            checked_times(first, 2).followed_by(checked_times(later, 2))
    both = checked_times(aware[:1], 1).followed_by(checked_times(aware[1:], 1))
    np.testing.assert_array_equal(both.seconds, checked_times(aware, 2).seconds)
    assert both.clock == "wall"


def test_masked_features_are_missing():
    x = np.ma.masked_array([[1, 10], [2, -999], [3, 30]], mask=[[0, 0], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match="frame 1 holds NaN"):
        check_features(x)
    assert check_features(x, missing="interpolate").tolist() == [[1, 10], [2, 20], [3, 30]]
    assert check_features(x[:1]).tolist() == [[1, 10]]
    assert x.data[1, 1] == -999


@pytest.mark.parametrize(
    "value",
    [10**5000, np.zeros((40, 40)), "x" * 500, object()],
    ids=["int", "array", "str", "object"],
)
def test_any_value_is_shown_in_one_short_line(value):
    with pytest.raises(
        ValueError, match=r"^p=[^\n]{1,60}; it must be a whole number of at least 1 and at most 9$"
    ):
        check_between("p", value, 1, 9, whole=True)


def test_a_few_sensors_in_rows_look_transposed_and_a_few_frames_do_not(random):
    walks = np.cumsum(random.normal(size=(5, 600)), axis=1)
    assert looks_transposed(walks)
    assert not looks_transposed(walks[:, :100])
    assert not looks_transposed(walks[:1])
    assert not looks_transposed(random.normal(size=(8, 2048)))


@pytest.mark.parametrize("as_type", ["bool", "uint8", "int64"])
def test_integers_of_a_matrix_become_floating_point_numbers(xp, as_type):
    x = check_matrix("x", xp.asarray(np.eye(3).astype(as_type)))
    assert str(x.dtype).endswith("float64")


def test_a_matrix_has_finite_real_numbers():
    x = np.full((4, 2), 1e308)
    assert check_matrix("x", x) is x  # the sum is infinite, no value is
    x[2, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"^x: frame 2 holds NaN or infinity; drop or replace such values$"
    ):
        check_matrix("x", x)
    with pytest.raises(TypeError, match="values of type complex128; pass real numbers"):
        check_matrix("x", x.astype(complex))


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "int32"])
def test_tensors_of_any_kind_are_features(kind):
    torch = pytest.importorskip("torch")
    x = torch.ones((5, 2)).to(getattr(torch, kind))
    np.testing.assert_array_equal(check_features(x), np.ones((5, 2)))
    np.testing.assert_array_equal(
        check_features(torch.ones((5, 2), requires_grad=True)), np.ones((5, 2))
    )
