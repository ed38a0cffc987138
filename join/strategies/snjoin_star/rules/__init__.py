"""Probing rules: which heads a request goes to."""
