"""What joins hold: value tables, windows' clean-up, watermarks."""
