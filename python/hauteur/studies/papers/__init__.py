"""Experiments: tables and figures of the papers from runs of this program, each one command.

`hauteur experiment list` names them, `hauteur experiment NAME` makes one. A module here holds one experiment or a few
that belong together, and ends with them as `Experiment` objects; `registry` lists them all; `frame` says what an
experiment is and makes it; `results` writes its folder.
"""
