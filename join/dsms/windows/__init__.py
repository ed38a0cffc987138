"""Windows over streams: sliding, predicate, now."""
