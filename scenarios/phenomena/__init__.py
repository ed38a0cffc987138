"""What the motes sense: gas clouds, moving objects, Zipf streams, recorded data."""
