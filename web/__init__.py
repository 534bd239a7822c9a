"""HTTP: translates, decides nothing."""
