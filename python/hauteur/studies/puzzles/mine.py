"""Mining of puzzles from sources of positions, in a folder from which an interrupted run resumes.

A position is evaluated once, wherever it occurs, and its result is a line of positions.jsonl. With a limit, the
positions of a source are drawn by the seed so that a larger sample contains the smaller one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hauteur import _core
from hauteur.games.game_line import BadGame
from hauteur.mcts.batch_analysis import BatchAnalysis, RequestChain
from hauteur.players.build import Evaluators, Resources, build_player, net_content, resolved_net
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS, PlayerSettings, player_text
from hauteur.studies.puzzles.formats import write_puzzles
from hauteur.studies.puzzles.mining import MISJUDGED, MineRule, ScreenedPosition, Verdict, examine
from hauteur.studies.puzzles.puzzle import Puzzle, identity
from hauteur.studies.puzzles.sources import Census, first_of_each, take_census
from hauteur.studies.puzzles.themes import themes_of
from hauteur.system.jsonl import Journal
from hauteur.system.run_directory import RunDirectory
from hauteur.system.settings import Section

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
        values["player"] = player_text(player, without=("name", *NETS, "visits", "temperature"))
        values["net"] = net_content(resolved_net(game, player))
        values |= {name: net and net_content(net) for name in NETS[1:] for net in [getattr(player, name)]}
        return values


@dataclass(frozen=True)
class MiningFolder(RunDirectory):
    """mine.json (settings), positions.jsonl, result.json and the files of puzzles."""

    SETTINGS = "mine.json"
    CONTENT = "a mining"
    WORK = "mining puzzles"


@dataclass
class Mine:
    """Mining run.

    limit: positions per source, None: all; show: gets progress lines; tick: gets positions done, total, and puzzles.
    """

    game: _core.Game
    settings: MineSettings
    sources: Sequence[str]
    folder: Path
    resources: Resources = field(default_factory=Resources)
    limit: int | None = None
    show: Show = print
    tick: Callable[[int, int, int], None] = lambda *_: None

    def run(self) -> dict[str, Any]:
        """Mine the missing positions and write the files; return the contents of result.json."""
        folder, settings = MiningFolder(self.folder), self.settings.stored(self.game)
        with folder.locked():
            folder.check(settings)
            bad: list[BadGame] = []
            census = take_census(self.sources, self.game, self.settings.first_ply, bad.append)
            folder.begin(settings)
            for wrong in bad:
                self.show(f"left out {wrong}")
            chosen = {source: self._chosen(census, source) for source in census.sources}
            found = self._examine(set().union(*chosen.values()))
            puzzles, followers = without_followers(self._puzzles(found.values()))
            files = [path.name for path in write_puzzles(puzzles, self.folder)]
            result = mine_result(census, chosen, found, self.settings.rule, puzzles)
            result |= {"followers": followers, "left_out_games": len(bad), "files": files}
            folder.write_result({**result, "settings": settings})
        return result

    # Private.

    def _chosen(self, census: Census, source: str) -> set[str]:
        """Select the positions of a source to evaluate."""
        names = census.distinct(source)
        if self.limit is None or len(names) <= self.limit:
            return names
        return set(sorted(names, key=self._draw)[: self.limit])

    def _draw(self, name: str) -> bytes:
        return hashlib.blake2b(f"{self.settings.seed} {name}".encode(), digest_size=8).digest()

    def _examine(self, chosen: set[str]) -> dict[str, ScreenedPosition]:
        """Return the findings about these positions, those of earlier attempts included."""
        journal = Journal(self.folder / "positions.jsonl", ScreenedPosition)
        found = {entry.id: entry for entry in journal.entries() if entry.id in chosen}
        left = chosen - found.keys()
        self.show(f"{len(chosen):,} positions, {len(chosen) - len(left):,} of them searched before")
        if not left:
            return found
        puzzles = sum(self._is_puzzle(entry) for entry in found.values())
        with Evaluators(self.game, self.resources) as evaluators:
            analysis = self._analysis_of(build_player(self.game, self.settings.player, evaluators, "--player"))
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
        return BatchAnalysis(player.evaluator, player.search, player.large, seed=self.settings.seed)

    def _chains(self, left: set[str]) -> Iterator[RequestChain[ScreenedPosition]]:
        for name, found in first_of_each(self.sources, self.game, self.settings.first_ply, left):
            yield examine(name, found, self.settings.rule)

    def _is_puzzle(self, entry: ScreenedPosition) -> bool:
        return entry.verdict(self.settings.rule) == "puzzle"

    def _puzzles(self, found: Iterable[ScreenedPosition]) -> list[Puzzle]:
        """Return the puzzles that the rule makes of the findings, by difficulty, with their themes."""
        made = (entry.puzzle(self.game, self.settings.rule) for entry in found)
        puzzles = [puzzle.model_copy(update={"themes": themes_of(puzzle)}) for puzzle in made if puzzle is not None]
        return sorted(puzzles, key=lambda puzzle: (puzzle.rating, puzzle.id))


def work_text(analysis: BatchAnalysis) -> str:
    """Return what the analysis has cost, in one line."""
    facts = analysis.facts
    rate = facts.rows / facts.total if facts.total else 0.0
    return f"{facts.rows:,} evaluations in {facts.total:,.0f} s, {rate:,.0f} a second, batches {facts.fill:.0%} full"


HARD: tuple[Verdict, ...] = ("several", "refuted", "puzzle")
"""Verdicts of positions whose value changes and whose best move the low search would not play."""


def without_followers(puzzles: Iterable[Puzzle]) -> tuple[list[Puzzle], int]:
    """The puzzles that are not a later position of another one's line, and how many were."""
    every = list(puzzles)
    inside = {name for puzzle in every for name in _later_positions(puzzle)}
    kept = [puzzle for puzzle in every if puzzle.id not in inside]
    return kept, len(every) - len(kept)


def _later_positions(puzzle: Puzzle) -> set[str]:
    """The names of the solver's positions behind the first one."""
    state, names = puzzle.position(), set()
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
    kinds: dict[str, tuple[Verdict, ...]] = {"misjudged": MISJUDGED, "hard": HARD}
    names, verdicts = {puzzle.id for puzzle in puzzles}, {name: entry.verdict(rule) for name, entry in found.items()}
    sources = {
        source: {
            "games": census.games[source],
            "positions": census.seen[source],
            "different": len(census.distinct(source)),
            "searched": len(chosen[source]),
            "verdicts": dict(sorted(Counter(verdicts[name] for name in chosen[source]).items())),
            **{kind: sum(verdicts[name] in known for name in chosen[source]) for kind, known in kinds.items()},
            "puzzles": len(chosen[source] & names),
        }
        for source in census.sources
    }
    return {"sources": sources, "puzzles": len(puzzles)}


def mine_table(result: Mapping[str, Any]) -> str:
    """The counts as a table."""
    keys = ("games", "different", "searched", "misjudged", "hard", "puzzles")
    heads = ["source", *keys]
    rows = [[source, *(f"{one[key]:,}" for key in keys)] for source, one in result["sources"].items()]
    last = f"{result['puzzles']:,} puzzles, {result['followers']:,} more lie on the lines of others"
    return "\n".join([*aligned([heads, *rows]), last])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first one to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
