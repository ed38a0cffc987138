"""The kernel: clock, random streams, trace recorder, errors. Independent of motes and joins."""
