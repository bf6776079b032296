"""From a folder of photos, a video or a feature file to events and their page, in one call."""

from __future__ import annotations

from dayline.pipeline.days import DayResult, segment_days
from dayline.pipeline.events_file import forget_corrections, kept_corrections
from dayline.pipeline.outputs import (
    ExportError,
    Written,
    chaptered_copy,
    chaptered_name,
    default_output,
    write_result,
)
from dayline.pipeline.pictures import PictureFolder
from dayline.pipeline.segment import Segmenter, SourceResult, segment_source, segment_table

__all__ = [
    "DayResult",
    "ExportError",
    "PictureFolder",
    "Segmenter",
    "SourceResult",
    "Written",
    "chaptered_copy",
    "chaptered_name",
    "default_output",
    "forget_corrections",
    "kept_corrections",
    "segment_days",
    "segment_source",
    "segment_table",
    "write_result",
]
