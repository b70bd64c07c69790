"""The step of self-play: the best net plays a generation's games, which go to the replay buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hauteur.games.game_line import NO_NET
from hauteur.learning.metrics import generation_metrics, search_metrics
from hauteur.learning.planned import PlannedGames, planned_selfplay
from hauteur.learning.recorded_games import Games
from hauteur.learning.sections import ANOTHER_RUN, SelfPlaySettings

if TYPE_CHECKING:
    from hauteur.learning.context import Run


def self_play(run: Run) -> None:
    """Play the generation's games; they are on disk and in the replay buffer when this returns."""
    generation = run.state.generation
    # The last units of a generation and the gate leave workers idle: 100 simulated ones came to 44 % of the ideal speed
    # in Connect Four without a lag, to 82 % with a lag of 1 (docs/reference/cluster-model.md).
    last = min(generation + run.recipe.selfplay.max_policy_lag, run.recipe.run.generations)
    # Later generations begin now where a lag allows it, so that workers have games to play during training and gate.
    planned, *ahead = [plan_games(run, number) for number in range(generation, last + 1)]
    with run.progress("self-play", planned.settings.games) as progress:
        played, cost = run.games.self_play(planned, progress, ahead=ahead)
    run.state.games[generation] = read_games(run, generation, played)
    run.state.current["selfplay"] = search_metrics(cost.facts, cost.seconds)
    run.charge_games(cost)


def plan_games(
    run: Run,
    generation: int,
    settings: SelfPlaySettings | None = None,
    *,
    probe: int | None = None,
) -> PlannedGames:
    """Plan the games of a generation, or of a probe with other settings. All is drawn from the seed alone."""
    starts = [option.starts(generation) for option in run.options]
    return planned_selfplay(
        run.game,
        settings or run.selfplay_of(generation),
        generation=generation,
        nets=playing_nets(run, generation),
        seed=run.recipe.run.seed,
        colours=run.recipe.opponent.colours if run.recipe.opponent is not None else "swap",
        archive=next((found for found in starts if found is not None), None),
        probe=probe,
    )


def playing_nets(run: Run, generation: int) -> list[int]:
    """Return the generations of the nets that play one, in the order of the players; NO_NET: none of the run.

    They are those there were after the generation before it, or max_policy_lag earlier.
    """
    # Always this net, never the newest that is there: which one that is depends on the speed of workers, and no two
    # runs would be alike.
    candidate = max(0, generation - 1 - run.recipe.selfplay.max_policy_lag)
    # From the history and not the present best net: a resumed run plans earlier generations again.
    best = run.state.history[candidate - 1]["best"] if candidate else 0
    nets = {
        "best-versus-best": [best],
        "candidate-versus-best": [candidate, best],
        "best-versus-opponent": [best, NO_NET],
        "candidate-versus-opponent": [candidate, NO_NET],
    }
    return nets[run.recipe.selfplay.episodes]


def read_games(run: Run, generation: int, played: Sequence[Games]) -> int:
    """Add a generation's games to the replay buffer; return how many.

    ValueError where they are not those that the nets have learned from before.
    """
    # Units come in any order, and positions are drawn by their places: by number these are the same in every run.
    added = Games.join(played).ordered()
    check_digest(run, generation, added)
    # The window is set before the games come in: it decides which of the old ones leave.
    run.buffer.window = replay_window(run, generation)
    run.buffer.append(added)
    if generation == run.state.generation:
        run.state.current["games"] = generation_metrics(run.recipe, added)
    for option in run.options:
        option.games_read(run, generation, added)
    return added.games


def check_digest(run: Run, generation: int, added: Games) -> None:
    """Compare games with those that were read when the generation was played; ValueError, or a warning, for others.

    A resumed run plays damaged files again. Another machine or version may play other games then, which the nets of
    the run have not learned from: the run would no longer be one that can be repeated.
    """
    known = run.state.digests.setdefault(generation, added.digest)
    if known == added.digest:
        return
    message = (
        f"{run.folder.path}: games of generation {generation} are not those that the nets have learned from "
        "(another machine or version plays others)"
    )
    if run.recipe.run.exact:
        raise ValueError(f"{message}; put the files back from a copy, or {ANOTHER_RUN}")
    run.display.warn(message)


def replay_window(run: Run, generation: int) -> int:
    """Return the games that the replay buffer holds after the self-play of a generation.

    It follows from the numbers of games of earlier generations, not from what the buffer holds: a resumed run, which
    reads the last games alone, has the same window as one that went through.
    """
    before = sum(count for earlier, count in run.state.games.items() if earlier < generation)
    return run.recipe.train.window_at(before + run.recipe.selfplay.games)
