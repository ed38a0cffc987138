"""Runs side by side: groups, intervals, tables, figures, pages."""
