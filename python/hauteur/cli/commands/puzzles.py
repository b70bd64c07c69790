"""hauteur puzzles: mined where few visits misjudge a position and many do not; and how players solve them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cyclopts import Parameter

from hauteur.cli.commands.game_options import NetOptions
from hauteur.cli.commands.options import NetName, PlayerText
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match, MatchSettings
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.studies.puzzles.mine import Mine, MineSettings, mine_table
from hauteur.studies.puzzles.mining import MineRule
from hauteur.studies.puzzles.problems import read_problems
from hauteur.studies.puzzles.solve import Solve, solve_table
from hauteur.system.formatting import duration

MOST_VISITS = 100_000_000
TICK_SECONDS = 10.0
SELF_PLAY = "selfplay"
"""Folder of the games that were played for a mining, in its own folder."""


@Parameter(name="*")
@dataclass(frozen=True)
class RuleOptions:
    """Criteria of a puzzle; values are the root's, from -1 to 1."""

    low: int = 5
    """Visits of the search that misjudges."""
    high: int = 800
    """Visits of the search that is correct; what it finds is confirmed with twice as many."""
    swing: float = 0.4
    """Least change of the root's value between the two, from -1 to 1 each."""
    gap: float = 0.35
    """Least by which the best move is better than any other."""
    rest: float = 0.45
    """Most value of any other move."""
    least: float = -0.2
    """Least value of the solver's moves."""
    screens: str | None = None
    """VISITS:SWING,...: positions whose value has changed by less after VISITS are given up; none: "".
    Default: those of 16:0.05,64:0.1,200:0.2 that are between --low and --high."""
    hindsight: float = 0.25
    """Positions of games are given up at once where the low search values those of the next four plies alike, within
    this; 0: none is."""
    moves: int = 6
    """Most moves of the solver."""

    def rule(self) -> MineRule:
        """The rule; ValueError for values that are out of range."""
        screens = screens_between(self.low, self.high) if self.screens is None else parse_screens(self.screens)
        return MineRule.model_validate({**vars(self), "screens": screens})


@Parameter(name="*")
@dataclass(frozen=True)
class MineOptions:
    """Sources and player of a mining."""

    player: PlayerText = ""
    """Player whose search finds the puzzles, as in hauteur match: "net=FILE cpuct.init=1.5". Its visits and temperature
    are for --games alone."""
    net: NetName | None = None
    """Short for --player "net=FILE"."""
    games: int = 0
    """Games that the player plays against itself first, as one more source."""
    random_plies: int = 4
    """Uniformly random plies that these games begin with."""
    first_ply: int = 8
    """Plies at the beginning of a game from which no position is taken."""
    positions: int | None = None
    """Most positions of each source, drawn by the seed; the same command with more goes on."""


def mine(
    *sources: str,
    out: Path,
    choice: MineOptions = MineOptions(),
    rule: RuleOptions = RuleOptions(),
    options: NetOptions = NetOptions(),  # noqa: B008  (immutable)
) -> int:
    """Mine puzzles from games or lists of positions; the same command goes on with a mining that was interrupted.

    A position becomes a puzzle when the search's value of it changes between few visits and many, the search at few
    visits would not play the best move, and every other move is clearly worse; which a deeper search confirms.

    Parameters
    ----------
    sources
        Files of games (.pgn, .sgf, .parquet) or positions (.epd, .fen, .txt), folders of matches (--out of hauteur
        match) or of learning runs, or patterns such as "games/*.pgn".
    out
        Folder for the puzzles (for chess puzzles.csv with Lichess's columns and .epd, for every game .json) and
        for what a later attempt goes on from.
    """
    check_sources(sources, choice.games, choice.positions)
    game, player = load_game(options.game), player_settings(choice.player, choice.net)
    settings = MineSettings(
        game=game.spec, player=player, rule=rule.rule(), first_ply=choice.first_ply, seed=options.seed
    )
    resources = options.resources
    if choice.games:
        sources = (*sources, play_first(settings, choice.games, choice.random_plies, out / SELF_PLAY, resources))
    mining = Mine(
        game,
        settings,
        sources,
        out,
        resources,
        choice.positions,
        tell,
        ticker("positions"),
    )
    result = mining.run()
    print(json.dumps(result, indent=2) if options.json else mine_table(result))
    tell(f"{result['puzzles']:,} puzzles written to {out}: {', '.join(result['files'])}")
    return 0


def solve(
    file: Path,
    *,
    player: tuple[PlayerText, ...] = (),
    net: NetName | None = None,
    visits: str = "100,1000,10000",
    limit: int | None = None,
    out: Path | None = None,
    options: NetOptions = NetOptions(),  # noqa: B008  (immutable)
) -> int:
    """Measure how many puzzles players solve, by visits; with --out an interrupted measurement goes on.

    Parameters
    ----------
    file
        Puzzles with Lichess's columns (.csv), of which the whole line must be found; those of hauteur puzzles mine
        (.json); or an EPD suite, in which bm names the moves that are right and am those that are wrong.
    player
        Who solves, as in hauteur match: "net=FILE search-contempt.n-scl=32"; may be given several times. Visits and
        temperature of it are not used.
    net
        Net of the players that name none; without --player it is the only one.
    visits
        Counts of visits at which the move to play is looked at, all in the same search.
    limit
        Number of problems that are taken, from the first on.
    out
        Folder for answers.csv (a line a problem and player) and result.json.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"--limit must be >= 1, got {limit}")
    game, counts = load_game(options.game), parse_counts(visits)
    solving = Solve(
        game=game,
        problems=list(islice(read_problems(file, game), limit)),
        players=[player_settings(text, net) for text in player or ("",)],
        counts=counts,
        resources=options.resources,
        folder=out,
        seed=options.seed,
        show=tell,
        tick=ticker("problems", "solved"),
    )
    result = solving.run()
    print(json.dumps(result, indent=2) if options.json else solve_table(result))
    return 0


def parse_counts(text: str) -> tuple[int, ...]:
    """Counts of visits from N,N,...: positive and ascending."""
    words = [word.strip() for word in text.split(",")]
    counts = [int(word) for word in words if word.isascii() and word.isdecimal()]
    if len(counts) != len(words) or counts != sorted(set(counts)) or not 1 <= counts[0] <= counts[-1] <= MOST_VISITS:
        raise ValueError(f"--visits must be ascending numbers from 1 to {MOST_VISITS:,}, as in 100,1000; got {text!r}")
    return tuple(counts)


def check_sources(sources: tuple[str, ...], games: int, positions: int | None) -> None:
    """Raise ValueError where there is nothing to mine."""
    if positions is not None and positions < 1:
        raise ValueError(f"--positions must be >= 1, got {positions}")
    if games < 0 or (not sources and games == 0):
        raise ValueError("name at least one source of positions, or say with --games how many games to play first")


def player_settings(player: str, net: str | None) -> PlayerSettings:
    """The player of --player and --net."""

    settings = parse_player(player, "--player")
    if net is None:
        return settings
    if settings.net not in (None, net):
        raise ValueError(f"--net and the net= of --player exclude each other, got {net} and {settings.net}")
    return settings.model_copy(update={"net": net})


def screens_between(low: int, high: int) -> tuple[tuple[int, float], ...]:
    """Return the default screens that lie between the visits of the two searches."""
    return tuple((visits, swing) for visits, swing in MineRule().screens if low < visits < high)


def parse_screens(text: str) -> tuple[tuple[int, float], ...]:
    """VISITS:SWING,... as numbers."""
    screens = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        visits, _, swing = word.partition(":")
        try:
            screens.append((int(visits), float(swing)))
        except ValueError:
            raise ValueError(f"--screens: expected VISITS:SWING, e.g. 64:0.1, got {word!r}") from None
    return tuple(screens)


def play_first(settings: MineSettings, games: int, random_plies: int, folder: Path, resources: Resources) -> str:
    """Play the missing games of a mining run; return their folder."""

    match = Match(
        game=load_game(settings.game),
        settings=MatchSettings(
            game=settings.game,
            a=settings.player,
            b=settings.player,
            games=games,
            colours="first",
            random_plies=random_plies,
            seed=settings.seed,
        ),
        resources=resources,
        folder=MatchFolder(folder),
    )
    tick = ticker("games played")
    with closing(match.play()) as played:
        for _ in played:
            tick(match.tally.record.games, games, 0)
    return str(folder)


def tell(line: str) -> None:
    """A line about the progress, on stderr."""
    print(line, file=sys.stderr, flush=True)


def ticker(what: str, found: str = "puzzles") -> Callable[[int, int, int], None]:
    """Return a function that reports progress from time to time, with the estimated time left."""

    started = shown = time.monotonic()
    first: int | None = None

    def tick(done: int, of: int, count: int) -> None:
        nonlocal shown, first
        first = done - 1 if first is None else first
        now = time.monotonic()
        if now - shown < TICK_SECONDS and done < of:
            return
        shown = now
        left = (now - started) / (done - first) * (of - done)
        counted = f", {count:,} {found}" if count else ""
        tell(f"{done:,}/{of:,} {what}{counted}, {duration(left)} left")

    return tick
