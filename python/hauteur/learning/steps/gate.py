"""The step of the gate: a match decides whether the candidate becomes the best net."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hauteur.learning.gate import GateResults, decide, divergence, sprt_of
from hauteur.learning.planned import planned_gate
from hauteur.matches.ratings.elo import finite_elo
from hauteur.system.files import write_json

if TYPE_CHECKING:
    from hauteur.learning.context import Run


def gate(run: Run) -> None:
    """Decide whether the net that this generation trained becomes the best one."""
    results = GateResults()
    if run.recipe.gate.by != "off":
        results = play_match(run)
    decide_gate(run, results, candidate=run.state.generation, trained=run.state.current.get("train", {}))


def play_match(run: Run) -> GateResults:
    """Play the candidate against the best net: pairs of games from the same openings, with sides swapped."""
    settings = run.recipe.gate
    generation = run.state.generation
    planned = planned_gate(
        run.game,
        run.selfplay_of(generation),
        settings,
        generation=generation,
        best=run.state.best,
        seed=run.recipe.run.seed,
    )
    with run.progress("gate", settings.games) as progress:
        results, evaluations = run.games.gate_match(planned, sprt_of(settings), progress)
    run.charge(evaluations)
    return results


def decide_gate(run: Run, results: GateResults, *, candidate: int, trained: Mapping[str, Any]) -> None:
    """Promote the candidate, or not, by these results; write the decision.

    candidate: generation of its net; trained: metrics of its training. A net whose training diverged stays out.
    """
    state = run.state
    diverged = divergence(trained, run.game.num_actions)
    if diverged is not None:
        run.display.warn(f"generation {candidate}: {diverged}; its net is not promoted")
    decision = decide(run.recipe.gate, results, generation=candidate, best=state.best, diverged=diverged)
    record = decision.evidence
    elo = state.best_elo
    # Games of the best net against itself are chance, no gain: so are the first episodes of candidate-versus-best.
    # A ladder is a sum, so the finite Elo: that of a match in which all games were won would be infinite for good.
    if record.games and candidate != state.best:
        elo += finite_elo(record)
    write_json(run.folder.gate(state.generation), decision.to_json())
    state.current["gate"] = decision.to_json()
    state.current["elo"] = elo if record.games else None
    if decision.promoted:
        state.best = candidate
        state.best_elo = elo
