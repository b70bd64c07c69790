"""Commands about games themselves: count move sequences, run the laws, play in the terminal, prove a net's play."""

import json as json_format
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hauteur import _core
from hauteur.cli.commands.options import GameArgument, NetName, Seed
from hauteur.games.registry import check_game as results_of_laws
from hauteur.games.registry import load_game
from hauteur.matches.exact_play import (
    COUNT,
    FIXED_SEARCH,
    FIXED_VISITS,
    LINES,
    PHASES,
    TOTAL,
    PlayedTree,
    Preserved,
    SolvedSet,
    TreePlayer,
    Watch,
    has_few_positions,
    limits_of,
    solved_set,
    summed,
    value_preserving_moves,
)
from hauteur.networks.names import resolve_net
from hauteur.players.search_player import SearchPlayer
from hauteur.system.progress import ProgressLine

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator
    from hauteur.networks.names import ResolvedNet


def perft(spec: GameArgument, depth: int) -> int:
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


def check_game(spec: GameArgument, *, games: int = 20, seed: Seed = 0) -> int:
    """Run the laws that every game obeys along random games, and say what was played.

    Exit status: 1 a law is broken, 2 the game gives answers of a kind that is not allowed.

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
    holding = len(results) - broken
    print(f"{spec}: {holding} of {len(results)} laws hold along {games} random games (seed {seed})")
    print(results.played)
    if any(result.is_wrong_answer for result in results):
        return WRONG_ANSWER
    return 1 if broken else 0


WRONG_ANSWER = 2
"""Exit status of `hauteur check-game` where the game cannot be asked."""

SMALL = 10_000
"""Positions of a game up to which a net is also played against every reply."""

SHOWN = 5
"""First mistakes that are listed."""


def prove(
    spec: GameArgument,
    *,
    net: NetName | None = None,
    visits: int = FIXED_VISITS,
    positions: int = COUNT,
    as_first: Annotated[bool, Parameter(negative=())] = False,
    as_second: Annotated[bool, Parameter(negative=())] = False,
    lines: int = LINES,
    at_least: float | None = None,
    seed: Seed = 0,
    json: bool = False,
) -> int:
    """Check a net's play against exact play, in any game that a search can solve.

    Reported is the share of moves that keep the exact value of solved positions, with its 95 % interval, by ply and
    phase; in games of at most 10,000 positions also what becomes of games against every reply, as either side. One
    fixed search is that of all nets: PUCT without noise. Exit status 1: a loss against some reply, a share below
    --at-least, a mistake of --as-first or --as-second.

    Parameters
    ----------
    spec
        The game, e.g. `connect4`, `nogo(size=5)`.
    net
        A net file, `uniform` or `rollout`; default: the net that ships for the game.
    visits
        Visits a move.
    positions
        Solved positions, at most.
    as_first
        Play the first player against all replies that keep the value, and check every move.
    as_second
        The same as the second player.
    lines
        Of --as-first, --as-second: positions of a ply that are followed; of more a random sample.
    at_least
        Exit status 1 unless the lower bound of the share over all positions reaches this, 0 to 1.
    seed
        Seed of positions and samples.
    json
        Print one JSON object.
    """
    _check(at_least, visits=visits, positions=positions, lines=lines)
    if at_least is not None and (as_first or as_second):
        raise ValueError("--at-least is a share of solved positions, which --as-first and --as-second do not count")
    game = load_game(spec)
    started = time.perf_counter()
    judged: _Judged | None = None
    trees: list[PlayedTree] = []
    slow = game.name not in _core.game_names()  # a game in Python takes minutes, which a log should show too
    with _player(game, net, visits) as player, ProgressLine(slow or None, "opening the net") as counted:

        def watch(what: str, done: int, of: int) -> None:
            counted.show(f"{done:,} of {of:,} {what}", min(1.0, done / of))

        for side, asked in enumerate((as_first, as_second)):
            if asked:
                best_replies = TreePlayer(player, game, lines=lines, seed=seed, watch=watch)
                trees.append(best_replies.play(side))
        if not trees:
            judged = _Judged.of(player, game, positions, seed, watch)
            if has_few_positions(game, SMALL):
                every_reply = TreePlayer(player, game, replies="all", lines=SMALL, seed=seed, watch=watch)
                trees = [every_reply.play(0), every_reply.play(1)]
    if json:
        facts: dict[str, Any] = {"game": game.spec, "visits": visits, "trees": [asdict(tree) for tree in trees]}
        if judged is not None:
            facts |= judged.to_json()
        print(json_format.dumps(facts))
    else:
        _print_proof(game, judged, trees, positions)
        print(f"{_visited_text(trees)}{visits} visits a move, {time.perf_counter() - started:.1f} s")
    return 1 if _has_failed(judged, trees, at_least) else 0


def _print_proof(game: _core.Game, judged: "_Judged | None", trees: Sequence[PlayedTree], positions: int) -> None:
    """Print what was found; positions: how many were asked for."""
    if judged is not None:
        print("\n".join(judged.text()))
    for tree in trees:
        print("\n".join(_tree_text(tree)))
    if judged is not None and not trees and judged.total.positions < positions:
        _, most = limits_of(game, 0, TOTAL)
        asked = f"{judged.total.positions:,} of {positions:,} asked for"
        print(f"{asked}: there are no more, or solving takes over {most:,} nodes")


def _visited_text(trees: Sequence[PlayedTree]) -> str:
    """Return how many positions were visited and games lost, with a semicolon; empty without trees."""
    if not trees:
        return ""
    count = sum(tree.positions for tree in trees)
    losses = sum(tree.losses for tree in trees)
    return f"{count:,} positions visited, {losses} losses; "


def _has_failed(judged: "_Judged | None", trees: Sequence[PlayedTree], at_least: float | None) -> bool:
    """Return whether a game was lost, a move gave value away where all are checked, or the share is too small."""
    for tree in trees:
        faults = tree.mistakes if tree.replies == "best" else tree.losses
        if faults:
            return True
    if judged is None or at_least is None:
        return False
    low, _ = judged.total.interval
    return low < at_least


def _check(at_least: float | None, **counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be >= 1, got {count}")
    if at_least is not None and not 0 <= at_least <= 1:
        raise ValueError(f"--at-least is a share from 0 to 1, got {at_least}")


@contextmanager
def _player(game: _core.Game, net: str | None, visits: int) -> Iterator[SearchPlayer]:
    """The player of a net, at temperature 0; its evaluator is closed at the end."""
    chosen = resolve_net(net, game)
    with closing(evaluator_of(game, chosen)) as evaluator:
        yield SearchPlayer(chosen.short_name, evaluator, FIXED_SEARCH, visits)


def evaluator_of(game: _core.Game, net: "str | ResolvedNet") -> "Evaluator":
    """The evaluator of a net; imported here so that the other commands start without a backend."""
    from hauteur.networks.evaluators.factory import make_evaluator

    return make_evaluator(game, net)


@dataclass(frozen=True)
class _Judged:
    """How often a net keeps the value of solved positions, by ply."""

    solved: SolvedSet
    by_ply: dict[int, Preserved]
    total: Preserved

    @classmethod
    def of(cls, player: SearchPlayer, game: _core.Game, count: int, seed: int, watch: Watch) -> "_Judged":
        """Measure a player; ValueError where no position of the game can be solved."""
        solved = solved_set(game, count, seed=seed, watch=watch)
        if not solved.positions:
            raise ValueError(f"no position of {game.spec} was solved by {solved.nodes:,} positions searched")
        return cls(solved, *value_preserving_moves(player, solved.positions))

    @property
    def by_phase(self) -> dict[str, Preserved]:
        """The thirds of the plies."""
        parts: dict[str, list[Preserved]] = {name: [] for name in PHASES}
        for ply, part in self.by_ply.items():
            parts[self.solved.phase(ply)].append(part)
        return {name: summed(some) for name, some in parts.items() if some}

    def to_json(self) -> dict[str, Any]:
        """Return the shares of all positions, by phase and by ply, and what was left out."""
        return {
            "total": self.total.to_json(),
            "by_phase": {name: part.to_json() for name, part in self.by_phase.items()},
            "by_ply": {str(ply): part.to_json() for ply, part in self.by_ply.items()},
            "limit": self.solved.nodes,
            "unsolved": list(self.solved.unsolved),
            "quiet": self.solved.quiet,
        }

    def text(self) -> list[str]:
        """Return the shares by ply and phase, a line each, and what was left out."""
        out = [f"{'':8} {'positions':>9}  {'kept':24} {'choice matters':>14}  kept"]
        for ply, part in self.by_ply.items():
            out.append(_row(f"ply {ply}", part))
        for phase, part in self.by_phase.items():
            out.append(_row(phase, part))
        out.append(_row("all", self.total))
        solved = self.solved
        left = sum(solved.unsolved)
        kind = "quiet positions: no two moves end the game with a winner" if solved.quiet else "positions"
        limit = f"that take over {solved.nodes:,} positions to solve"
        out.append(f"{kind}; plies {solved.plies.start} to {solved.plies[-1]}; left out: {left:,} {limit}")
        share = _percent(self.total.share, self.total.interval)
        summary = f"value-preserving moves: {share} of all"
        if self.total.choices:
            matters = _percent(self.total.choices_share, self.total.choices_interval)
            summary += f", {matters} where the choice matters"
        out.append(summary)
        return out


def _percent(share: float, interval: tuple[float, float]) -> str:
    return f"{share:.1%} ({interval[0]:.1%} to {interval[1]:.1%})"


def _row(label: str, part: Preserved) -> str:
    kept = _percent(part.share, part.interval)
    choices = _percent(part.choices_share, part.choices_interval) if part.choices else "-"
    return f"{label:8} {part.positions:9,}  {kept:24} {part.choices:14,}  {choices}"


def _tree_text(tree: PlayedTree) -> list[str]:
    """Return what became of the games of a side, and how much of them was checked."""
    side = "first" if tree.side == 0 else "second"
    replies = "every reply" if tree.replies == "all" else "best replies"
    ends = f"{tree.wins:,} won, {tree.draws:,} drawn, {tree.losses:,} lost"
    worth = ""
    if tree.value is not None:
        result = ("lost", "drawn", "won")[tree.value + 1]
        worth = f" ({result} from the start)"
    kept = f"{tree.kept:,} of {tree.checked:,} moves keep the value"
    counts = f"{tree.positions:,} positions, {tree.searched:,} searched; ended: {ends}; {kept}"
    out = [f"as {side} player against {replies}{worth}: {counts}"]
    if tree.sampled_from is not None:
        out.append(f"  not complete: from ply {tree.sampled_from} on a sample of the positions was followed")
    if tree.unchecked:
        first = min(tree.unchecked)
        last = max(tree.unchecked)
        count = sum(tree.unchecked.values())
        out.append(f"  not checked: {count:,} moves of plies {first} to {last}, whose positions take too long")
    for moves in tree.mistakes[:SHOWN]:
        out.append(f"  mistake: {moves}")
    if tree.perfect:
        out.append("  perfect: complete, and no move gives value away")
    elif not tree.mistakes:
        out.append("  no mistake in what was checked")
    return out
