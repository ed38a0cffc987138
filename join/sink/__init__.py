"""The sink: the answer, results and queries."""
