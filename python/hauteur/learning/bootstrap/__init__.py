"""Beginnings of a run: recorded games, and the answers of another network."""
