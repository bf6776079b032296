"""Group the photos of many folders by day, and tell their cameras apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from dayline.arrays import FloatArray, IntArray
from dayline.events import SkippedFile
from dayline.media.clocks import clocks_of_most, records_zone
from dayline.media.exif import date_in_file_name, date_in_name, own_time, times_of_day
from dayline.media.frame import NOON, Camera, Frame, Photos, natural_key, shown_name
from dayline.media.order import filled
from dayline.media.walk import CAMERA_FOLDER
from dayline.text import counted, midnight

DAY = 86_400.0
NIGHT_ENDS = 6 * 3600.0
USUAL_START = 4 * 3600.0
SHORTEST_NIGHT = 3600.0


def day_numbers(times: Sequence[float] | FloatArray) -> IntArray:
    """Return the day of each photo, counted from 1970-01-01.

    A day begins in the longest pause that lies in or touches the time from midnight to 06:00, so
    that a party that ends at 03:00 belongs to its evening and a start at 05:00 to the day that
    follows. If no pause there lasts an hour, the day begins at 04:00.

    Parameters
    ----------
    times : sequence of float
        Local times in seconds since 1970, in any order.
    """
    seconds = np.asarray(times, dtype=np.float64)
    ordered = np.sort(seconds)
    numbers = np.floor(seconds / DAY).astype(np.int64)
    for day in np.unique(numbers[(seconds % DAY) < NIGHT_ENDS]).tolist():
        start = _start(ordered, day * DAY)
        before = (numbers == day) & (seconds < start)
        numbers[before] = day - 1
    return numbers


def _start(ordered: FloatArray, midnight: float) -> float:
    """Return when the day that follows a midnight begins."""
    first, stop = np.searchsorted(ordered, [midnight, midnight + NIGHT_ENDS])
    # The photos of the night, with one on each side; there, a day without photos counts as a long
    # pause.
    early = ordered[first - 1] if first else -np.inf
    late = ordered[stop] if stop < len(ordered) else np.inf
    night = np.concatenate(
        [[max(early, midnight - DAY)], ordered[first:stop], [min(late, midnight + DAY)]]
    )
    gaps = np.diff(night)
    longest = int(np.argmax(gaps))
    if gaps[longest] < SHORTEST_NIGHT:
        return midnight + USUAL_START
    return float(night[longest] + gaps[longest] / 2)


def day_text(number: int) -> str:
    """Return the date of a day as 2023-07-15."""
    return str(np.datetime64(number, "D"))


Days: TypeAlias = tuple[tuple[str, Photos], ...]
"""The photos of each day, or of a folder without dates, by its name."""


def photo_times(photos: Photos) -> tuple[list[float | None], list[bool]]:
    """Return the local time of each photo, and whether it is known exactly.

    A photo whose name contains only a date has its noon. One without any time has that of the photo
    before it in name order if at least half of the photos in its folder have a time; in other
    folders no photo has a time.

    Parameters
    ----------
    photos : Photos
        The photos.
    """
    names = [frame.name for frame in photos.frames]
    times = [own_time(frame) for frame in photos.frames]
    exact = [t is not None for t in times]
    folders: dict[str, list[int]] = defaultdict(list)
    for i in sorted(range(len(names)), key=lambda i: (natural_key(names[i]), names[i])):
        folders[names[i].rpartition("/")[0]].append(i)

    for folder, inside in folders.items():
        if not any(exact[i] for i in inside):
            parts = (*reversed(folder.split("/")), photos.root.resolve().name)
            day = next((day for part in parts if (day := date_in_name(part)) is not None), None)
            clock = None if day is None else times_of_day([names[i] for i in inside])
            for i, t in zip(inside, clock or [], strict=False):
                if t is not None and day is not None:
                    times[i], exact[i] = day + t, True
        for i in inside:
            if times[i] is None and (date := date_in_file_name(names[i])) is not None:
                times[i] = midnight(date) + NOON

        known = [i for i in inside if times[i] is not None]
        if known and 2 * len(known) >= len(inside):
            for i, t in zip(inside, filled([times[i] for i in inside]), strict=True):
                times[i] = t
        else:
            for i in known:
                times[i] = None
    moved = [None if t is None else t + f.shift for t, f in zip(times, photos.frames, strict=True)]
    return moved, exact


def group_by_day(photos: Photos) -> tuple[Days, tuple[str, ...]]:
    """Group photos by day, and note which folders could only be taken as they are.

    If each folder directly below the root has exactly one day, and each day one folder, these
    folders are the days (see `group_by_folder`). Otherwise they have the dates. Photos without
    dates stay together by folder; those in the root itself have its name.

    Parameters
    ----------
    photos : Photos
        Photos in one folder and its subfolders.
    """
    times, _ = photo_times(photos)
    numbers = iter(day_numbers([t for t in times if t is not None]).tolist())
    days: dict[int, list[Frame]] = defaultdict(list)
    undated: dict[str, list[Frame]] = defaultdict(list)
    for frame, t in zip(photos.frames, times, strict=True):
        if t is None:
            undated[_top(frame, photos)].append(frame)
        else:
            days[next(numbers)].append(frame)
    found = [(day_text(day), days[day]) for day in sorted(days)]
    loose = [(top, undated[top]) for top in sorted(undated, key=_by_name)]

    tops = [{_top(frame, photos) for frame in frames} for _, frames in [*found, *loose]]
    flat = [top for inside in tops for top in inside]
    is_one_to_one = "" not in flat and len(flat) == len(tops) == len(set(flat))
    if is_one_to_one and not all(CAMERA_FOLDER.fullmatch(top) for top in flat):
        return group_by_folder(photos)

    dates = {name for name, _ in found}
    own = photos.root.resolve().name
    named = [(top or own, frames) for top, frames in loose]
    named = [(f"{top} (folder)" if top in dates else top, frames) for top, frames in named]
    groups, alone = _with_skipped([*found, *named], photos)
    notes = [
        f"{shown_name(top or own)}: {counted(len(frames), 'photo')} without a date cannot be assigned"
        " to a day; this folder has a result of its own"
        for top, frames in loose
        if found
    ]
    # The others are listed in the largest day, which is refused if most of its files are lost.
    lost = [file for files in alone.values() for file in files]
    nothing = ("", Photos(photos.root, (), ()))
    name, most = max(groups, key=lambda day: len(day[1].frames), default=nothing)
    room = max(0, len(most.frames) - len(most.skipped))
    if more := lost[room:]:
        files = counted(len(more), "more file")
        notes.append(f"{files} cannot be read (first {more[0].name}: {more[0].why})")
    full = replace(most, skipped=(*most.skipped, *lost[:room]))
    return tuple((day, full if day == name else group) for day, group in groups), tuple(notes)


def group_by_folder(photos: Photos) -> tuple[Days, tuple[str, ...]]:
    """Group photos by the folder directly below the root, whatever their times.

    Names are relative to that folder. The folders that cameras start every thousand photos
    (100CANON, 101CANON) stay together.
    """
    folders: dict[str, list[Frame]] = defaultdict(list)
    for frame in photos.frames:
        folders[_top(frame, photos)].append(frame)
    if all(CAMERA_FOLDER.fullmatch(top) for top in folders):
        return ((photos.root.name, photos),), ()
    groups, alone = _with_skipped(list(folders.items()), photos)
    # Folders of which no photo can be read are days as well, which say so.
    entries = {shown_name(path.name): path.name for path in photos.root.iterdir()}
    closed = [
        (entries[top], Photos(photos.root, (), tuple(files)))
        for top, files in alone.items()
        if top in entries
    ]
    days = sorted((*groups, *closed), key=lambda day: _by_name(day[0]))
    return tuple((top, _below(group, top)) for top, group in days), ()


def without_loose_videos(photos: Photos) -> Photos:
    """Leave out videos outside of the folders that are the days."""
    loose = [frame for frame in photos.frames if not _top(frame, photos)]
    if not loose:
        return photos
    many = counted(len(loose), "video is", "videos are")
    note = f"{many} in no folder of a day, and not used (first {loose[0].name})"
    inside = tuple(frame for frame in photos.frames if _top(frame, photos))
    return replace(photos, frames=inside, notes=(*photos.notes, note))


def with_aside(groups: Days, aside: Sequence[Frame]) -> Days:
    """Give each file that is set aside to the day whose photos are nearest in time.

    One without a time goes to the day with photos in its folder, else to the first day.

    Parameters
    ----------
    groups : tuple of (str, Photos)
        The days.
    aside : sequence of Frame
        Screenshots and the like.
    """
    times: list[list[float]] = []
    folders: list[set[Path]] = []
    for _, photos in groups:
        known = [(own_time(frame), frame.shift) for frame in photos.frames]
        times.append([t + shift for t, shift in known if t is not None])
        folders.append({frame.path.parent for frame in photos.frames})
    given: list[list[Frame]] = [[] for _ in groups]
    for frame in aside:
        time = own_time(frame)
        if time is None:
            beside = [k for k, inside in enumerate(folders) if frame.path.parent in inside]
            given[beside[0] if beside else 0].append(frame)
        else:
            apart = [min((abs(t - time) for t in known), default=np.inf) for known in times]
            given[int(np.argmin(apart))].append(frame)
    return tuple(
        (name, replace(photos, aside=tuple(frames)))
        for (name, photos), frames in zip(groups, given, strict=True)
    )


def _below(photos: Photos, folder: str) -> Photos:
    """Make the names of photos in a folder relative to it."""
    prefix = f"{shown_name(folder)}/"
    frames = (replace(f, name=f.name.removeprefix(prefix)) for f in photos.frames)
    skipped = (replace(f, name=f.name.removeprefix(prefix)) for f in photos.skipped)
    return Photos(photos.root / folder, tuple(frames), tuple(skipped))


def _top(frame: Frame, photos: Photos) -> str:
    """Return the folder directly below the root that holds a photo; empty for the root itself."""
    parts = frame.path.relative_to(photos.root).parts
    return parts[0] if len(parts) > 1 else ""


def _folder(name: str) -> str:
    return name.partition("/")[0] if "/" in name else ""


def _by_name(folder: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    return natural_key(shown_name(folder))


def _with_skipped(
    groups: Sequence[tuple[str, Sequence[Frame]]], photos: Photos
) -> tuple[Days, dict[str, list[SkippedFile]]]:
    """Add each file that cannot be read to the group of its neighbor by name; return the others.

    A group gets files of the root only while it has more photos than such files, so that what is
    left in the root costs no day its result.
    """
    of_photo = {frame.name: k for k, (_, frames) in enumerate(groups) for frame in frames}
    lost = {file.name: file for file in photos.skipped}
    near: dict[str, int] = {}
    for name, k in of_photo.items():
        near.setdefault(_folder(name), k)
    skipped: dict[int, list[SkippedFile]] = defaultdict(list)
    alone: dict[str, list[SkippedFile]] = defaultdict(list)
    for name in sorted((*of_photo, *lost), key=natural_key):
        top = _folder(name)
        if name in of_photo:
            near[top] = of_photo[name]
        elif top in near and (top or len(skipped[near[top]]) < len(groups[near[top]][1])):
            skipped[near[top]].append(lost[name])
        else:
            alone[top or name].append(lost[name])
    return tuple(
        (name, Photos(photos.root, tuple(frames), tuple(skipped[k])))
        for k, (name, frames) in enumerate(groups)
    ), alone


def with_camera_clocks(photos: Photos) -> Photos:
    """Set the clock of each photo to the name of its camera, for comparing their clocks.

    Cameras differ in model or serial number. Photos without a serial number also differ by folder,
    if the folders' times overlap: one camera cannot fill two folders at once. The name is that of
    the folder if it has one camera and the camera one folder, otherwise the model.

    Parameters
    ----------
    photos : Photos
        The photos.
    """
    tops = _folders_of_cameras([frame.name for frame in photos.frames])
    cameras = _with_video_cameras(photos.frames)
    keys = list(zip(tops, (camera or Camera() for camera in cameras), strict=True))
    spans: dict[tuple[str, Camera], tuple[float, float]] = {}
    for key, t, known in zip(keys, *photo_times(photos), strict=True):
        if known and t is not None:
            low, high = spans.get(key, (t, t))
            spans[key] = min(low, t), max(high, t)

    owner = _merged(spans)
    keys = [owner.get(key, key) for key in keys]
    pairs = set(zip(tops, keys, strict=True))
    n_cameras, n_folders = Counter(top for top, _ in pairs), Counter(key for _, key in pairs)
    clocks = {key: _named(key, n_folders, n_cameras) for key in n_folders}
    frames = tuple(
        replace(frame, clock="?" if camera is None else clocks[key])
        for frame, key, camera in zip(photos.frames, keys, cameras, strict=True)
    )
    return replace(photos, frames=frames)


def _with_video_cameras(frames: Sequence[Frame]) -> list[Camera | None]:
    """Return the camera of each frame: few videos name it, so that of the photos beside counts.

    None for a video beside the photos of several cameras, or of none.
    """
    beside: dict[Path, set[Camera]] = defaultdict(set)
    for frame in frames:
        if frame.duration is None:
            beside[frame.path.parent].add(frame.camera)
    cameras: list[Camera | None] = []
    for frame in frames:
        if frame.duration is None or frame.camera != Camera():
            cameras.append(frame.camera)
        else:
            found = beside[frame.path.parent]
            cameras.append(next(iter(found)) if len(found) == 1 else None)
    return cameras


def clocks_to_compare(photos: Photos) -> Photos:
    """Leave only clocks that can be compared: "?" for the others, and "" for all if there is one.

    If an offset was given, the clocks of cameras that record time zones are right, too.

    Parameters
    ----------
    photos : Photos
        Photos with the names of their cameras; "" for those whose offset was given.
    """
    _, exact = photo_times(photos)
    frames = [
        frame if known else replace(frame, clock="?")
        for frame, known in zip(photos.frames, exact, strict=True)
    ]
    if any(frame.clock == "" for frame in photos.frames):
        # An offset that was given must not move a clock that is set by the network.
        right = clocks_of_most(frames, records_zone)
        frames = [replace(frame, clock="") if frame.clock in right else frame for frame in frames]
    if len({frame.clock for frame in frames} - {"?"}) < 2:
        frames = [replace(frame, clock="") for frame in frames]
    return replace(photos, frames=tuple(frames))


def _folders_of_cameras(names: Sequence[str]) -> list[str]:
    """Return the first folder in which the names differ; empty if there is none."""
    parts = [name.split("/")[:-1] for name in names]
    depth = 0
    while all(len(p) > depth for p in parts) and len({p[depth] for p in parts}) == 1:
        depth += 1
    return [p[depth] if len(p) > depth else "" for p in parts]


def _merged(
    spans: Mapping[tuple[str, Camera], tuple[float, float]],
) -> dict[tuple[str, Camera], tuple[str, Camera]]:
    """Find folders of one camera: the same serial number, or the same model at different times."""
    owner: dict[tuple[str, Camera], tuple[str, Camera]] = {}
    stops: dict[tuple[str, Camera], float] = {}
    for key in sorted(spans, key=lambda key: (spans[key], key[0])):
        camera, (start, stop) = key[1], spans[key]
        free = (k for k, end in stops.items() if k[1] == camera and (camera.serial or end < start))
        owner[key] = next(free, key)
        stops[owner[key]] = max(stop, stops.get(owner[key], stop))
    return owner


def _named(
    key: tuple[str, Camera],
    n_folders: Mapping[tuple[str, Camera], int],
    n_cameras: Mapping[str, int],
) -> str:
    """Name a camera, given the number of folders of each and of cameras in each folder."""
    top, camera = key
    if top and n_folders[key] == 1 and n_cameras[top] == 1:
        return top
    model = camera.model or "unknown camera"
    if not any(other[1].model == camera.model and other != key for other in n_folders):
        return model
    return (
        f"{model} {camera.serial}" if camera.serial else f"{model} in {top or 'the folder itself'}"
    )
