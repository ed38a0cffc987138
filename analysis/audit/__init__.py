"""The audit: re-checks a finished run from its trace alone, independent of the code that simulated it."""
