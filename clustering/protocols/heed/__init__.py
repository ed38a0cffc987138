"""HEED: its options, the election, and elections at several levels."""
