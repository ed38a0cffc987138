"""The checks, by what they are about; each file declares its own in the registry."""
