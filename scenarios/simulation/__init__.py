"""Runs a simulation and sums it up."""
