"""Tuning of player settings for strength by games.

`parameters` defines settings and their bounds, `spsa` the stochastic optimiser, `folder` the files of a tuning.
"""
