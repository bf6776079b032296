"""Read what people pass as a sequence: arrays, Series and data frames, with their dates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from dayline.arrays import FloatArray
from dayline.checks import show_value, unmask


def given_rows(estimator: BaseEstimator, X: Any, *, reset: bool = True) -> FloatArray:
    """Return what was given to an estimator as an array, and note its columns as scikit-learn does.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator.
    X : array-like of shape (n_frames, n_features) or (n_frames,)
        See `without_dates`; missing values become NaN.
    reset : bool
        Whether these are the first rows; later ones must have the same columns.
    """
    rows: FloatArray = validate_data(
        estimator, without_dates(X), dtype="numeric", ensure_all_finite=False, reset=reset
    )
    return rows


def without_dates(X: Any) -> Any:
    """Return a sequence with two dimensions and without the columns of dates: see `dates_of`.

    Parameters
    ----------
    X : array-like of shape (n_frames, n_features) or (n_frames,)
        One row per frame, or one value. Sparse columns of pandas become dense ones.
    """
    library = _library_of(X)
    if library and not hasattr(X, "columns"):
        X = X.to_frame()
    if library == "pandas":
        # Scikit-learn's errors say neither which column has the name of another, nor what to do.
        if not X.columns.is_unique:
            name = X.columns[X.columns.duplicated()][0]
            raise ValueError(
                f"several columns are named {show_value(name)}; rename them, or pass X.to_numpy()"
            )
        kinds = X.dtypes.items()
        sparse = {k: kind.subtype for k, kind in kinds if type(kind).__name__ == "SparseDtype"}
        X = X.astype(sparse) if sparse else X
    if library and (dates := _date_columns(X)):
        X = X.drop(columns=dates) if library == "pandas" else X.drop(dates)

    x = unmask(X)
    is_flat_list = isinstance(x, (list, tuple)) and len(x) > 0 and np.ndim(x[0]) == 0
    if is_flat_list or (isinstance(x, np.ndarray) and x.ndim == 1):
        x = np.reshape(x, (-1, 1))
    return x


def dates_of(X: Any) -> Any:
    """Return the times that a Series or data frame has itself, or None.

    Those of pandas have them in their index (dates, periods or durations); any may have one column
    of dates.

    Parameters
    ----------
    X : array-like
        What was given as the sequence.
    """
    library = _library_of(X)
    found = {}
    if library == "pandas" and (
        X.index.dtype.kind in "mM" or type(X.index).__name__ == "PeriodIndex"
    ):
        found["its index"] = X.index
    if library and hasattr(X, "columns"):
        found |= {f"column {show_value(name)}": X[name] for name in _date_columns(X)}
    if len(found) > 1:
        raise ValueError(f"X has dates in {' and in '.join(found)}; drop some, or pass times=")
    return next(iter(found.values()), None)


def _library_of(X: Any) -> str:
    """Return "pandas" or "polars" for their Series and data frames, and "" for anything else."""
    library = type(X).__module__.partition(".")[0]
    is_table = type(X).__name__ in ("Series", "DataFrame")
    return library if library in ("pandas", "polars") and is_table else ""


def _date_columns(X: Any) -> list[Any]:
    kinds: Iterable[tuple[Any, Any]]
    kinds = X.dtypes.items() if _library_of(X) == "pandas" else X.schema.items()
    # Types of pandas have the kind of NumPy; those of polars are named Date and Datetime.
    return [k for k, kind in kinds if getattr(kind, "kind", str(kind)[:4]) in ("M", "Date")]
