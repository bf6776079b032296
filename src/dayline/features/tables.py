"""Read feature tables from untrusted files: .npy, .npz, .csv, .parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dayline.arrays import FloatArray
from dayline.features.csv_files import (
    DATE_COLUMNS,
    TIME_COLUMNS,
    read_csv,
    seconds_of_dates,
    time_column,
)
from dayline.features.numpy_files import ArrayHeader, list_npz, load_npy, load_npz
from dayline.files import UnreadableFileError, check_allocation, reading
from dayline.installation import needs_extra
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
        features, times, is_dated = read_csv(path)
        table = FeatureTable(features, times, "wall" if is_dated else None)
    else:
        table = _read_parquet(path)

    features = table.features.T if transpose else table.features
    if features.ndim != 2 or 0 in features.shape:
        raise ValueError(
            f"{path}: features have shape {features.shape}; pass a matrix with one row per frame"
        )
    times = table.times
    if times is not None and np.isnan(times).all():
        warnings.warn(f"{path}: its time column is empty; the frames have no times", stacklevel=2)
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
    time = time_column([name for name in headers if name in TIME_COLUMNS and name != key], path)
    wanted = [key] if time is None else [key, time]
    for name in wanted:
        if not _is_numeric(headers[name].dtype):
            raise ValueError(
                f"{path}: {name!r} has type {headers[name].dtype}; it must contain real numbers"
            )
    arrays = load_npz(path, wanted)
    times = None if time is None else np.ravel(arrays[time])
    return FeatureTable(_numeric(arrays[key], path), times)


def _features_key(path: Path, headers: Mapping[str, ArrayHeader], key: str | None) -> str:
    """Return the name of the array with the features; raise if it is missing or not clear."""
    names = ", ".join(headers) or "nothing"
    if key is None:
        matrices = [
            name
            for name, header in headers.items()
            if _is_numeric(header.dtype) and len(header.shape) == 2 and min(header.shape) > 1
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


def _is_numeric(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuf"


def _numeric(values: Any, path: Path) -> FloatArray:
    values = np.asarray(values)
    if not _is_numeric(values.dtype):
        raise ValueError(f"{path}: values have type {values.dtype}; they must be real numbers")
    numbers: FloatArray = values
    return numbers


@needs_extra("parquet", "reading .parquet files")
def _read_parquet(path: Path) -> FeatureTable:
    from pyarrow import parquet

    with reading(path, "a parquet file"), parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        if len(set(schema.names)) < len(schema.names):
            double = next(name for name in schema.names if schema.names.count(name) > 1)
            raise UnreadableFileError(f"{path}: two of its columns are named {double!r}")

        # The index of pandas is no feature, but it may have the times.
        described = (schema.pandas_metadata or {}).get("index_columns", [])
        index = [n for n in schema.names if n in described or PANDAS_INDEX.fullmatch(n)]
        may_be = [f.name for f in schema if _may_be_times(f, is_index=f.name in index)]
        named = [name for name in may_be if name not in index]
        time = time_column(named or may_be, path)
        names = [name for name in schema.names if name != time and name not in index]
        for name in names:
            kind = schema.field(name).type
            if not _is_real(kind):
                hint = "; name it time if these are the times" if _are_dates(kind) else ""
                raise UnreadableFileError(
                    f"{path}: column {name!r} has type {kind}; it must contain real numbers{hint}"
                )

        wanted = names if time is None else [*names, time]
        check_allocation(path, 8 * n_rows * len(wanted), what=f"a table of {n_rows:,} rows")
        table = file.read(columns=wanted)
        values = np.empty((n_rows, len(names)))
        for k, name in enumerate(names):
            values[:, k] = _numeric(table.column(name).to_numpy(), path)
        times, is_dated = None, False
        if time is not None:
            is_dated = not _is_real(schema.field(time).type)
            column = table.column(time)
            times = _seconds(column, time, path) if is_dated else column.to_numpy().astype(float)

    dropped = [repr(name) for name in index if name != time]
    if dropped:
        warnings.warn(
            f"{path}: dropped {', '.join(dropped)}, which is the index of the table, not a feature",
            stacklevel=4,
        )
    if is_dated and not names:
        raise UnreadableFileError(f"{path}: has dates but no features")
    return FeatureTable(values, times, "wall" if is_dated else None)


def _may_be_times(field: Any, *, is_index: bool) -> bool:
    """Return whether a column has times by its name and type; an index of dates needs no name."""
    from pyarrow import types

    name, kind = field.name.lower(), field.type
    is_text = types.is_string(kind) or types.is_large_string(kind)
    return (
        (name in TIME_COLUMNS and _is_real(kind))
        or (name in DATE_COLUMNS and (is_text or _are_dates(kind)))
        or (is_index and _are_dates(kind))
    )


def _are_dates(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_timestamp(kind) or types.is_date(kind))


def _seconds(column: Any, name: str, path: Path) -> FloatArray:
    """Return dates as seconds since 1970, by what they would be in a .csv file."""
    import pyarrow

    try:
        texts = column.cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        zone = getattr(column.type, "tz", None) or ""
        raise UnreadableFileError(
            f"{path}: column {name!r}: unknown time zone {zone[:40]!r}; pip install tzdata, or"
            " store UTC"
        ) from None
    try:
        return seconds_of_dates([text or "" for text in texts.to_pylist()])
    except ValueError as error:
        raise UnreadableFileError(f"{path}: column {name!r}: {error}") from None


def _is_real(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_real(kind.value_type)
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
