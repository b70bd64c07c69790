"""Figure 5 of the search-contempt paper: frequency of positions in self-play that the net misjudges.

A. Joshi, "Search-contempt", 2025, section 4.2.4: with a low N_scl self-play seeks positions that look good at few nodes
but are bad at many (its example: +0.004 for the bare net, -0.82 in truth), and "interesting" positions are 20 to 30
times as frequent as with PUCT. Here positions drawn from games of both kinds are evaluated by the net with plain PUCT,
at few visits and at many; those whose value changes are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from hauteur import _core
from hauteur.games.registry import load_game, with_fen
from hauteur.matches.results import MatchGame
from hauteur.mcts.batch_analysis import AnalysisRequest, BatchAnalysis, SearchReading
from hauteur.players.build import Evaluators, Resources
from hauteur.system.files import write_bytes
from hauteur.system.seeds import stream
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Result
from hauteur_experiments.matches import MatchSpec, match_seconds, net_speed
from hauteur_experiments.search_contempt.position_counts import (
    GAP,
    GRAVE,
    KINDS,
    LOW,
    SETS,
    SHIFT,
    SWING,
    MeasuredPosition,
    deep,
    figure,
    findings,
    kind_row,
    table,
)
from hauteur_experiments.search_contempt.settings import HYBRID, game_of, player, scoped, selfplay
from hauteur_experiments.shared_games import play_shared

GAMES = 100
POSITIONS = 500
"""Of each set of games."""

EXAMPLES = 5


class PositionPlace(NamedTuple):
    """A position by the number of its game and its ply."""

    game: int
    ply: int


def make_positions(setting: ExperimentSetting) -> Result:
    """Play the games, evaluate the positions and count."""
    _rules(setting)
    plans = specs(setting)
    games = {name: played.games for name, played in play_shared(setting, plans.values()).items()}
    found = {name: analysed(setting, name, games[name]) for name in plans}
    rows = [kind_row(setting, name, found[name], kind) for name in found for kind in KINDS]
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


def _rules(setting: ExperimentSetting) -> _core.Game:
    """The game; ValueError for one whose positions have no FEN."""
    rules = load_game(game_of(setting))
    if not rules.has_fen:
        raise ValueError(f"contempt-positions needs a game with FEN, such as chess, got {rules.name}")
    return rules


def specs(setting: ExperimentSetting) -> dict[str, MatchSpec]:
    """The games by name."""
    return {
        name: selfplay(setting, name, player(setting, options), _games(setting)) for name, (_, options) in SETS.items()
    }


def _games(setting: ExperimentSetting) -> int:
    return setting.scaled(GAMES, 2)


def analysed(setting: ExperimentSetting, name: str, games: Sequence[MatchGame]) -> list[MeasuredPosition]:
    """Positions drawn from these games with what was found of them; those on disk are not judged again."""
    rules = _rules(setting)
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
    state = load_game(with_fen(rules.spec, game.fen)).new_initial_state()
    for ply, move in enumerate(f"{game.opening} {game.moves}".split(), start=1):
        state.apply(state.parse(move))
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
        analysis = BatchAnalysis(evaluators.get(setting.net(rules.spec), plain), plain.search, seed=1)
        answers = analysis.analyse_each(AnalysisRequest(states[place], (LOW, deep(setting))) for place in places)
        with file.open("ab", buffering=0) as out:
            for number, answer in answers:
                place = places[number]
                found[place] = _measured(rules, games, place, states[place], answer)
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
    rules: _core.Game,
    games: Sequence[MatchGame],
    place: PositionPlace,
    state: _core.State,
    answer: Sequence[SearchReading],
) -> MeasuredPosition:
    low, high = answer
    game = next(game for game in games if game.index == place.game)
    moves = f"{game.opening} {game.moves}".split()
    before = load_game(with_fen(rules.spec, game.fen)).new_initial_state()
    for move in moves[: place.ply - 1]:
        before.apply(before.parse(move))
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


def examples(setting: ExperimentSetting, found: Mapping[str, Sequence[MeasuredPosition]]) -> list[str]:
    """The positions of the games with search-contempt that are misjudged most, one a game, as the paper's figure."""
    best: dict[int, MeasuredPosition] = {}
    for one in sorted(found["n5"], key=lambda one: -one.swing):
        if one.swing >= SWING:
            best.setdefault(one.game, one)
    return [_example(setting, one) for one in list(best.values())[:EXAMPLES]]


def _example(setting: ExperimentSetting, one: MeasuredPosition) -> str:
    state = load_game(with_fen(game_of(setting), one.fen)).new_initial_state()
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
    plans, rules = specs(setting), _rules(setting)
    speed = net_speed(setting, rules, setting.net(rules.spec), player(setting, HYBRID))
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
        uses=("nets", "visits", "game"),
        estimate_here=estimate,
    ),
)
