"""LEACH: its options and the election."""
