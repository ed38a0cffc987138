"""The radio models compared with independent numbers."""
