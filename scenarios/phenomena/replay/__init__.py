"""Recorded data as a phenomenon: the table, the files, and the readings that motes replay."""
