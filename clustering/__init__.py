"""Clustering: protocols as pure generators, and the driver that runs them in simulated time."""
