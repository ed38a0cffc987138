"""Turns a parsed query into a plan that runs."""
