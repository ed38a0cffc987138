"""The strategy `change`: motes lease to their heads, heads report changes to the sink."""
