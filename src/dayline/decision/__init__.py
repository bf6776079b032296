"""From an embedding to events: which boundaries, at which level, and how sure."""
