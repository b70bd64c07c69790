"""Games of a player against itself, in memory, one after another as they end."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import replace

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.arena import play_games
from hauteur.matches.openings import random_opening
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Dirichlet, Temperature
from hauteur.players.build import Evaluators, Resources, build_player
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.system.progress import ProgressLine
from hauteur.system.seeds import stream


def self_play(
    game: _core.Game | str,
    player: PlayerSettings | str,
    games: int = 100,
    *,
    parallel: int = 64,
    seed: int = 0,
    temperature: float | Temperature | None = 1.0,
    noise: bool = True,
    random_plies: int = 0,
    max_plies: int | None = None,
    threads: int = 0,
    progress: bool | None = None,
) -> Generator[GameRecord]:
    """Play games of a player against itself; yield each as it ends.

    Parameters
    ----------
    game
        A game, or its spec.
    player
        `ht.Player(evaluator, params, visits=...)`, or a text as of `ht.Player.from_text`.
    games
        How many, at least 1.
    parallel
        Games at a time, 1 to 100,000; their positions share the evaluator's batches.
    seed
        Of all random draws, 0 or more. The same seed gives the same games, as far as the evaluator gives the same
        answer to a row in every batch; their order depends on `parallel`.
    temperature
        At which moves are drawn by their visits, 0 (the best move) to 100, or a `Temperature` schedule; None:
        the player's own.
    noise
        Dirichlet noise at the root, with its default settings, where the player's search has none.
    random_plies
        Each game begins with 0 to this number of uniformly random plies, which are not learned from.
    max_plies
        A longer game is a draw; None: the game's own rules.
    threads
        Of a net on the processor, 1 to 1024; 0: one a core.

    progress
        Show a line of progress; None: on a terminal and in a notebook.

    A record has `actions`, `outcome` (+1 the first player won, 0 draw, -1), and for each of its n moves the visits, the
    root's wdl float32 [n, 3] for the mover, and the policy; `ht.ReplayBuffer.add` takes records as they are. Closing
    the iterator ends the games that are running. Raise ValueError at once for settings out of range, or that do not fit
    the game; what an evaluator raises comes out of the iterator.

    >>> import hauteur as ht
    >>> records = list(ht.self_play("tictactoe", "net=uniform visits=20", games=4))
    >>> sorted(record.plan.index for record in records)
    [0, 1, 2, 3]
    >>> records[0].root_wdl.shape == (len(records[0].actions), 3)
    True
    """
    rules = load_game(game)
    settings = parse_player(player) if isinstance(player, str) else player
    if games < 1 or random_plies < 0 or seed < 0:
        raise ValueError(
            f"games must be at least 1, random_plies and seed at least 0, got {games}, {random_plies} and {seed}"
        )
    if max_plies is not None and max_plies <= random_plies:
        raise ValueError(f"max_plies must be more than random_plies, got {max_plies} and {random_plies}")
    resources = Resources(parallel=parallel, threads=threads)
    plans = (_plan(rules, index, random_plies, seed) for index in range(games))
    with ExitStack() as stack:
        evaluators = stack.enter_context(Evaluators(rules, resources))
        built = _varied(build_player(rules, settings, evaluators, "player"), temperature, noise=noise)
        records = play_games(
            rules,
            [built],
            plans,
            seed=seed,
            purpose="self-play",
            parallel=parallel,
            batch_size=resources.rows,
            max_plies=max_plies,
        )
        line = ProgressLine(progress, "opening the nets")
        return _until_closed(records, stack.pop_all(), line, games)


def _until_closed(
    records: Generator[GameRecord], stack: ExitStack, line: ProgressLine, games: int
) -> Generator[GameRecord]:
    """Yield the records; close what they are made with behind the last."""
    with stack, closing(records), line:
        for done, record in enumerate(records, 1):
            line.show(f"{done:,}/{games:,} games", done / games, last=done == games)
            yield record


def _varied(
    player: SearchPlayer | MovePlayer, temperature: float | Temperature | None, *, noise: bool
) -> SearchPlayer | MovePlayer:
    """The player with what makes its games differ; one that does not search unchanged."""
    if not isinstance(player, SearchPlayer):
        return player
    if noise and player.search.dirichlet is None:
        player = replace(player, search=player.search.model_copy(update={"dirichlet": Dirichlet()}))
    if temperature is None:
        return player
    if not isinstance(temperature, Temperature):
        temperature = Temperature(initial=temperature)
    return replace(player, temperature=temperature)


def _plan(game: _core.Game, index: int, random_plies: int, seed: int) -> GamePlan:
    """The game of this number, with its random plies."""
    if not random_plies:
        return GamePlan(index)
    random = stream(seed, "opening", index)
    return GamePlan(index, start=random_opening(game, int(random.integers(random_plies + 1)), random))
