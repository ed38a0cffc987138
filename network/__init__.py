"""Motes, batteries, radio, links and delivery."""

import sim.compiled as _compiled  # noqa: F401 (finds the compiled modules of this package)
