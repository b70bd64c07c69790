"""Old positions of the replay buffer are searched again before the training (`[train.reanalyse]`).

Schrittwieser et al. 2021, "Online and Offline Reinforcement Learning by Planning with a Learned Model": MuZero
Reanalyse.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from hauteur.learning.context import Option
from hauteur.learning.planned import planned_reanalysis
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import first_needed
from hauteur.learning.sections import ReanalyseSettings
from hauteur.learning.steps.selfplay import replay_window

if TYPE_CHECKING:
    from hauteur.learning.context import Run, Steps

STEP = "reanalyse"
"""Name of the step."""


class Reanalysed(Option):
    """A step after self-play that gives a share of the old positions new targets."""

    def __init__(self, settings: ReanalyseSettings) -> None:
        self._settings = settings

    def steps(self, steps: Steps) -> Steps:
        """Return the steps with this one after self-play."""
        with_own: Steps = {}
        for name, step in steps.items():
            with_own[name] = step
            if name == "self-play":
                with_own[STEP] = self.reanalyse
        return with_own

    def first_read(self, run: Run, games: Mapping[int, int], first: int) -> int:
        """Return the first generation of all windows that positions of the present window were drawn from.

        The draw of a generation, whose targets still count, depends on the whole window of its time: a resumed run has
        to build that again, although its oldest games have left the buffer since.
        """
        needed = [first]
        for then in range(first, max(games, default=0) + 1):
            until = {generation: count for generation, count in games.items() if generation <= then}
            if until:
                needed.append(first_needed(until, replay_window(run, max(until))))
        return min(needed)

    def generation_read(self, run: Run, generation: int, first: int) -> None:
        """Give positions the targets again that they had, where the step of that generation is done."""
        # Generation `first` has drawn from games before it alone, all of which have left the window since.
        is_done = generation < run.state.generation or STEP in run.state.done
        if generation > first and is_done:
            self._search(run, generation, is_read=True)

    def reanalyse(self, run: Run) -> None:
        """Search a share of the window's old positions again, for new targets."""
        self._search(run, run.state.generation, is_read=False)

    def _search(self, run: Run, generation: int, *, is_read: bool) -> None:
        """Give positions the targets of the searches of a generation. is_read: they were searched before the run was
        resumed, so that their files should all be there, and nothing is charged.
        """
        window = run.buffer.games
        if window is None:
            return
        moves, planned = planned_reanalysis(
            run.game,
            run.selfplay_of(generation),
            self._settings,
            window,
            generation=generation,
            net=run.state.history[generation - 2]["best"] if generation > 1 else 0,
            seed=run.recipe.run.seed,
        )
        run.folder.reanalysed.mkdir(exist_ok=True)
        shown = nullcontext(lambda _: None) if is_read else run.progress(STEP, len(moves))
        with shown as progress:
            found, cost = run.games.self_play(planned, progress, finished=is_read)
        if found:
            run.buffer.retarget(moves, Games.join(found).ordered())
        if is_read:
            return
        run.state.current[STEP] = {
            "positions": len(moves),
            "evaluations": cost.evaluations[0],
            "seconds": cost.seconds,
        }
        run.charge_games(cost)
