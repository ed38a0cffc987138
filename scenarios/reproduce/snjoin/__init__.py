"""Figures and claims of the paper SNJoin."""
