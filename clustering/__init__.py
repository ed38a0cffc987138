"""Clustering protocols as pure cores, and the driver that runs them as messages in simulated time."""
