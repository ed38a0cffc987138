"""The papers' figures, ours beside theirs."""
