"""What the Python interface, `motejoin.py`, hands out."""
