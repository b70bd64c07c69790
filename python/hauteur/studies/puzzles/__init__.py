"""Puzzles: positions misjudged by a search at few visits and solved at many; mined, checked and solved."""
