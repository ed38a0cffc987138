"""The strategy `rendezvous`: all readings of a value meet at its home."""
