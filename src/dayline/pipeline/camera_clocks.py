"""Find the cameras of a sequence whose clocks are wrong, and put their photos on the clock of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dayline.arrays import FloatArray
from dayline.frames import FrameSequence
from dayline.frames.clock_notes import span_text
from dayline.pipeline.bursts import signatures_in_bursts
from dayline.pipeline.clock_offset import FEWEST_PHOTOS, clock_offset
from dayline.pipeline.extraction import ExtractedFrames

__all__ = ["clock_corrections", "is_worth_comparing", "with_one_clock"]

DAY = 86_400.0


def is_worth_comparing(sequence: FrameSequence) -> bool:
    """Whether a sequence has photos of several cameras whose clocks can be compared."""
    if sequence.times is None or not sequence.cameras:
        return False
    names, counts = np.unique(sequence.cameras, return_counts=True)
    return int(np.sum((counts >= FEWEST_PHOTOS) & (names != "?"))) > 1


def clock_corrections(
    times: Sequence[float], cameras: Sequence[str], features: FloatArray, *, reference: str = ""
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Compare the clocks of cameras; return the seconds to add to the times of those that are wrong, and notes.

    Each camera is compared with those already known to agree, the one with the most photos first.

    Parameters
    ----------
    times : sequence of float
        Time of each photo.
    cameras : sequence of str
        Camera of each photo; "" stands for all whose clocks are right, "?" for none that can be compared.
    features : array of shape (n_photos, n_features)
        Features of the photos.
    reference : str
        The camera whose clock is taken as right; that with the most photos if there is none of this name.
    """
    moments, labels = np.asarray(times, dtype=np.float64), np.asarray(cameras)
    names, counts = np.unique(labels, return_counts=True)
    many = {str(n): int(c) for n, c in zip(names, counts, strict=True) if n != "?" and c >= FEWEST_PHOTOS}
    if len(many) < 2:
        return {}, ()
    ranked = sorted(many, key=lambda name: (name != "", name != reference, -many[name], name))
    right = [ranked[0]]
    corrections: dict[str, float] = {}
    notes: list[str] = []
    for name in ranked[1:]:
        known, own = np.isin(labels, right), labels == name
        found = clock_offset(moments[known], features[known], moments[own], features[own])
        ahead = 0.0 if found is None else found.correction
        if ahead:
            moments = np.where(own, moments - ahead, moments)
            corrections[name] = -ahead
            notes.append(_note(name, ahead, right[0]))
        if found is not None and found.is_clear:
            right.append(name)
    return corrections, tuple(notes)


def _note(name: str, ahead: float, reference: str) -> str:
    other = f" that of {reference}" if reference else " the others"
    way = "ahead of" if ahead > 0 else "behind"
    return (
        f"the clock of {name} is {span_text(abs(ahead))} {way}{other}, by photos that look alike; its times were "
        f"corrected (--offset {name!r}=0 keeps them)".replace("'", '"')
    )


def with_one_clock(extracted: ExtractedFrames) -> ExtractedFrames:
    """Return frames with the times of all cameras on one clock, in the order of these times.

    Parameters
    ----------
    extracted : ExtractedFrames
        The frames of a sequence, with their features.
    """
    sequence = extracted.sequence
    if not is_worth_comparing(sequence) or sequence.times is None:
        return extracted
    corrections, notes = clock_corrections(
        sequence.times, sequence.cameras, extracted.features, reference=sequence.reference
    )
    if not corrections:
        return extracted
    times = [t + corrections.get(c, 0.0) for t, c in zip(sequence.times, sequence.cameras, strict=True)]
    order = np.argsort(times, kind="stable").tolist()
    moved = replace(
        sequence,
        names=tuple(sequence.names[i] for i in order),
        times=tuple(times[i] for i in order),
        paths=tuple(sequence.paths[i] for i in order),
        cameras=tuple(sequence.cameras[i] for i in order),
        shown_times=tuple((sequence.shown_times or sequence.times)[i] for i in order),
        locations=tuple(sequence.locations[i] for i in order) if sequence.locations else (),
        notes=(*notes, *sequence.notes),
    )
    lost: dict[int, str] = {}  # of a photo that cannot be decoded any more, the features are still known
    return replace(
        extracted,
        sequence=moved,
        features=extracted.features[order],
        quality=extracted.quality[order],
        signatures=signatures_in_bursts(moved, on_skip=lost.__setitem__),
    )
