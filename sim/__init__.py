"""The kernel: clock, random streams, trace recorder, errors. Knows nothing of motes or joins."""
