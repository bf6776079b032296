"""From a folder of photos, a video or a feature file to events and their page, in one call."""

from __future__ import annotations

from dayline.pipeline.array_page import write_page
from dayline.pipeline.days import DayResult, segment_days, without_places
from dayline.pipeline.earlier_exports import faces_blurred
from dayline.pipeline.earlier_result import refuse_other_result
from dayline.pipeline.events_file import forget_corrections, kept_corrections, note_unused_downloads
from dayline.pipeline.left_results import earlier_corrections, left_results, unused_corrections
from dayline.pipeline.outputs import (
    ExportError,
    Written,
    chaptered_copy,
    chaptered_name,
    default_output,
    write_result,
)
from dayline.pipeline.overview_page import overview_is_current, renew_overview
from dayline.pipeline.photo_days import FoundDays, PhotoDay, find_days
from dayline.pipeline.pictures import PictureFolder
from dayline.pipeline.places_file import read_places
from dayline.pipeline.recognise import places_beside, read_day, recognise_places, rewrite_places
from dayline.pipeline.run import Settings, check_settings, is_table, segment_and_write
from dayline.pipeline.save import (
    ChangedResultError,
    Saved,
    is_result,
    page_is_current,
    renew_result,
    save_events,
)
from dayline.pipeline.segment import segment_source, segment_table
from dayline.pipeline.segmenter import Segmenter
from dayline.pipeline.size import sequence_size
from dayline.pipeline.source_result import SourceResult

__all__ = [
    "ChangedResultError",
    "DayResult",
    "ExportError",
    "FoundDays",
    "PhotoDay",
    "PictureFolder",
    "Saved",
    "Segmenter",
    "Settings",
    "SourceResult",
    "Written",
    "chaptered_copy",
    "chaptered_name",
    "check_settings",
    "default_output",
    "earlier_corrections",
    "faces_blurred",
    "find_days",
    "forget_corrections",
    "is_result",
    "is_table",
    "kept_corrections",
    "left_results",
    "note_unused_downloads",
    "overview_is_current",
    "page_is_current",
    "places_beside",
    "read_day",
    "read_places",
    "recognise_places",
    "refuse_other_result",
    "renew_overview",
    "renew_result",
    "rewrite_places",
    "save_events",
    "segment_and_write",
    "segment_days",
    "segment_source",
    "segment_table",
    "sequence_size",
    "unused_corrections",
    "without_places",
    "write_page",
    "write_result",
]
