"""Routes over several hops, between nodes and inside clusters."""
