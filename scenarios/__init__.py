"""Scenarios: what motes sense, the TOML schema, composition, runs, sweeps and the command line."""
