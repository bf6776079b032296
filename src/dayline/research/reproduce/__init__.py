"""The tables of the paper, one command each: published figures, ours and controls."""
