"""Style sheet, scripts and template of the report."""
