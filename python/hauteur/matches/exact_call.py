"""Players measured by exact values in one call, for programs in Python and for the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.exact_play import (
    COUNT,
    Preserved,
    SolvedPosition,
    SolvedSet,
    Watch,
    kept_values,
    shares_of,
    solved_set,
)
from hauteur.matches.paired_moves import PairedMoves
from hauteur.players.build import Evaluators, Resources, build_player, player_name
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings, given_player
from hauteur.system.formatting import described
from hauteur.system.hints import whole_number, with_hints

if TYPE_CHECKING:
    from hauteur.players.player import Player

PARALLEL = 512
"""Positions that are searched side by side, of which half are a batch."""


@dataclass(frozen=True)
class ExactPlay:
    """What players did in the same solved positions."""

    game: str
    """Spec of the game."""
    players: tuple[str, ...]
    """Names of the players."""
    positions: Sequence[SolvedPosition]
    """The positions, in the order of their plies."""
    kept: NDArray[np.bool_]
    """Whether the move of a player keeps the value of a position, bool [P, T]."""

    def of(self, player: int) -> Preserved:
        """Return the counts, share and intervals of a player, by its number from 0."""
        _, total = shares_of(self.positions, self.kept[player].tolist())
        return total

    def beside(self, player: int, other: int = 0) -> PairedMoves:
        """Return a player beside another one, who is the first of the pairs."""
        return PairedMoves.of(self.kept[other].tolist(), self.kept[player].tolist())


@with_hints
def exact_play(
    players: Sequence[Player | str],
    game: _core.Game | str,
    *,
    positions: int = COUNT,
    seed: int = 0,
    threads: int = 0,
) -> ExactPlay:
    """Let players move in solved positions of a game, and return whose moves keep the exact value.

    players: as for `play_match`; each searches every position anew, one leaf at a time. game: one whose positions a
    search can solve, such as Connect Four, Hex, NoGo, Othello, or a small game of your own. positions: at most, 1 or
    more; of Connect Four 5,000 come with the package, others are solved first. seed: of positions and draws, 0 or
    more. threads: of each net, 0: one a core. Positions that both players of a pair keep, or lose, say nothing of their
    difference: `beside` counts the others. Raise ValueError for a player that does not fit the game, and where no
    position can be solved.

    >>> import hauteur as ht
    >>> found = ht.exact_play(["random", "mcts:100"], "tictactoe", positions=100)
    >>> found.beside(1).second_alone > found.beside(1).first_alone
    True
    """
    whole_number("positions", positions, 1, 10**9)
    whole_number("seed", seed, 0, 2**63 - 1)
    whole_number("threads", threads, 0, 1024)
    if isinstance(players, str | PlayerSettings) or not isinstance(players, Sequence):
        raise ValueError(f"players must be a list of players, got {described(players)}")
    if not players:
        raise ValueError("exact_play needs at least one player")
    settings = [given_player(one, f"player {number}") for number, one in enumerate(players, 1)]
    return measured(load_game(game), settings, positions, seed=seed, threads=threads)


def measured(
    game: _core.Game,
    players: Sequence[PlayerSettings],
    count: int,
    *,
    seed: int = 0,
    threads: int = 0,
    watch: Watch | None = None,
    show: Callable[[str], object] | None = None,
) -> ExactPlay:
    """Return what `exact_play` does; watch: gets the progress, show: a line for each player."""
    names = [player_name(game, one) for one in players]
    with opened_players(game, players, threads=threads) as built:
        solved = solved_or_refused(game, count, seed, watch)
        kept = np.zeros((len(built), len(solved.positions)), np.bool_)
        for number, player in enumerate(built):
            if show is not None:
                show(f"{names[number]} moves in {len(solved.positions):,} positions")
            kept[number] = kept_values(player, solved.positions, seed=seed, watch=watch)
    return ExactPlay(game.spec, tuple(names), solved.positions, kept)


@contextmanager
def opened_players(
    game: _core.Game, players: Sequence[PlayerSettings], *, threads: int = 0
) -> Iterator[tuple[SearchPlayer | MovePlayer, ...]]:
    """Build players with names of their own; what they opened is closed at the end."""
    with Evaluators(game, Resources(parallel=PARALLEL, threads=threads)) as evaluators:
        yield tuple(build_player(game, one, evaluators, player_name(game, one)) for one in players)


def solved_or_refused(game: _core.Game, count: int, seed: int, watch: Watch | None = None) -> SolvedSet:
    """Return solved positions; ValueError where no position of the game can be solved."""
    solved = solved_set(game, count, seed=seed, watch=watch)
    if not solved.positions:
        raise ValueError(f"no position of {game.spec} was solved by {solved.nodes:,} positions searched")
    return solved
