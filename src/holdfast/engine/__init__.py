"""Who runs which session when."""
