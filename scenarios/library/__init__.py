"""The scenarios that ship."""
