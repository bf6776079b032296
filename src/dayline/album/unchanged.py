"""Find out whether a day has to be segmented again: a year of photos grows by a day at a time."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from dayline.album.edits import marks_of
from dayline.album.export.folder import is_as_written
from dayline.album.export.formats import FORMATS
from dayline.album.pictures import PictureFolder, is_whole_thumbnail
from dayline.album.settings import Settings, described
from dayline.events import Place, Segmentation
from dayline.files import read_no_follow, write_text_whole
from dayline.media.frame import FrameSequence
from dayline.result_folder import DAY_RECORD, OwnFiles, has_unfinished

FORMAT = "dayline-day-2"
ALWAYS = ("events.json", "events.csv", "event-features.json", "index.html")


def day_key(
    sequence: FrameSequence, folder: Path, settings: Settings, edits: Iterable[Segmentation]
) -> str:
    """Return a hash of all that the result of a day follows from.

    Parameters
    ----------
    sequence : FrameSequence
        Its photos, as they were read.
    folder : Path
        The folder of the result, from which the page links to the photos.
    settings : Settings
        How to segment, and what to write.
    edits : iterable of Segmentation
        What a person edited in all days; only edits of these photos matter.
    """
    digests = marks_of(_digests(sequence))
    mine = [edit.to_json() for edit in edits if not digests.isdisjoint(marks_of(edit.digests))]
    content = [_code(), described(settings), str(folder.resolve()), repr(sequence), mine]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _digests(sequence: FrameSequence) -> list[str]:
    return [frame.digest for frame in (*sequence.frames, *sequence.aside)]


@cache
def _code() -> list[str]:
    """Describe the program: its own files, and the versions of the packages that it may use."""
    own = hashlib.sha256()

    def read(folder: Traversable) -> None:
        for entry in sorted(folder.iterdir(), key=lambda one: one.name):
            if entry.is_dir():
                read(entry)
            elif not entry.name.endswith((".pyc", ".onnx")):
                own.update(entry.name.encode() + entry.read_bytes())

    read(files("dayline"))
    found = [own.hexdigest()]
    for line in requires("dayline") or ():
        name = line.split(";")[0].split("[")[0].rstrip("<>=!~.0123456789, ")
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # of an extra
            found.append(name)
    return found


def places_if_unchanged(
    folder: Path, key: str, sequence: FrameSequence, settings: Settings
) -> tuple[Place, ...] | None:
    """Return the places that a person gave, if a folder holds the result that a run would write.

    The warnings of the run that wrote it are given again. None if it does not, or not as it was
    written. Other days have added to the places in the result.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    key : str
        See `day_key`.
    sequence, settings
        The photos of the day, and what to write. Exports that it asks for are always written again.
    """
    try:
        content: Any = json.loads(read_no_follow(folder / DAY_RECORD) or b"null")
        if (content["format"], content["key"]) != (FORMAT, key):
            return None
        places = tuple(Place(**place) for place in content["places"])
        said = [str(text) for text in content["said"]]
    except (ValueError, TypeError, KeyError):
        return None  # of another version, or damaged

    # Exports, and then the files of the result.
    if settings.formats or settings.write_chapters or settings.private:
        return None
    exports = [folder / form.name for form in FORMATS.values()]
    if not all(is_as_written(path) for path in exports if path.is_dir()):
        return None

    own = OwnFiles(folder)
    pictures = PictureFolder(folder, settings.blur_faces)
    digests = _digests(sequence) if settings.thumbnails else ()
    is_whole = (
        all(own.wrote(name) for name in {*ALWAYS, *own.names()})
        and all(is_whole_thumbnail(folder / pictures.address(digest)) for digest in digests)
        and not has_unfinished(folder)
    )
    if not is_whole:
        return None
    for text in said:
        warnings.warn(text, stacklevel=4)
    return places


def forget_day(folder: Path) -> None:
    """Take back the record of a day before its result is written, as a run may be stopped halfway.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    """
    (folder / DAY_RECORD).unlink(missing_ok=True)


@contextmanager
def said_at_the_end(day: str = "") -> Iterator[list[warnings.WarningMessage]]:
    """Keep the warnings of a block in a list, and say them when it ends, however it does.

    Parameters
    ----------
    day : str
        The day that they are about, if there are several; each begins with it.
    """
    said: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            yield said
    finally:
        for one in said:
            message = f"{day}: {one.message}" if day else one.message
            warnings.warn_explicit(message, one.category, one.filename, one.lineno)


def record_day(folder: Path, key: str, places: Sequence[Place], said: Sequence[str]) -> None:
    """Record what a whole result was made from.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    key : str
        See `day_key`.
    places : sequence of Place
        Those that a person gave.
    said : sequence of str
        Warnings about the photos, which an unchanged day gives again.
    """
    given = [asdict(place) for place in places]
    content = {"format": FORMAT, "key": key, "places": given, "said": list(said)}
    write_text_whole(folder / DAY_RECORD, json.dumps(content) + "\n")
