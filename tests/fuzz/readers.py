"""Read a file of each format as a user of dayline does, and keep answers and notes."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.samples import PHOTO_NAMES, photo

Answer = dict[str, Any]


@dataclass
class Reading:
    """What a reader answered, aspect by aspect, and its words: notes, warnings, files left out."""

    answer: Answer
    words: list[str] = field(default_factory=list)


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).tobytes())
    return digest.hexdigest()


def _table(path: Path) -> Reading:
    from dayline.features.tables import read_features

    with _warnings_as_words() as words:
        table = read_features(path)
    answer = {
        "shape": table.features.shape,
        "has times": table.times is not None,
        "dtype": str(table.features.dtype),
        "values": _digest(table.features, *(() if table.times is None else (table.times,))),
    }
    return Reading(answer, words)


def _events(path: Path) -> Reading:
    from dayline.events import read_events

    with _warnings_as_words() as words:
        return Reading(asdict(read_events(path)), words)


def _places(path: Path) -> Reading:
    from dayline.album.recognize import read_places

    with _warnings_as_words() as words:
        places = read_places(path)
    sightings = [
        # Directions are computed in another way by the second reader.
        asdict(sighting)
        | {
            "features": tuple(sighting.features.round(9).tolist()),
            "place": place.id,
        }
        for place in places
        for sighting in place.sightings
    ]
    return Reading(
        {"places": [(place.id, place.name) for place in places], "sightings": sightings}, words
    )


def _talk(path: Path) -> Reading:
    """Read a transcript, and go on with it as segmenting does."""
    from dayline.album.titles import event_titles_of
    from dayline.features.talk import talk_features
    from dayline.media.talk import read_talk, sentences

    with _warnings_as_words() as words:
        talk = read_talk(path)
        said = sentences(talk.cues)
        texts = [one.text for one in said]
        features = talk_features(texts, word_vectors=False)
        titles = event_titles_of([texts[:2], texts[2:]])
    starts = [cue.start for cue in talk.cues]
    assert starts == sorted(starts), "cues are in order"
    assert all(cue.text.strip() and cue.end >= cue.start >= 0 for cue in talk.cues)
    assert len(features) == len(said)
    assert np.isfinite(features).all()
    answer = {"cues": talk.cues, "features": _digest(features), "titles": titles}
    return Reading(answer, [*words, *talk.notes])


def _learned(path: Path) -> Reading:
    from dayline import Learned

    with _warnings_as_words() as words:
        return Reading(vars(Learned.load(path)), words)


def _onnx(path: Path) -> Reading:
    from dayline.features.extract import extract_features, load_extractor

    random = np.random.default_rng(4)
    images = [random.integers(0, 256, (40, 48, 3), dtype=np.uint8) for _ in range(3)]
    with _warnings_as_words() as words:
        extractor = load_extractor(str(path), threads=1)
        features = extract_features(images, extractor)
    answer = {
        "n_features": (extractor.n_features, features.shape),
        "input_size": extractor.input_size,
        "values": _digest(features),
    }
    return Reading(answer, words)


def _photos(path: Path) -> Reading:
    return _images(path.parent, every=None)


def _video(path: Path) -> Reading:
    return _images(path, every=1e-6)  # so that all frames are taken


def _images(source: Path, *, every: float | None) -> Reading:
    """Read all frames and leave out those that cannot be decoded, as segmenting does."""
    from dayline.events import SkippedFile
    from dayline.media.frame import refuse_mostly_bad
    from dayline.media.source import images, open_source

    with _warnings_as_words() as words:
        sequence = open_source(source, every=every)
        failed: dict[int, str] = {}
        pixels = dict(images(sequence, size=64, on_skip=failed.__setitem__, on_note=words.append))
        lost = [SkippedFile(sequence.names[i], why) for i, why in failed.items()]
        kept = tuple(frame for i, frame in enumerate(sequence.frames) if i not in failed)
        skipped = (*sequence.skipped, *lost)
        refuse_mostly_bad(source, skipped, n_good=len(kept))
        sequence = replace(sequence, frames=kept, skipped=skipped)
    words += [*sequence.notes, *(f"{skipped.name}: {skipped.why}" for skipped in sequence.skipped)]
    assert len(pixels) == sequence.n_frames, "a frame that neither came nor was left out"
    answer = {
        "n_frames": sequence.n_frames,
        # A frame of a video is called by its time.
        "names": sequence.names if sequence.kind == "photos" else None,
        "times": sequence.times,
        "clock": sequence.clock,
        "sizes": tuple(image.shape for image in pixels.values()),
        "pixels": _digest(*pixels.values()),
    }
    return Reading(answer, words)


@contextmanager
def _warnings_as_words() -> Iterator[list[str]]:
    """Collect dayline's own warnings; one of a library would not name the file."""
    words: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings(
            "ignore", category=UserWarning, module=r"PIL\."
        )  # as dayline.media.decode does
        yield words
    for warning in caught:
        if warning.category is not UserWarning:
            where = f"{warning.filename}:{warning.lineno}"
            raise RuntimeError(f"{warning.category.__name__} at {where}: {warning.message}")
        words.append(str(warning.message))


def place_beside(path: Path) -> None:
    """Put beside a photo the others of its folder, undamaged."""
    if READERS[path.suffix[1:]] is not _photos:
        return
    for position, name in enumerate(PHOTO_NAMES):
        if name != path.stem:
            path.with_name(f"{name}.jpeg").write_bytes(photo(position))


READERS: dict[str, Callable[[Path], Reading]] = {
    **dict.fromkeys(("npy", "npz", "csv", "parquet"), _table),
    "json": _events,
    "places": _places,
    "learned": _learned,
    **dict.fromkeys(("srt", "vtt", "talk.json", "srv3"), _talk),
    "onnx": _onnx,
    **dict.fromkeys(("jpeg", "gif", "tiff", "heic"), _photos),
    **dict.fromkeys(("mp4", "mov", "fragments.mp4", "mkv", "webm", "avi", "wmv", "ts"), _video),
}
