"""Operators on a loaded engine: the streams, what a tuple costs, runs, churn, and how claims are judged."""
