"""Reads and checks run directories without Spark."""
