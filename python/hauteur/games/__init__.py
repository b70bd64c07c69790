"""Games that are written in Python."""
