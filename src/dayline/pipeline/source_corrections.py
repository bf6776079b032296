"""A person's corrections among the frames of a source: those passed, or those that an earlier run kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from dayline.events import Segmentation
from dayline.frames import FrameSequence
from dayline.pipeline.corrections import Corrections, read_corrections
from dayline.pipeline.events_file import kept_corrections
from dayline.pipeline.same_photos import SAME_TIME_WITHIN, same_photos

__all__ = ["check_corrections", "corrections_in_folder", "file_sizes", "located_corrections"]


def corrections_in_folder(
    folder: Path | None, locate: Callable[[Segmentation | None], Corrections]
) -> Segmentation | None:
    """Return the corrections kept in a folder; raise if they are for another source."""
    kept = None if folder is None else kept_corrections(folder)
    try:
        check_corrections(kept, locate)
    except ValueError as error:
        raise ValueError(
            f"{folder}: {error}; or forget them (--forget-corrections), or choose another folder (-o)"
        ) from None
    return kept


def check_corrections(corrected: Segmentation | None, locate: Callable[[Segmentation | None], Corrections]) -> None:
    """Raise if corrections are for another source; what else is wrong with them is told when they are used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        locate(corrected)


def located_corrections(sequence: FrameSequence, corrected: Segmentation | None) -> Corrections:
    """Find the corrected events among the frames of a sequence."""
    if corrected is None:
        return Corrections()
    return read_corrections(
        corrected,
        n_frames=sequence.n_frames,
        names=sequence.names,
        times=_times_as_saved(sequence, corrected),
        sizes=file_sizes(sequence),
        source=sequence.source.resolve().name,
    )


def _times_as_saved(sequence: FrameSequence, corrected: Segmentation) -> tuple[float, ...] | None:
    """Return the times of the frames, uncorrected for those that a person saved before their clock was corrected."""
    if not sequence.shown_times or sequence.times is None or corrected.times is None or corrected.names is None:
        return sequence.times
    saved = corrected.times
    same = same_photos(corrected, sequence.names, sequence.shown_times, file_sizes(sequence)).tolist()
    both = zip(same, sequence.times, sequence.shown_times, strict=True)
    return tuple(shown if k >= 0 and abs(saved[k] - shown) <= SAME_TIME_WITHIN else now for k, now, shown in both)


def file_sizes(sequence: FrameSequence) -> tuple[int, ...]:
    """Return the size of every frame's file in bytes; frames of a video share one."""
    if sequence.kind == "video":
        return (sequence.source.stat().st_size,) * sequence.n_frames
    return tuple(path.stat().st_size for path in sequence.paths)
