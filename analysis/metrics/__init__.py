"""Metrics: what each is and how it is computed."""
