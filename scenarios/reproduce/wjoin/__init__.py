"""Figures and claims of the paper W-join."""
