"""Features, colors and pipeline results from the photos of a labeled day."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dayline.album.extraction import FrameReader, features_of, read_source
from dayline.album.segment import segment_source
from dayline.album.settings import Settings
from dayline.arrays import FloatArray, IntArray
from dayline.events import labels_to_boundaries
from dayline.features.extract import load_extractor
from dayline.media.frame import FrameSequence
from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.reproduce.tables import OnDone
from dayline.result_folder import output_folder


@dataclass(frozen=True)
class Pixels:
    """How to compute features from photos.

    Attributes
    ----------
    model : str
        See `dayline.features.extract.load_extractor`.
    store : Path
        Folder for what was computed, with one folder per day and model.
    """

    model: str
    store: Path

    @property
    def name(self) -> str:
        """Name of the model, without the folder of its file."""
        return Path(self.model).stem if self.model.lower().endswith(".onnx") else self.model

    def folder(self, sequence: LabeledSequence) -> Path:
        """Where what was computed from one day is kept."""
        return self.store / sequence.group / sequence.name / self.name

    def extract(self, sequence: LabeledSequence, on_done: OnDone | None) -> FloatArray:
        """Return features in the order of the truth, which needs every photo.

        Parameters
        ----------
        sequence : LabeledSequence
            With images.
        on_done : callable, optional
            Called as on_done(what, done, total) for every photo.
        """

        def on_step(_: str, done: int, total: int) -> None:
            if on_done is not None:
                on_done(f"{self.name} on {sequence.name}", done, total)

        extractor = load_extractor(self.model, threads=1)
        with output_folder(self.folder(sequence)) as store:
            reader = FrameReader(extractor, store, on_step=on_step)
            photos = read_source(sequence.images[0].parent, reader, Settings(order="name"))

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

    def segment(self, sequence: LabeledSequence) -> IntArray:
        """Run `dayline segment`, with times, pauses, bursts and the typical duration of events."""
        result = segment_source(
            sequence.images[0].parent,
            store=self.folder(sequence),
            model=self.model,
            order="name",
        )
        # The folder may contain photos that the ground truth does not.
        event = dict(
            zip(_file_names(result.sequence), result.segmentation.labels.tolist(), strict=True)
        )
        return labels_to_boundaries([event[image.name] for image in sequence.images])


def _file_names(photos: FrameSequence | None) -> list[str]:
    return [] if photos is None else [path.name for path in photos.paths]
