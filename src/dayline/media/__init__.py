"""Photos and films as frames: listed, put in order, decoded, described."""
