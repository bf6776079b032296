"""Write a result into its folder: page, pictures, JSON, table and requested exports."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dayline.album.calendars import Entry
from dayline.album.edits import events_of, film_of, keep_edits, marks_of
from dayline.album.export.film import CONTAINERS, chaptered_name
from dayline.album.export.formats import (
    FORMATS,
    ExportsFailedError,
    check_formats,
    export,
    failure_text,
)
from dayline.album.export.photos import has_old_sidecars_beside, remove_sorted_photos
from dayline.album.export.table import write_csv
from dayline.album.key_photos import picture_quality
from dayline.album.page.graph_picture import Drawable
from dayline.album.page.overview import overview_data
from dayline.album.page.page import events_mark, page_data, write_page
from dayline.album.pictures import (
    DECODED_SIDE,
    GivenPictures,
    PictureFolder,
    is_whole_thumbnail,
    pictured_frames,
    remove_thumbnails,
)
from dayline.album.pictures import FOLDER as THUMBNAILS
from dayline.album.places import EventFeatures
from dayline.arrays import Array
from dayline.events import Place, Segmentation, read_events
from dayline.files import write_text_whole
from dayline.media.faces import face_blurrer
from dayline.media.frame import FrameSequence
from dayline.media.source import images
from dayline.progress import OnStep
from dayline.result_folder import (
    BATCH_LIST,
    EVENTS,
    MARK,
    OutputFolderError,
    OwnFiles,
    inner_results,
    output_folder,
)
from dayline.text import counted


@dataclass(frozen=True)
class SourceResult:
    """The events of a source, and what else its page shows.

    Attributes
    ----------
    segmentation : Segmentation
        The events.
    communities : tuple of int or None
        Community of every frame.
    graph : ndarray of shape (n_frames, n_frames), Drawable or None
        The learned graph; None for baselines.
    sequence : FrameSequence or None
        The frames; None for a feature file.
    corrections : tuple of Segmentation
        New corrections of a person, already applied to the events; `write_result` keeps them for
        the next run.
    day_map : mapping or None
        Where the frames were taken (see `dayline.album.day_map`).
    calendar : tuple of Entry
        Entries of the person's calendar at the time of the frames.
    pictures : GivenPictures or None
        Pictures of a feature file's frames.
    event_features : EventFeatures or None
        What the events look like, to compare them with those of other days; None for a feature
        file.
    """

    segmentation: Segmentation
    communities: tuple[int, ...] | None
    graph: Array | Drawable | None
    sequence: FrameSequence | None = None
    corrections: tuple[Segmentation, ...] = ()
    day_map: Mapping[str, Any] | None = None
    calendar: tuple[Entry, ...] = ()
    pictures: GivenPictures | None = None
    event_features: EventFeatures | None = None


def faces_blurred(folder: Path) -> bool:
    """Return whether a result was made with blurred faces, as its page records."""
    return bool(_page(folder).get("about", {}).get("blurred"))


def _page(folder: Path) -> dict[str, Any]:
    """Return the data of a page; empty if there is none, or another file or a link in its place."""
    with suppress(OSError, ValueError):
        return page_data(folder / "index.html") or {}
    return {}


def renew_exports(
    segmentation: Segmentation,
    folder: Path,
    *,
    source: Path | None,
    skip: Collection[str] = (),
    shots_changed: bool = False,
) -> tuple[list[str], list[str]]:
    """Write the exports in a folder again; what fails is named, and the others are still written.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    folder : Path
        The folder of the result.
    source : Path or None
        The photos or the video.
    skip : collection of str
        Names of files and folders that are left as they are.
    shots_changed : bool
        Whether exports of the shots are renewed; their table, which names events, always is.

    Returns
    -------
    renewed, notes : list of str
        Names of what was written again, and one line for each export that was not.
    """
    blurred, renewed, notes = faces_blurred(folder), [], []
    every = [(name, False) for name in FORMATS if name != "csv"]
    every += [(name, True) for name in FORMATS if name == "csv" or shots_changed]
    for name, shots in every:
        form = FORMATS[name]
        file = form.file(shots=shots)
        path = folder / file
        # A folder of exports has a record of its own; a day may have the same name, and has the
        # mark of a result.
        is_folder = path.is_dir() and not (path / MARK).exists() and any(path.glob(".dayline-*"))
        if not file or file in skip or path.is_symlink() or not (path.is_file() or is_folder):
            continue
        if path.is_file() and not OwnFiles(folder).wrote(file):
            notes.append(f"{file} was changed by hand and is left as it is")
            continue

        try:
            is_counted = form.has_rate and segmentation.clock == "media"
            if source is None and (form.pictures or is_counted):
                raise ValueError("its source was not found; pass it with --source")
            # If only those in the folder were renewed, the others would no longer be known as ours.
            photos = source if name == "xmp" else None
            if photos and has_old_sidecars_beside(segmentation, path, source=photos):
                raise ValueError(
                    "the sidecars beside the photos do, too; dayline export --xmp-beside renews"
                    " both"
                )
            export(
                segmentation,
                folder,
                formats=[name],
                shots=shots,
                source=source,
                blur_faces=blurred,
            )
            renewed.append(file)
        except (ValueError, OSError) as error:
            notes.append(old_events_note(file, error))
    return renewed, notes


def old_chapters_notes(folder: Path, *, new: str = "") -> list[str]:
    """Return a line for each copy of a film with chapters but the new one.

    To copy a film again takes too long.
    """
    copies = sorted(path.name for path in folder.glob("*-chapters.*"))
    return [f"{name} has the chapters of before" for name in copies if name != new]


def old_events_note(file: str, error: Exception) -> str:
    """Return the line that says why a file could not be renewed."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, ExportsFailedError):
        reason = reason.partition(": ")[2]
    return f"{file} still shows the previous events: {' '.join(reason.split())}"


@dataclass(frozen=True)
class Written:
    """What was written: the page, the picture of every frame within its folder, and exports.

    Attributes
    ----------
    page : Path
        The page.
    pictures : mapping of int to str
        The picture of every frame that has one; those after the last frame are set aside.
    exports : tuple of Path
        The requested exports.
    renewed : tuple of Path
        Exports of earlier runs, which show the new events now.
    """

    page: Path
    pictures: Mapping[int, str]
    exports: tuple[Path, ...] = ()
    renewed: tuple[Path, ...] = ()


@dataclass(frozen=True)
class SegmentedDay:
    """One day, or a whole recording: its result, or the reason why it has none.

    Attributes
    ----------
    folder : Path
        Folder of its result, which has the name of the day; `Path()` if nothing was written.
    segmentation : Segmentation or None
        Its events.
    written : Written or None
        What was written.
    failures : tuple of str
        One line per export that failed.
    why : str
        Why it has no result; empty if it has one.
    why_on_page : str
        The same without local paths and names of files that are not photos.
    given : tuple of Place or None
        The places that a person gave, if an earlier run wrote the result.
    """

    folder: Path
    segmentation: Segmentation | None = None
    written: Written | None = None
    failures: tuple[str, ...] = ()
    why: str = ""
    why_on_page: str = ""
    given: tuple[Place, ...] | None = None


class ExportError(ValueError):
    """Some exports failed, but the result itself and all other exports were written.

    Attributes
    ----------
    failures : tuple of str
        One line per failed export.
    written : Written
        What was written.
    """

    def __init__(self, failures: Sequence[str], written: Written) -> None:
        super().__init__("; ".join(failures))
        self.failures = tuple(failures)
        self.written = written


def write_result(
    result: SourceResult,
    folder: str | Path,
    *,
    thumbnails: bool = True,
    blur_faces: bool = False,
    formats: Sequence[str] = (),
    shots: bool = False,
    with_chapters: bool = False,
    private: bool = False,
    on_step: OnStep | None = None,
) -> Written:
    """Write index.html, events.json, events.csv and the requested exports.

    Exports of earlier runs are renewed, too; a warning names those that cannot be, and what still
    shows the previous events.

    Parameters
    ----------
    result : SourceResult
        What to write.
    folder : str or Path
        Where to write. A previous result of dayline is updated; a folder with anything else is
        refused.
    thumbnails : bool
        Whether the page shows the photos. If not, pictures of earlier runs are removed, including
        sorted photos, unless they are among `formats` or may be the only copies; warnings name
        them.
    blur_faces : bool
        Blur faces in the pictures (extra "faces").
    formats : sequence of str
        Names from `dayline.album.export.formats.FORMATS`.
    shots : bool
        Whether `formats` and chapters have the shots of a video rather than its scenes.
    with_chapters : bool
        Write a copy of the video with the events as chapters.
    private : bool
        Leave out what should not be shared: links to the original files, and locations. Blurred
        faces leave out the links, too.
    on_step : callable, optional
        Called as on_step("pictures", done, total).

    Raises
    ------
    ExportError
        If some exports cannot be made from these events; page, JSON, table and all other exports
        are written.
    """
    check_formats(formats, shots=shots)
    if blur_faces:
        face_blurrer()  # raises before anything is written if faces cannot be blurred
    if private:
        result = private_copy(result)
    segmentation, sequence = result.segmentation, result.sequence
    source = None if sequence is None else sequence.source
    is_film = sequence is not None and sequence.kind == "video"
    # Frames after the last are those set aside.
    items = () if sequence is None or is_film else (*sequence.frames, *sequence.aside)
    photos = tuple(frame.path for frame in items) or None
    live = {k: frame.live for k, frame in enumerate(items) if frame.live is not None}
    has_links = not (private or blur_faces)
    copy_name = chaptered_name(source) if with_chapters and source is not None else ""

    with output_folder(folder) as folder:
        # Page, corrections, events.
        was_blurred = faces_blurred(folder)
        if was_blurred and thumbnails and not blur_faces:
            warnings.warn(
                "faces were blurred in an earlier run and are not in this one; --blur-faces blurs"
                " them again",
                stacklevel=2,
            )
        changed = _page(folder).get("base") != events_mark(segmentation)
        earlier = events_of(folder / EVENTS)
        shots_changed = earlier is None or earlier.shots != segmentation.shots
        pictures = None
        if thumbnails:
            pictures = _pictures(result, folder, blur_faces=blur_faces, on_step=on_step)
        page = write_page(
            segmentation,
            folder,
            thumbnails=pictures,
            graph=result.graph,
            communities=result.communities,
            day_map=result.day_map,
            calendar=result.calendar,
            blurred=blur_faces or (was_blurred and not thumbnails),
            film=source if is_film and has_links else None,
            originals=photos if has_links else None,
            live=live if has_links else None,
        )
        if result.corrections:
            keep_edits(folder, result.corrections)
        write_text_whole(folder / EVENTS, segmentation.to_json())
        write_csv(segmentation, folder / "events.csv")
        if result.event_features is not None:
            result.event_features.write(folder)

        # Remove what must no longer be there.
        if not thumbnails:
            keep = [*(FORMATS[name].file(shots=shots) for name in formats), copy_name]
            remove_other_pictures(folder, keep=keep, photos=(*(photos or ()), *live.values()))
        if private:
            _warn_of_locations(folder)

        # Exports: one that fails does not stop the others.
        exports: tuple[Path, ...] = ()
        failures: tuple[str, ...] = ()
        wanted = [name for name in formats if shots or name != "csv"]
        try:
            # With nothing to export, it is no fault that all photos are hidden.
            if wanted or with_chapters:
                exports = tuple(
                    export(
                        segmentation,
                        folder,
                        formats=wanted,
                        shots=shots,
                        with_chapters=with_chapters,
                        source=source,
                        blur_faces=blur_faces,
                    )
                )
        except ExportsFailedError as error:
            exports, failures = error.written, error.failures
        skip = {FORMATS[name].file(shots=shots) for name in formats}
        if not thumbnails:
            pictured = [form for form in FORMATS.values() if form.pictures]
            skip |= {form.file(shots=one) for form in pictured for one in (False, True)}
        renewed, notes = renew_exports(
            segmentation, folder, source=source, skip=skip, shots_changed=shots_changed
        )
        if changed:
            notes += old_chapters_notes(folder, new=copy_name)
        for note in notes:
            warnings.warn(note, stacklevel=2)

    written = Written(page, pictures or {}, exports, tuple(folder / name for name in renewed))
    if failures:
        raise ExportError(failures, written)
    return written


def _remove_exported_pictures(folder: Path, keep: Collection[str], photos: Sequence[Path]) -> None:
    """Remove photos that an earlier run sorted; warn about pictures that cannot be made again."""
    left = [(path, "it was kept aside") for path in sorted(folder.glob("photos-kept-*"))]
    sorted_photos, clips = folder / FORMATS["photos"].name, folder / FORMATS["clips"].name
    # A day may have the name of an export.
    exports = [path for path in (sorted_photos, clips) if not (path / MARK).exists()]
    if sorted_photos in exports and sorted_photos.name not in keep and sorted_photos.is_dir():
        try:
            remove_sorted_photos(sorted_photos, photos)
            warnings.warn(
                f"{sorted_photos} of an earlier run is removed: --no-thumbnails leaves no pictures",
                stacklevel=4,
            )
        except (ValueError, OSError) as error:
            left.append((sorted_photos, failure_text(error).split(";")[0]))

    story = FORMATS["story"].name
    if story not in keep and OwnFiles(folder).wrote(story):
        (folder / story).unlink()
        warnings.warn(
            f"{folder / story} of an earlier run is removed: --no-thumbnails leaves no pictures",
            stacklevel=4,
        )

    videos = [clips] if clips in exports and clips.is_dir() else []
    videos += [p for p in sorted(folder.glob("*-chapters.*")) if p.suffix.lower() in CONTAINERS]
    left += [(path, "it may be the only copy") for path in videos if path.name not in keep]
    for path, why in left:
        warnings.warn(
            f"{path} has pictures and is not removed ({why}); do not share it", stacklevel=4
        )


def _warn_of_locations(folder: Path) -> None:
    """Warn about copies of earlier events that say where photos were taken."""
    for path in sorted(folder.glob("*-*.json")):
        try:
            kept = None if path.is_symlink() else read_events(path)
        except (OSError, ValueError):  # not a result of dayline
            continue
        if kept is not None and any(event.location is not None for event in kept.events):
            warnings.warn(
                f"{path} from an earlier run contains locations; remove it before sharing",
                stacklevel=3,
            )


def remove_other_pictures(
    folder: Path,
    *,
    days: Collection[str] = (),
    keep: Collection[str] = (),
    photos: Sequence[Path] = (),
) -> None:
    """Remove pictures of earlier runs: exports, and results in subfolders, also of gone days.

    Warnings name what is removed, and what is not because it may be the only copy.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    days : collection of str
        Subfolders to skip.
    keep : collection of str
        Names of exports that this run writes to `folder`.
    photos : sequence of Path
        The photos in the source.
    """
    _remove_exported_pictures(folder, keep, photos)
    for inner in sorted(path for path in folder.iterdir() if path.name not in days):
        if inner.is_symlink() or not (inner / MARK).is_file():
            continue
        with output_folder(inner):
            _remove_exported_pictures(inner, (), photos)
            if (inner / THUMBNAILS).is_dir():
                remove_thumbnails(inner)
                warnings.warn(
                    f"{inner}: the pictures of this earlier result were removed", stacklevel=3
                )


def default_output(source: str | Path) -> Path:
    """Return the default folder for the result of a source, in the current directory."""
    path = Path(source).resolve()
    return Path(f"{(path.stem if path.is_file() else path.name) or 'photos'}-events")


def private_copy(result: SourceResult) -> SourceResult:
    """Return a copy of a result that does not say where photos were taken; corrections never do.

    What a calendar says of that time is left out, too, but for names that a person took from it,
    and so are screenshots and the like, which may show anything.
    """
    events = tuple(event.without_location() for event in result.segmentation.events)
    segmentation = replace(result.segmentation, events=events, set_aside=())
    sequence = None if result.sequence is None else replace(result.sequence, aside=())
    return replace(result, segmentation=segmentation, sequence=sequence, day_map=None, calendar=())


def _pictures(
    result: SourceResult, folder: Path, *, blur_faces: bool, on_step: OnStep | None
) -> dict[int, str] | None:
    """Write the pictures that an earlier run has not written yet."""
    given, sequence = result.pictures, result.sequence
    if given is not None:
        digests, labels = given.digests(), given.labels()
    elif sequence is not None:
        shown = (*sequence.frames, *sequence.aside)
        indices = pictured_frames(result.segmentation)
        digests = {i: shown[i].digest for i in (*indices, *range(sequence.n_frames, len(shown)))}
        labels = {i: frame.name for i, frame in enumerate(shown)}
    else:
        return None
    pictures = PictureFolder(folder, blur_faces)
    pictures.take_from_above(digests.values())
    addresses = {frame: pictures.address(digest) for frame, digest in digests.items()}
    written = {frame: a for frame, a in addresses.items() if is_whole_thumbnail(folder / a)}
    missing = [frame for frame in addresses if frame not in written]

    lost: dict[int, str] = {}
    decoded: Iterable[tuple[int, NDArray[np.uint8]]] = ()
    if given is not None:
        decoded = given.decode(missing, lost.__setitem__)
    elif sequence is not None and missing:
        decoded = images(
            replace(sequence, frames=shown),
            size=DECODED_SIDE,
            indices=missing,
            on_skip=lost.__setitem__,
            score=picture_quality,
        )
    for done, (frame, image) in enumerate(decoded):
        if on_step is not None:
            on_step("pictures", done, len(missing))
        pictures.keep(digests[frame], image)
        written[frame] = addresses[frame]

    for frame, why in lost.items():
        # A frame of a damaged video may decode once and then fail; its event does not need the
        # picture.
        warnings.warn(f"frame {frame}, {labels[frame]}: no picture ({why})", stacklevel=3)
    return written


def refuse_other_result(
    folder: Path,
    kind: Literal["recording", "days", "batch"],
    source: str | None = None,
    digests: Iterable[str] = (),
) -> None:
    """Raise if a folder holds the result of another source.

    That is one with another name and none of these frames. A source may become another kind: a
    second day is added to the only one, or --by-folder is given.

    Parameters
    ----------
    folder : Path
        Where a result will be written.
    kind : {"recording", "days", "batch"}
        What will be written: the result of one recording, of several days, or of a batch.
    source : str, optional
        Name of what the result is made from.
    digests : iterable of str
        Of its frames; only read if the name does not settle it.
    """
    page = folder / "index.html"
    if not (folder / MARK).is_file() or page.is_symlink():  # a link is not followed, and replaced
        return
    way_out = "choose another folder (-o)"
    results: list[Segmentation] = []
    if page_data(page) is None and (folder / BATCH_LIST).is_file():
        if kind == "batch":
            return
        held, names = "the results of a batch", set()
    elif (overview := overview_data(folder)) is not None:
        found = [events_of(inner / EVENTS) for inner in inner_results(folder)]
        results = [events for events in found if events is not None]
        held, names = counted(len(results), "day"), {overview.get("title")}
        held += f" of {overview.get('title')!r}"
    elif (earlier := events_of(folder / EVENTS)) is not None:
        are_photos = earlier.names is not None and earlier.clock != "media"
        size = counted(earlier.n_frames, "photo" if are_photos else "frame")
        held = f"the result of {earlier.source or 'one recording'!r} ({size})"
        results, names = [earlier], {earlier.source}
        if kind == "recording":
            way_out += ", or replace it with --forget-corrections"
    else:
        return

    if results and kind != "batch":
        known = {mark for events in results for mark in marks_of(events.digests)}
        if source is None or source in names or names <= {None}:
            return
        if any((film_of(digest) or digest) in known for digest in digests):
            return
    raise OutputFolderError(f"{folder}: holds {held}, which this run would replace; {way_out}")
