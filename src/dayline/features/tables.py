"""Read feature tables from untrusted files: .npy, .npz, .csv, .parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dayline.arrays import FloatArray
from dayline.features.csv_files import (
    DATE_COLUMNS,
    TIME_COLUMNS,
    DateColumn,
    first_offset,
    read_csv,
)
from dayline.features.numpy_files import ArrayHeader, list_npz, load_npy, load_npz
from dayline.files import UnreadableFileError, check_allocation, reading
from dayline.media.frame import TABLE_SUFFIXES

PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class FeatureTable:
    """Features read from a file.

    Attributes
    ----------
    features : ndarray of shape (n_frames, n_features)
        One row per frame.
    times : ndarray or None
        Time of every frame in seconds, if the file has a column or array named time, times, seconds
        or timestamp. Dates become seconds since 1970 on the clock written; if they have time zones,
        on that of the first frame.
    clock : "wall" or None
        "wall" if the times were dates.
    """

    features: FloatArray
    times: FloatArray | None = None
    clock: Literal["wall"] | None = None


def read_features(
    path: str | Path, *, key: str | None = None, transpose: bool = False
) -> FeatureTable:
    """Read a table of features.

    Parameters
    ----------
    path : str or Path
        .npy, .npz, .csv (with or without a header) or .parquet. Pickles are never loaded.
    key : str, optional
        Name of the feature array in an .npz file; required if several arrays qualify.
    transpose : bool
        Whether columns are frames.
    """
    path = existing_file(path)
    kind = path.suffix.lower()
    _refuse_other_kind(path)
    if key is not None and kind != ".npz":
        raise ValueError(f"{path}: only .npz files have arrays to choose from; leave out the key")

    if kind == ".npy":
        table = FeatureTable(_numeric(load_npy(path), path))
    elif kind == ".npz":
        table = _read_npz(path, key)
    elif kind == ".csv":
        table = _split_times(*read_csv(path), path)
    else:
        table = _read_parquet(path)

    features = table.features.T if transpose else table.features
    if features.ndim != 2 or 0 in features.shape:
        raise ValueError(
            f"{path}: features have shape {features.shape}; pass a matrix with one row per frame"
        )
    times = table.times
    if times is not None and np.isnan(times).all():
        if kind != ".npz":  # features.npz stores NaN for photos without times
            warnings.warn(
                f"{path}: its time column is empty; the frames have no times", stacklevel=2
            )
        times = None
    if times is None:
        return FeatureTable(features)

    if times.shape != (len(features),):
        raise ValueError(f"{path}: {times.size} times for {len(features)} frames")
    if not np.isfinite(times).all():
        frame = int(np.argmin(np.isfinite(times)))
        raise ValueError(f"{path}: frame {frame} has no time; provide all times or none")
    return FeatureTable(features, times, table.clock)


def _refuse_other_kind(path: Path) -> None:
    kind = path.suffix.lower()
    if kind == ".mat":
        raise ValueError(
            f"{path}: MATLAB files are not read; save the matrix for NumPy: "
            'x = scipy.io.loadmat("FILE.mat"); numpy.savez("FILE.npz", features=x["NAME"])'
        )
    if kind not in TABLE_SUFFIXES:
        raise ValueError(
            f"{path}: feature files end in {', '.join(TABLE_SUFFIXES)}, not {kind or 'nothing'!r}"
        )


def existing_file(path: str | Path, *, may_be_empty: bool = False) -> Path:
    """Return the path of a file; raise ValueError if it is missing, a folder or empty."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"{path}: no such file")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder; pass a file")
    if path.stat().st_size == 0 and not may_be_empty:
        raise ValueError(f"{path}: the file is empty")
    return path


def _read_npz(path: Path, key: str | None) -> FeatureTable:
    """Read only the features and times from a file with several arrays."""
    headers = list_npz(path)
    key = _features_key(path, headers, key)
    time = _the_times([name for name in headers if name in TIME_COLUMNS and name != key], path)
    wanted = [key] if time is None else [key, time]
    for name in wanted:
        if not headers[name].is_numeric:
            raise ValueError(
                f"{path}: {name!r} has type {headers[name].kind}; it must contain real numbers"
            )
    arrays = load_npz(path, wanted)
    times = None if time is None else np.ravel(arrays[time])
    return FeatureTable(_numeric(arrays[key], path), times)


def _features_key(path: Path, headers: Mapping[str, ArrayHeader], key: str | None) -> str:
    """Return the name of the array with the features; raise if it is missing or not clear."""
    names = ", ".join(headers) or "nothing"
    if key is None:
        matrices = [
            n for n, h in headers.items() if h.is_numeric and len(h.shape) == 2 and min(h.shape) > 1
        ]
        likely = ["features"] if "features" in headers else matrices
        if len(likely) != 1:
            raise ValueError(
                f"{path}: contains {names}; specify which array holds the features (--key)"
            )
        key = likely[0]
    if key not in headers:
        raise ValueError(f"{path}: has no array {key!r}; it contains {names}")
    return key


def _the_times(names: Sequence[str], path: Path) -> str | None:
    if len(names) > 1:
        raise ValueError(
            f"{path}: has times in {' and '.join(map(repr, names))}; keep one and rename the others"
        )
    return names[0] if names else None


def _numeric(values: Any, path: Path) -> FloatArray:
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{path}: values have type {values.dtype}; they must be real numbers")
    numbers: FloatArray = values
    return numbers


def _read_parquet(path: Path) -> FeatureTable:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise _needs_pyarrow(path) from None
    with reading(path, "a parquet file"), parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        index = [name for name in _index_columns(schema) if name.lower() not in TIME_COLUMNS]
        dates_in = _date_field(schema, index, path)
        index = [name for name in index if name != dates_in]
        fields = [field for field in schema if field.name not in index]
        for field in fields:
            if not _is_real(field.type) and field.name != dates_in:
                hint = "; name it time if these are the times" if _are_dates(field.type) else ""
                why = (
                    f"column {field.name!r} has type {field.type}; it must contain real"
                    f" numbers{hint}"
                )
                raise UnreadableFileError(f"{path}: {why}")
        names = [field.name for field in fields]
        if len(set(names)) < len(names):
            double = next(name for name in names if names.count(name) > 1)
            raise UnreadableFileError(f"{path}: two of its columns are named {double!r}")
        check_allocation(path, 8 * n_rows * len(fields), what=f"a table of {n_rows:,} rows")
        table = file.read(columns=names)
        values = np.empty((n_rows, len(fields)))
        for k, name in enumerate(names):
            column = table.column(name)
            values[:, k] = (
                _numeric(column.to_numpy(), path)
                if name != dates_in
                else _seconds(column, name, path)
            )
    if index:
        shown = ", ".join(map(repr, index))
        warnings.warn(
            f"{path}: dropped {shown}, which is the index of the table, not a feature", stacklevel=4
        )
    dates_at = None if dates_in is None else names.index(dates_in)
    return _split_times(values, [name.lower() for name in names], dates_at, path)


def _date_field(schema: Any, index: Sequence[str], path: Path) -> str | None:
    """Return the name of the column with dates: one that is named after time, or pandas' index."""
    from pyarrow import types

    found = [
        field.name
        for field in schema
        if (_are_dates(field.type) and (field.name.lower() in DATE_COLUMNS or field.name in index))
        or (
            field.name.lower() in DATE_COLUMNS
            and (types.is_string(field.type) or types.is_large_string(field.type))
        )
    ]
    named = [name for name in found if name not in index]
    has_times = any(name.lower() in TIME_COLUMNS for name in schema.names if name not in index)
    return _the_times(named if named or has_times else found, path)


def _are_dates(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_timestamp(kind) or types.is_date(kind))


def _seconds(column: Any, name: str, path: Path) -> FloatArray:
    """Return dates as seconds since 1970 on the clock of their zone at the first of them."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    try:
        if not _are_dates(kind):
            return _seconds_of_texts(column.to_pylist())
        if types.is_date(kind):
            column = column.cast(pyarrow.timestamp("ms"))
        ticks = column.cast(pyarrow.int64()).to_numpy().astype(np.float64)
        seconds: FloatArray = ticks / {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
        known = np.flatnonzero(np.isfinite(seconds))
        if column.type.tz is None or len(known) == 0:
            return seconds
        return seconds + first_offset(column.type.tz, float(seconds[known[0]]))
    except (ValueError, OverflowError) as error:
        raise UnreadableFileError(f"{path}: column {name!r}: {error}") from None


def _seconds_of_texts(texts: Sequence[str | None]) -> FloatArray:
    dates = DateColumn()
    for frame, text in enumerate(texts):
        try:
            dates.add(text or "", is_missing=not text)
        except ValueError as error:
            raise ValueError(f"frame {frame} {error}") from None
    return dates.seconds()


def _needs_pyarrow(path: Path) -> ValueError:
    return ValueError(f'{path}: reading .parquet needs pyarrow; pip install "dayline[parquet]"')


def _is_real(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_real(kind.value_type)
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _index_columns(schema: Any) -> list[str]:
    """Return the names of the columns in which pandas stores the index."""
    described = (schema.pandas_metadata or {}).get("index_columns", [])
    # A range index is described by a dictionary and has no column.
    return [name for name in schema.names if name in described or PANDAS_INDEX.fullmatch(name)]


def _split_times(
    values: FloatArray, header: list[str], dates_at: int | None, path: Path
) -> FeatureTable:
    """Separate the times, dates in the column `dates_at` if it is given, from the features."""
    if dates_at is not None and values.shape[1] == 1:
        raise UnreadableFileError(f"{path}: has dates but no features")
    if len(header) != values.shape[1] or len(header) == 1:
        return FeatureTable(values)
    named = [name for k, name in enumerate(header) if name in TIME_COLUMNS or k == dates_at]
    time = _the_times(named, path)
    if time is None:
        return FeatureTable(values)
    at = header.index(time) if dates_at is None else dates_at
    times = FeatureTable(np.delete(values, at, axis=1), values[:, at])
    return times if dates_at is None else replace(times, clock="wall")
