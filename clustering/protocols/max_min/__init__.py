"""Max-min d-cluster: its options and the election."""
