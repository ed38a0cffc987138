"""Figures and claims of the paper PWindow."""
