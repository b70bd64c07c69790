"""Recipes: all settings of a learning run, read from TOML, changed by `key=value` on the command line and written back,
and what of them does not fit together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import tomli_w
from pydantic import AfterValidator, ValidationError, model_validator

from hauteur.games.registry import has_points, load_game
from hauteur.learning.sections import (
    ControllerSettings,
    GateSettings,
    OpponentSettings,
    RunSettings,
    SelfPlaySettings,
    StartSettings,
    TrainSettings,
    YardstickSettings,
)
from hauteur.mcts.net_search import checked_play_search
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.architecture import NetworkSettings
from hauteur.system.settings import Section, assign_texts, flat_settings, problems, read_toml


class Recipe(Section):
    """A whole learning run.

    >>> import hauteur as ht
    >>> recipe = ht.Recipe(game="connect4", train=ht.TrainSettings(batch_size=256), run={"generations": 3})
    >>> recipe.selfplay.visits, recipe.run.generations
    (100, 3)
    """

    if TYPE_CHECKING:

        def __init__(self, **settings: Any) -> None: ...

    game: str
    """Spec of the game, such as `connect4` or `nogo(size=7)`."""
    play_search: Annotated[str, AfterValidator(checked_play_search)] | None = None
    """Settings of the search, as of a player, that its nets are played with where the user gives no others:
    `solver.threats=1000 solver.lost_child_mode=zero_prior`. They stand in the nets' files; self-play and gate have
    `[selfplay.search]`. Absent: none."""
    network: NetworkSettings = NetworkSettings()
    """The network to train."""
    large: NetworkSettings | None = None
    """A second net, trained on the same games, which corrects the first in every search (MPV-MCTS). Its share of the
    work is that of selfplay.search.second_net, and selfplay.visits are then the first net's."""
    selfplay: SelfPlaySettings = SelfPlaySettings()
    """The games of a generation."""
    train: TrainSettings = TrainSettings()
    """Training of the candidate."""
    gate: GateSettings = GateSettings()
    """When the candidate becomes the best net."""
    run: RunSettings = RunSettings()
    """Location and resources of the run."""
    controller: ControllerSettings | None = None
    """What chooses N_scl or temperatures of self-play; absent: nothing does."""
    start: StartSettings | None = None
    """Nets and games that the run begins with; absent: random weights."""
    opponent: OpponentSettings | None = None
    """The fixed opponent of self-play; absent: the run's own nets play."""
    yardstick: YardstickSettings | None = None
    """The fixed opponent by which the run is measured, and which it does not learn from; absent: none."""

    @model_validator(mode="after")
    def _sections_fit_each_other(self) -> Self:
        """Raise ValueError for the first misfit."""
        misfit = next(misfits(self), None)
        if misfit is not None:
            raise ValueError(misfit)
        return self

    @property
    def folder(self) -> Path:
        """The run's folder where no other is named: <directory>/<game>/<tag>."""
        letters = [c if c.isalnum() or c in "._" else "-" for c in self.game]
        name = "".join(letters).strip("-")
        return Path(self.run.directory) / name / self.run.tag


# They are in no game and no net that is there. More generations stretch a cosine over those to come, which is said.
FREE_ON_RESUME = (
    "run.generations",
    "run.budget_flops",
    "run.threads",
    "run.directory",
    "run.solved_positions",
    "train.workers",
    "yardstick",
)
"""Settings that a resumed run may change."""


def load_recipe(path: Path, overrides: tuple[str, ...] = ()) -> Recipe:
    """Read a recipe and apply `section.key=value` overrides; ValueError names the wrong key and what is allowed."""
    return parse_recipe(read_toml(path), str(path), overrides)


def parse_recipe(values: dict[str, Any], source: str, overrides: Iterable[str] = ()) -> Recipe:
    """Return the recipe that `values` give after `section.key=value` overrides.

    ValueError names the overrides where these are wrong, else `source`.
    """
    given = tuple(overrides)
    changed = deepcopy(values)
    assign_texts(Recipe, changed, given)
    try:
        return Recipe.model_validate(changed)
    except ValidationError as error:
        wrong = problems(error)
    # A file is to blame only where it is wrong by itself: one that ships is not for what an override makes of it.
    if wrong != _wrong_in(values):
        named = [text for text in given if text.partition("=")[0].strip() in wrong]
        source = " ".join(named or given)
    raise ValueError(f"{source}: {wrong}")


def _wrong_in(values: dict[str, Any]) -> str:
    """Return what is wrong with a recipe, in one line; empty where nothing is."""
    try:
        Recipe.model_validate(values)
    except ValidationError as error:
        return problems(error)
    return ""


def changed_recipe(recipe: Recipe, overrides: Iterable[str]) -> Recipe:
    """Return the recipe after `section.key=value` overrides."""
    return parse_recipe(recipe.model_dump(exclude_unset=True), "recipe", overrides)


def recipe_toml(recipe: Recipe) -> str:
    """The recipe with every setting written out, as TOML."""
    # TOML has no null, so what is off is left out; all else is written, and defaults of later versions change no run.
    return tomli_w.dumps(recipe.model_dump(exclude_none=True))


def deciding_settings(recipe: Recipe) -> dict[str, Any]:
    """Return the settings that a resumed run may not change, by their full keys, in order."""
    flat = flat_settings(recipe.model_dump(exclude={"yardstick"}))
    return {key: flat[key] for key in sorted(flat) if key not in FREE_ON_RESUME}


def misfits(recipe: Recipe) -> Iterator[str]:
    """Yield what does not fit in a recipe whose settings are all allowed by themselves."""
    yield from of_networks(recipe)
    yield from of_start(recipe)
    yield from of_selfplay(recipe)
    yield from of_nets(recipe)
    yield from of_targets(recipe)
    yield from of_gate(recipe)
    if recipe.controller is not None:
        yield from of_controller(recipe, recipe.controller)


def of_networks(recipe: Recipe) -> Iterator[str]:
    """Yield what a registered network cannot have."""
    for network in (recipe.network, recipe.large):
        if network is None or network.kind == "resnet":
            continue
        if recipe.run.backend == "core":
            yield f"run.backend core computes residual networks; {network.kind!r} needs torch (run.backend=torch)"
        if recipe.train.extra is not None:
            yield f"train.extra: its heads are of residual towers, got {network.kind!r}, which has its own outputs"


def of_start(recipe: Recipe) -> Iterator[str]:
    """Yield what a start needs, and a run without self-play."""
    start = recipe.start
    has_games = start is not None and bool(start.games)
    if recipe.run.generations == 0 and not has_games:
        yield "run.generations = 0 (no self-play) needs start.games to learn from"
    if start is None:
        return
    if start.distil_from is not None and not has_games:
        yield "start.distil_from needs start.games, whose positions the net is asked about"
    if not (start.net or start.large_net or has_games):
        yield "start needs net (weights) or games (to learn from)"
    if start.large_net is not None and recipe.large is None:
        yield "start.large_net needs the section [large]"


def of_selfplay(recipe: Recipe) -> Iterator[str]:
    """Yield limits of self-play that exclude each other."""
    play = recipe.selfplay
    if play.max_plies is not None and play.max_plies <= play.opening_plies:
        yield f"selfplay.max_plies must be more than opening_plies, got {play.max_plies} and {play.opening_plies}"
    cap = play.playout_cap
    if cap is not None and cap.fast_visits >= play.visits:
        yield f"selfplay.playout_cap.fast_visits must be less than visits, got {cap.fast_visits} of {play.visits}"


def of_nets(recipe: Recipe) -> Iterator[str]:
    """Yield second nets without their search, searches without their net, and opponents that nobody plays."""
    play = recipe.selfplay
    two = play.search.second_net
    searches_with_two = two is not None and not two.is_neutral
    if (recipe.large is not None) != searches_with_two:
        need = "[large] (the net) and [selfplay.search.second_net] (its turns, large_visits > 0)"
        yield f"two nets need both sections, {need}; one is missing"
    if recipe.train.large_value_weight is not None and recipe.large is None:
        yield f"train.large_value_weight needs the section [large], got {recipe.train.large_value_weight:g} without it"
    if two is not None and two.more:
        yield f"selfplay.search.second_net.more must be empty: a run has at most two nets, got {two.more!r}"
    if (play.opponent_net is None) != (play.search.opponent_net is None):
        need = "selfplay.opponent_net (the net) and [selfplay.search.opponent_net]"
        yield f"a model of the opponent needs both, {need}; one is missing"
    if play.opponent_net is not None and recipe.large is not None:
        yield "selfplay.opponent_net and [large] exclude each other: both are a second net"
    plays_opponent = play.episodes.endswith("opponent")
    if plays_opponent and recipe.opponent is None:
        yield f'selfplay.episodes = "{play.episodes}" needs a section [opponent]'
    if recipe.opponent is not None and not plays_opponent:
        need = '"best-versus-opponent" or "candidate-versus-opponent"'
        yield f"the section [opponent] needs selfplay.episodes = {need}"


def of_targets(recipe: Recipe) -> Iterator[str]:
    """Yield what targets of points, and those by proven results, need."""
    extra = recipe.train.extra
    if extra is not None and (extra.ownership > 0 or extra.score > 0) and not has_points(load_game(recipe.game)):
        yield f"train.extra: ownership and score are of games of points (Go, Othello), not of {recipe.game}"
    search = recipe.selfplay.search
    nodes = recipe.train.exact_nodes
    contempt = search.search_contempt
    if recipe.train.proven_targets == "off":
        if nodes:
            yield 'train.exact_nodes needs train.proven_targets = "position" or "earlier"'
        return
    if search.solver is None and not nodes:
        yield "train.proven_targets needs [selfplay.search.solver], whose proofs are targets, or train.exact_nodes"
    if contempt is not None and contempt.proofs_respect_contempt:
        yield "train.proven_targets needs exact proofs: search_contempt.proofs_respect_contempt must be false"


def of_gate(recipe: Recipe) -> Iterator[str]:
    """Yield what the gate's test and its episodes need."""
    test = recipe.gate.sprt
    if test.elo1 <= test.elo0:
        yield f"gate.sprt.elo1 must be greater than elo0, got {test.elo1} and {test.elo0}"
    if recipe.gate.by != "episodes":
        return
    if recipe.selfplay.episodes != "candidate-versus-best":
        yield 'gate.by = "episodes" needs selfplay.episodes = "candidate-versus-best"'
    lag = recipe.selfplay.max_policy_lag
    # The games would be those of an older candidate than the one that they decide about.
    if lag:
        yield f'selfplay.max_policy_lag must be 0 with gate.by = "episodes", got {lag}'


def of_controller(recipe: Recipe, steers: ControllerSettings) -> Iterator[str]:
    """Yield what a controller cannot steer."""
    play = recipe.selfplay
    if steers.low > steers.high:
        yield f"controller.low must not be above high, got {steers.low} and {steers.high}"
    if not steers.long_game and not load_game(recipe.game).has_draws:
        long = "with controller.long_game = PLIES games of this number of plies or more count in their place"
        yield f"controller: {recipe.game} knows no draws, so there is no (w + l)/d; {long}"
    contempt = play.search.search_contempt
    if steers.by == "n_scl" and contempt is not None and not contempt.is_neutral:
        yield "selfplay.search.search_contempt.n_scl is chosen by the controller; leave it out"
    if steers.by == "temperature" and steers.double_visits:
        yield 'controller.double_visits must be false with controller.by = "temperature": visits stay as they are'
    if steers.by == "temperature" and play.temperature.initial == 0:
        yield 'controller.by = "temperature" multiplies selfplay.temperature.initial, which must be above 0'
    # The next generation would begin before the games of this one have said what it is to be played with.
    if play.max_policy_lag:
        yield f"selfplay.max_policy_lag must be 0 with a section [controller], got {play.max_policy_lag}"


def check_gate(recipe: Recipe) -> None:
    """Raise ValueError for a gate match in which all pairs would be the same two games, or all games over at once."""
    gate = recipe.gate
    longest = recipe.selfplay.max_plies
    if gate.by not in ("match", "sprt"):
        return
    if longest is not None and longest <= gate.opening_plies:
        raise ValueError(
            f"selfplay.max_plies must be more than gate.opening_plies, got {longest}, {gate.opening_plies}"
        )
    varies = gate.opening_plies > 0 or _draws_moves(gate.temperature) or _draws_in_search(recipe.selfplay.search)
    if gate.games > 2 and not varies:
        raise ValueError(
            "gate: all its pairs would be the same two games, as its search has no noise and gate.temperature.initial "
            "and gate.opening_plies are 0: give one of them, such as gate.opening_plies = 4, or gate.by = off"
        )


def _draws_moves(temperature: Temperature) -> bool:
    """Return whether any move of a game is drawn, and not the best one."""
    falls_to_endgame = temperature.endgame > 0 and bool(temperature.cutoff_move or temperature.decay_moves)
    return temperature.initial > 0 or falls_to_endgame


def _draws_in_search(search: SearchParams) -> bool:
    """Return whether the search of a gate match draws random numbers: Gumbel noise, or the half-normal spread."""
    # Dirichlet noise does not count: players of a gate match have none.
    is_noisy = search.gumbel is not None and search.gumbel.noise > 0
    return is_noisy or (search.variance is not None and search.variance.mode == "half_normal")
