"""Output for people: progress, tables, plots."""
