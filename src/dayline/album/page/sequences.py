"""Write the page of many sequences: a search, and a row with a link for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dayline.album.page.template import render
from dayline.files import write_text_whole
from dayline.text import counted, duration_text


@dataclass(frozen=True)
class SequenceRow:
    """One sequence on the page.

    Attributes
    ----------
    name : str
        What it is called.
    folder : str or None
        Folder of its result, relative to the page; None if it has none.
    n_frames, n_events : int or None
        Of its result.
    seconds : float or None
        What it took to compute.
    pictures : sequence of str
        Some of its pictures, relative to `folder`.
    why : str
        Why it failed; empty if it did not.
    """

    name: str
    folder: str | None
    n_frames: int | None = None
    n_events: int | None = None
    seconds: float | None = None
    pictures: Sequence[str] = ()
    why: str = ""


def write_sequences(
    rows: Sequence[SequenceRow], folder: str | Path, *, title: str, n_total: int
) -> Path:
    """Write `folder`/index.html with a row per sequence: counts, some pictures, or why it failed.

    Parameters
    ----------
    rows : sequence of SequenceRow
        The sequences, in the order shown.
    folder : str or Path
        The folder that contains the folders of the results.
    title : str
        Heading.
    n_total : int
        Number of all sequences, also of those that are not computed yet.
    """
    n_failed = sum(bool(row.why) for row in rows)
    facts = [
        counted(n_total, "sequence"),
        counted(sum(row.n_events or 0 for row in rows), "event"),
        *([f"{n_failed} failed"] if n_failed else []),
        *([f"{n_total - len(rows)} not computed yet"] if len(rows) < n_total else []),
    ]
    content = {
        "rows": [_row(row) for row in rows],
        "title": title,
        "facts": " · ".join(facts),
    }
    path = Path(folder) / "index.html"
    write_text_whole(path, render("sequences", content))
    return path


def _row(row: SequenceRow) -> dict[str, object]:
    if row.folder is None or row.n_frames is None or row.n_events is None:
        return {"name": row.name, "address": None, "facts": "", "pictures": [], "why": row.why}
    folder = quote(os.fsencode(row.folder))
    time = "" if row.seconds is None else f" · {duration_text(row.seconds)}"
    return {
        "name": row.name,
        "address": f"{folder}/index.html",
        "facts": f"{counted(row.n_frames, 'frame')} · {counted(row.n_events, 'event')}{time}",
        "pictures": [f"{folder}/{quote(picture)}" for picture in row.pictures],
        "why": row.why,
    }
