"""Figure 5 of the search-contempt paper: frequency of positions in self-play that the net misjudges.

A. Joshi, "Search-contempt", 2025, section 4.2.4: with a low N_scl self-play seeks positions that look good at few nodes
but are bad at many (its example: +0.004 for the bare net, -0.82 in truth), and "interesting" positions are 20 to 30
times as frequent as with PUCT. Here positions drawn from games of both kinds are evaluated by the net with plain PUCT,
at few visits and at many; those whose value changes are counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, joined, stated
from hauteur_experiments.grid import COLOURS, Match, play, points
from hauteur_experiments.measured import columns, rate_of, rate_ratio
from hauteur_experiments.search_contempt.settings import (
    HYBRID,
    LEAST_GAMES,
    VISITS,
    contempt,
    game_of,
    player,
    scoped,
    selfplay,
)
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, Inequality

GAMES = 100
POSITIONS = 500
"""Of each set of games."""

EXAMPLES = 5
BATCH = 100
"""Positions that are judged at a time, and written."""

LOW = 5
"""Visits of the shallow judgement: the N_scl of the games."""

DEEPER = 4
"""Visits of the deep judgement, in units of those of the games."""

SHIFT, SWING, GRAVE, GAP = 0.2, 0.4, 0.8, 0.3

SETS = {"n5": ("N_scl 5", contempt(5)), "n32": ("N_scl 32", contempt(32)), "puct": ("PUCT", HYBRID)}
"""The games by the name of their folder: title and words; those of figure 2."""

PLAIN = "puct"
SHOWN = ("games", "kind", "positions", "count", "per_1000", "low_95", "high_95")
"""Columns of the rows that are shown; how many times as many there are with search-contempt stands in the findings."""

MORE = 1.25
"""Times as many that matter, of the statement without a number."""


@dataclass(frozen=True)
class MeasuredPosition:
    """A position of a game with the results of its searches; values are for the player to move, -1 to 1."""

    game: int
    """Number of the game."""
    ply: int
    """Plies before it."""
    fen: str
    """The position."""
    before: str
    """The position before the last move, as FEN."""
    move: str
    """The last move."""
    white_to_move: bool
    """White is to move."""
    low: float
    """Value at few visits."""
    high: float
    """Value at many visits."""
    best: str
    """Best move at many visits."""
    gap: float | None
    """Margin of the best move over the second best; None: there is no second one."""
    change: bool
    """The deep search plays another move than the short one."""

    @property
    def swing(self) -> float:
        """Absolute change of the value between few visits and many."""
        return abs(self.high - self.low)


Found = Mapping[str, Sequence[MeasuredPosition]]
"""Positions by the name of their games."""

KINDS: Mapping[str, Callable[[MeasuredPosition], bool]] = {
    "shifted": lambda one: one.swing >= SHIFT,
    "misjudged": lambda one: one.swing >= SWING,
    "gravely misjudged": lambda one: one.swing >= GRAVE,
    "puzzle": lambda one: one.swing >= SWING and one.change and one.gap is not None and one.gap >= GAP,
    "mistake": lambda one: one.high - one.low >= SWING,
    "trap": lambda one: one.low - one.high >= SWING,
}
"""Counted kinds. puzzle: the best move is one that the shallow search does not play, and better than every other by
GAP; mistake: who moved into the position is worse off than it looks; trap: better off."""

COUNTED = ("shifted", "misjudged", "puzzle")
"""Kinds that the statements are tested with, beside each other."""


LOWEST = "n5"
KIND_SCOPES = {
    "shifted": f"values shifted by {SHIFT}, not misjudged by {SWING}",
    "misjudged": "",
    "puzzle": "puzzles among the misjudged",
}
"""The source's positions are "interesting", which it does not define; the nearest are those that are misjudged."""


def make(setting: Setting) -> Result:
    """Play the games, evaluate the positions and count."""
    played = play(setting, matches(setting), shared=True)
    found = {name: analysed(setting, name, played[name].games) for name in SETS}
    rows = [_row(setting, name, kind, found[name]) for name in SETS for kind in KINDS]
    facts = {
        "low_visits": LOW,
        "high_visits": deep(setting),
        "shift": SHIFT,
        "swing": SWING,
        "grave": GRAVE,
        "gap": GAP,
    }
    texts = [columns(rows, *SHOWN), *examples(setting, found["n5"])]
    return scoped(setting, Result(rows, findings(found), [figure(setting, found)], texts, facts))


def matches(setting: Setting) -> list[Match]:
    """The self-play of every set; ValueError for a game whose positions have no FEN."""
    if (name := ht.load_game(game_of(setting)).name) not in ("chess", "minichess"):
        raise ValueError(f"contempt-positions needs a game with FEN (chess, minichess), got {name}")
    return [selfplay(setting, name, words, setting.scaled(GAMES, 2)) for name, (_, words) in SETS.items()]


def deep(setting: Setting) -> int:
    """Visits of the deep judgement."""
    return max(LOW + 1, DEEPER * setting.visits_or(VISITS))


def positions_of(setting: Setting, games: Sequence[Any]) -> Iterator[tuple[int, int, str, ht.State, ht.State]]:
    """Yield each unfinished position after the first move: game, ply, move, the position before, the position."""
    for game in games:
        state = _begin(setting, game.fen)
        for ply, move in enumerate(f"{game.opening} {game.moves}".split(), start=1):
            before = state.copy()
            state.apply(state.parse(move))
            if state.outcome() is None:
                yield game.index, ply, move, before, state.copy()


def _begin(setting: Setting, fen: str | None) -> ht.State:
    spec = game_of(setting)
    if fen:
        name, _, _ = spec.partition("(")
        spec = f"{name}(fen={fen})"
    return ht.load_game(spec).new_initial_state()


def analysed(setting: Setting, name: str, games: Sequence[Any]) -> list[MeasuredPosition]:
    """Positions drawn from these games with what was found of them; those on disk are not judged again."""
    first: dict[int, tuple[int, int, str, ht.State, ht.State]] = {}
    for place in positions_of(setting, games):
        first.setdefault(place[4].key, place)
    places = list(first.values())
    order = ht.stream(1, "positions of games").permutation(len(places))
    count = setting.scaled(POSITIONS, 2)
    drawn = [places[number] for number in sorted(order[:count])]
    file = setting.folder / f"{name}.positions.jsonl"
    done = {(one.game, one.ply): one for one in read_measured(file)}
    missing = [place for place in drawn if place[:2] not in done]
    words = ht.Player.from_text(player(setting, HYBRID))

    def searched(states: Sequence[ht.State], visits: int) -> Any:
        """Search positions with this number of visits each."""
        return ht.search_batch(states, words.net, words.search, visits=visits, seed=1, threads=setting.threads)

    with file.open("ab", buffering=0) as out:
        for begin in range(0, len(missing), BATCH):
            some = missing[begin : begin + BATCH]
            states = [place[4] for place in some]
            low = searched(states, LOW)
            high = searched(states, deep(setting))
            for number, place in enumerate(some):
                one = _measured(place, low, high, number)
                done[place[:2]] = one
                line = json.dumps(asdict(one)) + "\n"
                out.write(line.encode())
            setting.show(f"{file.name}: {begin + len(some)} of {len(missing)} judged")
    return [done[place[:2]] for place in drawn]


def _measured(place: tuple[int, int, str, ht.State, ht.State], low: Any, high: Any, number: int) -> MeasuredPosition:
    """Put the answers of a shallow and a deep search together. Values of moves are for who plays them."""
    game, ply, move, before, state = place
    shallow = int(low.best_actions[number])
    best = int(high.best_actions[number])
    q = high.q[number]
    others = []
    for action in state.legal_actions().tolist():
        if action != best and high.visits[number][action] > 0:
            others.append(float(q[action]))
    gap = None
    if others:
        gap = round(float(q[best]) - max(others), 4)
    position = (game, ply, state.notation(), before.notation(), move, state.to_move == 0)
    few = _value_of(low, number)
    many = _value_of(high, number)
    return MeasuredPosition(*position, few, many, state.action_to_text(best), gap, best != shallow)


def _value_of(found: Any, number: int) -> float:
    """Return win - loss that a search found in a position, to four digits."""
    wdl = found.wdl[number]
    return round(float(wdl[0] - wdl[2]), 4)


def read_measured(file: Path) -> list[MeasuredPosition]:
    """Return the entries of the file; a last line that was cut off is removed.

    ValueError for any other that is damaged.
    """
    if not file.exists():
        return []
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        file.write_bytes(whole)
    try:
        return [MeasuredPosition(**json.loads(line)) for line in whole.splitlines()]
    except (ValueError, TypeError):
        raise ValueError(f"{file}: a line is no analysed position; delete the file, it is made again") from None


def _flags(found: Sequence[MeasuredPosition], kind: str) -> list[tuple[int, bool]]:
    return [(one.game, KINDS[kind](one)) for one in found]


def _row(setting: Setting, name: str, kind: str, found: Sequence[MeasuredPosition]) -> dict[str, Any]:
    """A line of result.csv: how often a kind occurs in the games of a name of SETS, per 1,000 positions."""
    flags = _flags(found, kind)
    rate = rate_of(flags)
    low, high = rate.interval(0.95)
    return {
        "games": name,
        "kind": kind,
        "positions": len(found),
        "count": sum(counted for _, counted in flags),
        "per_1000": 1000 * rate.value,
        "low_95": 1000 * low,
        "high_95": 1000 * high,
        "low_visits": LOW,
        "high_visits": deep(setting),
    }


def findings(found: Found) -> list[Finding]:
    """The statement of section 4.2.1 beside three ways to count, with its factor of 20 and without it, by N_scl."""
    others = [name for name in found if name != PLAIN]
    cells = len(COUNTED) * len(others)
    findings = []
    for key, bound in (("more", 1.0), ("twenty", 20.0)):
        for name in others:
            for kind in COUNTED:
                findings.append(_finding(found, key, bound, name, kind, cells))
    return findings


def _finding(found: Found, key: str, bound: float, name: str, kind: str, cells: int) -> Finding:
    """Return whether a set has `bound` times as many positions of a kind as plain search. cells: of the table."""
    title = SETS[name][0]
    own = _flags(found[name], kind)
    plain = _flags(found[PLAIN], kind)
    what = f"times as many {kind} positions, {title}"
    ratio = rate_ratio(own, plain)
    side = Inequality(what, ratio, bound, "above", LEAST_GAMES, matters=max(bound, MORE))
    rates = f"{title} {1000 * rate_of(own).value:.1f}; {SETS[PLAIN][0]} {1000 * rate_of(plain).value:.1f}"
    other_n_scl = "" if name == LOWEST else f"{title}, not 5"
    scope = joined(KIND_SCOPES[kind], other_n_scl)
    return Finding.of(key, Claim((side,), cells=cells), f"{title}, per 1,000 positions: {rates}", scope)


def examples(setting: Setting, found: Sequence[MeasuredPosition]) -> list[str]:
    """The positions of the games with search-contempt that are misjudged most, one a game, as the paper's figure."""
    best: dict[int, MeasuredPosition] = {}
    for one in sorted(found, key=lambda one: -one.swing):
        if one.swing >= SWING:
            best.setdefault(one.game, one)
    texts = []
    for one in list(best.values())[:EXAMPLES]:
        sign = 1 if one.white_to_move else -1
        low = f"{sign * one.low:+.3f}"
        high = f"{sign * one.high:+.3f}"
        texts.append(
            f"game {one.game + 1} of N_scl 5, ply {one.ply}: {one.before}, {one.move} leads to\n{one.fen}\nvalue for "
            f"White {low} at {LOW} visits, {high} at {deep(setting)}; best {one.best}\n"
            f"{_begin(setting, one.fen).text()}"
        )
    return texts


def figure(setting: Setting, found: Found) -> ht.Figure:
    """The rates with their intervals."""
    lines = []
    for number, name in enumerate(found):
        rates = [rate_of(_flags(found[name], kind)) for kind in KINDS]
        places = [place + 0.16 * number - 0.08 for place in range(1, len(KINDS) + 1)]
        lines.append(points(SETS[name][0], places, rates, COLOURS[number], scale=1000))
    text = (
        f"Positions whose value at {LOW} visits and at {deep(setting)} differs by {SWING} (shifted: {SHIFT}, gravely: "
        f"{GRAVE}); self-play of {game_of(setting)} at {setting.visits_or(VISITS):,} visits; 95 % intervals by game."
    )
    style: Any = {"lines": tuple(lines), "from_zero": True, "x_names": tuple(KINDS)}
    title = "Misjudged positions in self-play"
    return ht.Figure("contempt-positions", title, text, "per 1,000 positions", "", **style)


EXPERIMENTS = (
    Experiment(
        "contempt-positions",
        "Joshi 2025, figure 5",
        "misjudged positions per 1,000 of self-play, search-contempt and PUCT",
        make,
        claims=stated(
            "Joshi 2025, figure 5",
            "more | misjudged positions are more frequent with a low N_scl | more than 1",
            "twenty | they are 20 to 30 times as frequent | 20 to 30",
            "puzzles | positions that N_scl misjudges make puzzles (conclusion) | no number"
            " | 100 puzzles, about 38,000 positions, `hauteur puzzles mine`: about 2 core hours",
            "harder | puzzles are harder the greater N, N_scl and their difference are (conclusion) | no number"
            " | 100 confirmed puzzles at each of four pairs of N_scl and N, solved by a ladder of nodes: 20 core hours",
        ),
        matches=matches,
        uses=("nets", "visits", "game", "precision"),
    ),
)
