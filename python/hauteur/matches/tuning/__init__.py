"""Tuning of player settings by games: for strength (`strength`), or for a target share of draws (`ratio`).

`parameters` defines settings and their bounds, `spsa` the stochastic optimiser, `folder` the files of a tuning. The
search for a share of draws itself is `hauteur.matches.tuning.ratio_fit`.
"""
