"""Sequences to try things on."""
