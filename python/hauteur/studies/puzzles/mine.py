"""Mining of puzzles from sources of positions, in a folder from which an interrupted run resumes.

A position is searched with few visits and with many (Joshi 2025, conclusion: positions misevaluated at N_scl visits and
right at N). It becomes a puzzle when the value changes, the low search would not play the best move, and every other
move is clearly worse. That is then confirmed with twice the visits on the position as a puzzle file holds it, without
the game before it, and by a search of all other moves; and so is every further move of the solver along the line.

A position is evaluated once, wherever it occurs, and its result is a line of positions.jsonl. With a limit, the
positions of a source are drawn by the seed so that a larger sample contains the smaller one.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hauteur import _core
from hauteur.games.game_line import BadGame
from hauteur.games.played_game import position_after, texts_of
from hauteur.games.registry import load_game, parse_spec, with_fen
from hauteur.mcts.batch_analysis import (
    AnalysisRequest,
    BatchAnalysis,
    Readings,
    RequestChain,
    SearchReading,
    counts_up_to,
    visits_to_solution,
)
from hauteur.players.build import Evaluators, Resources, as_played, build_player, player_nets
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS, PlayerSettings, player_text
from hauteur.studies.puzzles.puzzle import Opinion, Puzzle, identity, rating, themes_of, wins_at_once, write_puzzles
from hauteur.studies.puzzles.sources import Census, SourcePosition, first_of_each, take_census
from hauteur.system.jsonl import Journal
from hauteur.system.run_directory import RunDirectory
from hauteur.system.settings import Section
from hauteur.system.tables import text_table

Verdict = Literal["same", "found", "several", "refuted", "puzzle"]
"""same: the value does not change by `swing`; found: it does, but the low search plays the best move already;
several: another move is nearly as good; refuted: not confirmed; puzzle: it became one."""

MISJUDGED: tuple[Verdict, ...] = ("found", "several", "refuted", "puzzle")
"""Verdicts of positions whose value changes."""

HARD: tuple[Verdict, ...] = MISJUDGED[1:]
"""Verdicts of those whose best move the low search would not play, either."""

MOST_PUZZLE_VISITS = 100_000_000
"""Visits that a search of a position may have when puzzles are mined and solved."""

Visits = Annotated[int, Field(ge=1, le=MOST_PUZZLE_VISITS)]

SCREENS = ((16, 0.05), (64, 0.1), (200, 0.2))
"""Counts of visits, each with the change of the root's value below which a position is given up there."""


class MineRule(Section):
    """Criteria of a puzzle; values are the root's, from -1 to 1."""

    low: Visits = 5
    """Visits of the search that misjudges."""
    high: Visits = 800
    """Visits of the search that is correct; what it finds is confirmed with twice as many."""
    swing: Annotated[float, Field(gt=0, le=2)] = 0.4
    """Least change of the root's value between the two, from -1 to 1 each."""
    gap: Annotated[float, Field(ge=0, le=2)] = 0.35
    """Least by which the best move is better than any other."""
    rest: Annotated[float, Field(ge=-1, le=1)] = 0.45
    """Most value of any other move."""
    least: Annotated[float, Field(ge=-1, le=1)] = -0.2
    """Minimum value of the solver's moves."""
    hindsight: Annotated[float, Field(ge=0, le=2)] = 0.25
    """Positions of games are given up at once where the low search values those of the next four plies alike, within
    this; 0: none is."""
    moves: Annotated[int, Field(ge=1, le=100)] = 6
    """Maximum moves of the solver."""

    @model_validator(mode="after")
    def _visits_ascend(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low must be less than high, got {self.low} and {self.high}")
        return self

    @property
    def screens(self) -> tuple[tuple[int, float], ...]:
        """Those of SCREENS that lie between the two searches."""
        return tuple(screen for screen in SCREENS if self.low < screen[0] < self.high)

    @property
    def visits(self) -> tuple[int, ...]:
        """Visit counts at which a position is evaluated."""
        return (self.low, *(visits for visits, _ in self.screens), self.high)

    @property
    def deep(self) -> int:
        """Visits of the search that confirms."""
        return 2 * self.high

    def goes_on(self, found: Readings) -> bool:
        """Return whether the screening of a position continues after these readings."""
        passed = len(found) - 1
        if passed == 0:
            return True
        _, swing = self.screens[passed - 1]
        return abs(found[-1].q - found[0].q) >= swing


ONLY_MOVE_GAP = 2.0
"""Gap of a move that is the only one, or that wins the game at once."""


class SolutionStep(Section):
    """A move of the solver that was confirmed, with the opponent's reply to the move before."""

    move: str
    """The move."""
    visits: int
    """Minimum of visits from which the search plays it."""
    gap: float
    """Margin over every other move, 0 to 2."""
    value: float
    """Value of the move for the solver, -1 to 1."""
    reply: str | None = None
    """The opponent's reply to the solver's move before; None: it is the first move."""

    def passes(self, rule: MineRule) -> bool:
        """Return whether the move is good enough, and every other one bad enough."""
        second_best = self.value - self.gap
        return self.gap >= rule.gap and self.value >= rule.least and second_best <= rule.rest


class ScreenedPosition(Section):
    """Findings about a position."""

    id: str
    """Name of the position."""
    where: str
    """Source, game and ply."""
    low: Opinion
    """Opinion of the search with few visits."""
    high: Opinion | None = None
    """Opinion of the search with many visits; None where the position was given up before."""
    gap: float | None = None
    """Margin of the best move in the search with many visits."""
    fen: str | None = None
    """Start of the puzzle, as a puzzle has it."""
    opening: tuple[str, ...] = ()
    """Moves to the position, as a puzzle has them."""
    steps: tuple[SolutionStep, ...] = ()
    """Steps of the solution; empty where no search followed the first two."""

    def verdict(self, rule: MineRule) -> Verdict:
        """Return what the rule makes of the position."""
        if self.high is None or abs(self.high.q - self.low.q) < rule.swing:
            return "same"
        if self.high.move == self.low.move:
            return "found"
        if self.gap is None or self.gap < rule.gap:
            return "several"
        return "puzzle" if self.kept(rule) else "refuted"

    def kept(self, rule: MineRule) -> tuple[SolutionStep, ...]:
        """Return the leading steps of the line that pass the rule."""
        if not self.steps or self.high is None:
            return ()
        first = self.steps[0]
        if first.move != self.high.move or first.visits <= rule.low:
            return ()
        passing = takewhile(lambda step: step.passes(rule), self.steps[: rule.moves])
        return tuple(passing)

    def puzzle(self, game: _core.Game, rule: MineRule) -> Puzzle | None:
        """The puzzle that the rule makes of it, without themes; None where it makes none."""
        if self.verdict(rule) != "puzzle" or self.high is None:
            return None
        steps = self.kept(rule)
        visits = max(step.visits for step in steps)
        return Puzzle(
            id=self.id,
            game=plain_spec(game),
            fen=self.fen,
            opening=self.opening,
            solution=tuple(move for step in steps for move in (step.reply, step.move) if move is not None),
            rating=rating(visits, rule.deep),
            source=self.where,
            visits=visits,
            gap=min(step.gap for step in steps),
            value=steps[-1].value,
            low=self.low,
            high=self.high,
        )


def examine(name: str, found: SourcePosition, rule: MineRule) -> RequestChain[ScreenedPosition]:
    """A position's way from its first search to the end of its line, or to where it is given up."""
    if rule.hindsight:
        unchanged = yield from _unchanged(found, rule)
        if unchanged is not None:
            return ScreenedPosition(id=name, where=found.where, low=_opinion(found.state, unchanged))
    readings = yield AnalysisRequest(found.state, rule.visits, go_on=rule.goes_on)
    low = readings[0]
    high = readings[-1]
    entry = ScreenedPosition(id=name, where=found.where, low=_opinion(found.state, low))
    if len(readings) < len(rule.visits):
        return entry
    gap = None if math.isnan(high.gap) else high.gap
    entry = entry.model_copy(update={"high": _opinion(found.state, high), "gap": gap})
    same_opinion = abs(high.q - low.q) < rule.swing or high.best == low.best
    if same_opinion or gap is None or gap < rule.gap:
        return entry
    start, opening = _stored(found)
    state = position_after(start, opening)
    if identity(state) != name:
        raise RuntimeError(f"the position {found.state.notation()} was stored as {state.notation()}")
    steps = yield from _line(state, rule, high.best)
    puzzle = {
        "fen": start.notation() if start.game.has_fen else None,
        "opening": tuple(texts_of(start, opening)),
        "steps": tuple(steps),
    }
    return entry.model_copy(update=puzzle)


def _unchanged(found: SourcePosition, rule: MineRule) -> RequestChain[SearchReading | None]:
    """Return the low search's reading if the game does not change it; None if it does, or without a game.

    The value of a misjudged position usually changes some plies later, and these searches are cheap: the game's later
    positions need them too, so their evaluations are cached.
    """
    (low,) = yield AnalysisRequest(found.state, (rule.low,))
    state = found.state.copy()
    player = found.state.to_move
    for number, action in enumerate(found.following):
        state.apply(action)
        outcome = state.outcome()
        if outcome is not None:
            result = outcome if player == 0 else -outcome
            if abs(result - low.q) < rule.hindsight:
                return low
            return None
        if state.to_move == player and number % 2:
            (later,) = yield AnalysisRequest(state.copy(), (rule.low,))
            if abs(later.q - low.q) >= rule.hindsight:
                return None
    return low if found.following else None


def _line(state: _core.State, rule: MineRule, first: int) -> RequestChain[list[SolutionStep]]:
    """The solver's moves for as long as they are the only good ones, the opponent answering as the high search does."""
    steps: list[SolutionStep] = []
    state = state.copy()
    reply = None
    while len(steps) < rule.moves:
        found = yield from _solver_move(state.copy(), rule, reply)
        if found is None or (not steps and found[0] != first):
            break
        steps.append(found[1])
        state.apply(found[0])
        if state.outcome() is not None:
            break
        (answer,) = yield AnalysisRequest(state.copy(), (rule.high,))
        reply = state.action_to_text(answer.best)
        state.apply(answer.best)
        if state.outcome() is not None:
            break
    return steps


def _solver_move(
    state: _core.State, rule: MineRule, reply: str | None
) -> RequestChain[tuple[int, SolutionStep] | None]:
    """Return the only good move of a position; None if there are several, or none is good enough.

    An immediately winning move is accepted even if others win too, unless it is the first of the line.
    """
    searched = yield AnalysisRequest(state, counts_up_to(rule.deep))
    deep = searched[-1]
    if deep.best_q < rule.least:
        return None
    actions = state.legal_actions().tolist()
    others = tuple(action for action in actions if action != deep.best)
    ends = reply is not None and wins_at_once(state, deep.best)
    gap = ONLY_MOVE_GAP
    if others and not ends:
        if deep.gap < rule.gap:
            return None
        (rest,) = yield AnalysisRequest(state, (rule.high,), only=others)
        gap = deep.best_q - rest.q

    def is_solution(action: int) -> bool:
        return action == deep.best or (ends and wins_at_once(state, action))

    visits = visits_to_solution(searched, is_solution)
    step = SolutionStep(
        move=state.action_to_text(deep.best),
        visits=visits or rule.deep,
        gap=gap,
        value=deep.best_q,
        reply=reply,
    )
    if not step.passes(rule):
        return None
    return (deep.best, step)


def _stored(found: SourcePosition) -> tuple[_core.State, tuple[int, ...]]:
    """Position and moves by which a file holds a puzzle: of games with FENs the last move, of others all of them."""
    game = found.state.game
    if not game.has_fen:
        return game.new_initial_state(), found.moves
    if found.before is None or found.last is None:
        return _from_notation(found.state), ()
    return _from_notation(found.before), (found.last,)


def _from_notation(state: _core.State) -> _core.State:
    """The position without its past."""
    return load_game(with_fen(plain_spec(state.game), state.notation())).new_initial_state()


def plain_spec(game: _core.Game) -> str:
    """The game without the position that it begins from."""
    name, parameters = parse_spec(game.spec)
    if not game.has_fen:
        return game.spec
    parameters.pop("fen", None)
    rest = ", ".join(f"{key}={str(value).lower()}" for key, value in parameters.items())
    return f"{name}({rest})" if rest else name


def _opinion(state: _core.State, reading: SearchReading) -> Opinion:
    return Opinion(visits=reading.visits, move=state.action_to_text(reading.best), q=reading.q)


Show = Callable[[str], None]


class MineSettings(Section):
    """Settings that decide the puzzles."""

    game: str
    """Spec of the game."""
    player: PlayerSettings
    """Net and settings that find and confirm puzzles."""
    rule: MineRule = MineRule()
    """What makes a position a puzzle."""
    first_ply: Annotated[int, Field(ge=0, le=100_000)] = 8
    """Plies of a game before which no position is taken."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Seed of all random draws."""

    def stored(self, game: _core.Game) -> dict[str, Any]:
        """The settings as the folder remembers them, nets by their content."""
        player = self.player
        values = self.model_dump(mode="json", exclude={"player"})
        without = ("name", *NETS, "visits", "temperature")
        values["player"] = player_text(as_played(game, player), without=without)
        nets = player_nets(game, player)
        for name in NETS:
            values[name] = nets[name].content if name in nets else None
        return values


@dataclass(frozen=True)
class MiningFolder(RunDirectory):
    """mine.json (settings), positions.jsonl, result.json and the files of puzzles."""

    SETTINGS = "mine.json"
    CONTENT = "a mining"
    WORK = "mining puzzles"


@dataclass
class Mine:
    """A mining run."""

    game: _core.Game
    """The game."""
    settings: MineSettings
    """Settings that decide the puzzles."""
    sources: Sequence[str]
    """Files of games or positions."""
    folder: Path
    """Folder of the run."""
    resources: Resources = field(default_factory=Resources)
    """Threads, batches, backend."""
    limit: int | None = None
    """Maximum of positions per source; None: all."""
    show: Show = print
    """Gets lines of progress."""
    tick: Callable[[int, int, int], None] = lambda *_: None
    """Gets finished positions, all positions, and puzzles."""
    made: list[Puzzle] = field(default_factory=list)
    """Puzzles of the finished run."""

    def run(self) -> dict[str, Any]:
        """Mine the missing positions and write the files; return the contents of result.json."""
        folder = MiningFolder(self.folder)
        settings = self.settings.stored(self.game)
        with folder.locked():
            folder.check(settings)
            bad: list[BadGame] = []
            census = take_census(self.sources, self.game, self.settings.first_ply, bad.append)
            for wrong in bad:
                self.show(f"left out {wrong}")
            for source, games in census.games.items():
                if not games:
                    raise ValueError(f"{source}: has no game that can be read")
            folder.begin(settings)
            chosen = {source: self._chosen(census, source) for source in census.sources}
            found = self._examine(set().union(*chosen.values()))
            puzzles, followers = without_followers(self._puzzles(found.values()))
            self.made = puzzles
            files = [path.name for path in write_puzzles(puzzles, self.folder)]
            result = mine_result(census, chosen, found, self.settings.rule, puzzles)
            result |= {"followers": followers, "left_out_games": len(bad), "files": files}
            folder.write_result({**result, "settings": settings})
        return result

    def _chosen(self, census: Census, source: str) -> set[str]:
        """Return the names of the positions of a source that are screened."""
        names = census.distinct(source)
        if self.limit is None or len(names) <= self.limit:
            return names
        return set(sorted(names, key=self._draw)[: self.limit])

    def _draw(self, name: str) -> bytes:
        return hashlib.blake2b(f"{self.settings.seed} {name}".encode(), digest_size=8).digest()

    def _examine(self, chosen: set[str]) -> dict[str, ScreenedPosition]:
        """Return the findings about these positions, those of earlier attempts included."""
        journal = Journal(self.folder / "positions.jsonl", ScreenedPosition)
        found = {}
        for entry in journal.entries():
            if entry.id in chosen:
                found[entry.id] = entry
        left = chosen - found.keys()
        self.show(f"{len(chosen):,} positions, {len(found):,} of them searched before")
        if not left:
            return found
        puzzles = sum(self._is_puzzle(entry) for entry in found.values())
        with Evaluators(self.game, self.resources) as evaluators:
            player = build_player(self.game, self.settings.player, evaluators, "--player")
            analysis = self._analysis_of(player)
            with closing(analysis.run(self._chains(left))) as answers:
                for _, entry in answers:
                    journal.append(entry)
                    found[entry.id] = entry
                    puzzles += self._is_puzzle(entry)
                    self.tick(len(found), len(chosen), puzzles)
            self.show(work_text(analysis))
        return found

    def _analysis_of(self, player: object) -> BatchAnalysis:
        if not isinstance(player, SearchPlayer):
            raise ValueError("--player: puzzles are mined by a player with a net")
        return BatchAnalysis(player.evaluator, player.search, player.large, self.settings.seed, more=player.more)

    def _chains(self, left: set[str]) -> Iterator[RequestChain[ScreenedPosition]]:
        for name, found in first_of_each(self.sources, self.game, self.settings.first_ply, left):
            yield examine(name, found, self.settings.rule)

    def _is_puzzle(self, entry: ScreenedPosition) -> bool:
        """Return whether a screened position becomes a puzzle."""
        return entry.verdict(self.settings.rule) == "puzzle"

    def _puzzles(self, found: Iterable[ScreenedPosition]) -> list[Puzzle]:
        """Return the puzzles that the rule makes of the findings, by difficulty, with their themes."""
        puzzles = []
        for entry in found:
            puzzle = entry.puzzle(self.game, self.settings.rule)
            if puzzle is not None:
                puzzles.append(puzzle.model_copy(update={"themes": themes_of(puzzle)}))
        return sorted(puzzles, key=lambda puzzle: (puzzle.rating, puzzle.id))


def work_text(analysis: BatchAnalysis) -> str:
    """Return what the analysis has cost, in one line."""
    facts = analysis.facts
    rate = facts.rows / facts.total if facts.total else 0.0
    return f"{facts.rows:,} evaluations in {facts.total:,.0f} s, {rate:,.0f} a second, batches {facts.fill:.0%} full"


def without_followers(puzzles: Iterable[Puzzle]) -> tuple[list[Puzzle], int]:
    """The puzzles that are not a later position of another one's line, and how many were."""
    every = list(puzzles)
    inside = {name for puzzle in every for name in _later_positions(puzzle)}
    kept = [puzzle for puzzle in every if puzzle.id not in inside]
    return kept, len(every) - len(kept)


def _later_positions(puzzle: Puzzle) -> set[str]:
    """The names of the solver's positions after the first one."""
    state = puzzle.position()
    names = set()
    for number, move in enumerate(puzzle.solution):
        if number and number % 2 == 0:
            names.add(identity(state))
        state.apply(state.parse(move))
    return names


def mine_result(
    census: Census,
    chosen: Mapping[str, set[str]],
    found: Mapping[str, ScreenedPosition],
    rule: MineRule,
    puzzles: Sequence[Puzzle],
) -> dict[str, Any]:
    """Return the counts by source and in total."""
    puzzle_ids = {puzzle.id for puzzle in puzzles}
    verdicts = {name: entry.verdict(rule) for name, entry in found.items()}
    sources = {}
    for source in census.sources:
        searched = chosen[source]
        counts = Counter(verdicts[name] for name in searched)
        sources[source] = {
            "games": census.games[source],
            "positions": census.seen[source],
            "different": len(census.distinct(source)),
            "searched": len(searched),
            "verdicts": dict(sorted(counts.items())),
            "misjudged": sum(counts[verdict] for verdict in MISJUDGED),
            "hard": sum(counts[verdict] for verdict in HARD),
            "puzzles": len(searched & puzzle_ids),
        }
    return {"sources": sources, "puzzles": len(puzzles)}


def mine_table(result: Mapping[str, Any]) -> str:
    """The counts as a table."""
    keys = ("games", "different", "searched", "misjudged", "hard", "puzzles")
    rows = []
    for source, counts in result["sources"].items():
        rows.append([source, *(counts[key] for key in keys)])
    table = text_table(["source", *keys], rows, shown=len(rows))
    return f"{table}\n{result['puzzles']:,} puzzles, {result['followers']:,} more lie on the lines of others"
