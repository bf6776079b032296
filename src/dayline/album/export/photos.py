"""Photos sorted into one folder per event as hard links, and XMP sidecars with their events.

A sidecar is a small file beside a photo with its event as a keyword, for photo managers.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree import ElementTree  # only to write; no untrusted XML is parsed

from dayline.album.export.folder import (
    check_ours,
    free_name,
    last_copies,
    remove_ours,
    replacing_folder,
    safe_name,
)
from dayline.album.export.table import (
    UNNAMED,
    event_titles,
    known_titles,
    place_name,
    time_text,
)
from dayline.events import Segmentation
from dayline.files import read_no_follow, write_text_whole
from dayline.media.frame import RAW_SUFFIXES, shown_name
from dayline.media.walk import LIVE_PHOTO, LIVE_VIDEO
from dayline.result_folder import SORTED_PHOTOS as MANIFEST
from dayline.text import clean_text, counted

CANNOT_LINK = {
    errno.EXDEV,
    errno.EPERM,
    errno.EACCES,
    errno.EMLINK,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
}


def sort_photos(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    source: str | Path,
    hidden: Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Create `folder` with one folder per event that contains its photos as hard links.

    If a hard link cannot be made (another disk, a file system without them), the photo is copied.
    The photos themselves are neither moved nor changed, and the short video of a live photo goes
    with it. A folder of an earlier run is replaced; one that contains anything else is refused.

    Parameters
    ----------
    segmentation : Segmentation
        Events with the names of their photos.
    folder : str or Path
        The folder to create; its parent must exist.
    source : str or Path
        The folder that the names are relative to.
    hidden : sequence of str
        Other photos in the source, whose links of an earlier run need not be kept.
    force : bool
        Replace a folder with other files, too; these are kept in a folder beside it.
    """
    folder = Path(folder)
    if segmentation.names is None:
        raise ValueError("the frames have no file names to sort; segment a folder of photos")
    if Path(source).resolve().is_relative_to(folder.resolve()):
        raise ValueError(
            f"{source} is inside {folder}, which would be replaced; choose another folder"
        )
    photos = [photo_path(name, source=source) for name in segmentation.names]
    unsorted = [photo_path(name, source=source) for name in hidden]
    live = _live_videos(photos, [*photos, *unsorted])
    originals = [*photos, *unsorted, *live.values()]
    with replacing_folder(folder, originals=originals, force=force) as made:
        for name, event in zip(folder_names(segmentation), segmentation.events, strict=True):
            (made / name).mkdir()
            taken: set[str] = set()
            for photo in photos[event.start : event.stop]:
                target = made / name / free_name(photo.stem, photo.suffix, taken)
                _link_or_copy(photo, target)
                if photo in live:
                    video = free_name(target.stem, live[photo].suffix, taken)
                    _link_or_copy(live[photo], made / name / video)
    return folder


def _live_videos(photos: Sequence[Path], items: Sequence[Path]) -> dict[Path, Path]:
    """Return the video beside each live photo: of its name, and no item of the day itself."""
    stills = {(p.parent, p.stem.casefold()): p for p in photos if p.suffix.lower() in LIVE_PHOTO}
    known = set(items)
    found: dict[Path, Path] = {}
    for folder in {folder for folder, _ in stills}:
        for path in sorted(folder.iterdir()):
            photo = stills.get((folder, path.stem.casefold()))
            is_video = path.suffix.lower() in LIVE_VIDEO and path not in known and path.is_file()
            if photo is not None and is_video:
                found.setdefault(photo, path)
    return found


def photo_path(name: str, *, source: str | Path) -> Path:
    """Return the path of a photo; raise if its name points outside the source."""
    if "\\" in name:
        # events.json holds names with unprintable bytes escaped; find the file whose escaped name
        # matches.
        shown = (
            p
            for p in Path(source).rglob("*")
            if shown_name(p.relative_to(source)) == name and p.is_file()
        )
        found = next(shown, None)
        if found is not None:
            return found
    path = Path(source) / checked_name(name)
    if not path.is_file():
        why = "" if Path(source).is_dir() else ", which is not a folder"
        raise ValueError(
            f"photo {clean_text(name)!r} is not in {source}{why}; pass the folder that was"
            " segmented"
        )
    return path


def checked_name(name: str) -> str:
    """Return the name of a photo; raise if it points outside the source."""
    parts = PurePosixPath(name).parts + PureWindowsPath(name).parts
    if (
        ".." in parts
        or PurePosixPath(name).is_absolute()
        or PureWindowsPath(name).anchor
        or "\0" in name
    ):
        raise ValueError(
            f"photo name {clean_text(name)!r} points outside the photo folder; repair the events"
            " file"
        )
    return name


def folder_names(segmentation: Segmentation) -> list[str]:
    """Name a folder per event: "2024-05-12 16.51 Lunch", without dates "03 16.51 Lunch"."""
    width = max(2, len(str(len(segmentation.events))))
    days = segmentation.start_dates
    taken: set[str] = set()
    names = []
    for number, (title, start) in enumerate(
        zip(known_titles(segmentation), segmentation.start_times, strict=True), start=1
    ):
        when = time_text(segmentation, start).replace(":", ".")[:-3]  # without seconds
        if start is None and days[number - 1] is not None:
            when = f"{days[number - 1]} {number:0{width}d}"
        elif not segmentation.is_dated:
            # Times of day alone do not sort the events of a night.
            when = f"{number:0{width}d} {when}".rstrip()
        names.append(free_name(f"{when} {safe_name(title or UNNAMED)}".rstrip(". "), "", taken))
    return names


def _link_or_copy(photo: Path, target: Path) -> None:
    photo = photo.resolve()
    try:
        os.link(photo, target)
    except OSError as error:
        if error.errno not in CANNOT_LINK:
            raise
        shutil.copy2(photo, target)


def remove_sorted_photos(folder: Path, photos: Sequence[Path] = ()) -> None:
    """Remove a folder that `sort_photos` wrote; raise if that would lose anything.

    Parameters
    ----------
    folder : Path
        The folder.
    photos : sequence of Path
        The photos in the source, as far as they are known.
    """
    if not (folder / MANIFEST).is_file():
        raise ValueError("dayline did not write it")
    check_ours(folder, photos)
    last = last_copies(folder, photos)
    if last:
        raise ValueError(f"{counted(len(last), 'photo')} in it may exist nowhere else")
    remove_ours(folder, photos)


ROOT = "dayline"
"""The keyword above all those that dayline writes, so that they can be removed in one go."""

NAMESPACES = {
    "x": "adobe:ns:meta/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "lr": "http://ns.adobe.com/lightroom/1.0/",
    "digiKam": "http://www.digikam.org/ns/1.0/",
}
FEW = 3


def write_xmp(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    source: str | Path | None = None,
    beside: bool = False,
    force: bool = False,
) -> Path:
    """Write a sidecar per photo into a folder with the same subfolders as the photos.

    IMG_1.jpg has IMG_1.jpg.xmp, the name that digiKam, darktable and Immich use. A raw photo,
    IMG_1.nef, has IMG_1.xmp, which Lightroom reads as well.

    Parameters
    ----------
    segmentation : Segmentation
        Events with the names of their photos.
    folder : str or Path
        The folder to create; its parent must exist. A folder of an earlier run is replaced; one
        that contains anything else is refused.
    source : str or Path, optional
        The folder that the names are relative to.
    beside : bool
        Also write each sidecar beside its photo. A sidecar that is there already is replaced only
        if it is the one that an earlier run wrote (the copy in `folder`); others are left as they
        are, with a warning.
    force : bool
        Replace a folder with other files, too; these are kept in a folder beside it.
    """
    folder = Path(folder)
    if segmentation.names is None or segmentation.clock == "media":
        raise ValueError(
            "sidecars describe photos, and these frames have no files; segment a folder of photos"
        )
    if beside and source is None:
        raise ValueError("needs the folder of photos; pass source (--source)")
    texts = _sidecars(segmentation, source)
    # Read before they are replaced: they show which sidecars beside the photos are ours.
    before = {}
    if beside and folder.is_dir():
        before = {name: read_no_follow(folder / name) for name in texts}

    with replacing_folder(folder, force=force) as made:
        for name, text in texts.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text, encoding="utf-8", newline="")
    if beside and source is not None:
        _write_beside(Path(source), texts, before)
    return folder


def has_old_sidecars_beside(segmentation: Segmentation, folder: Path, *, source: Path) -> bool:
    """Whether sidecars of an earlier run beside the photos differ from those of these events.

    Parameters
    ----------
    segmentation : Segmentation
        Events with the names of their photos.
    folder : Path
        The folder that `write_xmp` wrote.
    source : Path
        The folder of photos.
    """
    new = _sidecars(segmentation, source)
    for path in folder.rglob("*.xmp"):
        name = path.relative_to(folder).as_posix()
        if all(file.is_file() and not file.is_symlink() for file in (path, source / name)):
            before = path.read_bytes()
            if before == (source / name).read_bytes() and before != new.get(name, "").encode():
                return True
    return False


def sidecar_text(title: str, *, group: str = "", place: str = "") -> str:
    """Return a sidecar with the title of an event, and the name of its place, as keywords.

    Parameters
    ----------
    title : str
        The keyword.
    group : str
        The keyword above it, such as the date.
    place : str
        Name of the place.
    """
    paths = [(ROOT, *(part for part in (group, title) if part))]
    if place:
        paths.append((ROOT, "places", place))
    for prefix, uri in NAMESPACES.items():
        ElementTree.register_namespace(prefix, uri)
    root = ElementTree.Element(_name("x:xmpmeta"), {_name("x:xmptk"): "dayline"})
    about = ElementTree.SubElement(
        ElementTree.SubElement(root, _name("rdf:RDF")),
        _name("rdf:Description"),
        {_name("rdf:about"): ""},
    )
    bags = {
        ("dc:subject", "rdf:Bag"): [path[-1] for path in paths],
        ("lr:hierarchicalSubject", "rdf:Bag"): ["|".join(path) for path in paths],
        ("digiKam:TagsList", "rdf:Seq"): ["/".join(path) for path in paths],
    }
    for (name, kind), values in bags.items():
        bag = ElementTree.SubElement(ElementTree.SubElement(about, _name(name)), _name(kind))
        for value in dict.fromkeys(values):
            ElementTree.SubElement(bag, _name("rdf:li")).text = value
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _name(qualified: str) -> str:
    prefix, _, local = qualified.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def _sidecars(segmentation: Segmentation, source: str | Path | None) -> dict[str, str]:
    """Return the name and the content of the sidecar of every photo."""
    names = segmentation.names or ()
    if source is None:
        photos = [PurePosixPath(checked_name(name)) for name in names]
    else:
        # Names with unprintable bytes are looked up in the source.
        paths = [photo_path(name, source=source).relative_to(source) for name in names]
        photos = [PurePosixPath(path.as_posix()) for path in paths]

    texts = []
    titles = event_titles(segmentation)
    events = zip(segmentation.events, titles, segmentation.start_dates, strict=True)
    used: Counter[tuple[str, str]] = Counter()
    for event, title, day in events:
        group, place = day or segmentation.source or "", place_name(segmentation, event)
        # Two mornings of a day are two keywords.
        used[group, title] += 1
        if used[group, title] > 1 and not event.name:
            title = f"{title} ({used[group, title]})"
        text = sidecar_text(_keyword(title), group=_keyword(group), place=_keyword(place))
        texts += [text] * event.n_frames
    return dict(zip(_sidecar_names(photos), texts, strict=True))


def _keyword(text: str) -> str:
    """Keep the separators of hierarchies out of a keyword."""
    return re.sub(r"[|/]", "-", clean_text(text))


def _sidecar_names(photos: list[PurePosixPath]) -> list[str]:
    """Name the sidecar of every photo; two raw photos of one name keep their extensions."""
    names: list[str] = []
    taken = {f"{photo}.xmp".casefold() for photo in photos}
    for photo in photos:
        short = photo.with_suffix(".xmp").as_posix()
        if photo.suffix.lower() in RAW_SUFFIXES and short.casefold() not in taken:
            taken.add(short.casefold())
            names.append(short)
        else:
            names.append(f"{photo}.xmp")
    return names


def _write_beside(source: Path, texts: dict[str, str], before: dict[str, bytes | None]) -> None:
    """Write sidecars beside the photos, except where there is one that dayline did not write."""
    others = []
    for name, text in texts.items():
        path = source / name
        if os.path.lexists(path):
            present = None if path.is_symlink() else read_no_follow(path)
            if present is None or present not in (before.get(name), text.encode()):
                others.append(name)
                continue
        write_text_whole(path, text)
    if others:
        shown = ", ".join(clean_text(name) for name in others[:FEW])
        shown += ", ..." if len(others) > FEW else ""
        warnings.warn(
            f"{counted(len(others), 'sidecar')} not written by dayline, left unchanged: {shown}; "
            "those of dayline are in the xmp folder",
            stacklevel=2,
        )
