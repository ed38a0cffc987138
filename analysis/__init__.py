"""Reads traces: Spark metrics and comparison, figures, the HTML report."""
