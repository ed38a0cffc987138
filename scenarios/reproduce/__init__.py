"""The papers' figures, drawn from our runs."""
