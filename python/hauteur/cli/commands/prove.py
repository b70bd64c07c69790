"""The command that measures nets and players by exact play."""

import json as json_format
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hauteur import _core
from hauteur.cli.commands.options import GameArgument, NetName, PlayerText, Seed
from hauteur.games.registry import load_game
from hauteur.matches.exact_call import measured, opened_players, solved_or_refused
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
    kept_values,
    limits_of,
    shares_of,
    summed,
)
from hauteur.matches.paired_moves import PairedMoves
from hauteur.networks.names import resolve_net
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player
from hauteur.system.progress import ProgressLine

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator
    from hauteur.networks.names import ResolvedNet


SMALL = 10_000
"""Positions of a game up to which a net is also played against every reply."""

SHOWN = 5
"""First mistakes that are listed."""


def prove(
    spec: GameArgument,
    *,
    net: NetName | None = None,
    visits: int | None = None,
    player: Annotated[tuple[PlayerText, ...], Parameter(negative=())] = (),
    positions: int = COUNT,
    as_first: Annotated[bool, Parameter(negative=())] = False,
    as_second: Annotated[bool, Parameter(negative=())] = False,
    lines: int = LINES,
    at_least: float | None = None,
    seed: Seed = 0,
    json: bool = False,
) -> int:
    """Check a net's play, or any players', against exact play, in any game that a search can solve.

    Reported is the share of moves that keep the exact value of solved positions, with its 95 % interval, by ply and
    phase; in games of at most 10,000 positions also what becomes of games against every reply, as either side. One
    fixed search is that of all nets: PUCT without noise. Of several players each is compared with the first by pairs:
    positions whose value only one of the two keeps. Exit status 1: a loss against some reply, a share below
    --at-least, a mistake of --as-first or --as-second.

    Parameters
    ----------
    spec
        The game, e.g. `connect4`, `nogo(size=5)`.
    net
        A net file, `uniform` or `rollout`; default: the net that ships for the game.
    visits
        Visits a move of that net; default: 200.
    player
        In the place of a net a player with a search of its own, as in `hauteur match`: `"net=connect4 visits=200
        gumbel.considered=8"`, `mcts:1000`; may be repeated.
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
        Seed of positions, samples and draws.
    json
        Print one JSON object.
    """
    _check(at_least, visits=visits, positions=positions, lines=lines)
    if at_least is not None and (as_first or as_second):
        raise ValueError("--at-least is a share of solved positions, which --as-first and --as-second do not count")
    if player and (net is not None or visits is not None):
        raise ValueError("--player has its net and visits in its text, as in --player 'net=NET visits=200'")
    game = load_game(spec)
    if len(player) > 1:
        if at_least is not None or as_first or as_second:
            raise ValueError("--at-least, --as-first and --as-second take one --player")
        return _compare(game, player, positions, seed, json=json)
    started = time.perf_counter()
    judged: _Judged | None = None
    trees: list[PlayedTree] = []
    with _one_player(game, net, visits, player) as one, _progress() as counted:
        watch = _watcher(counted)
        for side, asked in enumerate((as_first, as_second)):
            if asked:
                best_replies = TreePlayer(one, game, lines=lines, seed=seed, watch=watch)
                trees.append(best_replies.play(side))
        if not trees:
            judged = _Judged.of(one, game, positions, seed, watch)
            if has_few_positions(game, SMALL, watch):
                every_reply = TreePlayer(one, game, replies="all", lines=SMALL, seed=seed, watch=watch)
                trees = [every_reply.play(0), every_reply.play(1)]
    if json:
        facts: dict[str, Any] = {"game": game.spec, "player": one.name, "trees": [asdict(tree) for tree in trees]}
        if isinstance(one, SearchPlayer):
            facts["visits"] = one.visits
        if judged is not None:
            facts |= judged.to_json()
        print(json_format.dumps(facts))
    else:
        _print_proof(game, judged, trees, positions)
        searched = f"{one.visits} visits a move" if isinstance(one, SearchPlayer) else one.name
        print(f"{_visited_text(trees)}{searched}, {time.perf_counter() - started:.1f} s")
    return 1 if _has_failed(judged, trees, at_least) else 0


def _progress() -> ProgressLine:
    """A line of progress, in logs too: positions of a game take up to some minutes to solve."""
    return ProgressLine(True, "opening the net")


def _watcher(line: ProgressLine) -> Watch:
    """Return what shows counts in a line of progress."""

    def watch(what: str, done: int, of: int) -> None:
        line.show(f"{done:,} of {of:,} {what}", min(1.0, done / of))

    return watch


@dataclass(frozen=True)
class _Compared:
    """A player beside the first one, in the same positions."""

    name: str
    total: Preserved
    pairs: PairedMoves

    def to_json(self) -> dict[str, Any]:
        """Return the shares, and the comparison with the first player."""
        return {"player": self.name, "total": self.total.to_json(), "beside_first": self.pairs.to_json()}

    def row(self) -> str:
        """Return the player as a line, under the head of `COMPARED_HEAD`."""
        kept = _percent(self.total.share, self.total.interval)
        choices = _percent(self.total.choices_share, self.total.choices_interval) if self.total.choices else "-"
        return f"{kept:24}  {choices:24}  {self.name}"

    def difference(self, first: str) -> str:
        """Return how it differs from the first player, as a line."""
        low, high = self.pairs.interval
        points = f"{100 * self.pairs.difference:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}] percentage points"
        counts = f"{self.pairs.second_alone:,} positions kept by it alone, {self.pairs.first_alone:,} by the first"
        return f"{self.name} less {first}: {points}; {counts}, p {self.pairs.p_value:.2g}"


COMPARED_HEAD = f"{'kept':24}  {'where the choice matters':24}  player"


def _compare(game: _core.Game, texts: Sequence[str], count: int, seed: int, *, json: bool) -> int:
    """Measure several players in the same positions, and each beside the first."""
    settings = [parse_player(text) for text in texts]
    with _progress() as counted:
        found = measured(game, settings, count, seed=seed, watch=_watcher(counted), show=counted.show)
    rows = []
    for number, name in enumerate(found.players):
        rows.append(_Compared(name, found.of(number), found.beside(number)))
    if json:
        print(json_format.dumps({"game": game.spec, "players": [row.to_json() for row in rows]}))
        return 0
    print(f"{len(found.positions):,} solved positions of {game.spec}; intervals of 95 %")
    print(COMPARED_HEAD)
    for row in rows:
        print(row.row())
    for row in rows[1:]:
        print(row.difference(rows[0].name))
    return 0


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


def _check(at_least: float | None, **counts: int | None) -> None:
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ValueError(f"{name} must be >= 1, got {count}")
    if at_least is not None and not 0 <= at_least <= 1:
        raise ValueError(f"--at-least is a share from 0 to 1, got {at_least}")


@contextmanager
def _one_player(
    game: _core.Game, net: str | None, visits: int | None, texts: Sequence[str]
) -> Iterator[SearchPlayer | MovePlayer]:
    """The player of a text, else of a net with the fixed search; what it opened is closed at the end."""
    if texts:
        with opened_players(game, [parse_player(text) for text in texts]) as players:
            yield players[0]
        return
    chosen = resolve_net(net, game)
    with closing(evaluator_of(game, chosen)) as evaluator:
        yield SearchPlayer(chosen.short_name, evaluator, FIXED_SEARCH, FIXED_VISITS if visits is None else visits)


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
    def of(cls, player: SearchPlayer | MovePlayer, game: _core.Game, count: int, seed: int, watch: Watch) -> "_Judged":
        """Measure a player; ValueError where no position of the game can be solved."""
        solved = solved_or_refused(game, count, seed, watch)
        return cls(solved, *shares_of(solved.positions, kept_values(player, solved.positions, seed=seed, watch=watch)))

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
        else:
            summary += "; in none of them does it matter which move is played, so they tell no player from another"
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
