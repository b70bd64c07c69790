"""Recompute reference files of lc0 (network outputs, input planes, searches) and measure the differences.

    report = verify.planes(path)
    report = verify.outputs(path, nets, backend="torch")
    report = verify.searches(path, nets)
    report = verify.repeats(path, nets, seeds=50)

Each report lists the comparisons and their differences; `exceeds(tolerance)` is the verdict. The formats are those of
`hauteur.studies.verify.files`. The nets of a reference file are searched by name in the folder `nets`.
"""

from hauteur.studies.verify.outputs import OutputsReport, outputs
from hauteur.studies.verify.planes import PlanesReport, planes
from hauteur.studies.verify.repeats import RepeatsReport, repeats
from hauteur.studies.verify.searches import SearchesReport, searches

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
