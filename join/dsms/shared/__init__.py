"""Shared window joins and their schedulers."""
