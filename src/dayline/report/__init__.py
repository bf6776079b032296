"""The page: a folder that opens offline in a browser, shows the events and lets a person correct them."""

from __future__ import annotations

from dayline.report.graph_picture import Drawable, graph_image
from dayline.report.marks import events_mark, frames_mark
from dayline.report.overview import Day, overview_data, write_overview
from dayline.report.page import page_data, renew_page, write_page
from dayline.report.sequences import SequenceRow, write_sequences
from dayline.report.thumbnails import remove_thumbnails, write_thumbnails

__all__ = [
    "Day",
    "Drawable",
    "SequenceRow",
    "events_mark",
    "frames_mark",
    "graph_image",
    "overview_data",
    "page_data",
    "remove_thumbnails",
    "renew_page",
    "write_overview",
    "write_page",
    "write_sequences",
    "write_thumbnails",
]
