"""Searching one position or many: settings and rules, the driver of a forest, limits, the choice of a move, reports."""
