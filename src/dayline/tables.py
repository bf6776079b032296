"""Feature tables and boundary lists in files of others: .npy, .npz, .csv, .parquet, .mat, .json, .txt."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.events import labels_to_boundaries, read_events
from dayline.text_tables import read_csv

__all__ = ["BoundaryList", "FeatureTable", "read_arrays", "read_boundaries", "read_features"]

TIME_COLUMNS = ("time", "times", "seconds", "timestamp")
EXTENSIONS = (".npy", ".npz", ".csv", ".parquet", ".mat")
DAMAGED = (ValueError, EOFError, OSError, BadZipFile, zlib.error, KeyError, RuntimeError, MemoryError, OverflowError)
"""What NumPy's reader and the archive under it raise on a file that is not what it says: RuntimeError for one that is
encrypted or packed in an unknown way, the last two for one that claims to be huge."""


@dataclass(frozen=True)
class FeatureTable:
    """Features as read from a file.

    Attributes
    ----------
    features : ndarray of shape (n_frames, n_features)
        One row per frame.
    times : ndarray or None
        Seconds of every frame, where the file has a column or an array named time, times, seconds or timestamp.
    """

    features: FloatArray
    times: FloatArray | None = None


@dataclass(frozen=True)
class BoundaryList:
    """Boundaries as read from a file, and the number of frames where the file says it."""

    boundaries: IntArray
    n_frames: int | None = None


def read_features(path: str | Path, *, key: str | None = None, transpose: bool = False) -> FeatureTable:
    """Read a table of features.

    Parameters
    ----------
    path : str or Path
        .npy, .npz, .csv (with or without a header), .parquet or .mat. Nothing pickled is ever loaded.
    key : str, optional
        Which array of an .npz or .mat file holds the features; needed where several could.
    transpose : bool
        Whether columns are frames.
    """
    path = _existing(path)
    readers: Mapping[str, Callable[[Path, str | None], FeatureTable]] = {
        ".npy": lambda p, _: FeatureTable(_numeric(_load_array(p), p)),
        ".npz": lambda p, k: _choose(_load_arrays(p), k, p),
        ".csv": lambda p, _: _split_times(*read_csv(p)),
        ".parquet": lambda p, _: _read_parquet(p),
        ".mat": lambda p, k: _choose(_load_mat(p), k, p),
    }
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: feature files end in {', '.join(EXTENSIONS)}, not in {path.suffix or 'nothing'!r}")
    table = readers[path.suffix.lower()](path, key)
    features = table.features.T if transpose else table.features
    if features.ndim != 2 or 0 in features.shape:
        raise ValueError(f"{path}: shape {features.shape}; a matrix with one row per frame is needed")
    times = table.times
    if times is not None and np.isnan(times).all():
        times = None  # as our own features.npz says that photos have no times
    if times is not None and times.shape != (len(features),):
        raise ValueError(f"{path}: {times.size} times for {len(features)} frames")
    if times is not None and not np.isfinite(times).all():
        raise ValueError(f"{path}: frame {int(np.argmin(np.isfinite(times)))} has no time; give all or none")
    return FeatureTable(features, times)


def read_arrays(path: str | Path) -> dict[str, Any]:
    """Read all arrays of an .npz or .mat file by name; nothing pickled is ever loaded."""
    path = _existing(path)
    if path.suffix.lower() not in (".npz", ".mat"):
        raise ValueError(f"{path}: named arrays are read from .npz and .mat files")
    arrays: dict[str, Any] = _load_mat(path) if path.suffix.lower() == ".mat" else _load_numpy(path)
    if isinstance(arrays, np.ndarray):
        raise ValueError(f"{path}: holds one array without a name, not an .npz archive")
    return arrays


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.exists():
        raise ValueError(f"{path}: no such file")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder; name a file")
    if path.stat().st_size == 0:
        raise ValueError(f"{path}: the file is empty")
    return path


def _load_numpy(path: Path) -> Any:
    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        with content:
            return {name: content[name] for name in content.files}
    except DAMAGED as error:
        # NumPy takes whatever it does not know for pickled objects, which begin with this byte.
        pickled = "Object arrays" in str(error) or ("pickle" in str(error) and _first_byte(path) == b"\x80")
        if pickled:
            why = "it holds Python objects (pickle), which could run code; save plain numbers"
        else:
            why = "it is damaged or not a NumPy file"
        raise ValueError(f"{path}: not read: {why}") from None


def _first_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1)


def _load_array(path: Path) -> Any:
    content = _load_numpy(path)
    if isinstance(content, dict):
        raise ValueError(f"{path}: holds several arrays; name it .npz")
    return content


def _load_arrays(path: Path) -> dict[str, Any]:
    content = _load_numpy(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: holds one plain array; name it .npy")
    return content


def _load_mat(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except NotImplementedError:
        raise ValueError(f"{path}: a MATLAB 7.3 file; save it with -v7") from None
    # scipy's reader fails in many ways on a file that is not what it says.
    except Exception as error:
        raise ValueError(f"{path}: not read: damaged or not a MATLAB file ({error})") from None
    return {name: value for name, value in content.items() if not name.startswith("__")}


def _choose(arrays: Mapping[str, Any], key: str | None, path: Path) -> FeatureTable:
    matrices = [name for name, a in arrays.items() if np.ndim(a) == 2 and min(np.shape(a)) > 1]
    names = ", ".join(arrays) or "nothing"
    if key is None:
        likely = ["features"] if "features" in arrays else matrices
        if len(likely) != 1:
            raise ValueError(f"{path}: holds {names}; say which are the features (--key)")
        key = likely[0]
    if key not in arrays:
        raise ValueError(f"{path}: has no array {key!r}; it holds {names}")
    times = next((np.ravel(_numeric(arrays[n], path)) for n in TIME_COLUMNS if n in arrays), None)
    return FeatureTable(_numeric(arrays[key], path), times)


def _numeric(values: Any, path: Path) -> FloatArray:
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{path}: values of type {values.dtype}; real numbers are needed")
    numbers: FloatArray = values
    return numbers


def _read_parquet(path: Path) -> FeatureTable:
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        raise ValueError(f'{path}: reading .parquet needs pyarrow; pip install "dayline[parquet]"') from None
    try:
        table = parquet.read_table(path)
        columns = [_numeric(table.column(name).to_numpy(), path) for name in table.column_names]
    except ArrowException as error:
        raise ValueError(f"{path}: not read: damaged or not a parquet file ({error})") from None
    return _split_times(np.column_stack(columns).astype(np.float64), [str(n).lower() for n in table.column_names])


def _split_times(values: FloatArray, header: list[str]) -> FeatureTable:
    """Take the time column out of the features."""
    if len(header) == values.shape[1] > 1:
        for name in TIME_COLUMNS:
            if name in header:
                at = header.index(name)
                return FeatureTable(np.delete(values, at, axis=1), values[:, at])
    return FeatureTable(values)


def read_boundaries(path: str | Path) -> BoundaryList:
    """Read boundaries: events.json, events.csv (column start), .npz (boundaries), .npy, or numbers one per line.

    A .npz with labels instead of boundaries, and a .mat with one array whose name contains "label", give the
    frames where the label changes.
    """
    path = _existing(path)
    kind = path.suffix.lower()
    if kind == ".json":
        segmentation = read_events(path)
        return BoundaryList(np.asarray(segmentation.boundaries, dtype=np.int64), segmentation.n_frames)
    if kind in (".npz", ".mat"):
        return _from_arrays(_load_arrays(path) if kind == ".npz" else _load_mat(path), path)
    if kind == ".npy":
        return BoundaryList(_whole(_load_array(path), path))
    if kind in (".csv", ".txt"):
        return _from_text(path)
    raise ValueError(f"{path}: boundaries are read from .json, .csv, .txt, .npy, .npz and .mat files")


def _from_arrays(arrays: Mapping[str, Any], path: Path) -> BoundaryList:
    n_frames = len(np.atleast_1d(arrays["features"])) if "features" in arrays else None
    if "boundaries" in arrays:
        return BoundaryList(_whole(arrays["boundaries"], path), n_frames)
    labels = [n for n in arrays if n.lower() in ("label", "labels")] or [
        n for n in arrays if "label" in n.lower() and "size" not in n.lower() and not n.endswith("S")
    ]
    if len(labels) != 1:
        raise ValueError(
            f"{path}: holds {', '.join(arrays) or 'nothing'}, neither boundaries nor one array of labels"
        )
    values = np.ravel(arrays[labels[0]])
    return BoundaryList(labels_to_boundaries(values), len(values))


def _from_text(path: Path) -> BoundaryList:
    import csv

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file") from None
    if rows and "start" in rows[0]:
        at, stop_at = rows[0].index("start"), rows[0].index("stop") if "stop" in rows[0] else None
        short = next((k for k, row in enumerate(rows) if len(row) < len(rows[0])), None)
        if short is not None:
            raise ValueError(f"{path}: row {short} has {len(rows[short])} of {len(rows[0])} cells")
        starts = _whole([row[at] for row in rows[1:]], path)
        n_frames = int(_whole([rows[-1][stop_at]], path)[0]) if stop_at is not None and len(rows) > 1 else None
        return BoundaryList(starts[starts > 0], n_frames)
    return BoundaryList(_whole([word for row in rows for word in row if word.strip()], path))


def _whole(values: Any, path: Path) -> IntArray:
    numbers = np.asarray(
        [_frame_number(word, path) for word in np.ravel(np.asarray(values)).tolist()], dtype=np.float64
    )
    if not np.all(np.isfinite(numbers)) or np.any(numbers != np.round(numbers)):
        raise ValueError(f"{path}: boundaries must be whole frame numbers")
    return numbers.astype(np.int64)


def _frame_number(word: Any, path: Path) -> float:
    try:
        return float(word)
    except (TypeError, ValueError):
        raise ValueError(f"{path}: boundaries must be frame numbers, not {str(word)[:40]!r}") from None
