"""Baselines: published methods and controls to compare results with."""
