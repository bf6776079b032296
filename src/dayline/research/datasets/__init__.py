"""Sequences with known events, to test methods on."""
