"""The number of frames and features of a source, without computing or decoding anything."""

from __future__ import annotations

from pathlib import Path

from dayline.album.run import Settings, is_table
from dayline.features.tables import table_shape
from dayline.installation import needs_extra
from dayline.media.frame import FrameSequence
from dayline.media.walk import find_files

PIXEL_FEATURES = 1280
"""Features per photo of the default model; other models have about as many, or fewer."""


def sequence_size(source: Path | FrameSequence, settings: Settings) -> tuple[int, int]:
    """Return the number of frames and features of a source, as far as its headers tell.

    Parameters
    ----------
    source : Path or FrameSequence
        A folder of photos, a video, a feature file, or photos already in order.
    settings : Settings
        How it is read.

    Raises
    ------
    ValueError
        If the source cannot be read.
    """
    if isinstance(source, FrameSequence):
        return source.n_frames, PIXEL_FEATURES
    if is_table(source):
        n_rows, n_columns = table_shape(source, key=settings.key)
        return (n_columns, n_rows) if settings.transpose else (n_rows, n_columns)
    if source.is_dir():
        return len(find_files(source).photos), PIXEL_FEATURES
    return _video_frames(source, settings.every), PIXEL_FEATURES


@needs_extra("photos", "reading a video")
def _video_frames(source: Path, every: float | None) -> int:
    from dayline.media.film import default_every
    from dayline.media.film_decode import opened_video

    with opened_video(source) as video:
        microseconds = video.container.duration
    seconds = (microseconds or 0) / 1e6
    return int(seconds / (every or default_every(seconds))) + 1
