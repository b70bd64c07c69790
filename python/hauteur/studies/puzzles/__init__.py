"""Puzzles: positions that a search misjudges at few visits and judges right at many; mined, checked and solved."""
