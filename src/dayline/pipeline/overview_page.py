"""Write the overview of several days again from their results, after the events of a day were saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from dayline.events import read_events
from dayline.frames.names import shown_name
from dayline.io.files import refuse_link
from dayline.io.output_folder import MARK, output_folder
from dayline.io.untrusted import UnreadableFileError, reading
from dayline.pipeline.event_features import EventFeatures
from dayline.pipeline.events_file import EVENTS
from dayline.pipeline.recognise import read_day
from dayline.pipeline.similar import similar_events
from dayline.report import Day, events_mark, overview_data, page_data, write_overview

__all__ = ["overview_above", "overview_is_current", "renew_overview"]


def overview_above(folder: Path) -> Path | None:
    """Return the folder whose overview shows the result of a day, or None.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    """
    folder = folder.absolute()
    above = folder.parent
    data = _overview(above)
    is_shown = data is not None and folder.name in [name for name, _, _ in _days(above, data)]
    return above if is_shown else None


def overview_is_current(folder: Path) -> bool:
    """Whether the overview in a folder, if there is one, shows the events of all days.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    """
    data = _overview(folder)
    return data is None or all(
        (folder / name).is_dir() and (shown is None or shown.get("base") == _mark(folder / name))
        for name, shown, _ in _days(folder, data)
    )


def renew_overview(folder: Path) -> None:
    """Write the overview of several days again: the same days, less those whose results were removed.

    Parameters
    ----------
    folder : Path
        The folder of all days.
    """
    with output_folder(folder):
        data = _overview(folder)
        if data is None:
            raise UnreadableFileError(f"{folder / 'index.html'}: not an overview of days; run dayline segment again")
        days: list[Day] = []
        looks: list[EventFeatures | None] = []
        for name, shown, why in _days(folder, data):
            result = folder / name
            if shown is not None and not result.is_dir():
                continue
            refuse_link(result)
            found = None if shown is None else read_day(result)
            segmentation = None if found is None else found.segmentation
            days.append(Day(shown_name(name), name, segmentation, why, {} if found is None else _pictures(result)))
            looks.append(None if found is None else found.features)
        write_overview(days, folder, title=str(data["title"]), similar=similar_events(looks))


def _overview(folder: Path) -> dict[str, Any] | None:
    is_own = (folder / MARK).is_file() and not (folder / "index.html").is_symlink()
    return overview_data(folder) if is_own else None


def _days(folder: Path, data: dict[str, Any]) -> list[tuple[str, dict[str, Any] | None, str]]:
    """Return the name of each day's folder, what the overview shows of it, and why it has no result."""
    page = folder / "index.html"
    if "folders" not in data:
        raise UnreadableFileError(f"{page}: written by an earlier version; run dayline segment again")
    with reading(page, "an overview of days"):
        names = [os.fsdecode(unquote_to_bytes(address)) for address in data["folders"]]
        if any(name == ".." or Path(name).name != name for name in names):
            raise ValueError("a day is in another folder")
        if any(shown is not None and not isinstance(shown, dict) for shown in data["days"]):
            raise ValueError("a day is not an object")
        return list(zip(names, data["days"], data["why"], strict=True))


def _mark(folder: Path) -> str:
    return events_mark(read_events(folder / EVENTS))


def _pictures(folder: Path) -> dict[int, str]:
    """Return the pictures that the page of a day shows, by the number of their frame."""
    addresses = (page_data(folder / "index.html") or {}).get("pictures") or ()
    return {frame: unquote(address) for frame, address in enumerate(addresses) if address is not None}
