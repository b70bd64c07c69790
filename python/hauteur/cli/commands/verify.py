"""`hauteur verify outputs|planes|searches`: recomputing a reference file and printing the differences."""

import json as json_format
from pathlib import Path
from typing import Any, Protocol

from hauteur.networks.evaluators.base import Backend
from hauteur.studies import verify
from hauteur.studies.verify.files import holds_repeats
from hauteur.studies.verify.outputs import TOLERANCE as OUTPUTS_TOLERANCE
from hauteur.studies.verify.planes import TOLERANCE as PLANES_TOLERANCE
from hauteur.studies.verify.repeats import MOST_ERRORS, REQUIRED, SEEDS, LimitReport
from hauteur.studies.verify.searches import TOLERANCE as SEARCHES_TOLERANCE
from hauteur.studies.verify.searches import SetReport


class Report(Protocol):
    """What every verification gives."""

    def exceeds(self, tolerance: float) -> bool: ...
    def as_json(self) -> dict[str, Any]: ...
    def lines(self) -> list[str]: ...


def outputs(
    reference: Path,
    *,
    nets: Path,
    backend: Backend | None = None,
    threads: int | None = None,
    tolerance: float = OUTPUTS_TOLERANCE,
    json: bool = False,
) -> int:
    """Compare network outputs with a reference file; exit status 1 beyond the tolerance.

    Parameters
    ----------
    reference
        File in the format of nn_outputs.json.
    nets
        Folder with the nets that the file names.
    backend
        core, onnxruntime or torch, in float32 on the processor; default: core, for nets with attention onnxruntime.
    threads
        Threads of the net; default: all cores that this process may use.
    tolerance
        Largest difference allowed of any probability, value or draw probability.
    json
        Print one JSON object instead.
    """
    check_tolerance(tolerance)
    return _conclude(verify.outputs(reference, nets, backend=backend, threads=threads), tolerance, json=json)


def planes(
    reference: Path,
    *,
    nets: Path | None = None,  # noqa: ARG001  (the same options for all three)
    backend: Backend | None = None,  # noqa: ARG001
    threads: int | None = None,  # noqa: ARG001
    tolerance: float = PLANES_TOLERANCE,
    json: bool = False,
) -> int:
    """Compare input planes with a reference file; exit status 1 beyond the tolerance.

    Parameters
    ----------
    reference
        File in the format of input_planes.json.
    nets
        Not needed: planes depend on no net.
    backend
        Not needed either.
    threads
        Not needed either.
    tolerance
        Number of cells that may differ.
    json
        Print one JSON object instead.
    """
    check_tolerance(tolerance)
    return _conclude(verify.planes(reference), tolerance, json=json)


def searches(
    reference: Path,
    *,
    nets: Path,
    backend: Backend | None = None,
    threads: int | None = None,
    tolerance: float = SEARCHES_TOLERANCE,
    seeds: int = SEEDS,
    json: bool = False,
) -> int:
    """Compare root visits of searches with a reference file; exit status 1 beyond the tolerance.

    Sets that need rules other than plain sequential PUCT are skipped, by name. Searches with random draws
    (search-contempt) are repeated, and mean visits compared: 95 % of the moves with a share above 2 % must lie within
    3 standard errors.

    Parameters
    ----------
    reference
        File in the format of puct_visits.json or search_contempt_visits.json.
    nets
        Folder with the nets that the file names.
    backend
        core, onnxruntime or torch, in float32 on the processor; default: core, for nets with attention onnxruntime.
    threads
        Threads of the net; default: all cores that this process may use.
    tolerance
        Largest mean total-variation distance allowed, for every set and number of nodes.
    seeds
        Repeats of every position of search_contempt_visits.json.
    json
        Print one JSON object instead.
    """
    check_tolerance(tolerance)
    if holds_repeats(reference):
        return _repeats(reference, nets, seeds=seeds, backend=backend, threads=threads, json=json)
    on_set = None if json else _print_set
    report = verify.searches(reference, nets, backend=backend, threads=threads, on_set=on_set)
    if report.is_empty:
        raise ValueError(f"{reference}: nothing was compared, every set was skipped")
    return _conclude(report, tolerance, json=json, printed=not json)


def _repeats(
    reference: Path, nets: Path, *, seeds: int, backend: Backend | None, threads: int | None, json: bool
) -> int:
    """Repeats searches with random draws, prints the report and the verdict; the exit status."""
    on_result = None if json else _print_limit
    report = verify.repeats(reference, nets, seeds=seeds, backend=backend, threads=threads, on_result=on_result)
    failed = report.exceeds(REQUIRED)
    if json:
        print(json_format.dumps({**report.as_json(), "required": REQUIRED, "passed": not failed}, indent=2))
        return int(failed)
    verdict = f"{'BELOW' if failed else 'at least'} {REQUIRED:.0%} of the moves within {MOST_ERRORS:g} standard errors"
    print("\n".join([*report.summary(), verdict]))
    return int(failed)


def _print_limit(report: LimitReport) -> None:
    print(report.line(), flush=True)


def _print_set(report: SetReport) -> None:
    print("\n".join(report.lines()), flush=True)


def check_tolerance(tolerance: float) -> None:
    """ValueError for a tolerance below zero."""
    if not tolerance >= 0:
        raise ValueError(f"--tolerance must be >= 0, got {tolerance}")


def _conclude(report: Report, tolerance: float, *, json: bool, printed: bool = False) -> int:
    """Print the report (unless that was done) and the verdict; the exit status."""
    failed = report.exceeds(tolerance)
    if json:
        print(json_format.dumps({**report.as_json(), "tolerance": tolerance, "passed": not failed}, indent=2))
        return int(failed)
    lines = [] if printed else report.lines()
    print("\n".join([*lines, f"{'BEYOND' if failed else 'within'} the tolerance of {tolerance:g}"]))
    return int(failed)
