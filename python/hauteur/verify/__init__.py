"""Recomputing reference files of lc0 (network outputs, input planes, searches) and measuring the differences.

    report = verify.planes(path)
    report = verify.outputs(path, nets, backend="torch")
    report = verify.searches(path, nets)
    report = verify.repeats(path, nets, seeds=50)

Each report says what was compared and how far it is apart; `exceeds(tolerance)` is the verdict. The formats are those
of `hauteur.verify.files`. The nets of a reference file are looked for by name in the folder `nets`.
"""

from hauteur.verify.outputs import OutputsReport, outputs
from hauteur.verify.planes import PlanesReport, planes
from hauteur.verify.repeats import RepeatsReport, repeats
from hauteur.verify.searches import SearchesReport, searches

__all__ = [
    "OutputsReport",
    "PlanesReport",
    "RepeatsReport",
    "SearchesReport",
    "outputs",
    "planes",
    "repeats",
    "searches",
]
