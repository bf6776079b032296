"""From a folder of photos, a film or a table to its events, and to something to keep."""
