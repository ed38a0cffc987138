"""The strategy `two-phase`: the sink learns first which values may join, and receives their readings after."""
