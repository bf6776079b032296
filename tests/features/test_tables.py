from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dayline.features.tables import read_features
from dayline.research.datasets.annotations import read_boundaries

X = np.arange(12.0).reshape(6, 2) / 7


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "header.csv", "parquet"])
def test_every_format_gives_the_same_table(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        np.savez(path, features=X, boundaries=[3])
    elif kind == "parquet":
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame(X, columns=["a", "b"]).to_parquet(path)
    else:
        np.savetxt(
            path,
            X,
            delimiter=",",
            header="a,b" if "header" in kind else "",
            comments="",
            fmt="%.17g",
        )
    np.testing.assert_array_equal(read_features(path).features, X)
    assert read_features(path, transpose=True).features.shape == (2, 6)


def test_a_time_column_is_no_feature(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,Time,b\n1,10,2\n3,20,\n")
    table = read_features(path)
    assert table.times.tolist() == [10, 20]
    np.testing.assert_array_equal(table.features, [[1, 2], [3, np.nan]])


def test_times_in_an_npz(tmp_path):
    np.savez(tmp_path / "x.npz", features=X, times=np.arange(6))
    assert read_features(tmp_path / "x.npz").times.tolist() == list(range(6))
    np.savez(tmp_path / "y.npz", features=X, times=np.arange(5))
    with pytest.raises(ValueError, match="5 times for 6 frames"):
        read_features(tmp_path / "y.npz")


def wrong_files(folder):
    (folder / "empty.npy").touch()
    (folder / "text.npy").write_text("hello")
    (folder / "text.npz").write_text("hello")
    (folder / "text.mat").write_text("hello")
    (folder / "text.parquet").write_text("hello")
    (folder / "words.csv").write_text("a,b\n1,x\n")
    (folder / "ragged.csv").write_text("1,2\n3\n")
    (folder / "binary.csv").write_bytes(bytes(range(128, 256)))
    (folder / "header.csv").write_text("a,b\n")
    (folder / "what.xyz").write_text("1")
    np.save(folder / "object.npy", np.asarray([{}, 1], dtype=object), allow_pickle=True)
    np.savez(folder / "object.npz", features=np.asarray([[{}]], dtype=object))
    np.savez(folder / "two.npz", a=X, b=X)
    np.save(folder / "flat.npy", np.arange(5))
    np.savez(folder / "zip.npz", a=X)
    (folder / "zip.npz").rename(folder / "zip.npy")
    np.save(folder / "plain.npy", X)
    (folder / "plain.npy").rename(folder / "plain.npz")
    (folder / "mixed.csv").write_text("1,left,3\n4,5,6\n")
    np.save(folder / "words.npy", np.asarray([["a", "b"]]))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.npy", "no such file"),
        ("empty.npy", "the file is empty"),
        ("text.npy", "(pickle|damaged)"),
        ("text.npz", "(pickle|damaged)"),
        ("text.mat", r"MATLAB files are not read; save the matrix for NumPy: .*savez"),
        ("text.parquet", "not a parquet file"),
        ("words.csv", "not a table of comma-separated numbers"),
        ("ragged.csv", "not a table of comma-separated numbers"),
        ("binary.csv", "not a text file"),
        ("header.csv", "has a header but no rows"),
        ("what.xyz", "feature files end in .npy"),
        ("object.npy", "Python objects .pickle., which could run code"),
        ("object.npz", "'features' has type object; it must contain real numbers"),
        ("two.npz", "contains a, b; specify which array holds the features"),
        ("zip.npy", "damaged, or not a NumPy file"),
        ("plain.npz", "damaged, or not a NumPy file"),
        ("mixed.csv", "neither numbers nor names alone .'left'"),
        ("flat.npy", "pass a matrix with one row per frame"),
        ("words.npy", "they must be real numbers"),
        (".", "is a folder"),
    ],
)
def test_wrong_files_are_named_in_one_line(tmp_path, name, message):
    wrong_files(tmp_path)
    with pytest.raises(ValueError, match=message) as error:
        read_features(tmp_path / name)
    assert str(tmp_path) in str(error.value)


def test_a_key_chooses_among_several(tmp_path):
    np.savez(tmp_path / "two.npz", a=X, b=2 * X)
    np.testing.assert_array_equal(read_features(tmp_path / "two.npz", key="b").features, 2 * X)
    with pytest.raises(ValueError, match="has no array 'c'; it contains a, b"):
        read_features(tmp_path / "two.npz", key="c")


def test_boundaries_from_every_kind_of_file(tmp_path):
    np.savez(tmp_path / "b.npz", features=X, boundaries=[2, 4])
    np.savez(tmp_path / "l.npz", labels=[0, 0, 1, 1, 0, 0])
    np.save(tmp_path / "b.npy", [2, 4])
    (tmp_path / "b.txt").write_text("2\n4\n")
    (tmp_path / "events.csv").write_text("event,start,stop\n0,0,2\n1,2,4\n2,4,6\n")
    for name, n_frames in (
        ("b.npz", 6),
        ("l.npz", 6),
        ("b.npy", None),
        ("b.txt", None),
        ("events.csv", 6),
    ):
        read = read_boundaries(tmp_path / name)
        assert (read.boundaries.tolist(), read.n_frames) == ([2, 4], n_frames), name


def test_a_missing_number_in_the_first_row_is_no_header(tmp_path):
    (tmp_path / "x.csv").write_text("1,NA,3\n4,5,\n")
    np.testing.assert_array_equal(
        read_features(tmp_path / "x.csv").features, [[1, np.nan, 3], [4, 5, np.nan]]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("event,start,stop\n0,0\n", "row 1 has 2 of 3 cells"),
        ("2\nx\n", "must be whole frame numbers"),
        ("2.5\n", "whole frame numbers"),
    ],
)
def test_wrong_boundaries_are_named(tmp_path, text, message):
    (tmp_path / "b.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_boundaries(tmp_path / "b.txt")


def test_a_word_among_numbers_is_named(tmp_path):
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n1,oops\n")
    with pytest.raises(ValueError, match=r"odd.csv: not a table .*: frame 1, column 1 is 'oops'$"):
        read_features(tmp_path / "odd.csv")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,2\n3,4\n\n", [[1, 2], [3, 4]]),
        ('"a","b"\n"1","2"\n"3","4"\n', [[1, 2], [3, 4]]),
        ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
        (",\n1,2\n", [[np.nan, np.nan], [1, 2]]),
    ],
)
def test_empty_lines_quotes_and_empty_cells_of_a_csv(tmp_path, text, rows):
    (tmp_path / "x.csv").write_text(text, newline="")
    np.testing.assert_array_equal(read_features(tmp_path / "x.csv").features, rows)


@pytest.mark.parametrize("line", ["#5,6", "3,4#x"])
def test_no_row_of_a_csv_is_a_comment(tmp_path, line):
    (tmp_path / "x.csv").write_text(f"a,b\n1,2\n{line}\n7,8\n")
    with pytest.raises(ValueError, match=r"x.csv: not a table .*: frame 1, column [01] is .*#"):
        read_features(tmp_path / "x.csv")


def test_an_index_written_by_pandas_is_no_feature(tmp_path):
    (tmp_path / "x.csv").write_text(",a,seconds\n0,5,0.5\n1,7,1.5\n2,6,2.5\n")
    with pytest.warns(UserWarning, match="dropped the first column, which has no name"):
        table = read_features(tmp_path / "x.csv")
    np.testing.assert_array_equal(table.features, [[5], [7], [6]])
    np.testing.assert_array_equal(table.times, [0.5, 1.5, 2.5])
    (tmp_path / "y.csv").write_text(",a\n0.25,5\n1,7\n")
    assert read_features(tmp_path / "y.csv").features.shape == (2, 2)


def test_features_that_are_one_number_are_no_table(tmp_path):
    np.savez(tmp_path / "x.npz", features=3.0, boundaries=[2])
    assert read_boundaries(tmp_path / "x.npz").n_frames == 1


@pytest.mark.parametrize(
    "header", ["# time,a", "Time (s),a", "#Seconds,a", "timestamp [s],a", '"time","a"']
)
def test_the_time_column_is_known_by_its_name(tmp_path, header):
    (tmp_path / "x.csv").write_text(f"{header}\n0,5\n2,7\n")
    table = read_features(tmp_path / "x.csv")
    np.testing.assert_array_equal(table.features, [[5], [7]])
    np.testing.assert_array_equal(table.times, [0, 2])


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("# made by x\n# time,a\n0,5\n2,7\n", [0, 2]),
        ("#\ntime,a\n0,5\n2,7\n", [0, 2]),
        ("# 2024, run\n0,5\n2,7\n", None),
        ("# one\n0,5\n2,7\n", None),
    ],
)
def test_lines_above_the_table_may_be_comments(tmp_path, text, times):
    (tmp_path / "x.csv").write_text(text)
    table = read_features(tmp_path / "x.csv")
    assert (None if table.times is None else table.times.tolist()) == times
    assert len(table.features) == 2


@pytest.mark.parametrize("text", ["x\n1\n\n3\n5\n", "a,b\n1,2\n\n3,4\n"])
def test_an_empty_line_between_others_is_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match="line 3 is empty; fill it in or remove it"):
        read_features(tmp_path / "x.csv")


@pytest.mark.parametrize(
    "text",
    [
        "-,-\n1,2\n3,4\n",
        "?,?\n1,2\n",
        "-,\n1,2\n",
        "-\n1\n",
        "--;,..\n1,2\n",
        "unknown,unknown\n1,2\n",
        "#N/A,#N/A\n1,2\n",
    ],
)
def test_a_first_row_of_missing_values_is_not_taken_for_a_header(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=r"x\.csv: .*neither numbers nor names alone"):
        read_features(tmp_path / "x.csv")


def test_a_quote_left_open_in_the_header_hides_no_frame(tmp_path):
    (tmp_path / "x.csv").write_text('a,"b\n1,2\n3,"4\n5,6\n')
    with pytest.raises(ValueError, match="neither numbers nor names"):
        read_features(tmp_path / "x.csv")


@pytest.mark.parametrize("text", ["{},1\n2,3\n", "1,{}\n", '1,"{}"\n'])
def test_a_cell_without_end_is_refused_and_takes_no_memory(tmp_path, text):
    (tmp_path / "x.csv").write_text("".join(["1,2\n"] * 1000) + text.format("9" * 200_000))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"x\.csv: not a table .*: field larger than field limit"):
        read_features(tmp_path / "x.csv")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


def test_a_csv_takes_little_more_memory_than_its_numbers(tmp_path):
    x = np.random.default_rng(0).normal(size=(200, 512))
    np.savetxt(tmp_path / "x.csv", x, delimiter=",")
    read_features(tmp_path / "x.csv")  # whatever is imported or cached on first use does not count
    tracemalloc.start()
    read = read_features(tmp_path / "x.csv").features
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(read, x)
    assert peak < 3 * x.nbytes


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (" 1.5 ", 1.5),
        ("1e400", np.inf),
        ("-INF", -np.inf),
        ("NaN", np.nan),
        (" n/a", np.nan),
        ("NULL", np.nan),
        ('"1" ', 1),
        ("\t+3", 3),
        ("0.1", 0.1),
    ],
)
def test_cells_are_read_as_python_reads_numbers(tmp_path, cell, value):
    (tmp_path / "x.csv").write_text(f"a,b\n4,{cell}\n")
    np.testing.assert_array_equal(read_features(tmp_path / "x.csv").features, [[4, value]])


@pytest.mark.parametrize("index", [[5.0, 3.0, 9.0], ["x", "y", "z"]])
def test_the_index_of_a_parquet_table_is_not_a_feature(tmp_path, index):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.5, 0.25, 0.125]}, index=index)
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.warns(UserWarning, match=r"x\.parquet: dropped '__index_level_0__'"):
        table = read_features(tmp_path / "x.parquet")
    np.testing.assert_array_equal(table.features, frame.to_numpy())


def test_an_index_of_times_gives_the_times(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1, 2], "b": [3, 4]}, index=pandas.Index([0.5, 7.5], name="Time")
    )
    frame.to_parquet(tmp_path / "x.parquet")
    table = read_features(tmp_path / "x.parquet")
    assert (table.features.tolist(), table.times.tolist()) == ([[1, 3], [2, 4]], [0.5, 7.5])


@pytest.mark.parametrize("header", ["time,a,seconds", "a,time,time", "Timestamp,Time (s),a"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_two_columns_of_times_are_refused(tmp_path, header, suffix):
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv":
        path.write_text(f"{header}\n1,2,3\n4,5,6\n")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = [pyarrow.array([1, 4]), pyarrow.array([2, 5]), pyarrow.array([3, 6])]
        names = header.replace(" (s)", "").split(",")
        parquet.write_table(pyarrow.Table.from_arrays(columns, names=names), path)
    twice = suffix == "parquet" and header.count("time") == 2
    message = (
        "two of its columns are named 'time'"
        if twice
        else "has times in '.*' and '.*'; keep one and rename"
    )
    with pytest.raises(ValueError, match=message):
        read_features(path)


def test_a_parquet_table_of_millions_of_equal_rows_is_refused_before_it_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    zeros = pyarrow.array(np.zeros(5_000_000, dtype=np.int8))
    parquet.write_table(pyarrow.table({f"x{k}": zeros for k in range(7)}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"5,000,000 rows declares 267 MB, over .* 256 MB"):
        read_features(tmp_path / "x.parquet")


def test_a_parquet_column_of_words_is_named(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"a": [1.0, 2.0], "who": ["x", "y"]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x\.parquet: column 'who' has type .*; it must contain"):
        read_features(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9" * 200_000, "field larger than field limit"),
        ("1e300\n", r"frame 1e\+300 is too large; the limit is 10,000,000"),
        ("event,start,stop\n0,0,1000000000\n", r"frame 1e\+09 is too large"),
        ("2\n\udcff\n", "a text file"),
    ],
)
def test_boundaries_beyond_any_sequence_are_refused(tmp_path, text, message):
    (tmp_path / "b.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ValueError, match=rf"b\.csv: .*{message}"):
        read_boundaries(tmp_path / "b.csv")


def test_a_column_of_times_without_times_is_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("time,a,b\n,1,2\n,3,4\n")
    with pytest.warns(UserWarning, match=r"x\.csv: its time column is empty"):
        table = read_features(path)
    assert table.times is None
    np.testing.assert_array_equal(table.features, [[1, 2], [3, 4]])


def test_an_underscore_in_a_number_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n3,1_5\n")
    with pytest.raises(ValueError, match=r"x\.csv: .*frame 1, column 1 is '1_5'"):
        read_features(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("text", "why"),
    [("a;b\n0,15;-0,2\n0,2;1,3\n", "by semicolons; save it with"), ("1\t2\n3\t4\n", "by tabs")],
)
def test_other_separators_are_named(tmp_path, text, why):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"values are separated {why}"):
        read_features(path)


def test_a_key_is_refused_where_it_chooses_nothing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"only \.npz files have arrays to choose"):
        read_features(path, key="features")


@pytest.mark.parametrize(
    ("text", "found"), [("", []), ("\n", []), ("boundary\n50\n100\n", [50, 100])]
)
def test_text_may_have_no_boundaries_and_a_heading(tmp_path, text, found):
    path = tmp_path / "found.txt"
    path.write_text(text)
    assert read_boundaries(path).boundaries.tolist() == found
