"""Figure 5 of the search-contempt paper: frequency of positions in self-play that the net misjudges.

A. Joshi, "Search-contempt", 2025, section 4.2.4: with a low N_scl self-play seeks positions that look good at few nodes
but are bad at many (its example: +0.004 for the bare net, -0.82 in truth), and "interesting" positions are 20 to 30
times as frequent as with PUCT. Here positions drawn from games of both kinds are evaluated by the net with plain PUCT,
at few visits and at many; those whose value changes are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from hauteur import _core
from hauteur.games.registry import make, with_fen
from hauteur.matches.results import MatchGame
from hauteur.networks.evaluators.factory import evaluations_per_second
from hauteur.players.build import Evaluators, Resources
from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur.search.batch_analysis import AnalysisRequest, BatchAnalysis, SearchReading
from hauteur.studies.papers.bootstrap_ci import Rate, rate_of, ratio_of
from hauteur.studies.papers.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur.studies.papers.matches import MatchSpec, match_seconds
from hauteur.studies.papers.measured import Interval
from hauteur.studies.papers.search_contempt.settings import (
    HYBRID,
    LEAST_GAMES,
    VISITS,
    Options,
    contempt,
    player,
    scoped,
    selfplay,
)
from hauteur.studies.papers.shared_games import play_shared
from hauteur.studies.papers.verdict import Claim, Inequality
from hauteur.system.files import write_bytes
from hauteur.system.seeds import stream

GAMES = 100
POSITIONS = 500
"""Of each set of games."""

LOW = 5
"""Visits of the shallow judgement: the N_scl of the games."""

DEEPER = 4
"""Visits of the deep judgement, in units of those of the games."""

SHIFT = 0.2
SWING = 0.4
GRAVE = 0.8
GAP = 0.3
EXAMPLES = 5

SETS: Mapping[str, tuple[str, Options]] = {
    "n5": ("N_scl 5", contempt(5)),
    "n32": ("N_scl 32", contempt(32)),
    "puct": ("PUCT", HYBRID),
}
"""The games by the name of their folder: title and options; those of figure 2."""

PLAIN = "puct"


class MeasuredPosition(BaseModel):
    """A position of a game and what was found of it; values are for the player to move.

    low, high: values at few visits and at many; gap: how much the best move is better than the second; change: whether
    the deep search plays another move than the shallow one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: int
    ply: int
    fen: str
    before: str
    move: str
    white_to_move: bool
    low: float
    high: float
    best: str
    gap: float | None
    change: bool

    @property
    def swing(self) -> float:
        """Absolute change of the value between few visits and many."""
        return abs(self.high - self.low)


Kind = Callable[[MeasuredPosition], bool]

KINDS: Mapping[str, Kind] = {
    "shifted": lambda one: one.swing >= SHIFT,
    "misjudged": lambda one: one.swing >= SWING,
    "gravely misjudged": lambda one: one.swing >= GRAVE,
    "puzzle": lambda one: one.swing >= SWING and one.change and one.gap is not None and one.gap >= GAP,
    "mistake": lambda one: one.high - one.low >= SWING,
    "trap": lambda one: one.low - one.high >= SWING,
}
"""What is counted. puzzle: the best move is one that the shallow search does not play, and better than every other by
GAP; mistake: who moved into the position is worse off than it looks; trap: better off."""


COUNTED = ("shifted", "misjudged", "puzzle")
"""Kinds that the statements are tested with, beside each other."""


class PositionPlace(NamedTuple):
    """A position by the number of its game and its ply."""

    game: int
    ply: int


def make_positions(setting: ExperimentSetting) -> Result:
    """Play the games, evaluate the positions and count."""
    plans = specs(setting)
    games = {name: played.games for name, played in play_shared(setting, plans.values()).items()}
    found = {name: analysed(setting, name, games[name]) for name in plans}
    rows = [_row(setting, name, found[name], kind) for name in found for kind in KINDS]
    facts = {
        "low_visits": LOW,
        "high_visits": deep(setting),
        "shift": SHIFT,
        "swing": SWING,
        "grave": GRAVE,
        "gap": GAP,
    }
    return Result(
        rows,
        scoped(setting, findings(found)),
        [figure(setting, found)],
        [table(found), *examples(setting, found)],
        facts,
    )


def specs(setting: ExperimentSetting) -> dict[str, MatchSpec]:
    """The games by name."""
    return {
        name: selfplay(setting, name, player(setting, options), _games(setting)) for name, (_, options) in SETS.items()
    }


def _games(setting: ExperimentSetting) -> int:
    return setting.scaled(GAMES, 2)


def deep(setting: ExperimentSetting) -> int:
    """Visits of the deep judgement."""
    return max(LOW + 1, DEEPER * setting.visits_or(VISITS))


def analysed(setting: ExperimentSetting, name: str, games: Sequence[MatchGame]) -> list[MeasuredPosition]:
    """Positions drawn from these games with what was found of them; those on disk are not judged again."""
    rules = make("chess")
    places = draw(rules, games, setting.scaled(POSITIONS, 2))
    file = setting.folder / f"{name}.positions.jsonl"
    done = {PositionPlace(one.game, one.ply): one for one in read_measured(file)}
    missing = [place for place in places if place not in done]
    if missing:
        done.update(_analyse_missing(setting, rules, games, missing, file))
    return [done[place] for place in places]


def draw(rules: _core.Game, games: Sequence[MatchGame], count: int) -> list[PositionPlace]:
    """Draw `count` places of distinct positions among all games; fewer if there are not as many."""
    first: dict[int, PositionPlace] = {}
    for game in games:
        for place, state in states_of(rules, game):
            first.setdefault(state.key, place)
    places = list(first.values())
    order = stream(1, "positions of games").permutation(len(places))[:count]
    return [places[number] for number in sorted(order)]


def states_of(rules: _core.Game, game: MatchGame) -> Iterator[tuple[PositionPlace, _core.State]]:
    """Yield every unfinished position after the first move; the state is mutated by the iterator."""
    state = make(with_fen(rules.spec, game.fen)).initial_state()
    for ply, move in enumerate(f"{game.opening} {game.moves}".split(), start=1):
        state.play(state.action_from_text(move))
        if state.outcome() is None:
            yield PositionPlace(game.index, ply), state


def _analyse_missing(
    setting: ExperimentSetting,
    rules: _core.Game,
    games: Sequence[MatchGame],
    places: Sequence[PositionPlace],
    file: Path,
) -> dict[PositionPlace, MeasuredPosition]:
    """Analyse positions and adds each to the file when it is known."""
    states = dict(_states_at(rules, games, set(places)))
    plain = player(setting, HYBRID)
    found = {}
    with Evaluators(rules, Resources(parallel=setting.parallel, threads=setting.threads)) as evaluators:
        analysis = BatchAnalysis(evaluators.get(setting.net(), plain), plain.search, seed=1)
        answers = analysis.analyse_each(AnalysisRequest(states[place], (LOW, deep(setting))) for place in places)
        with file.open("ab", buffering=0) as out:
            for number, answer in answers:
                place = places[number]
                found[place] = _measured(games, place, states[place], answer)
                out.write((found[place].model_dump_json() + "\n").encode())
                if len(found) % 100 == 0 or len(found) == len(places):
                    setting.show(f"{file.name}: {len(found)} of {len(places)} judged")
    return found


def _states_at(
    rules: _core.Game, games: Sequence[MatchGame], places: set[PositionPlace]
) -> Iterator[tuple[PositionPlace, _core.State]]:
    for game in games:
        for place, state in states_of(rules, game):
            if place in places:
                yield place, state.copy()


def _measured(
    games: Sequence[MatchGame], place: PositionPlace, state: _core.State, answer: Sequence[SearchReading]
) -> MeasuredPosition:
    low, high = answer
    game = next(game for game in games if game.index == place.game)
    moves = f"{game.opening} {game.moves}".split()
    before = make(with_fen(state.game.name, game.fen)).initial_state()
    for move in moves[: place.ply - 1]:
        before.play(before.action_from_text(move))
    return MeasuredPosition(
        game=place.game,
        ply=place.ply,
        fen=state.notation(),
        before=before.notation(),
        move=moves[place.ply - 1],
        white_to_move=state.to_move == 0,
        low=round(low.q, 4),
        high=round(high.q, 4),
        best=state.action_to_text(high.best),
        gap=None if high.second is None else round(high.gap, 4),
        change=high.best != low.best,
    )


def read_measured(file: Path) -> list[MeasuredPosition]:
    """Return the entries of the file; a last line that was cut off is removed.

    ValueError for any other that is damaged.
    """
    if not file.exists():
        return []
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        write_bytes(file, whole)
    try:
        return [MeasuredPosition.model_validate_json(line) for line in whole.splitlines()]
    except ValidationError:
        raise ValueError(f"{file}: a line is no analysed position; delete the file, it is made again") from None


def _rate(found: Sequence[MeasuredPosition], kind: str) -> Rate:
    return rate_of([(one.game, KINDS[kind](one)) for one in found])


def _row(setting: ExperimentSetting, name: str, found: Sequence[MeasuredPosition], kind: str) -> dict[str, Any]:
    rate = _rate(found, kind)
    return {
        "games": name,
        "kind": kind,
        "positions": len(found),
        "count": rate.counted,
        "per_1000": 1000 * rate.share,
        "low_95": 1000 * rate.low,
        "high_95": 1000 * rate.high,
        "low_visits": LOW,
        "high_visits": deep(setting),
    }


def table(found: Mapping[str, Sequence[MeasuredPosition]]) -> str:
    """Positions of each kind per 1,000, and how many times as many with search-contempt."""
    sought = [name for name in found if name != PLAIN]
    heads = [SETS[name][0] for name in found] + [f"{SETS[name][0]} : PUCT" for name in sought]
    lines = [f"{'per 1,000 positions':20}" + "".join(f"{head:>24}" for head in heads)]
    for kind in KINDS:
        rates = [1000 * np.array(_rate(found_of, kind)[1:]) for found_of in found.values()]
        ratios = [_ratio(found, name, kind) for name in sought]
        texts = [f"{value:.1f} [{low:.1f}, {high:.1f}]" for value, low, high in rates]
        texts += [f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in ratios]
        lines.append(f"{kind:20}" + "".join(f"{text:>24}" for text in texts))
    return "\n".join(lines)


def _ratio(
    found: Mapping[str, Sequence[MeasuredPosition]], name: str, kind: str, confidence: float = 0.95
) -> tuple[float, float, float]:
    with_contempt, with_puct = ([(one.game, KINDS[kind](one)) for one in found[of]] for of in (name, PLAIN))
    return ratio_of(with_contempt, with_puct, confidence=confidence)


def findings(found: Mapping[str, Sequence[MeasuredPosition]]) -> list[Finding]:
    """The statement of section 4.2.1 beside three ways to count, with its factor of 20 and without it, by N_scl."""
    strong = "'interesting' positions are 20 to 30 times as frequent with a low N_scl"
    weak = "'interesting' positions are more frequent with a low N_scl"
    return [
        _finding(found, name, kind, text, bound)
        for text, bound in ((weak, 1.0), (strong, 20.0))
        for name in found
        if name != PLAIN
        for kind in COUNTED
    ]


def _finding(
    found: Mapping[str, Sequence[MeasuredPosition]], name: str, kind: str, statement: str, bound: float
) -> Finding:
    pair = {of: found[of] for of in (name, PLAIN)}
    rates = "; ".join(f"{SETS[of][0]} {1000 * _rate(mine, kind).share:.1f}" for of, mine in pair.items())
    games = min(len({one.game for one in mine}) for mine in pair.values())
    ratio = Interval(_ratio(found, name, kind)[0], games, lambda confidence: _ratio(found, name, kind, confidence)[1:])
    side = Inequality(f"times as many {kind} positions", ratio, bound, "above", LEAST_GAMES)
    cells = len(COUNTED) * (len(found) - 1)
    return Finding.of(statement, Claim((side,), cells=cells), f"{SETS[name][0]}, per 1,000 positions: {rates}")


def figure(setting: ExperimentSetting, found: Mapping[str, Sequence[MeasuredPosition]]) -> Figure:
    """The rates with their intervals."""
    lines = []
    for number, (name, colour) in enumerate(zip(found, LINE_COLOURS, strict=False)):
        rates = [_rate(found[name], kind) for kind in KINDS]
        places = [place + 0.16 * number - 0.08 for place in range(1, len(KINDS) + 1)]
        values, lows, highs = ([1000 * value for value in row] for row in zip(*(r[1:] for r in rates), strict=True))
        lines.append(Series(SETS[name][0], places, values, colour, low=lows, high=highs, joined=False))
    text = (
        f"Positions whose value at {LOW} visits and at {deep(setting)} differs by {SWING} (shifted: {SHIFT}, gravely: "
        f"{GRAVE}); self-play at {setting.visits_or(VISITS)} visits; 95 % intervals by game."
    )
    return Figure(
        "contempt-positions",
        "Misjudged positions in self-play",
        text,
        "per 1,000 positions",
        "",
        lines=tuple(lines),
        from_zero=True,
        x_names=tuple(KINDS),
    )


def examples(setting: ExperimentSetting, found: Mapping[str, Sequence[MeasuredPosition]]) -> list[str]:
    """The positions of the games with search-contempt that are misjudged most, one a game, as the paper's figure."""
    best: dict[int, MeasuredPosition] = {}
    for one in sorted(found["n5"], key=lambda one: -one.swing):
        if one.swing >= SWING:
            best.setdefault(one.game, one)
    return [_example(setting, one) for one in list(best.values())[:EXAMPLES]]


def _example(setting: ExperimentSetting, one: MeasuredPosition) -> str:
    state = make(with_fen("chess", one.fen)).initial_state()
    sign = 1 if one.white_to_move else -1
    low, high = (f"{sign * value:+.3f}" for value in (one.low, one.high))
    lines = (
        f"game {one.game + 1} of N_scl 5, ply {one.ply}: {one.before}, {one.move} leads to",
        one.fen,
        f"value for White {low} at {LOW} visits, {high} at {deep(setting)}; best {one.best}",
        state.text(),
    )
    return "\n".join(lines)


def estimate(setting: ExperimentSetting) -> float:
    """Seconds on this machine, of games and judgements."""
    plans, rules = specs(setting), make("chess")
    with Evaluators(rules, Resources(parallel=setting.parallel, threads=setting.threads)) as evaluators:
        speed = evaluations_per_second(evaluators.get(setting.net(), player(setting, HYBRID)))
    analysing = len(plans) * setting.scaled(POSITIONS, 2) * deep(setting) / speed
    return match_seconds(setting, plans.values()) + analysing


EXPERIMENTS = (
    Experiment(
        "contempt-positions",
        "Joshi 2025, figure 5",
        "misjudged positions per 1,000 of self-play, search-contempt and PUCT",
        0.0,
        make_positions,
        seeds=1,
        uses=("nets", "visits"),
        estimate_here=estimate,
    ),
)
