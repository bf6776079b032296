"""Features, colors and pipeline results from the photos of a labeled day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dayline.album.extraction import FrameReader, features_of, read_source
from dayline.album.segment import segment_source
from dayline.album.settings import Settings
from dayline.arrays import FloatArray, IntArray
from dayline.events import labels_to_boundaries
from dayline.features.extract import load_extractor
from dayline.media.frame import FrameSequence
from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.reproduce.tasks import OnDone
from dayline.result_folder import output_folder


@dataclass(frozen=True)
class Pixels:
    """How to compute features from photos.

    Attributes
    ----------
    model : str
        See `dayline.features.extract.load_extractor`.
    store : Path
        Folder for what was computed, with one folder per day.
    """

    model: str
    store: Path

    @property
    def name(self) -> str:
        """Name of the model, without the folder of its file."""
        return Path(self.model).stem if self.model.lower().endswith(".onnx") else self.model

    def folder(self, sequence: LabeledSequence, what: str) -> Path:
        """Where something computed from one day is kept; `what` is a model's name."""
        return self.store / sequence.group / sequence.name / what


@dataclass(frozen=True)
class FromPixels:
    """Methods that need the photos themselves; they take a sequence and a seed."""

    pixels: Pixels
    colors: Mapping[str, FloatArray]

    def by_colors(self, sequence: LabeledSequence, _: int) -> IntArray:
        """Apply AC-color to the colors of the photos."""
        from dayline.research.baselines.ac_color import ColorSegmenter

        return np.asarray(ColorSegmenter().fit(self.colors[sequence.name]).boundaries_)

    def by_command(self, sequence: LabeledSequence, _: int) -> IntArray:
        """Run `dayline segment`, with times, pauses, bursts and the typical duration of events."""
        result = segment_source(
            sequence.images[0].parent,
            store=self.pixels.folder(sequence, self.pixels.name),
            model=self.pixels.model,
            order="name",
        )
        opens = np.zeros(result.segmentation.n_frames, dtype=bool)
        opens[list(result.segmentation.boundaries)] = True
        # The folder may contain photos that the ground truth does not.
        event = dict(zip(_file_names(result.sequence), np.cumsum(opens).tolist(), strict=True))
        return labels_to_boundaries([event[image.name] for image in sequence.images])


def extract_days(
    sequences: list[LabeledSequence], pixels: Pixels, *, on_done: OnDone | None = None
) -> tuple[list[LabeledSequence], FromPixels]:
    """Compute the features of every day from its photos, reusing those of an earlier run.

    Parameters
    ----------
    sequences : list of LabeledSequence
        With images.
    pixels : Pixels
        How to compute them.
    on_done : callable, optional
        Called as on_done(what, done, total) for every photo.
    """
    seen, colors = [], {}
    for sequence in sequences:
        features = _extract(sequence, pixels, pixels.model, pixels.name, on_done)
        colors[sequence.name] = _extract(sequence, pixels, "color-lab", "color-lab", on_done)
        seen.append(replace(sequence, features=features))
    return seen, FromPixels(pixels, colors)


def _file_names(photos: FrameSequence | None) -> list[str]:
    return [] if photos is None else [path.name for path in photos.paths]


def _extract(
    sequence: LabeledSequence, pixels: Pixels, model: str, name: str, on_done: OnDone | None
) -> FloatArray:
    """Return features in the order of the truth, which needs every photo."""
    folder = sequence.images[0].parent
    extractor = load_extractor(model, threads=1)

    def on_step(_: str, done: int, total: int) -> None:
        if on_done is not None:
            on_done(f"{name} on {sequence.name}", done, total)

    with output_folder(pixels.folder(sequence, name)) as store:
        reader = FrameReader(extractor, store, on_step=on_step)
        photos = read_source(folder, reader, Settings(order="name"))
    index_of = {file: k for k, file in enumerate(_file_names(photos))}
    lost = [image for image in sequence.images if image.name not in index_of]
    if lost:
        why = {file.name: file.why for file in photos.skipped}.get(
            lost[0].name, "not found among the photos"
        )
        raise ValueError(
            f"{lost[0]}: {why}; the ground truth counts every photo: repair it, or leave out"
            " the day"
        )
    return features_of(photos)[[index_of[image.name] for image in sequence.images]]
