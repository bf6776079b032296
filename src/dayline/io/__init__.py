"""Files: written atomically, read without trusting their content."""
