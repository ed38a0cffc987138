"""Sweeps: many runs as Spark tasks."""
