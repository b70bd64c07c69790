"""Commands about games themselves: count move sequences, run the laws, play in the terminal, prove a net's play."""

import json as json_format
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.cli.commands.options import GameSpec, NetName, Seed
from hauteur.games.registry import check_game as results_of_laws
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams
from hauteur.networks.names import net_or_shipped
from hauteur.players.search_player import SearchPlayer
from hauteur.studies.exact_play import (
    PROVABLE,
    Preserved,
    play_against_every_reply,
    solved_connect4_positions,
    value_preserving_moves,
)

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator


def perft(spec: GameSpec, depth: int) -> int:
    """Count the move sequences of every length up to DEPTH; checks a game's rules against known numbers.

    Parameters
    ----------
    spec
        The game, e.g. `chess`, `nogo(size=7)`, `chess(fen=...)`.
    depth
        Longest length, at least 1.
    """
    if depth < 1:
        raise ValueError(f"depth must be >= 1, got {depth}")
    state = load_game(spec).new_initial_state()
    print(f"{'depth':>5} {'sequences':>20} {'seconds':>9}")
    for length in range(1, depth + 1):
        started = time.perf_counter()
        count = state.perft(length)
        print(f"{length:5} {count:20,} {time.perf_counter() - started:9.3f}", flush=True)
    return 0


def check_game(spec: GameSpec, *, games: int = 20, seed: Seed = 0) -> int:
    """Run the laws that every game obeys along random games; exit status 1 if one is broken.

    Parameters
    ----------
    spec
        The game, e.g. `connect4`, `tutorial`, `nogo(size=5)`.
    games
        Number of random games.
    seed
        Seed of the random moves.
    """
    results = results_of_laws(spec, games=games, seed=seed)
    print(results)
    broken = sum(result.broken is not None for result in results)
    print(f"{spec}: {len(results) - broken} of {len(results)} laws hold along {games} random games (seed {seed})")
    return 1 if broken else 0


def prove(
    spec: GameSpec,
    *,
    net: NetName | None = None,
    visits: int = 100,
    at_least: float | None = None,
    seed: Seed = 0,
    json: bool = False,
) -> int:
    """Check a net's play against exact play; exit status 1 if it fails.

    tictactoe: the player must not lose against any replies, as either side. connect4: the share of moves that keep the
    exact value of the position, on a fixed set of positions by ply.

    Parameters
    ----------
    spec
        `tictactoe` or `connect4`.
    net
        A net file, `uniform` or `rollout`; default: the net that ships for the game.
    visits
        Visits a move.
    at_least
        Exit status 1 if the share over all positions (connect4) is less, 0 to 1.
    seed
        Seed of the searches.
    json
        Print one JSON object.
    """
    if spec not in PROVABLE:
        raise ValueError(f"prove knows {' and '.join(PROVABLE)}, got {spec!r}")
    if at_least is not None and (spec != "connect4" or not 0 <= at_least <= 1):
        raise ValueError(f"--at-least is a share from 0 to 1 and for connect4 alone, got {at_least} for {spec}")
    game = load_game(spec)
    with _player(game, net, visits) as player:
        if spec == "tictactoe":
            return _prove_exhaustively(player, game, seed, json)
        return _prove_by_values(player, at_least or 0.0, seed, json)


@contextmanager
def _player(game: _core.Game, net: str | None, visits: int) -> Iterator[SearchPlayer]:
    """The player of a net, at temperature 0; its evaluator is closed at the end."""
    if visits < 1:
        raise ValueError(f"visits must be >= 1, got {visits}")
    chosen = net_or_shipped(net, game)
    with closing(evaluator_of(game, chosen)) as evaluator:
        yield SearchPlayer(Path(chosen).name.split(".")[0], evaluator, SearchParams(), visits)


def evaluator_of(game: _core.Game, net: str) -> "Evaluator":
    """The evaluator of a net; imported here so that the other commands start without a backend."""
    from hauteur.networks.evaluators.factory import make_evaluator

    return make_evaluator(game, net)


def _prove_exhaustively(player: SearchPlayer, game: _core.Game, seed: int, json: bool) -> int:
    """Print what became of the games against every reply; 1 if any is lost."""
    started = time.perf_counter()
    results = play_against_every_reply(player, game, seed=seed)
    losses = sum(result.losses for result in results)
    positions = sum(result.positions for result in results)
    if json:
        print(json_format.dumps([asdict(result) for result in results]))
        return 1 if losses else 0
    for result in results:
        side = ("first", "second")[result.side]
        ends = f"{result.wins} won, {result.draws} drawn, {result.losses} lost"
        print(f"as {side} player: {result.positions:,} positions, {result.searched:,} searched; ended: {ends}")
        for moves in result.lost[:5]:
            print(f"  lost: {moves}")
    seconds = time.perf_counter() - started
    print(f"{positions:,} positions visited, {losses} losses ({player.visits} visits a move, {seconds:.1f} s)")
    return 1 if losses else 0


def _prove_by_values(player: SearchPlayer, at_least: float, seed: int, json: bool) -> int:
    """Print the shares by ply and in all; 1 if the total share is less than `at_least`."""
    by_ply, in_all = value_preserving_moves(player, solved_connect4_positions(), seed=seed)
    if json:
        rows = {str(ply): asdict(part) for ply, part in by_ply.items()}
        print(json_format.dumps({"visits": player.visits, "total": asdict(in_all), "by_ply": rows}))
        return 1 if in_all.share < at_least else 0
    print("  ply  positions  kept       choice matters  kept")
    for ply, part in by_ply.items():
        print(_values_line(f"{ply:5}", part))
    print(_values_line("  all", in_all))
    print(f"value-preserving moves: {in_all.share:.1%} of all, {in_all.choices_share:.1%} where the choice matters")
    return 1 if in_all.share < at_least else 0


def _values_line(label: str, part: Preserved) -> str:
    kept, choices_kept = f"{part.share:.0%}", f"{part.choices_share:.0%}" if part.choices else "-"
    return f"{label}  {part.positions:9}  {kept:>4}       {part.choices:14}  {choices_kept:>4}"
