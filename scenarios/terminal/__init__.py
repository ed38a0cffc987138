"""What people see on a terminal: progress, tables, plots."""
