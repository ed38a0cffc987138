"""Runs a simulation and summarises it."""
