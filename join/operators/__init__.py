"""Join operators over streams, one file each, and their registry."""
