"""Keep a person's edits in an output folder, and protect results of other sources there.

The edits of all results in a folder are in one corrections.json there, by the digests of their
frames, so that a day finds them whatever its folder is called.
"""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dayline.album.corrections import Edit, film_of, marks_of
from dayline.album.page.overview import overview_data
from dayline.album.page.page import page_data
from dayline.events import Segmentation, read_events
from dayline.files import UnreadableFileError, parse_json, read_no_follow, write_text_whole
from dayline.result_folder import (
    BATCH_LIST,
    MARK,
    OutputFolderError,
    OwnFiles,
    keep_aside,
    output_folder,
)
from dayline.text import counted

EVENTS = "events.json"
CORRECTIONS = "corrections.json"
FORMAT = "dayline-corrections"
VERSION = 1
LARGEST_FILE = 2**29

# Names that browsers give a second download of events.json.
DOWNLOADS = re.compile(r"events(?: ?\(\d{1,4}\)|-\d{1,3})\.json")


def corrections_folder(folder: Path) -> Path:
    """Return the folder with the corrections of a result: that of all days for one of several."""
    above = folder.absolute().parent
    if not (above / MARK).is_file():
        return folder
    while (above.parent / MARK).is_file():
        above = above.parent
    return above


def kept_edits(folder: Path) -> tuple[Edit, ...]:
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
    # Without digests, nobody knows what they are about.
    if found.digests is None or (is_own and not _has_work(found)):
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
    for inner in (folder, *_inner_results(folder)):
        take_in(inner)


REPAIR = "repair it, or continue without it (--forget-corrections)"


def keep_edits(folder: Path, edits: Sequence[Edit], *, copy: bool = True) -> None:
    """Keep edits in corrections.json for all later runs.

    Parameters
    ----------
    folder : Path
        The folder of the result that was edited.
    edits : sequence of Edit
        The newest first; those that are kept already change nothing.
    copy : bool
        Keep a copy of earlier edits that these replace.
    """
    place = corrections_folder(folder)
    path = place / CORRECTIONS
    before = _read(path)
    stripped = [_stripped(edit) for edit in edits]
    after = without_replaced((*stripped, *(edit for edit in before if edit not in stripped)))
    if after == before:
        return
    with output_folder(place):
        lost = {_content(e) for e in before} - {_content(e) for e in after} - {None}
        if copy and lost:
            aside = keep_aside(path)
            warnings.warn(
                f"the previous {CORRECTIONS} contains corrections; it is kept as {aside}",
                stacklevel=3,
            )
        _write(path, after)


def forget_corrections(folder: Path, digests: Collection[str]) -> None:
    """Stop using the edits of these frames; a copy with a dated name stays.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    digests : collection of str
        Of its frames.
    """
    place = corrections_folder(folder)
    try:
        edits = _read(place / CORRECTIONS)
    except ValueError:
        with output_folder(place):  # which keeps a copy of a file that somebody changed
            _write(place / CORRECTIONS, ())
        return
    frames = tuple(dict.fromkeys(digests))
    here = set(marks_of(frames))
    if not all(here.isdisjoint(marks_of(edit)) for edit in edits):
        keep_edits(folder, [frames])


def _stripped(edit: Edit) -> Edit:
    """Return an edit without what is found anew in every run, such as locations."""
    if not isinstance(edit, Segmentation):
        return edit
    events = tuple(replace(event, location=None) for event in edit.events)
    return replace(edit, events=events, scores=None, method=None, skipped=(), notes=())


def without_replaced(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Leave out edits whose frames are all in newer ones, and what is forgotten completely."""
    seen: set[str] = set()
    tables: set[tuple[str, int]] = set()
    kept = []
    for edit in edits:
        frames = set(marks_of(edit))
        table = _table(edit)
        if not frames <= seen and table not in tables:
            kept.append(edit)
        seen |= frames
        if table is not None:
            tables.add(table)
    while kept and not isinstance(kept[-1], Segmentation):
        del kept[-1]
    return tuple(kept)


def _table(edit: Edit) -> tuple[str, int] | None:
    """Return the name and the number of rows of the table that an edit is about, if it is one."""
    if not isinstance(edit, Segmentation) or edit.names is not None or edit.source is None:
        return None
    return edit.source, edit.n_frames


def _content(edit: Edit) -> object:
    """Return what a person can edit."""
    if not isinstance(edit, Segmentation):
        return None
    events = tuple(
        (e.start, e.stop, e.name, e.community, e.key_frame if e.key_chosen else None)
        for e in edit.events
    )
    return events, tuple((place.community, place.name) for place in edit.places if place.name)


def _write(path: Path, edits: Sequence[Edit]) -> None:
    """Write corrections.json; an empty one says that events.json contains no edits either."""
    parts = [
        edit.to_json() if isinstance(edit, Segmentation) else json.dumps({"forgotten": edit})
        for edit in edits
    ]
    about = f'"format": "{FORMAT}", "version": {VERSION}'
    write_text_whole(path, f'{{{about}, "edits": [{",".join(parts)}]}}\n')


def _read(path: Path) -> tuple[Edit, ...]:
    """Read corrections.json, the newest edit first; a link is not followed."""
    if path.is_symlink() or not path.is_file():
        return ()
    about = path.stat()
    if about.st_size > LARGEST_FILE:
        raise UnreadableFileError(f"{path}: larger than 512 MB; {REPAIR}")
    try:
        return _parsed(path, about.st_mtime_ns, about.st_size)
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}; {REPAIR}") from None


@lru_cache(maxsize=1)  # each of many days reads the same file
def _parsed(path: Path, modified: int, size: int) -> tuple[Edit, ...]:  # noqa: ARG001
    try:
        content = parse_json((read_no_follow(path) or b"").decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not a text file") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'not a file of corrections ("format" should be "{FORMAT}")')
    if content.get("version") != VERSION:
        raise ValueError(f"unknown version {content.get('version')!r} (known: {VERSION})")
    return tuple(_edit(one) for one in _list(content.get("edits")))


def _edit(content: Any) -> Edit:
    if isinstance(content, dict) and "forgotten" in content:
        return tuple(str(digest) for digest in _list(content["forgotten"]))
    edit = Segmentation.from_json(json.dumps(content))
    if edit.digests is None:
        raise ValueError('an edit has no "digests"')
    return edit


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{type(value).__name__} instead of a list")
    return value


def _has_work(segmentation: Segmentation) -> bool:
    return any(
        event.name is not None or event.reason == "required" or event.key_chosen
        for event in segmentation.events
    )


def _events(path: Path) -> Segmentation | None:
    """Read an events.json that may be damaged, or a link, which is not followed."""
    try:
        return None if path.is_symlink() else read_events(path)
    except (OSError, ValueError):
        return None


def with_digests(
    edit: Segmentation,
    digests: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    times: Sequence[float] | None = None,
    source: str | None = None,
) -> Segmentation:
    """Return an edit in terms of current frames; raise if it is about others.

    Boundaries that a program or a person wrote may come without digests: then frames are known by
    their names, by their numbers if there are as many, or else by their times.

    Parameters
    ----------
    edit : Segmentation
        The events to be used as corrections.
    digests, names, times : sequences
        Of the current frames.
    source : str, optional
        Name of the current source.
    """
    if edit.digests is not None:
        if not set(marks_of(tuple(digests))).isdisjoint(marks_of(edit)):
            return edit
        if names is None and (renewed := with_renewed_rows([edit], digests, source)):
            return renewed[0]
    else:
        marks: tuple[Sequence[Any], Sequence[Any]] = ((), ())
        if names is not None and edit.names is not None and edit.clock != "media":
            marks = edit.names, names
        elif edit.n_frames == len(digests):
            marks = range(edit.n_frames), range(edit.n_frames)
        elif times is not None and edit.times is not None:
            marks = edit.times, times
        digest_of = dict(zip(marks[1], digests, strict=False))
        found = [digest_of.get(mark, f"absent {k}") for k, mark in enumerate(marks[0])]
        if 2 * sum(mark in digest_of for mark in marks[0]) > min(edit.n_frames, len(digests)):
            return replace(edit, digests=tuple(found))
    raise ValueError(
        f"the corrections are for other frames ({edit.n_frames} of"
        f" {edit.source or 'another source'}); pass the events.json saved on the page of this"
        " source"
    )


def with_renewed_rows(
    edits: Sequence[Edit], digests: Sequence[str], source: str | None
) -> tuple[Segmentation, ...]:
    """Return the newest edit of a table whose features were computed anew, by row number."""
    for edit in edits:
        if isinstance(edit, Segmentation) and _table(edit) == (source, len(digests)):
            return (replace(edit, digests=tuple(digests)),)
    return ()


def note_unused_downloads(folder: Path, *, command: str) -> None:
    """Warn about a download with a name such as "events (1).json", which no run uses by itself.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    command : str
        The command to which the option --corrections can be added.
    """
    used = {_content(edit) for edit in _read(corrections_folder(folder) / CORRECTIONS)}
    used.add(_content(_events(folder / EVENTS) or ()))
    for path in sorted(folder.iterdir()):
        found = _events(path) if DOWNLOADS.fullmatch(path.name) and path.is_file() else None
        if found is not None and _content(found) not in used:
            warnings.warn(
                f"{path} is not used; {command} --corrections {shlex.quote(str(path))} applies it",
                stacklevel=3,
            )


ResultKind: TypeAlias = Literal["recording", "days", "batch"]
"""One recording, several days with an overview, or a batch with its list."""

PHRASES = {
    "recording": "the result",
    "days": "the overview of the days",
    "batch": "the list of the batch",
}


def refuse_other_result(
    folder: Path, kind: ResultKind, source: str | None = None, digests: Iterable[str] = ()
) -> None:
    """Raise if a folder holds the result of another source.

    That is one with another name and none of these frames. A source may become another kind: a
    second day is added to the only one, or --by-folder is given.

    Parameters
    ----------
    folder : Path
        Where a result will be written.
    kind : {"recording", "days", "batch"}
        What will be written.
    source : str, optional
        Name of what the result is made from.
    digests : iterable of str
        Of its frames; only read if the name does not settle it.
    """
    held = _held(folder)
    if held is None or held == kind == "batch":
        return
    results = [found for path in _results(folder) if (found := _events(path)) is not None]
    title = _title(folder)
    if "batch" not in (held, kind):
        names = {title} if held == "days" else {found.source for found in results}
        if source is None or source in names or names <= {None}:
            return
        known = {mark for found in results for mark in marks_of(found)}
        if any((film_of(digest) or digest) in known for digest in digests):
            return

    name = "" if source is None else f" of {source!r}"
    way_out = "choose another folder (-o)"
    if held == kind == "recording":
        way_out += ", or replace it with --forget-corrections"
    raise OutputFolderError(
        f"{folder}: holds {_description(held, results, title)}, which {PHRASES[kind]}{name} would"
        f" replace; {way_out}"
    )


def source_digests(source: Path) -> Iterator[str]:
    """Yield the digests of a folder of photos, or of a film.

    Parameters
    ----------
    source : Path
        The folder or the film; for any other file, nothing is yielded.
    """
    from dayline.media.decode import content_digest
    from dayline.media.film import film_digest
    from dayline.media.frame import VIDEO_SUFFIXES
    from dayline.media.walk import find_files

    if source.is_dir():
        for path in find_files(source).photos:
            with path.open("rb") as file:
                yield content_digest(file)
    elif source.suffix.lower() in VIDEO_SUFFIXES and source.is_file():
        with suppress(ValueError):  # a damaged film has no digest
            yield film_digest(source)


def _held(folder: Path) -> ResultKind | None:
    page = folder / "index.html"
    if not (folder / MARK).is_file() or page.is_symlink():  # a link is not followed, and replaced
        return None
    if page_data(page) is not None:
        return "recording"
    if (folder / BATCH_LIST).is_file():
        return "batch"
    if page.is_file():
        return "days" if overview_data(folder) is not None else None
    return "recording" if (folder / EVENTS).is_file() else None


def _results(folder: Path) -> list[Path]:
    """Return the events of a folder: its own, or those of its days."""
    page = folder / "index.html"
    if page_data(page) is not None or not page.exists():
        return [folder / EVENTS]
    return [inner / EVENTS for inner in _inner_results(folder)]


def _inner_results(folder: Path) -> list[Path]:
    return [
        inner
        for inner in sorted(folder.iterdir())
        if not inner.is_symlink() and (inner / MARK).is_file() and (inner / EVENTS).is_file()
    ]


def _title(folder: Path) -> str | None:
    title = (overview_data(folder) or {}).get("title")
    return title if isinstance(title, str) else None


def _description(held: ResultKind, results: Sequence[Segmentation], title: str | None) -> str:
    if held == "batch":
        return "the results of a batch"
    if held == "days":
        return f"{counted(len(results), 'day')}{f' of {title!r}' if title else ''}"
    earlier = results[0]
    are_photos = earlier.names is not None and earlier.clock != "media"
    size = counted(earlier.n_frames, "photo" if are_photos else "frame")
    return f"the result of {earlier.source or 'one recording'!r} ({size})"
