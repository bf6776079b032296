"""Columns as a data frame of pandas, polars or pyarrow, none of which dayline needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

__all__ = ["Backend", "Kind", "data_frame"]

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Kind: TypeAlias = Literal["int", "float", "str", "datetime"]


def data_frame(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, Kind], *, backend: Backend) -> Any:
    """Make a data frame in which missing values are those of its library, and types do not depend on the values.

    Parameters
    ----------
    columns : mapping of str to sequence
        Values by column; None is missing.
    kinds : mapping of str to str
        Type of each column.
    backend : {"pandas", "polars", "pyarrow"}
        Library of the data frame.
    """
    makers = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
    if backend not in makers:
        raise ValueError(f'backend={backend!r} is not known; use "pandas", "polars" or "pyarrow"')
    try:
        return makers[backend](columns, kinds)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"backend={backend!r} needs {error.name}, which is not installed; pip install {backend}, "
            "or use to_dicts(), which needs nothing"
        ) from None


def _pandas(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, Kind]) -> Any:
    import pandas

    # Int64 with a capital letter has a missing value; int64 would turn a column with one into floats.
    types = {"int": "Int64", "float": "float64", "str": "object", "datetime": "datetime64[us]"}
    series = {name: pandas.Series(list(v), dtype=types[kinds[name]]) for name, v in columns.items()}
    return pandas.DataFrame(series)


def _polars(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, Kind]) -> Any:
    import polars

    types: dict[str, Any] = {
        "int": polars.Int64,
        "float": polars.Float64,
        "str": polars.String,
        "datetime": polars.Datetime("us"),
    }
    return polars.DataFrame(dict(columns), schema={name: types[kinds[name]] for name in columns})


def _pyarrow(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, Kind]) -> Any:
    import pyarrow

    types = {
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "str": pyarrow.string(),
        "datetime": pyarrow.timestamp("us"),
    }
    return pyarrow.table({name: pyarrow.array(list(v), type=types[kinds[name]]) for name, v in columns.items()})
