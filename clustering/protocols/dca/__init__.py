"""DCA: its options and the election."""
