"""Sequences with known events."""
