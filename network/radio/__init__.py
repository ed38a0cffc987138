"""Radios: hardware profiles, channels, reception and frame loss."""
