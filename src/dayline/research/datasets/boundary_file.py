"""Files of boundaries, found by dayline or other programs, or annotated by people."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import IntArray
from dayline.events import MOST_FRAMES, labels_to_boundaries, read_events
from dayline.features.numpy_files import list_npz, load_npy, load_npz
from dayline.features.tables import existing_file
from dayline.files import reading


@dataclass(frozen=True)
class BoundaryList:
    """Boundaries read from a file, and the number of frames if the file has it."""

    boundaries: IntArray
    n_frames: int | None = None


def read_boundaries(path: str | Path) -> BoundaryList:
    """Read boundaries: events.json, events.csv, .npz (boundaries), .npy, or numbers one per line.

    A text file without numbers has no boundaries; its first line may say "boundary" or
    "boundaries".

    A .npz with labels instead of boundaries gives the frames where the label changes.
    """
    kind = Path(path).suffix.lower()
    path = existing_file(path, may_be_empty=kind in (".csv", ".txt"))
    if kind == ".json":
        events = read_events(path)
        return BoundaryList(np.asarray(events.boundaries, dtype=np.int64), events.n_frames)
    if kind == ".npz":
        return _from_arrays(path)
    if kind == ".npy":
        return BoundaryList(_whole(load_npy(path), path))
    if kind in (".csv", ".txt"):
        return _from_text(path)
    raise ValueError(f"{path}: boundaries are read from .json, .csv, .txt, .npy and .npz files")


def _from_arrays(path: Path) -> BoundaryList:
    headers = list_npz(path)
    n_frames = (*headers["features"].shape, 1)[0] if "features" in headers else None
    if "boundaries" in headers:
        return BoundaryList(_whole(load_npz(path, ["boundaries"])["boundaries"], path), n_frames)
    if "labels" not in headers:
        raise ValueError(
            f"{path}: holds {', '.join(headers) or 'nothing'}, but neither boundaries nor labels"
        )
    values = np.ravel(load_npz(path, ["labels"])["labels"])
    return BoundaryList(labels_to_boundaries(values), len(values))


def _from_text(path: Path) -> BoundaryList:
    with reading(path, "a text file"), path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if rows and "start" in rows[0]:
        short = next((k for k, row in enumerate(rows) if len(row) < len(rows[0])), None)
        if short is not None:
            raise ValueError(f"{path}: row {short} has {len(rows[short])} of {len(rows[0])} cells")
        columns = {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}
        starts = _whole(columns["start"], path)
        stops = _whole(columns.get("stop", [])[-1:], path)
        return BoundaryList(starts[starts > 0], int(stops[0]) if len(stops) else None)
    if rows and [word.strip().lower() for word in rows[0]] in (["boundary"], ["boundaries"]):
        rows = rows[1:]
    return BoundaryList(_whole([word for row in rows for word in row if word.strip()], path))


def _whole(values: Any, path: Path) -> IntArray:
    words = np.ravel(np.asarray(values)).tolist()
    return np.asarray([_frame_number(word, path) for word in words], dtype=np.int64)


def _frame_number(word: Any, path: Path) -> int:
    try:
        number = float(word)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not number.is_integer():
        raise ValueError(f"{path}: boundaries must be whole frame numbers, not {str(word)[:40]!r}")
    if abs(number) > MOST_FRAMES:
        raise ValueError(f"{path}: frame {number:g} is too large; the limit is {MOST_FRAMES:,}")
    return int(number)
