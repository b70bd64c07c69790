"""The gate on the episodes that a candidate has played anyway (`gate.by = "episodes"`), without a separate match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur.learning.context import Option
from hauteur.learning.gate import GateResults
from hauteur.learning.steps.gate import decide_gate
from hauteur.matches.ratings.elo import MatchScore

if TYPE_CHECKING:
    from hauteur.learning.context import Run, Steps


class GateOnEpisodes(Option):
    """The candidate is gated on the games it has just played, so the gate precedes training on them."""

    def steps(self, steps: Steps) -> Steps:
        """Return the steps with this gate before the training."""
        before = {name: step for name, step in steps.items() if name not in ("gate", "train")}
        return {**before, "gate": gate_on_episodes, "train": steps["train"]}


def gate_on_episodes(run: Run) -> None:
    """Decide whether the net that the generation before trained, and that played this one, becomes the best."""
    record = MatchScore(**run.state.current["games"]["candidate"])
    results = GateResults(record=record)
    # The losses of the generation before: that has trained the net which is judged here.
    trained = {}
    if run.state.history:
        trained = run.state.history[-1].get("train", {})
    decide_gate(run, results, candidate=run.state.generation - 1, trained=trained)
