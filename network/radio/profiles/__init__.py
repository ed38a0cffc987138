"""Mote profiles: one TOML file each, so that a new mote needs no code."""
