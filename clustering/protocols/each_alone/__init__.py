"""No clustering: every mote is its own head."""
