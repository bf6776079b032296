"""The paper: its baselines, its data sets and its tables."""
