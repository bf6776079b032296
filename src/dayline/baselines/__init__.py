"""What results are compared with: controls, and the methods of others."""
