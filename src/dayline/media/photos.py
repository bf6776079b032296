"""The photos below a folder with all that their headers say: times, cameras, copies, order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from dayline.events import SkippedFile
from dayline.installation import needs_extra
from dayline.media.exif import own_time, sidecar_name, takeout_time, with_utc
from dayline.media.frame import (
    PHOTO_SUFFIXES,
    Frame,
    FrameSequence,
    Photos,
    is_video_name,
    natural_key,
    refuse_mostly_bad,
    shown_name,
)
from dayline.media.group_days import clocks_to_compare, with_camera_clocks
from dayline.media.order import in_local_time, in_order, span_text, time_zone
from dayline.media.walk import FilesFound, find_files, refuse_result
from dayline.progress import OnStep
from dayline.text import counted

ReadFiles: TypeAlias = Callable[[FilesFound], Mapping[Path, Frame | str]]
"""Reads photos: what was read of each, or why it cannot be used."""


def read_photo_folder(
    path: str | Path,
    *,
    order: Literal["time", "name"] = "time",
    offsets: Mapping[str, float] | None = None,
    timezone: str | None = None,
    read_files: ReadFiles | None = None,
    keep_screenshots: bool = False,
) -> FrameSequence:
    """Find the photos in a folder and its subfolders, in the order in which they were taken.

    Photos are ordered by EXIF time with sub-seconds and offset from UTC, else by the time in the
    .json file of Google Takeout, else by a time in the file names, else by name in natural order;
    equal times are ordered by name.

    Parameters
    ----------
    path : str or Path
        The folder.
    order : {"time", "name"}
        "name" orders by name and ignores the times.
    offsets : mapping of str to float, optional
        Seconds to add to the times of a camera, by the name of its folder or its model.
    timezone : str, optional
        Time zone of photos that record none, such as "Europe/Madrid".
    read_files : callable, optional
        See `read_photos`.
    keep_screenshots : bool
        See `read_photos`.

    Raises
    ------
    ValueError
        If there are no photos, or more than half of them cannot be read.
    """
    photos = read_photos(
        path, timezone=timezone, read_files=read_files, keep_screenshots=keep_screenshots
    )
    refuse_mostly_bad(photos.root, photos.skipped, n_good=len(photos.frames))
    photos, notes = with_clocks(photos, offsets=offsets or {}, order=order)
    return photo_sequence(photos, order=order, notes=(*notes, *photos.notes))


def read_photos(
    path: str | Path,
    *,
    timezone: str | None = None,
    read_files: ReadFiles | None = None,
    keep_screenshots: bool = False,
    on_step: OnStep | None = None,
) -> Photos:
    """Read the photos in a folder and its subfolders.

    Parameters
    ----------
    path : str or Path
        The folder.
    timezone : str, optional
        Time zone of photos that record none.
    read_files : callable, optional
        Reads the files; by default, only their headers are read.
    keep_screenshots : bool
        Do not set aside screenshots and the like (see `dayline.media.aside`). If there is nothing
        else, they count as photos in any case.
    on_step : callable, optional
        Called as on_step("photos", done, total) while headers are read.

    Raises
    ------
    ValueError
        If there are no photos.
    """
    folder = Path(path)
    zone = None if timezone is None else time_zone(timezone)
    refuse_result(folder)
    found = find_files(folder)
    if not found.photos and not found.closed:
        raise ValueError(_no_photos_text(found))

    files = read_headers(found, on_step=on_step) if read_files is None else read_files(found)
    sidecars: dict[Path, set[str]] = defaultdict(set)
    for file in found.sidecars:
        sidecars[file.parent].add(file.name)

    frames: list[Frame] = []
    skipped = list(found.closed)
    # Of the videos beside photos, only those that are not their live parts were read.
    for file in (*found.photos, *found.videos, *filter(files.__contains__, found.live.values())):
        frame = files[file]
        if isinstance(frame, str):
            skipped.append(SkippedFile(found.name(file), frame))
            continue
        sidecar = sidecar_name(file.name, sidecars[file.parent])
        if sidecar is not None and (frame.taken is None or frame.taken.offset is None):
            utc = takeout_time(file.parent / sidecar)
            frame = replace(frame, taken=with_utc(frame.taken, file.name, utc))
        frames.append(frame)

    local, notes = in_local_time([frame.taken for frame in frames], zone=zone)
    frames = [replace(frame, taken=t) for frame, t in zip(frames, local, strict=True)]
    notes = (*notes, *_notes_of_unused(found))

    kept = tuple(frame for frame in frames if not frame.aside)
    if keep_screenshots or not kept:
        return Photos(folder, tuple(frames), tuple(skipped), notes)
    aside = tuple(frame for frame in frames if frame.aside)
    return Photos(folder, kept, tuple(skipped), notes, aside)


@needs_extra("photos", "reading photos")
def read_headers(found: FilesFound, *, on_step: OnStep | None = None) -> dict[Path, Frame | str]:
    """Read the headers of photos and videos; return what each says, or why it cannot be used."""
    from dayline.media.decode import BadImageError, read_photo
    from dayline.media.videos import read_video_frame, with_live_video

    headers: dict[Path, Frame | str] = {}

    def read(path: Path) -> Frame:
        if is_video_name(path.name):
            return read_video_frame(path, found.name(path))[0]
        photo, _ = read_photo(path, found.name(path))
        return with_live_video(photo, found.live.get(path))

    files = [*found.photos, *found.videos]
    for done, path in enumerate(files):
        if on_step is not None and done % 100 == 0:
            on_step("photos", done, len(files))
        try:
            headers[path] = read(path)
        except BadImageError as error:
            headers[path] = str(error)
        # The video beside a photo that is not its live part is one of its own: it is read, too.
        if path in found.live and not is_live(headers[path]):
            files.append(found.live[path])
    return headers


def is_live(photo: Frame | str) -> bool:
    """Return whether the video beside a photo is its live part, if the photo could be read."""
    return isinstance(photo, Frame) and photo.live is not None


def with_clocks(
    photos: Photos, *, offsets: Mapping[str, float], order: Literal["time", "name"]
) -> tuple[Photos, tuple[str, ...]]:
    """Name the clocks that can be compared; return the photos, and notes.

    Parameters
    ----------
    photos : Photos
        The photos.
    offsets, order
        See `read_photo_folder`.
    """
    photos, notes = with_given_offsets(with_camera_clocks(photos), offsets)
    if order == "time":
        return clocks_to_compare(photos), notes
    # Times that were corrected would change the order.
    return replace(photos, frames=tuple(replace(f, clock="") for f in photos.frames)), notes


def with_given_offsets(
    photos: Photos, offsets: Mapping[str, float]
) -> tuple[Photos, tuple[str, ...]]:
    """Add the given seconds to the times of cameras, whose clocks count as right then.

    Parameters
    ----------
    photos : Photos
        Photos with the names of their cameras (see `with_camera_clocks`).
    offsets : mapping of str to float
        Seconds to add, by name of the camera, its model, or the folder of its photos.

    Returns
    -------
    tuple of Photos, and tuple of str
        The photos, and a note for each camera whose times changed.
    """
    frames = list(photos.frames)
    notes = []
    for name, seconds in offsets.items():
        fits = [i for i, frame in enumerate(photos.frames) if name.casefold() in _names_of(frame)]
        if not fits:
            tops = {frame.name.partition("/")[0] for frame in frames if "/" in frame.name}
            models = {frame.camera.model for frame in frames if frame.camera.model}
            known = ", ".join(dict.fromkeys([*sorted(tops), *sorted(models)]))
            known = f"there are: {known}" if known else "no photo names its camera"
            raise ValueError(f"--offset {name}: no camera or folder has this name; {known}")

        for i in fits:
            frames[i] = replace(frames[i], shift=seconds, clock="")
        if seconds:
            way = "added to" if seconds > 0 else "taken from"
            notes.append(f"{span_text(abs(seconds))} {way} the times of {name}, as requested")
    return replace(photos, frames=tuple(frames)), tuple(notes)


def _names_of(frame: Frame) -> set[str]:
    """Return all names under which a person may give the offset of a photo's camera."""
    folders = frame.name.casefold().split("/")[:-1]
    return {frame.clock.casefold(), frame.camera.model.casefold(), *folders}


def photo_sequence(
    photos: Photos,
    *,
    order: Literal["time", "name"] = "time",
    notes: Sequence[str] = (),
) -> FrameSequence:
    """Put photos in order.

    Parameters
    ----------
    photos : Photos
        The photos.
    order : {"time", "name"}
        See `read_photo_folder`.
    notes : sequence of str
        Notes to add.
    """
    ordered, rule, found = in_order(photos.frames, folder_name=photos.root.resolve().name, by=order)
    return FrameSequence(
        source=photos.root,
        kind="photos",
        frames=ordered,
        clock="wall" if any(frame.time is not None for frame in ordered) else None,
        order=rule,
        notes=(*found, *notes),
        skipped=photos.skipped,
        aside=in_order(photos.aside)[0] if photos.aside else (),
    )


def without_copies(photos: Photos) -> Photos:
    """Keep one of several copies of a photo, the first by name, and add a note.

    Photos are copies if their pictures and times are equal.
    """
    originals: dict[tuple[str, float | None], Frame] = {}
    copies: dict[str, Frame] = {}
    for frame in sorted(photos.frames, key=lambda frame: natural_key(frame.name)):
        # A camera in the dark may write the same picture twice, under names with different times.
        original = originals.setdefault((frame.digest, own_time(frame)), frame)
        if original is not frame:
            copies[frame.name] = original
    if not copies:
        return photos
    kept = tuple(frame for frame in photos.frames if frame.name not in copies)
    first = next(frame.name for frame in photos.frames if frame.name in copies)
    note = (
        f"{counted(len(copies), 'file is a copy', 'files are copies')} of another (first"
        f" {first}, of {copies[first].name}); each photo is used once"
    )
    return replace(photos, frames=kept, notes=(note, *photos.notes))


def _notes_of_unused(found: FilesFound) -> Iterator[str]:
    """Say which files in the folder are not used."""
    counts = ((found.n_hidden, "hidden"), (found.n_other, "other"))
    passed = ", ".join(f"{n} {what}" for n, what in counts if n)
    if passed:
        yield f"skipped files that are not photos or videos: {passed}"
    if found.n_raw_twins:
        files = counted(found.n_raw_twins, "RAW file is", "RAW files are")
        yield f"{files} not used, since the same photo is there in another format"
    if found.results:
        n, first = len(found.results), found.name(found.results[0])
        yield f"skipped folders with earlier results: {n} (first {first})"


def _no_photos_text(found: FilesFound) -> str:
    """Return the error for a folder without photos, with the way out."""
    nothing = f"{shown_name(found.root)}: contains no photos"
    if found.videos:
        videos, first = counted(len(found.videos), "video"), found.name(found.videos[0])
        return (
            f"{nothing} but {videos}; pass one of them ({first}), or all of them: dayline batch"
            " FOLDER -o OUT"
        )
    kinds = " ".join(sorted(s.lstrip(".") for s in PHOTO_SUFFIXES))
    return f"{nothing} ({kinds}); pass a folder with photos"
