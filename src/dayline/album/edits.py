"""Keep what a person edited in an output folder, for all later runs.

An edit is a result as a person saved it. All edits of a folder are in one corrections.json there,
the newest first, and know their frames by digests, so that a day finds them whatever its folder is
called.
"""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dayline.events import Segmentation, read_events
from dayline.files import UnreadableFileError, read_json, write_text_whole
from dayline.result_folder import (
    EVENTS,
    MARK,
    OwnFiles,
    inner_results,
    keep_aside,
    output_folder,
)

CORRECTIONS = "corrections.json"
FORMAT = "dayline-corrections"
VERSION = 1
REPAIR = "repair it, or continue without it (--forget-corrections)"

DOWNLOADS = re.compile(r"events(?: ?\(\d{1,4}\)|-\d{1,3})\.json")
"""Names that browsers give a second download of events.json."""


NOT_EDITED: dict[str, Any] = {"skipped": (), "set_aside": (), "durations": None, "notes": ()}


def film_of(digest: str) -> str:
    """Return the film that a digest names with a time; empty for photos and rows."""
    film, _, time = digest.partition(":")
    return film if time else ""


def marks_of(digests: Iterable[str] | None) -> set[str]:
    """Return what identifies frames: digests of photos and rows, or the film."""
    return {film_of(digest) or digest for digest in digests or ()} - {""}


def corrections_folder(folder: Path) -> Path:
    """Return the folder with the corrections of a result: that of all days for one of several."""
    above = folder.absolute().parent
    if not (above / MARK).is_file():
        return folder
    while (above.parent / MARK).is_file():
        above = above.parent
    return above


def kept_edits(folder: Path) -> tuple[Segmentation, ...]:
    """Return a person's edits that may be about frames of a result, the newest first.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    """
    take_in(folder)
    return _read(corrections_folder(folder) / CORRECTIONS)


def take_in(folder: Path) -> None:
    """Keep the events.json that a person put into a result as an edit.

    The page saves under this name. If there is no corrections.json, because it was deleted or the
    result comes from another folder, the edits that events.json contains are kept, too.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    """
    path = folder / EVENTS
    if path.is_symlink() or not path.is_file():
        return
    is_own = OwnFiles(folder).wrote(EVENTS)
    if is_own and (corrections_folder(folder) / CORRECTIONS).is_file():
        return
    try:
        found = read_events(path)
    except ValueError as error:
        raise ValueError(f"{error}; {REPAIR}") from None
    has_work = bool(found.favorites or found.hidden) or any(
        event.name is not None or event.reason == "required" or event.key_chosen
        for event in found.events
    )
    # Without digests, nobody knows what they are about.
    if found.digests is None or (is_own and not has_work):
        return

    with output_folder(folder):
        keep_edits(folder, [found])
        if not is_own:
            aside = keep_aside(path)
            warnings.warn(
                f"{EVENTS} is not the file that dayline wrote; it is kept as {aside}", stacklevel=3
            )
            OwnFiles(folder).adopt(EVENTS)


def take_in_all(folder: Path) -> None:
    """Do the same in all results of a folder: photos may have moved from one day to another.

    Parameters
    ----------
    folder : Path
        The folder of several days, or of a batch.
    """
    for inner in (folder, *inner_results(folder)):
        take_in(inner)


def keep_edits(folder: Path, edits: Sequence[Segmentation], *, copy: bool = True) -> None:
    """Keep edits in corrections.json for all later runs.

    Parameters
    ----------
    folder : Path
        The folder of the result that was edited.
    edits : sequence of Segmentation
        The newest first; those that are kept already change nothing.
    copy : bool
        Keep a copy of earlier edits that these replace.
    """
    path = corrections_folder(folder) / CORRECTIONS
    before = _read(path)
    stripped = [_stripped(edit) for edit in edits]
    after = without_replaced((*stripped, *(edit for edit in before if edit not in stripped)))
    if after != before:
        lost = {_content(edit) for edit in before} - {_content(edit) for edit in after}
        _write(path, after, copy=copy and bool(lost))


def forget_corrections(folder: Path, digests: Collection[str]) -> None:
    """Stop using the edits of these frames; a copy with a dated name stays.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    digests : collection of str
        Of its frames.
    """
    path = corrections_folder(folder) / CORRECTIONS
    try:
        before = _read(path)
    except ValueError:
        _write(path, ())  # the output folder keeps a copy of a file that somebody changed
        return
    marks = marks_of(digests)
    after = tuple(_without_frames(edit, marks) for edit in before)
    if after != before:
        _write(path, without_replaced(after), copy=True)


def note_unused_downloads(folder: Path, *, command: str) -> None:
    """Warn about a download with a name such as "events (1).json", which no run uses by itself.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    command : str
        The command to which the option --corrections can be added.
    """
    downloads = [path for path in sorted(folder.iterdir()) if DOWNLOADS.fullmatch(path.name)]
    if not downloads:
        return
    edits = (*_read(corrections_folder(folder) / CORRECTIONS), events_of(folder / EVENTS))
    used = {_content(edit) for edit in edits if edit is not None}
    for path in downloads:
        found = events_of(path)
        if found is not None and _content(found) not in used:
            warnings.warn(
                f"{path} is not used; {command} --corrections {shlex.quote(str(path))} applies it",
                stacklevel=3,
            )


def events_of(path: Path) -> Segmentation | None:
    """Read an events.json that may be missing, damaged, or a link, which is not followed."""
    try:
        return None if path.is_symlink() else read_events(path)
    except (OSError, ValueError):
        return None


def _stripped(edit: Segmentation) -> Segmentation:
    """Return an edit without what is found anew in every run, such as locations."""
    events = tuple(event.without_location() for event in edit.events)
    return replace(edit, events=events, scores=None, method=None, **NOT_EDITED)


def _without_frames(edit: Segmentation, marks: Collection[str]) -> Segmentation:
    """Return an edit that is not about some frames any more: their digests are empty."""
    digests = edit.digests or ()
    left = tuple("" if (film_of(d) or d) in marks else d for d in digests)
    return edit if left == digests else replace(edit, digests=left)


def without_replaced(edits: Sequence[Segmentation]) -> tuple[Segmentation, ...]:
    """Leave out edits whose frames are all in newer ones, and earlier ones of the same table."""
    seen: set[str] = set()
    tables: set[tuple[str, int] | None] = set()
    kept = []
    for edit in edits:
        frames, table = marks_of(edit.digests), _table(edit)
        if not frames <= seen and (table is None or table not in tables):
            kept.append(edit)
        seen |= frames
        tables.add(table)
    return tuple(kept)


def _table(edit: Segmentation) -> tuple[str, int] | None:
    """Return the name and the number of rows of the table that an edit is about, if it is one."""
    is_table = edit.names is None and edit.source is not None
    return (edit.source or "", edit.n_frames) if is_table else None


def _content(edit: Segmentation) -> object:
    """Return what a person can edit."""
    events = tuple(
        (e.start, e.stop, e.name, e.community, e.key_frame if e.key_chosen else None)
        for e in edit.events
    )
    places = tuple((place.community, place.name) for place in edit.places if place.name)
    return events, places, edit.favorites, edit.hidden


def _write(path: Path, edits: Sequence[Segmentation], *, copy: bool = False) -> None:
    """Write corrections.json; an empty one says that events.json contains no edits either."""
    with output_folder(path.parent):
        if copy:
            aside = keep_aside(path)
            warnings.warn(
                f"the previous {CORRECTIONS} contains corrections; it is kept as {aside}",
                stacklevel=4,
            )
        content = ",".join(edit.to_json() for edit in edits)
        about = f'"format": "{FORMAT}", "version": {VERSION}'
        write_text_whole(path, f'{{{about}, "edits": [{content}]}}\n')


def _read(path: Path) -> tuple[Segmentation, ...]:
    """Read corrections.json, the newest edit first; a link is not followed."""
    if path.is_symlink() or not path.is_file():
        return ()
    about = path.stat()
    try:
        return _parsed(path, about.st_mtime_ns, about.st_size)
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}; {REPAIR}") from None


@lru_cache(maxsize=1)  # each of many days reads the same file
def _parsed(path: Path, modified: int, size: int) -> tuple[Segmentation, ...]:  # noqa: ARG001
    content = read_json(path, kind="a file of corrections", form=FORMAT, version=VERSION) or {}
    if not isinstance(content.get("edits"), list):
        raise ValueError('"edits" is not a list')

    edits = tuple(Segmentation.from_json(json.dumps(one)) for one in content["edits"])
    if any(edit.digests is None for edit in edits):
        raise ValueError('an edit has no "digests"')
    return edits


def with_digests(
    edit: Segmentation,
    digests: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    times: Sequence[float | None] | None = None,
    source: str | None = None,
) -> Segmentation:
    """Return an edit in terms of current frames; raise if it is about others.

    Boundaries that a program or a person wrote may come without digests: then frames are known by
    their names, by their numbers if there are as many, or else by their times. Rows of a table
    whose features were computed anew are known by their numbers, too.

    Parameters
    ----------
    edit : Segmentation
        The events to be used as corrections.
    digests, names, times : sequences
        Of the current frames.
    source : str, optional
        Name of the current source.
    """
    if _is_about(edit, digests):
        return edit
    marks: tuple[Sequence[Any], Sequence[Any]] = ((), ())
    if edit.digests is None or (names is None and _table(edit) == (source, len(digests))):
        if names is not None and edit.names is not None and edit.clock != "media":
            marks = edit.names, names
        elif edit.n_frames == len(digests):
            marks = range(edit.n_frames), range(edit.n_frames)
        elif times is not None and None not in times and edit.all_times is not None:
            marks = edit.all_times, times

    digest_of = dict(zip(marks[1], digests, strict=False))
    found = tuple(digest_of.get(mark, "") for mark in marks[0])
    if 2 * sum(map(bool, found)) > min(edit.n_frames, len(digests)):
        return replace(edit, digests=found)
    raise ValueError(
        f"the corrections are for other frames ({edit.n_frames} of"
        f" {edit.source or 'another source'}); pass the events.json saved on the page of this"
        " source"
    )


def _is_about(edit: Segmentation, digests: Sequence[str]) -> bool:
    return not marks_of(edit.digests).isdisjoint(marks_of(digests))


def renewed_rows(
    edits: Sequence[Segmentation], digests: Sequence[str], source: str | None
) -> tuple[Segmentation, ...]:
    """Return the newest edit of a table in terms of its rows, if all features were computed anew.

    Parameters
    ----------
    edits : sequence of Segmentation
        The newest first.
    digests : sequence of str
        Of the current rows.
    source : str or None
        Name of the table.
    """
    if any(_is_about(edit, digests) for edit in edits):
        return ()
    earlier = [edit for edit in edits if _table(edit) == (source, len(digests))]
    return tuple(replace(edit, digests=tuple(digests)) for edit in earlier[:1])
