"""The aggregates of one run by Arrow and NumPy, without Spark."""
