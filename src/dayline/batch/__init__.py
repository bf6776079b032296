"""Segment many sequences: in processes on one machine, or on a Dask cluster."""

from __future__ import annotations

from dayline.batch.record import BatchRecord, read_batch
from dayline.batch.run import segment_many
from dayline.batch.sources import Source, find_sources

__all__ = ["BatchRecord", "Source", "find_sources", "read_batch", "segment_many"]
