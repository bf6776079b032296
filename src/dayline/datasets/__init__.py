"""Sequences to try the method on, with known events."""
