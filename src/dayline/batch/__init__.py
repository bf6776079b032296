"""Segment many sequences: in processes on one machine, or on a Dask cluster."""
