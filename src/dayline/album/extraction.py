"""Read every frame once: header, digest, features, burst signature, quality and thumbnail."""

from __future__ import annotations

import hashlib
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from dayline.album.export.formats import Kind
from dayline.album.key_photos import SMALL, measure_photo, picture_quality
from dayline.album.pictures import DECODED_SIDE, PictureFolder
from dayline.album.settings import Settings
from dayline.arrays import FloatArray
from dayline.events import SkippedFile
from dayline.features.extract import Extractor, extract_features, load_extractor
from dayline.features.store import Key, load_seen, save_seen
from dayline.features.tables import FeatureTable
from dayline.media.breaks import signature
from dayline.media.frame import (
    TABLE_SUFFIXES,
    VIDEO_SUFFIXES,
    Frame,
    FrameSequence,
    Image,
    Seen,
    is_video_name,
    refuse_mostly_bad,
    shown_name,
)
from dayline.media.photos import is_live
from dayline.media.source import ahead, images, open_source
from dayline.media.talk import Cue, Talk, is_talk, sentences
from dayline.media.walk import FilesFound, find_files
from dayline.progress import OnStep

STORE = "features.npz"
AT_ONCE = 8
"""Frames that a thread takes at once."""

SAVE_EVERY = 10.0
"""Seconds between two times at which what was seen is saved; more if that takes long."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FrameReader:
    """Reads frames: once each, unless an earlier run has.

    Attributes
    ----------
    extractor : Extractor
        What computes the features.
    store : Path or None
        Folder in which all that is seen is kept for the next run, even if this one is interrupted.
    pictures : PictureFolder or None
        Where thumbnails are written; nowhere if None.
    on_step : callable, optional
        Called as on_step("features", done, total).
    """

    extractor: Extractor
    store: Path | None = None
    pictures: PictureFolder | None = None
    on_step: OnStep | None = None

    def read_files(self, found: FilesFound) -> dict[Path, Frame | str]:
        """Read photos and videos; return what was seen of each, or why it cannot be used."""
        files = [*found.photos, *found.videos]
        frames = [Frame(found.name(path), path, live=found.live.get(path)) for path in files]
        read = self._read(frames)
        # Videos that are named like a photo beside them, but are not its live part.
        alone = [
            frame.live
            for frame, one in zip(frames, read, strict=True)
            if frame.live is not None and not is_live(one)
        ]
        if alone:
            known = {
                _key(frame): one
                for frame, one in zip(frames, read, strict=True)
                if isinstance(one, Frame)
            }
            files += alone
            frames += [Frame(found.name(path), path) for path in alone]
            read = self._read(frames, known=known)
        return dict(zip(files, read, strict=True))

    def read_sequence(self, sequence: FrameSequence) -> FrameSequence:
        """Read the frames of a sequence; those that cannot be decoded are listed as skipped."""
        notes: dict[str, None] = {}
        film = sequence if sequence.kind == "video" else None
        frames = (*sequence.frames, *sequence.aside)
        read = self._read(frames, film, notes)
        seen = tuple(one for one in read[: sequence.n_frames] if isinstance(one, Frame))
        aside = tuple(one for one in read[sequence.n_frames :] if isinstance(one, Frame))
        lost = [
            SkippedFile(frame.name, why)
            for frame, why in zip(frames, read, strict=True)
            if isinstance(why, str)
        ]
        skipped = (*sequence.skipped, *lost)
        refuse_mostly_bad(sequence.source, skipped, n_good=len(seen))
        notes_too = (*sequence.notes, *notes)
        return replace(sequence, frames=seen, aside=aside, skipped=skipped, notes=notes_too)

    def _read(
        self,
        frames: Sequence[Frame],
        film: FrameSequence | None = None,
        notes: dict[str, None] | None = None,
        known: Mapping[Key, Frame] | None = None,
    ) -> list[Frame | str]:
        """Return what was seen of each frame, now or earlier, or why it cannot be used."""
        keys = [_key(frame) for frame in frames]
        stored: Mapping[Key, Frame] = {}
        if self.store is not None:
            stored, why = load_seen(self.store / STORE, self.extractor)
            if why:
                log.warning("%s; features are computed again", why)
        stored = {**stored, **(known or {})}
        unmodified = {key[:3]: frame for key, frame in stored.items()}
        read: list[Frame | str | None] = [
            _merged(frame, stored[key])
            if key in stored
            else _if_same(frame, unmodified.get(key[:3]))
            for frame, key in zip(frames, keys, strict=True)
        ]
        missing = [i for i, frame in enumerate(read) if frame is None]
        n_done = len(frames) - len(missing)
        n_saved = sum(key in stored for key in keys)
        if self.on_step is not None and n_done:
            self.on_step("features", n_done, len(frames))

        pixels: Iterable[tuple[int, Image | None]] = ((i, None) for i in missing)
        if film is not None and missing:
            pixels = images(
                film,
                size=self._size,
                indices=missing,
                on_skip=read.__setitem__,
                on_note=lambda note: None if notes is None else notes.setdefault(note),
                also=None if self.pictures is None else self.pictures.while_decoding(film),
            )
        rows = ((i, frames[i], image) for i, image in pixels)
        parts = iter(lambda: list(islice(rows, AT_ONCE)), [])

        saved_at, pause = monotonic(), SAVE_EVERY
        try:
            for part in ahead(self._read_part, parts, n_workers=min(os.cpu_count() or 1, 8)):
                for i, frame in part:
                    read[i] = frame
                n_done += sum(isinstance(frame, Frame) for _, frame in part)
                if self.on_step is not None and n_done:
                    self.on_step("features", n_done, len(frames))
                if monotonic() - saved_at > pause:
                    begin = monotonic()
                    self._save(keys, read)
                    n_saved, saved_at = n_done, monotonic()
                    pause = max(SAVE_EVERY, 20 * (saved_at - begin))
        finally:
            if n_done > n_saved:
                self._save(keys, read)
        return ["cannot be decoded" if frame is None else frame for frame in read]

    @property
    def _size(self) -> int:
        return max(SMALL, self.extractor.input_size)

    def _read_part(
        self, part: Sequence[tuple[int, Frame, Image | None]]
    ) -> list[tuple[int, Frame | str]]:
        """Read some frames, in a thread of its own; the pixels of photos are decoded here."""
        # Imported here, since films need no Pillow plug-ins.
        from dayline.media.decode import BadImageError, read_photo, small_gray
        from dayline.media.videos import read_video_frame, with_live_video

        side = max(DECODED_SIDE, self._size)
        read: list[tuple[int, Frame | str]] = []
        whole: list[tuple[int, Frame, Image]] = []
        for i, frame, image in part:
            if image is not None:
                whole.append((i, frame, image))
                continue
            try:
                if is_video_name(frame.path.name):
                    photo, pixels = read_video_frame(
                        frame.path, frame.name, size=side, score=picture_quality
                    )
                else:
                    photo, pixels = read_photo(frame.path, frame.name, size=side)
                    photo = with_live_video(photo, frame.live)
            except BadImageError as error:
                read.append((i, str(error)))
                continue
            if pixels is None:
                raise AssertionError("a size was given")
            if self.pictures is not None:
                self.pictures.keep(photo.digest, pixels)
            whole.append((i, _merged(frame, photo), pixels))

        features = extract_features(
            [image for _, _, image in whole],
            self.extractor,
            names=[frame.name for _, frame, _ in whole],
        )
        for (i, frame, image), row in zip(whole, features, strict=True):
            gray = small_gray(image, size=SMALL)
            seen = Seen(row, signature(gray), measure_photo(gray))
            read.append((i, replace(frame, seen=seen)))
        return read

    def _save(self, keys: Sequence[Key], read: Sequence[Frame | str | None]) -> None:
        frames = {
            key: frame for key, frame in zip(keys, read, strict=True) if isinstance(frame, Frame)
        }
        if self.store is None or not frames:
            return
        try:
            save_seen(self.store / STORE, self.extractor, frames)
        except OSError as error:
            log.warning("%s: features could not be saved (%s)", self.store / STORE, error)


def _key(frame: Frame) -> Key:
    """Identify a frame across runs by the name, size and times of its file."""
    # NumPy drops trailing NULs of a string, and lone surrogates cannot be written.
    name = frame.name.encode("utf-8", "backslashreplace").decode()
    try:
        about = frame.path.stat()
    except OSError:
        return name, -1, -1, -1  # reading it says what is wrong
    if frame.in_video is not None:
        name = f"{frame.path.name} {frame.in_video.stamp}"
    if frame.live is not None:
        # Another file beside the photo is looked at anew.
        name = f"{name} {shown_name(frame.live.name)}"
    return name, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _if_same(frame: Frame, earlier: Frame | None) -> Frame | None:
    """Return what was seen of a file that was changed since, if its picture is the same.

    It may have got a link or other rights, but also other metadata, or other content of this size.
    """
    if earlier is None:
        return None
    if frame.digest:
        return _merged(frame, earlier) if frame.digest == earlier.digest else None
    from dayline.media.decode import BadImageError, read_photo
    from dayline.media.videos import with_live_video

    try:
        photo = with_live_video(read_photo(frame.path, frame.name)[0], frame.live)
    except BadImageError:  # or a video
        return None
    return replace(photo, seen=earlier.seen) if photo.digest == earlier.digest else None


def _merged(frame: Frame, read: Frame) -> Frame:
    """Add what was read of a photo to a frame that may already have its place in a sequence."""
    if frame.digest:
        return replace(frame, seen=read.seen)
    live = None if read.live is None else frame.live
    return replace(read, name=frame.name, path=frame.path, live=live)


def frame_reader(settings: Settings, folder: Path | None, on_step: OnStep | None) -> FrameReader:
    """Return a reader that keeps what it sees in the folder of a result, with the pictures."""
    pictures = None
    if folder is not None and settings.thumbnails:
        pictures = PictureFolder(folder, settings.blur_faces)
    return FrameReader(load_extractor(settings.model, threads=1), folder, pictures, on_step)


def read_source(
    source: str | Path | FrameSequence, reader: FrameReader, settings: Settings
) -> FrameSequence:
    """Find the frames of a source, in order, and read each once.

    Parameters
    ----------
    source : str, Path or FrameSequence
        A folder of photos, a video, or photos already in order.
    reader : FrameReader
        How frames are read. Photos that were read already are not read again.
    settings : Settings
        How they are put in order.
    """
    if isinstance(source, FrameSequence):
        refuse_mostly_bad(source.source, source.skipped, n_good=source.n_frames)
        is_read = all(frame.seen is not None for frame in source.frames)
        return source if is_read else reader.read_sequence(source)
    found = open_source(
        source,
        every=settings.every,
        order=settings.order,
        offsets=dict(settings.offsets),
        timezone=settings.timezone,
        read_files=reader.read_files,
        keep_screenshots=settings.keep_screenshots,
    )
    return reader.read_sequence(found) if found.kind == "video" else found


def is_table(source: Path) -> bool:
    """Whether a source is a file of features, by its name."""
    return source.suffix.lower() in TABLE_SUFFIXES and not source.is_dir()


def source_kind(source: Path) -> Kind:
    """Return what a source is, by its name."""
    if source.is_dir():
        return "photos"
    return "features" if is_table(source) else "talk" if is_talk(source) else "video"


def source_digests(source: Path | FeatureTable | FrameSequence | Talk) -> Iterator[str]:
    """Yield the digests of the frames of a source, or of a film that is not read yet.

    Parameters
    ----------
    source : Path, FeatureTable, FrameSequence or Talk
        A folder of photos, a film, rows of features, frames, or a transcript. Other files have no
        digests.
    """
    if isinstance(source, FrameSequence):
        yield from source.digests
    elif isinstance(source, FeatureTable):
        yield from row_digests(source.features)
    elif isinstance(source, Talk):
        yield from sentence_digests(sentences(source.cues))
    elif source.is_dir():
        from dayline.media.decode import content_digest

        for path in find_files(source).photos:
            with path.open("rb") as file:
                yield content_digest(file)
    elif source.suffix.lower() in VIDEO_SUFFIXES and source.is_file():
        from dayline.media.film import film_digest

        with suppress(ValueError):  # a damaged film has no digest
            yield film_digest(source)


def row_digests(features: FloatArray) -> tuple[str, ...]:
    """Return a hash of every row of features: what the row is, wherever it stands."""
    rows = np.ascontiguousarray(np.ma.filled(features, np.nan), dtype=np.float64)
    return tuple(hashlib.sha256(row.tobytes()).hexdigest()[:32] for row in rows)


def sentence_digests(said: Sequence[Cue]) -> tuple[str, ...]:
    """Return a hash of every sentence: its words, and how often they were said before.

    Its time does not count, so that subtitles may be shifted.
    """
    times_said: Counter[str] = Counter()
    digests = []
    for one in said:
        content = f"{one.text}\n{times_said[one.text]}".encode("utf-8", "surrogatepass")
        digests.append(hashlib.sha256(content).hexdigest()[:32])
        times_said[one.text] += 1
    return tuple(digests)


def forget_read(folder: Path) -> None:
    """Remove what was read of photos from a folder to be shared: it says where they were taken."""
    (folder / STORE).unlink(missing_ok=True)


def features_of(sequence: FrameSequence) -> FloatArray:
    """Return the features of frames that were seen, one row per frame."""
    return np.stack([seen.features for seen in _all_seen(sequence)]).astype(np.float64)


def signatures_of(sequence: FrameSequence) -> NDArray[np.uint8]:
    """Return the signatures of frames that were seen, one row per frame."""
    return np.stack([seen.signature for seen in _all_seen(sequence)])


def measures_of(sequence: FrameSequence) -> FloatArray:
    """Return the measures of frames that were seen, one row per frame."""
    return np.stack([seen.measures for seen in _all_seen(sequence)]).astype(np.float64)


def _all_seen(sequence: FrameSequence) -> Iterator[Seen]:
    for frame in sequence.frames:
        if frame.seen is None:
            raise ValueError(f"{frame.name}: was not read at")
        yield frame.seen
