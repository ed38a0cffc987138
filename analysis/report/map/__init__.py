"""What the map of a report shows: scenery, messages, readings, and the moving picture."""
