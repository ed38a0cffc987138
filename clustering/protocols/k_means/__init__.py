"""K-means at the sink: its options and the election."""
