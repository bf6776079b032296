"""The whole house in one call: a folder of photos, a video or a feature file in, events and their page out."""

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
from dayline.pipeline.segment import Finder, SourceResult, segment_source, segment_table

__all__ = [
    "DayResult",
    "ExportError",
    "Finder",
    "PictureFolder",
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
