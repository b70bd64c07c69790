"""hauteur puzzles: mined where few visits misjudge a position and many do not; and how players solve them."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands.game_options import NetOptions
from hauteur.cli.commands.options import PlayerText
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player
from hauteur.studies.puzzles.mine import MOST_PUZZLE_VISITS, Mine, MineRule, MineSettings, mine_table
from hauteur.studies.puzzles.problems import read_problems
from hauteur.studies.puzzles.solve import Solve, solve_table
from hauteur.system.progress import ProgressLine

MOST_NAMED = 5
"""Lines of a suite that were left out and are named."""

Rule = Annotated[MineRule, Parameter(name="*")]
"""The criteria of a puzzle, each an option."""


@Parameter(name="*")
@dataclass(frozen=True)
class MineOptions:
    """Sources and player of a mining."""

    player: PlayerText = ""
    """Player whose search finds the puzzles, as in hauteur match: "net=FILE cpuct.init=1.5"."""
    first_ply: int = 8
    """Plies at the beginning of a game from which no position is taken."""
    positions: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    """Most positions of each source, drawn by the seed; the same command with more goes on."""


def mine(
    *sources: str,
    out: Path,
    choice: MineOptions = MineOptions(),
    rule: Rule = MineRule(),  # noqa: B008  (immutable)
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
    if not sources:
        raise ValueError("name at least one source of positions; hauteur match --out FOLDER makes one")
    game = load_game(options.game)
    player = parse_player(choice.player, "--player")
    settings = MineSettings(game=game.spec, player=player, rule=rule, first_ply=choice.first_ply, seed=options.seed)
    with interruptible("mining", out), ProgressLine(True, "reading the sources", left=True) as line:
        show = partial(tell, line)
        tick = ticker(line, "positions", "puzzles")
        result = Mine(game, settings, sources, out, options.resources, choice.positions, show, tick).run()
    print(json.dumps(result, indent=2) if options.json else mine_table(result))
    print(f"{result['puzzles']:,} puzzles written to {out}: {', '.join(result['files'])}", file=sys.stderr)
    return 0


def solve(
    file: Path,
    *,
    player: tuple[PlayerText, ...] = (),
    visits: str = "100,1000,10000",
    limit: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
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
        temperature of it are not used. Default: the net that comes with the game.
    visits
        Counts of visits at which the move to play is looked at, all in the same search.
    limit
        Number of problems that are taken, from the first on.
    out
        Folder for answers.jsonl (a line a problem and player) and result.json.
    """
    game = load_game(options.game)
    counts = parse_counts(visits)
    bad: list[str] = []
    problems = list(islice(read_problems(file, game, bad.append), limit))
    for wrong in bad[:MOST_NAMED]:
        print(f"hauteur: warning: left out {wrong}", file=sys.stderr)
    if len(bad) > MOST_NAMED:
        print(f"hauteur: warning: left out {len(bad) - MOST_NAMED:,} more lines", file=sys.stderr)
    with interruptible("solving", out), ProgressLine(True, "reading the problems", left=True) as line:
        solving = Solve(
            game=game,
            problems=problems,
            players=[parse_player(text, "--player") for text in player or ("",)],
            counts=counts,
            resources=options.resources,
            folder=out,
            seed=options.seed,
            show=partial(tell, line),
            tick=ticker(line, "problems", "solved"),
        )
        result = solving.run()
    print(json.dumps(result, indent=2) if options.json else solve_table(result))
    return 0


@contextmanager
def interruptible(work: str, out: Path | None) -> Iterator[None]:
    """Print on Ctrl-C whether the same command goes on."""
    try:
        yield
    except KeyboardInterrupt:
        later = "nothing is kept without --out" if out is None else f"the same command goes on with it in {out}"
        print(f"\n{work} interrupted; {later}", file=sys.stderr)
        raise


def parse_counts(text: str) -> tuple[int, ...]:
    """Counts of visits from N,N,...: positive and ascending."""
    counts: list[int] = []
    for word in text.split(","):
        digits = word.strip()
        count = int(digits) if digits.isascii() and digits.isdecimal() else 0
        before = counts[-1] if counts else 0
        if not before < count <= MOST_PUZZLE_VISITS:
            raise ValueError(
                f"--visits must be ascending numbers from 1 to {MOST_PUZZLE_VISITS:,}, as in 100,1000; got {text!r}"
            )
        counts.append(count)
    return tuple(counts)


def tell(line: ProgressLine, text: str) -> None:
    """Print a line on stderr in the place of the line of progress."""
    line.clear()
    print(text, file=sys.stderr, flush=True)


def ticker(line: ProgressLine, what: str, found: str) -> Callable[[int, int, int], None]:
    """Return a function that shows how many of how many are done, and what was found."""

    def tick(done: int, of: int, count: int) -> None:
        text = f"{done:,}/{of:,} {what}, {count:,} {found}"
        line.show(text, done / of, last=done == of)

    return tick
