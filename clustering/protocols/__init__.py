"""Clustering protocols, a package each (options and election), and their registry."""
