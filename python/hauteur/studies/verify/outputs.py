"""Network outputs: probabilities of the legal moves (P), value (Q) and draw probability (D) against the reference."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur._core import Game, State, encode_positions
from hauteur.studies.verify.files import (
    Outputs,
    OutputsFile,
    OutputsPosition,
    action_of,
    check_input_format,
    reached,
    read,
)
from hauteur.studies.verify.nets import find_net, is_same_file, reference_evaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator

Floats = NDArray[np.float64]

BATCH = 64
TOLERANCE = 1e-3
"""Largest difference of P, Q and D that is allowed."""


@dataclass
class Differences:
    """Absolute differences of one quantity."""

    values: list[float] = field(default_factory=list)
    largest: float = 0.0
    where: str = ""

    def add(self, differences: Floats, where: str) -> None:
        """Add the differences of one position."""
        self.values += differences.tolist()
        if differences.size and not float(differences.max()) <= self.largest:
            self.largest, self.where = float(differences.max()), where

    @property
    def mean(self) -> float:
        """Mean difference."""
        return float(np.mean(self.values)) if self.values else 0.0

    def as_json(self) -> dict[str, Any]:
        """The differences as JSON holds them."""
        return {"largest": self.largest, "mean": self.mean, "where": self.where, "count": len(self.values)}


@dataclass
class NetReport:
    """Differences of one net. index_errors: positions whose legal moves or policy indices are not the reference's."""

    name: str
    file: str
    same_file: bool
    positions: int = 0
    index_errors: list[str] = field(default_factory=list)
    p: Differences = field(default_factory=Differences)
    q: Differences = field(default_factory=Differences)
    d: Differences = field(default_factory=Differences)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        differences = {"dP": self.p.as_json(), "dQ": self.q.as_json(), "dD": self.d.as_json()}
        facts = {"file": self.file, "same_file": self.same_file, "positions": self.positions}
        return {"net": self.name, **facts, "index_errors": self.index_errors, **differences}

    def lines(self) -> list[str]:
        """The report in words."""
        note = "" if self.same_file else " (its hash is not that of the reference)"
        lines = [f"{self.name}: {self.file}{note}, {self.positions} positions, {len(self.p.values)} moves"]
        for name, differences in (("|dP|", self.p), ("|dQ|", self.q), ("|dD|", self.d)):
            if differences.values:
                figures = f"largest {differences.largest:.2e}, mean {differences.mean:.2e}"
                lines.append(f"  {name}: {figures} (largest at {differences.where})")
        if self.index_errors:
            lines.append(f"  legal moves or policy indices differ: {', '.join(self.index_errors)}")
        return lines


@dataclass(frozen=True)
class OutputsReport:
    """One report a net."""

    backend: str
    nets: list[NetReport]

    def exceeds(self, tolerance: float) -> bool:
        """Return whether a move has another index, or a difference is beyond `tolerance` (or NaN)."""
        differences = (d.largest for net in self.nets for d in (net.p, net.q, net.d))
        return any(net.index_errors for net in self.nets) or not all(value <= tolerance for value in differences)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {"backend": self.backend, "nets": [net.as_json() for net in self.nets]}

    def lines(self) -> list[str]:
        """The report in words."""
        return [line for net in self.nets for line in net.lines()]


def outputs(path: Path, folder: Path, *, backend: "Backend | None" = None, threads: int | None = None) -> OutputsReport:
    """Evaluate every position of a reference file with every net that it has outputs of."""
    reference = read(path, OutputsFile)
    check_input_format(path, reference.input_format)
    names = sorted({name for position in reference.positions for name in position.outputs})
    if not names:
        raise ValueError(f"{path}: no position has outputs of a net")
    files = {name: _net_file(reference, folder, name) for name in names}
    reports = []
    for name in names:
        net_path, same = files[name]
        report = NetReport(name=name, file=net_path.name, same_file=same)
        with reference_evaluator(net_path, backend, threads) as evaluator:
            _compare_net(reference, report, evaluator)
        reports.append(report)
    return OutputsReport(backend=backend or "auto", nets=reports)


def _net_file(reference: OutputsFile, folder: Path, name: str) -> tuple[Path, bool]:
    """The file of a net, and whether it is the very file of the reference."""
    entry = reference.nets.get(name)
    path = find_net(folder, entry.file if entry else name)
    return path, is_same_file(path, entry.sha256 if entry else None)


def _compare_net(reference: OutputsFile, report: NetReport, evaluator: "Evaluator") -> None:
    with_outputs = [position for position in reference.positions if report.name in position.outputs]
    states = [reached(position) for position in with_outputs]
    answers = _evaluate(states, evaluator)
    for position, state, (logits, wdl) in zip(with_outputs, states, answers, strict=True):
        _compare_position(report, position, state, logits, wdl)
    report.positions = len(states)


def _evaluate(states: list[State], evaluator: "Evaluator") -> Iterator[tuple[Floats, Floats]]:
    """Policy logits [A] and wdl [3] of each state."""
    shape = Game("chess").feature_shape
    for first in range(0, len(states), BATCH):
        chunk = states[first : first + BATCH]
        features = np.empty((len(chunk), *shape), np.float32)
        encode_positions(chunk, features)
        logits, wdl = evaluator(features)
        for row in range(len(chunk)):
            yield np.asarray(logits[row], np.float64), np.asarray(wdl[row], np.float64)


def _compare_position(report: NetReport, position: OutputsPosition, state: State, logits: Floats, wdl: Floats) -> None:
    actions = _actions(position, state)
    wrong_index = position.nn_index is not None and list(position.nn_index) != actions
    if wrong_index or sorted(actions) != state.legal_actions().tolist():
        report.index_errors.append(position.id)
    wanted = position.outputs[report.name]
    report.p.add(np.abs(softmax(logits[actions]) - _probabilities(position, wanted)), position.id)
    report.q.add(np.abs(np.array([wdl[0] - wdl[2] - wanted.q])), position.id)
    if wanted.d is not None:
        report.d.add(np.abs(np.array([wdl[1] - wanted.d])), position.id)


def _actions(position: OutputsPosition, state: State) -> list[int]:
    """Return the actions of the listed moves; ValueError for an illegal move, or lists of unequal length."""
    if position.nn_index is not None and len(position.nn_index) != len(position.legal_moves):
        raise ValueError(f"position {position.id!r}: nn_index and legal_moves have different lengths")
    try:
        return [action_of(state, move) for move in position.legal_moves]
    except ValueError as error:
        raise ValueError(f"position {position.id!r}: {error}") from None


def _probabilities(position: OutputsPosition, wanted: Outputs) -> Floats:
    """The reference's probabilities, from its logits where it has no others."""
    if wanted.p is None and wanted.logits is None:
        raise ValueError(f"position {position.id!r}: outputs need p or logits")
    values = wanted.p if wanted.p is not None else wanted.logits or ()
    if len(values) != len(position.legal_moves):
        raise ValueError(f"position {position.id!r}: {len(values)} outputs for {len(position.legal_moves)} legal moves")
    return np.array(wanted.p) if wanted.p is not None else softmax(np.array(values))


def softmax(logits: Floats) -> Floats:
    """exp(x - max) / sum, over the last axis."""
    shifted = np.exp(logits - logits.max())
    return np.asarray(shifted / shifted.sum())
