"""The shots of a film: from another program, from an earlier run, or found in its frames."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path

from dayline.events import Shot
from dayline.files import check_against, read_json, write_text_whole
from dayline.media.cut_lists import read_cuts
from dayline.media.frame import FrameSequence, MissingFrames
from dayline.media.shots import Limits, read_shots, shots_at
from dayline.progress import OnStep

STORE = "shots.json"
FORMAT, VERSION = "dayline-shots", 1
START = {"type": "array", "minItems": 2, "maxItems": 2}
GAP = {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "number"}}
SCHEMA = {
    "required": ["key", "starts", "missing"],
    "properties": {
        "starts": {"type": "array", "items": START},
        "missing": {"type": "array", "items": GAP},
    },
}


def film_shots(
    sequence: FrameSequence,
    *,
    cuts: Path | None = None,
    folder: Path | None = None,
    on_step: OnStep | None = None,
) -> tuple[tuple[Shot, ...], tuple[MissingFrames, ...]]:
    """Return the shots of a film, and where frames are missing.

    Parameters
    ----------
    sequence : FrameSequence
        The film.
    cuts : Path, optional
        A file of another program (see `dayline.media.cut_lists`).
    folder : Path, optional
        Where shots that were found are kept, so that the next run does not look for them again.
    on_step : callable, optional
        Called as on_step("shots", done, total).
    """
    if cuts is not None:
        return read_cuts(cuts, sequence), sequence.video.missing if sequence.video else ()
    if folder is None:
        return read_shots(sequence, on_step=on_step)
    key = _key(sequence)
    # A file that is damaged, or of another film or version, is replaced.
    with suppress(ValueError, KeyError, TypeError):
        kept = read_json(folder / STORE, kind="a file of shots", form=FORMAT, version=VERSION)
        if kept is not None and kept["key"] == key:
            check_against(SCHEMA, kept)
            starts = [(int(frame), how) for frame, how in kept["starts"]]
            missing = [MissingFrames(first, last, int(n)) for first, last, n in kept["missing"]]
            if all(how in ("cut", "dissolve", "fade") for _, how in starts):
                return shots_at(sequence, starts), tuple(missing)
    shots, gaps = read_shots(sequence, on_step=on_step)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "key": key,
        "starts": [[shot.start, shot.how] for shot in shots[1:]],
        "missing": [astuple(gap) for gap in gaps],
    }
    write_text_whole(folder / STORE, json.dumps(content) + "\n")
    return shots, gaps


def _key(sequence: FrameSequence) -> str:
    """Identify the film and how its shots are found."""
    film = sequence.frames[0].digest.partition(":")[0]
    return hashlib.sha256(f"{film} {astuple(Limits())}".encode()).hexdigest()[:32]
