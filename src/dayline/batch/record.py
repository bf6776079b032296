"""What is known about each sequence of a batch, and the file that lists it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["done", "skipped", "failed"]
FIELDS = ("name", "source", "status", "n_frames", "n_events", "seconds", "message", "events")
"""In batch.jsonl, in this order."""


@dataclass(frozen=True)
class BatchRecord:
    """One sequence of a batch.

    Attributes
    ----------
    name : str
        Name of the folder of its result.
    source : str
        Its path below the root, or the name it was given.
    status : {"done", "skipped", "failed"}
        Computed by this run; finished by an earlier one with the same input and settings; or not
        finished.
    n_frames, n_events : int or None
        None if there is no result.
    seconds : float
        What it took to compute; if skipped, what it took then.
    message : str
        Why it failed, in one line; else empty.
    events : str or None
        Path of its events.json in the output folder. It also exists if only an export failed.
    notes : tuple of str
        Warnings of this run.
    pictures : tuple of str
        Pictures of its longest events, within its folder.
    """

    name: str
    source: str
    status: Status
    n_frames: int | None = None
    n_events: int | None = None
    seconds: float = 0.0
    message: str = ""
    events: str | None = None
    notes: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the line of batch.jsonl, without its end."""
        return json.dumps({name: getattr(self, name) for name in FIELDS}, ensure_ascii=False)


def read_batch(path: str | Path) -> list[BatchRecord]:
    """Read the records in a batch.jsonl.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    records = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        try:
            content = json.loads(line)
            records.append(BatchRecord(**{name: content[name] for name in FIELDS}))
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{path}: line {number} is not a record of dayline batch") from None
    return records
