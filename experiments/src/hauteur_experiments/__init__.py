"""Experiments: tables and figures of the papers reproduced with this program, one command each.

`hauteur experiment list` lists them, `hauteur experiment NAME` runs one. A module here contains one experiment or a few
related ones, defined at its end as `Experiment` objects; `registry` lists them all; `experiment` defines and runs
experiments; `results` writes the results folder.
"""
