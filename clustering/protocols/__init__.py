"""Clustering protocols, one file each, and their registry."""
