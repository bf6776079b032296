"""From an embedding to events: which boundaries, at which level, with which confidence."""
