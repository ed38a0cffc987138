"""Figures and claims of the paper HEED."""
