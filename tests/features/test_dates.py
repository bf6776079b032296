from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from dayline.features.csv_files import parse_date
from dayline.features.tables import read_features

NOON = 1_715_515_200.0  # 2024-05-12 12:00, as if in UTC


def write_csv(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["time", "Timestamp", "date", "DateTime", "", "Unnamed: 0"])
@pytest.mark.parametrize(
    "dates", [("2024-05-12T12:00:00", "2024-05-12T12:00:30.5"), ("2024-05-12 12:00", "2024-05-13")]
)
def test_a_column_of_dates_in_a_csv_file_gives_times_and_their_clock(tmp_path, name, dates):
    table = read_features(write_csv(tmp_path, f"{name},a,b\n{dates[0]},1,2\n{dates[1]},3,5\n"))
    assert table.features.tolist() == [[1, 2], [3, 5]]
    assert table.times.tolist() == [NOON, NOON + (30.5 if "T" in dates[0] else 12 * 3600)]
    assert table.clock == "wall"


def test_numbers_are_seconds_as_ever(tmp_path):
    table = read_features(write_csv(tmp_path, "time,date,a\n1,20240512,5\n2,20240513,7\n"))
    assert (table.times.tolist(), table.clock) == ([1, 2], None)
    assert table.features.tolist() == [[20240512, 5], [20240513, 7]]


def test_dates_with_a_time_zone_are_on_the_clock_of_the_first(tmp_path):
    # Summer time ends between the second and the third: the clock shows 02:30 twice, an hour apart.
    rows = [
        "2024-10-27T01:30:00+02:00,1",
        "2024-10-27T02:30:00+02:00,2",
        "2024-10-27T02:30:00+01:00,3",
    ]
    table = read_features(write_csv(tmp_path, "time,a\n" + "\n".join(rows) + "\n"))
    assert np.diff(table.times).tolist() == [3600, 3600]
    assert datetime.fromtimestamp(table.times[0], UTC).hour == 1
    assert (
        read_features(
            write_csv(tmp_path, "time,a\n2024-05-12T12:00Z,1\n2024-05-12T12:00Z,2\n")
        ).times[0]
        == NOON
    )


def test_dates_below_a_header_in_a_comment_and_beside_an_index(tmp_path):
    table = read_features(write_csv(tmp_path, "# time,a\n2024-05-12T12:00,1\n2024-05-12T12:01,2\n"))
    assert table.times.tolist() == [NOON, NOON + 60]
    with pytest.warns(UserWarning, match="dropped the first column"):
        table = read_features(
            write_csv(tmp_path, ",time,a\n0,2024-05-12T12:00,5\n1,2024-05-12T12:01,7\n")
        )
    assert (table.features.tolist(), table.times.tolist()) == ([[5], [7]], [NOON, NOON + 60])


def test_dates_a_second_apart_are_no_counter_of_rows(tmp_path):
    table = read_features(write_csv(tmp_path, ",a\n2024-05-12T12:00:00,5\n2024-05-12T12:00:01,7\n"))
    assert table.times.tolist() == [NOON, NOON + 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2024-05-12T12:00,1\n", "column 0 has dates; name it time"),
        ("when,a\n2024-05-12T12:00,1\n", "column 0 has dates; name it time"),
        (
            "time,date,a\n2024-05-12T12:00,2024-05-12,1\n",
            "columns 0 and 1 both have dates; keep one",
        ),
        (
            "time,a\n2024-05-12T12:00,1\nyesterday,2\n",
            "frame 1 is 'yesterday', not a date such as 2024-05-12T16:51:00",
        ),
        (
            "time,a\n2024-05-12T12:00,1\n2024-02-30,2\n",
            "frame 1 is '2024-02-30', not a date",
        ),
        ("time,a\n2024-05-12T12:00,1\n17,2\n", "frame 1 is '17', not a date"),
        (
            "time,a\n2024-05-12T12:00,1\n2024-05-12T12:01Z,2\n",
            "frame 0 has a date without a time zone, others have",
        ),
        ("time,a\n2024-05-12T12:00,1\n,2\n", "frame 1 has no time; provide all times or none"),
        ("time\n2024-05-12T12:00\n2024-05-12T12:01\n", "has dates but no features"),
        ("seconds,date,a\n4,2024-05-12T12:00,1\n", "has times in 'seconds' and 'date'; keep one"),
    ],
)
def test_dates_that_cannot_be_used_are_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=r"x\.csv: ") as raised:
        read_features(write_csv(tmp_path, text))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


BERLIN = timezone(timedelta(hours=2))
MOMENTS = [datetime(2024, 5, 12, 12), datetime(2024, 5, 12, 12, 1)]


def write_parquet(tmp_path, **columns):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet, table

    parquet.write_table(
        table({"a": [1.0, 3.0], "b": [2.0, 5.0], **columns}), tmp_path / "x.parquet"
    )
    return tmp_path / "x.parquet"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_in_parquet_give_times(tmp_path, unit):
    pyarrow = pytest.importorskip("pyarrow")
    path = write_parquet(tmp_path, Time=pyarrow.array(MOMENTS, pyarrow.timestamp(unit)))
    table = read_features(path)
    assert (table.times.tolist(), table.clock) == ([NOON, NOON + 60], "wall")
    assert table.features.tolist() == [[1, 2], [3, 5]]


@pytest.mark.parametrize("zone", ["+02:00", "Europe/Berlin"])
def test_a_time_zone_in_parquet_gives_its_clock(tmp_path, zone):
    pyarrow = pytest.importorskip("pyarrow")
    moments = [moment.replace(tzinfo=BERLIN) for moment in MOMENTS]
    path = write_parquet(tmp_path, time=pyarrow.array(moments, pyarrow.timestamp("us", zone)))
    assert read_features(path).times.tolist() == [NOON, NOON + 60]


def test_days_and_texts_in_parquet_give_times(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    days = [date(2024, 5, 12), date(2024, 5, 13)]
    for kind in (pyarrow.date32(), pyarrow.date64()):
        path = write_parquet(tmp_path, date=pyarrow.array(days, kind))
        assert read_features(path).times.tolist() == [NOON - 43_200, NOON + 43_200]
    path = write_parquet(tmp_path, datetime=["2024-05-12T12:00:00", "2024-05-12 12:01"])
    assert read_features(path).times.tolist() == [NOON, NOON + 60]


def test_pandas_with_an_index_of_dates(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1.0, 3.0], "b": [2.0, 5.0]}, index=pandas.DatetimeIndex(MOMENTS)
    )
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv")
    for name in ("x.parquet", "x.csv"):
        table = read_features(tmp_path / name)
        assert (table.times.tolist(), table.features.tolist()) == (
            [NOON, NOON + 60],
            [[1, 2], [3, 5]],
        )
    # Times with a name of their own count more than an index.
    frame.assign(time=[4.0, 8.0]).to_parquet(tmp_path / "y.parquet")
    with pytest.warns(UserWarning, match="dropped '__index_level_0__'"):
        table = read_features(tmp_path / "y.parquet")
    assert (table.times.tolist(), table.clock) == ([4, 8], None)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"when": MOMENTS},
            (
                r"column 'when' has type timestamp\[us\]; it must contain real numbers; name it"
                r" time if"
            ),
        ),
        ({"time": ["2024-05-12", "noon"]}, "column 'time': frame 1 is 'noon', not a date such as"),
        ({"time": MOMENTS, "date": MOMENTS}, "has times in 'time' and 'date'; keep one"),
        ({"time": [MOMENTS[0], None]}, "frame 1 has no time"),
    ],
)
def test_dates_in_parquet_that_cannot_be_used_are_named(tmp_path, columns, message):
    with pytest.raises(ValueError, match=rf"x\.parquet: .*{message}"):
        read_features(write_parquet(tmp_path, **columns))


@pytest.mark.parametrize("zone", ["Mars/X", "../../etc/passwd", "/etc/passwd"])
def test_a_time_zone_that_is_not_known_is_named(tmp_path, zone):
    pyarrow = pytest.importorskip("pyarrow")
    moments = pyarrow.array([1, 2], pyarrow.int64()).cast(pyarrow.timestamp("s", zone))
    with pytest.raises(
        ValueError, match=rf"x\.parquet: column 'time': unknown time zone '{zone}'; pip install"
    ):
        read_features(write_parquet(tmp_path, time=moments))


@pytest.mark.parametrize(
    "text", ["2024", "20240512", "2024-W20-1", "12/05/2024", "16:51:00", "", "2024-13-01", "x"]
)
def test_only_whole_iso_dates_are_dates(text):
    assert parse_date(text) is None


def test_a_file_of_dates_is_segmented_with_its_dates(tmp_path):
    from cli.run_command import run

    rows = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(
        scale=0.1, size=(60, 3)
    )
    days = (np.datetime64("1950-01-01") + 30 * np.arange(60)).astype(str)
    text = "date,a,b,c\n" + "\n".join(
        f"{day},{','.join(map(str, row))}" for day, row in zip(days, rows, strict=True)
    )
    done = run("segment", write_csv(tmp_path, text), "-o", tmp_path / "out", "--method", "fast")
    assert done.returncode == 0, done.stderr
    from dayline import read_events

    found = read_events(tmp_path / "out" / "events.json")
    assert (found.clock, found.boundaries) == ("wall", (20, 40))
    assert found.to_dicts()[1]["started"] == datetime.fromisoformat(days[20])
