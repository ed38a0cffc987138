"""Makes a simulation out of a scenario."""
