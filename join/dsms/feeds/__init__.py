"""Feeds: where a query's rows come from."""
