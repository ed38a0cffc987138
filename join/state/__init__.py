"""Join state: value tables, window expiry, watermarks."""
