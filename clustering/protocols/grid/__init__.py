"""The static grid: its options and the election."""
