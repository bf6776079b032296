"""What every figure stands beside: controls, and the systems of the paper's tables."""
