"""Scenarios: what motes sense, the TOML schema, composition, runs, sweeps and the command line."""

import sim.compiled as _compiled  # noqa: F401 (finds the compiled modules of this package)
