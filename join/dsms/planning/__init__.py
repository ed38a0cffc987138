"""From a parsed query to a plan that runs."""
