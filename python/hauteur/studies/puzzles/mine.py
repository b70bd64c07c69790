"""Mining of puzzles from sources of positions, in a folder from which an interrupted run resumes.

A position is evaluated once, wherever it occurs, and its result is a line of positions.jsonl. With a limit, the
positions of a source are drawn by the seed so that a larger sample contains the smaller one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hauteur import _core
from hauteur.games.game_line import BadGame
from hauteur.mcts.batch_analysis import BatchAnalysis, RequestChain
from hauteur.networks.evaluators.factory import evaluations_per_second
from hauteur.players.build import Evaluators, Resources, build_player, net_content, resolved_net
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings, player_text
from hauteur.studies.puzzles.engine_check import CLEAR, Checker
from hauteur.studies.puzzles.formats import write_puzzles
from hauteur.studies.puzzles.mine_result import mine_result, without_followers
from hauteur.studies.puzzles.mining import MineRule, ScreenedPosition, examine
from hauteur.studies.puzzles.puzzle import EngineCheck, Puzzle
from hauteur.studies.puzzles.sources import Census, first_of_each, take_census
from hauteur.studies.puzzles.themes import themes_of
from hauteur.system.formatting import duration
from hauteur.system.jsonl import Journal
from hauteur.system.run_directory import RunDirectory, changes
from hauteur.system.settings import Section

EVALUATIONS_A_POSITION = 20
"""What a position costs on the average with the default rule; for the estimate."""

Show = Callable[[str], None]


class MineSettings(Section):
    """Settings that decide the puzzles. first_ply: plies of a game before which no position is taken."""

    game: str
    player: PlayerSettings
    rule: MineRule = MineRule()
    first_ply: Annotated[int, Field(ge=0, le=100_000)] = 8
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0

    def stored(self, game: _core.Game) -> dict[str, Any]:
        """The settings as the folder remembers them, nets by their content."""
        player = self.player
        values = self.model_dump(mode="json", exclude={"player"})
        values["player"] = player_text(player, without=("name", "net", "large_net", "visits", "temperature"))
        values["net"] = net_content(resolved_net(game, player))
        values["large_net"] = None if player.large_net is None else net_content(player.large_net)
        return values


class Checked(Section):
    """Engine's findings on a puzzle, as a line of checks.jsonl."""

    id: str
    check: EngineCheck


@dataclass(frozen=True)
class MiningFolder(RunDirectory):
    """mine.json (settings), positions.jsonl, checks.jsonl, result.json and the files of puzzles."""

    SETTINGS = "mine.json"
    CONTENT = "a mining"
    WORK = "mining puzzles"

    def check_mining(self, settings: MineSettings, game: _core.Game) -> MineRule:
        """Return the rule that the positions are examined by; ValueError where the folder has other settings."""
        if not self.settings_file.exists():
            return settings.rule
        there, mine = self.stored()["settings"], settings.stored(game)
        try:
            rule = MineRule.model_validate(there.pop("rule"))
        except (ValueError, KeyError):
            raise ValueError(f"{self.settings_file}: has no settings of a mining") from None
        mine.pop("rule")
        looser = settings.rule.loosens(rule)
        self.refuse([*changes(there, mine), *([looser] if looser else [])])
        return rule


@dataclass
class Mine:
    """Mining run.

    limit: positions per source, None: all; check: the engine that checks solutions; clear: its minimum margin over
    every other move; keep: keep unconfirmed puzzles in the files; show: receives progress lines; tick: receives
    positions done, total, and puzzles.
    """

    game: _core.Game
    settings: MineSettings
    sources: Sequence[str]
    folder: Path
    resources: Resources = field(default_factory=Resources)
    limit: int | None = None
    check: EngineSettings | None = None
    clear: float = CLEAR
    keep: bool = False
    show: Show = print
    tick: Callable[[int, int, int], None] = lambda *_: None
    looser: MineRule = field(init=False, default=MineRule())

    def run(self) -> dict[str, Any]:
        """Mine the missing positions, check, and write the files; return the contents of result.json."""
        folder = MiningFolder(self.folder)
        with folder.locked():
            self.looser = folder.check_mining(self.settings, self.game)
            bad: list[BadGame] = []
            census = take_census(self.sources, self.game, self.settings.first_ply, bad.append)
            folder.begin(self.settings.stored(self.game))
            for wrong in bad:
                self.show(f"left out {wrong}")
            chosen = {source: self._chosen(census, source) for source in census.sources}
            found = self._examine(set().union(*chosen.values()))
            puzzles, followers = without_followers(self._puzzles(found.values()))
            checked = self._checked(puzzles)
            kept = [puzzle for puzzle in checked if self.keep or puzzle.check is None or puzzle.check.confirmed]
            result = mine_result(census, chosen, found, self.settings.rule, checked, followers)
            return self._written(kept, {**result, "left_out_games": len(bad)})

    # Private.

    def _chosen(self, census: Census, source: str) -> set[str]:
        """Select the positions of a source to evaluate."""
        names = census.distinct(source)
        if self.limit is None or len(names) <= self.limit:
            return names
        return set(sorted(names, key=self._draw)[: self.limit])

    def _draw(self, name: str) -> bytes:
        return hashlib.blake2b(f"{self.settings.seed} {name}".encode(), digest_size=8).digest()

    def _examine(self, wanted: set[str]) -> dict[str, ScreenedPosition]:
        """Return the outcome of all wanted positions, those of earlier sessions included."""
        journal = Journal(self.folder / "positions.jsonl", ScreenedPosition)
        found = {entry.id: entry for entry in journal.entries() if entry.id in wanted}
        left = wanted - found.keys()
        self.show(f"{len(wanted):,} positions, {len(wanted) - len(left):,} of them judged before")
        if not left:
            return found
        puzzles = sum(self._is_puzzle(entry) for entry in found.values())
        with Evaluators(self.game, self.resources) as evaluators:
            analysis = self._analysis_of(build_player(self.game, self.settings.player, evaluators, "--player"))
            seconds = len(left) * EVALUATIONS_A_POSITION / evaluations_per_second(analysis.evaluator)
            self.show(f"estimate: {duration(seconds)}")
            with closing(analysis.run(self._chains(left))) as answers:
                for _, entry in answers:
                    journal.append(entry)
                    found[entry.id] = entry
                    puzzles += self._is_puzzle(entry)
                    self.tick(len(found), len(wanted), puzzles)
            self.show(work_text(analysis))
        return found

    def _analysis_of(self, player: object) -> BatchAnalysis:
        if not isinstance(player, SearchPlayer):
            raise ValueError("--player: puzzles are mined by a player with a net")
        return BatchAnalysis(player.evaluator, player.search, player.large, seed=self.settings.seed)

    def _chains(self, left: set[str]) -> Iterator[RequestChain[ScreenedPosition]]:
        for name, found in first_of_each(self.sources, self.game, self.settings.first_ply, left):
            yield examine(name, found, self.looser)

    def _is_puzzle(self, entry: ScreenedPosition) -> bool:
        return entry.verdict(self.settings.rule) == "puzzle"

    def _puzzles(self, found: Iterable[ScreenedPosition]) -> Iterator[Puzzle]:
        """Yield the puzzles that the rule makes of the results."""
        made = (entry.puzzle(self.game, self.settings.rule) for entry in found)
        return (puzzle for puzzle in made if puzzle is not None)

    def _checked(self, puzzles: Iterable[Puzzle]) -> list[Puzzle]:
        """Return the puzzles by difficulty, with themes and, with an engine, its findings."""
        ordered = sorted(puzzles, key=lambda puzzle: (puzzle.rating, puzzle.id))
        if self.check is not None and ordered:
            ordered = self._ask_engine(ordered, self.check)
        return [puzzle.model_copy(update={"themes": themes_of(puzzle)}) for puzzle in ordered]

    def _ask_engine(self, puzzles: Sequence[Puzzle], settings: EngineSettings) -> list[Puzzle]:
        journal = Journal(self.folder / "checks.jsonl", Checked)
        with Checker(settings, clear=self.clear) as engine:
            checks = {entry.id: entry.check for entry in journal.entries() if engine.is_mine(entry.check)}
            for number, puzzle in enumerate(puzzles, 1):
                if puzzle.id not in checks:
                    checks[puzzle.id] = engine.check(puzzle)
                    journal.append(Checked(id=puzzle.id, check=checks[puzzle.id]))
                    self.tick(number, len(puzzles), number)
        return [puzzle.model_copy(update={"check": checks[puzzle.id]}) for puzzle in puzzles]

    def _written(self, puzzles: Sequence[Puzzle], result: dict[str, Any]) -> dict[str, Any]:
        """Write puzzles and result."""
        files = [path.name for path in write_puzzles(puzzles, self.folder)]
        result = {**result, "written_puzzles": len(puzzles), "files": files}
        MiningFolder(self.folder).write_result({**result, "settings": self.settings.stored(self.game)})
        return result


def work_text(analysis: BatchAnalysis) -> str:
    """Return what the analysis has cost, in one line."""
    facts = analysis.facts
    rate = facts.rows / facts.total if facts.total else 0.0
    return f"{facts.rows:,} evaluations in {facts.total:,.0f} s, {rate:,.0f} a second, batches {facts.fill:.0%} full"
