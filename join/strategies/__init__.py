"""Strategies: where in the network readings are joined."""
