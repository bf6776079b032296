"""The video cut into one file per event: copied where possible, encoded again at the cuts."""

from __future__ import annotations

import logging
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dayline.album.export.chapters import Chapter
from dayline.album.export.clip_plan import Clip, clips_of, plan_copies
from dayline.album.export.encode import PictureEncoder, start_codes
from dayline.album.export.film import CONTAINERS, FilmCopy, stamped
from dayline.album.export.folder import replacing_folder
from dayline.events import Segmentation
from dayline.installation import needs_extra
from dayline.text import counted

if TYPE_CHECKING:
    from av.video.frame import VideoFrame as DecodedFrame

    from dayline.media.film_decode import VideoFile
    from dayline.media.frame import FrameSequence

COPIED = ("audio", "subtitle")
"""Streams that clips have besides the video."""

LATEST = 10.0
"""Seconds by which sound may lie behind the picture in a file; a clip is then finished."""

log = logging.getLogger(__name__)


@needs_extra("photos", "cutting a video")
def write_clips(
    segmentation: Segmentation,
    marks: Sequence[Chapter],
    folder: str | Path,
    *,
    source: str | Path,
    force: bool = False,
) -> Path:
    """Cut a video into one clip per event, exact to the picture.

    The pictures from the start of a clip up to the next key frame, and the last few if pictures are
    stored out of order, are encoded again; all others are copied bit for bit, and so is the sound.
    Where the codec does not allow to join both, a clip that does not begin and end at key frames is
    encoded again as a whole, which a warning says.

    Parameters
    ----------
    segmentation : Segmentation
        Events of the video.
    marks : sequence of Chapter
        Their chapters.
    folder : str or Path
        The folder to create; its parent must exist. A folder of an earlier run is replaced; one
        that contains anything else is refused.
    source : str or Path
        The video.
    force : bool
        Replace a folder with other files, too; these are kept in a folder beside it.
    """
    import av

    from dayline.media.film import read_video
    from dayline.media.film_decode import opened_video

    folder, source = Path(folder), Path(source)
    if segmentation.clock == "wall" or not source.is_file():
        raise ValueError("clips can only be cut from a video; use the photos export for photos")
    suffix = source.suffix.lower() if source.suffix.lower() in CONTAINERS else ".mkv"
    try:
        sequence = read_video(source)
        if sequence.video is None:
            raise AssertionError("a video has an index")
        with opened_video(source) as opened:
            encoder = PictureEncoder(opened.stream, suffix)
            can_join = encoder.can_join
        cuts = clips_of(segmentation, [mark.start for mark in marks], sequence.video)
        while True:
            with opened_video(source) as opened:
                ranks, clips = plan_copies(opened, sequence.video, cuts, can_join=can_join)
            try:
                with opened_video(source) as opened, replacing_folder(folder, force=force) as made:
                    _Cutter(opened, sequence, clips, made, suffix=suffix).cut(ranks)
                    _check_joined(clips, made, suffix)
                break
            except av.InvalidDataError:
                if not can_join:
                    raise
                can_join = False
        _say_what_is_encoded(clips, encoder, can_join=can_join)
    except av.FFmpegError as error:
        raise ValueError(f"{source} cannot be cut: {error.strerror}") from None
    return folder


def _say_what_is_encoded(clips: Sequence[Clip], encoder: PictureEncoder, *, can_join: bool) -> None:
    whole = [clip for clip in clips if not clip.copied]
    if whole and not can_join:
        given = encoder.stream.codec_context.codec.canonical_name
        warnings.warn(
            f"{len(whole)} of {counted(len(clips), 'clip')} encoded again as a whole, as"
            f" {encoder.codec}: encoded pictures cannot be joined to copied ones in"
            f" {'this film' if encoder.can_join else given}",
            stacklevel=4,
        )


def _check_joined(clips: Sequence[Clip], folder: Path, suffix: str) -> None:
    """Raise if the first clip with copied and encoded pictures has not all of them."""
    import av

    from dayline.media.film_decode import opened_video

    for clip in clips:
        if clip.copied and clip.encoded:
            with opened_video(folder / f"{clip.name}{suffix}") as opened:
                opened.stream.codec_context.options = {"err_detect": "explode"}
                n_shown = sum(1 for _ in opened.container.decode(opened.stream))
            if n_shown != clip.stop - clip.first:
                raise av.InvalidDataError(0, f"{n_shown} pictures of {clip.stop - clip.first}")
            return


class _Cutter:
    """Write all clips in one pass over the packets of a film, and one over those to decode."""

    def __init__(
        self,
        opened: VideoFile,
        sequence: FrameSequence,
        clips: Sequence[Clip],
        folder: Path,
        *,
        suffix: str,
    ) -> None:
        if sequence.video is None:
            raise AssertionError("a video has an index")
        self.opened, self.clips, self.folder = opened, clips, folder
        self.suffix = suffix
        self.streams = [opened.stream, *(s for s in opened.container.streams if s.type in COPIED)]
        self.encoder = PictureEncoder(opened.stream, suffix)
        self.shown_at = sequence.video.rows[:, 3].tolist()
        self.lost: list[str] = []
        self.decoded = self._decoded(sequence)
        self.due = next(self.decoded, None)
        if self.due is not None:
            self.encoder.turn_as(self.due[1])
        self.encoding: int | None = None  # the clip whose pictures are with the encoder
        self.files: dict[int, FilmCopy] = {}
        self.last: dict[int, int] = {}  # decoding time of the last picture of a clip
        self.filters: dict[int, Any] = {}

    def _decoded(self, sequence: FrameSequence) -> Iterator[tuple[int, DecodedFrame]]:
        from dayline.media.film_decode import decoded_frames
        from dayline.media.frame import VideoFrame

        rows = sequence.video.rows.tolist() if sequence.video is not None else []
        wanted = {k: VideoFrame(*rows[k]) for clip in self.clips for k in clip.encoded}
        yield from decoded_frames(
            sequence, wanted, on_skip=lambda _, why: self.lost.append(why), in_order=True
        )

    def cut(self, ranks: Sequence[int | None]) -> None:
        """Write the clips.

        Parameters
        ----------
        ranks : sequence of int or None
            See `plan_copies`.
        """
        zeros = [float(clip.zero) for clip in self.clips]
        clip_of = {n: k for k, clip in enumerate(self.clips) for n in clip.packets}
        number, finished = -1, 0
        try:
            for packet in stamped(self.opened.container.demux(self.streams)):
                stamp = packet.dts if packet.pts is None else packet.pts
                time = float(stamp * packet.time_base)
                if packet.stream.index == self.opened.stream.index:
                    if not packet.size:
                        continue
                    number += 1
                    rank = ranks[number] if number < len(ranks) else None
                    if rank is not None:
                        self._encode_until(rank)
                    if number in clip_of:
                        self._copy(clip_of[number], packet)
                else:
                    which = max(bisect_right(zeros, time) - 1, 0)
                    if which < finished:
                        log.warning(
                            "%s at %.1f s is left out: it lies far behind the picture",
                            packet.stream.type,
                            time,
                        )
                        continue
                    self._file(which).add(packet)

                # Thousands of events would need more open files than a system allows.
                while finished + 1 < len(zeros) and time > zeros[finished + 1] + LATEST:
                    self._finish(finished)
                    finished += 1
            self._encode_until(len(self.shown_at))
            self._flush()
        finally:
            for which in list(self.files):
                self._finish(which)
        if self.lost:
            log.warning("%s left out of clips: %s", counted(len(self.lost), "frame"), self.lost[0])

    def _file(self, which: int) -> FilmCopy:
        """Return the open file of a clip."""
        if which not in self.files:
            clip = self.clips[which]
            file = (self.folder / f"{clip.name}{self.suffix}").open("wb")
            copy = FilmCopy(
                file,
                self.opened.container,
                self.streams,
                kind=CONTAINERS[self.suffix],
                zero=clip.zero,
                encoder=self.encoder if clip.encoded else None,
                is_joined=bool(clip.copied),
            )
            copy.container.metadata["title"] = clip.name
            self.files[which] = copy
        return self.files[which]

    def _copy(self, which: int, packet: Any) -> None:
        """Copy a packet of pictures to its clip."""
        if self.encoding is not None:
            self._flush()
        self.last[which] = packet.dts
        packets = [packet]
        if self.clips[which].encoded and self.encoder.codec == "h264":
            if which not in self.filters:
                self.filters[which] = start_codes(self.opened.stream)
            stream, base = packet.stream, packet.time_base
            packets = self.filters[which].filter(packet)
            for one in packets:
                one.stream, one.time_base = stream, base
        for one in packets:
            self._file(which).add(one)

    def _encode_until(self, rank: int) -> None:
        """Encode the pictures up to one, those that are to be encoded again."""
        while self.due is not None and self.due[0] <= rank:
            number, frame = self.due
            which = bisect_right([clip.first for clip in self.clips], number) - 1
            if self.encoding not in (None, which):
                self._flush()
            self.encoding = which
            self._add(which, self.encoder.encode(frame, stamp=self.shown_at[number]))
            self.due = next(self.decoded, None)

    def _flush(self) -> None:
        if self.encoding is not None:
            self._add(self.encoding, self.encoder.flush())
        self.encoding = None

    def _add(self, which: int, packets: Sequence[Any]) -> None:
        """Write encoded packets to a clip."""
        clip = self.clips[which]
        for packet in packets:
            # Copied packets are decoded earlier than they are shown, and those before must be, too.
            decoded_at = packet.pts - clip.delay
            if which in self.last:
                decoded_at = max(decoded_at, self.last[which] + 1)
            packet.dts = self.last[which] = min(decoded_at, packet.pts)
            after = bisect_right(self.shown_at, packet.pts)
            if after < len(self.shown_at):
                packet.duration = self.shown_at[after] - packet.pts
            packet.stream = self.opened.stream
            self._file(which).add(packet)

    def _finish(self, which: int) -> None:
        if self.encoding == which:
            self._flush()
        self.filters.pop(which, None)
        clip = self.files.pop(which, None)
        if clip is None:
            return
        try:
            clip.close()
        finally:
            clip.file.close()
