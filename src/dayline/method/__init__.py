"""The method of the paper: each function names its equation, and `dge` reads like Algorithm 1."""
