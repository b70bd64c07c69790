"""Self-play under a controller (`[controller]`): probes before a generation, and what its games teach for the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur.learning.context import Option
from hauteur.learning.options import controller
from hauteur.learning.options.controller import ControllerState, Observation
from hauteur.learning.recorded_games import Games
from hauteur.learning.sections import ControllerSettings, SelfPlaySettings
from hauteur.learning.steps.selfplay import plan_games

if TYPE_CHECKING:
    from hauteur.learning.context import Run, Steps

STEP = "probe"
"""Name of the step."""
OBSERVATION = "observation"
"""Name of the metrics that a generation's games leave for its end; they are not kept."""


class Controlled(Option):
    """A controller chooses N_scl or the temperatures of self-play, and its visits."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings

    def opened(self, run: Run) -> None:
        """Begin the controller of a new run."""
        if run.state.controller is None:
            self._keep(run, controller.begin(self._settings, run.recipe.selfplay.visits))

    def steps(self, steps: Steps) -> Steps:
        """Return the steps with the probes first."""
        return {STEP: self.probe, **steps}

    def selfplay(self, run: Run, generation: int, settings: SelfPlaySettings) -> SelfPlaySettings:
        """Return the settings with what the controller chose: now, or for an earlier generation."""
        if generation >= run.state.generation:
            return controller.controlled(settings, self._state(run))
        # Units that are read again must have been planned with the settings of their time, not with today's.
        then = run.state.history[generation - 1][controller.SECTION]
        state = ControllerState(n_scl=then.get("n_scl"), warmth=then.get("warmth"), visits=then["visits"])
        return controller.controlled(settings, state)

    def probe(self, run: Run) -> None:
        """Play a few games at every setting that the controller wants to know of before the generation is played."""
        # One after another: each probe is planned with the lever that the last one spoke for.
        number = 0
        while controller.wants_probe(self._settings, self._state(run), run.state.generation):
            seen = self._play_probe(run, number)
            self._keep(run, controller.after_probe(self._settings, self._state(run), seen))
            number += 1

    def games_read(self, run: Run, generation: int, games: Games) -> None:
        """Observe the generation's own games; those of earlier ones are in the controller's state already."""
        if generation == run.state.generation:
            run.state.current[OBSERVATION] = self._observed(run, games).model_dump()

    def after_generation(self, run: Run) -> None:
        """Learn from the generation's games and choose for the next."""
        played = Observation.model_validate(run.state.current.pop(OBSERVATION))
        after = controller.after_generation(self._settings, self._state(run), played)
        self._keep(run, after)
        run.state.current[controller.SECTION] = controller.controller_metrics(self._settings, after)

    def _play_probe(self, run: Run, number: int) -> Observation:
        """Play the games of a probe of this number with the controller's present choice."""
        games = self._settings.probe_games
        generation = run.state.generation
        few = run.selfplay_of(generation).model_copy(update={"games": games})
        planned = plan_games(run, generation, few, probe=number)
        with run.progress(STEP, games) as progress:
            played, cost = run.games.probe(planned, progress)
        run.charge_games(cost)
        return self._observed(run, played)

    def _observed(self, run: Run, games: Games) -> Observation:
        """Return what the controller sees of games played with its present choice."""
        return controller.observe(
            self._settings,
            self._state(run),
            games.outcome,
            games.line_lengths,
            generation=run.state.generation,
        )

    def _state(self, run: Run) -> ControllerState:
        """Return the controller's state as the run has it."""
        return ControllerState.model_validate(run.state.controller)

    def _keep(self, run: Run, state: ControllerState) -> None:
        """Put the state where the checkpoint keeps it, as JSON: a checkpoint knows no controller."""
        run.state.controller = state.model_dump(mode="json")
