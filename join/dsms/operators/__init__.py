"""Query operators over changes: selection, projection, joins, aggregates."""
