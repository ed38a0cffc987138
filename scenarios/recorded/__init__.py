"""Joins and queries over recorded streams."""
