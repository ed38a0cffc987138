"""Scenario files: tables, limits, defaults and messages."""
