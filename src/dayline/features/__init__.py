"""Features: one vector per frame, from pixels or from a table."""
