"""Experiments on the search rules of the 2018 lc0 fork."""
