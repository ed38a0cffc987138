"""Questions over finished sweeps: the best point under conditions, trade-offs, probabilities, quantiles."""
