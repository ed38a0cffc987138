"""Figures and claims of the paper SSDBM."""
