"""Spark: sessions, traces as DataFrames, tasks, compaction."""
