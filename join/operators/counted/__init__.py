"""Tables that also count what the published operators would do; they find the same results."""
