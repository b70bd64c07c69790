"""hauteur match: many games at once between two players, with error bars."""

import json as json_format
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from hauteur.commands.options import Seed
from hauteur.evaluate import Backend
from hauteur.game import make
from hauteur.match import Match, MatchSettings, Resources
from hauteur.match_folder import MatchFolder
from hauteur.match_results import summary, table
from hauteur.metrics import duration
from hauteur.openings import read_openings
from hauteur.player_spec import Colours, parse_player

LINE_SECONDS = 10.0
"""How often progress is shown where stderr is no terminal."""
TERMINAL_SECONDS = 1.0
RANDOM_PLIES = 4


def match(
    a: str,
    b: str,
    *,
    game: str = "chess",
    games: int = 400,
    openings: Path | None = None,
    order: Literal["random", "file"] = "random",
    random_plies: int | None = None,
    colours: Colours = "swap",
    parallel: int = 64,
    batch_size: int | None = None,
    threads: int = 0,
    backend: Backend | None = None,
    seed: Seed = 0,
    max_plies: int | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Play a match between two players, many games at once; a match with --out that was interrupted goes on.

    Parameters
    ----------
    a
        Player whose results are shown: key=value words such as "net=FILE visits=100 temperature=0.5
        search.cpuct.init=1.5 precision=int8 name=NAME", every setting of search and temperature among them, or the
        path of a TOML file with the same keys. Or a player without a network: random, mcts:N (N random
        games a move), rave:N (the same for NoGo, stronger), solver or solver:NODES (exact play of small games), with
        name=NAME alone.
    b
        Its opponent, in the same form.
    game
        The game, e.g. chess, connect4, nogo(size=5).
    games
        Number of games; a finished match goes on when it is raised.
    openings
        File with one opening a line: an EPD or FEN (chess, minichess), or moves; or the games of a .pgn (chess).
    order
        Openings in an order drawn by the seed, or as in the file.
    random_plies
        Without openings: uniformly random plies that each pair of games begins with. Default: 4.
    colours
        swap: each opening twice, A first and A second. first, second: A always has that seat. mover: A always has the
        side that is to move after the opening, as in files of odds in which the giver moves first.
    parallel
        Games at a time.
    batch_size
        Most positions evaluated together. Default: half of --parallel; the other half is gathered meanwhile.
    threads
        Threads of a net on the processor, and of the players without one; 0: one a core.
    backend
        What computes the nets. Default: torch where there is a GPU, else openvino.
    seed
        Of all random draws.
    max_plies
        A game that is longer is a draw. Default: no limit but the game's own.
    out
        Folder for games.jsonl and result.json. Default: nothing is kept.
    json
        Print one JSON object instead of the table.
    """
    if openings is not None and random_plies:
        raise ValueError(f"--openings and --random-plies exclude each other, got {openings} and {random_plies}")
    rules = make(game)
    settings = MatchSettings(
        game=rules.spec,
        a=parse_player(a, "player A"),
        b=parse_player(b, "player B"),
        games=games,
        colours=colours,
        random_plies=0 if openings is not None else RANDOM_PLIES if random_plies is None else random_plies,
        order=order,
        seed=seed,
        max_plies=max_plies,
    )
    contest = Match(
        game=rules,
        settings=settings,
        openings=() if openings is None else read_openings(openings, rules),
        openings_file=openings,
        resources=Resources(parallel, batch_size, threads, backend),
        folder=None if out is None else MatchFolder(out),
    )
    play(contest)
    print(json_format.dumps(contest.result(), indent=2) if json else table(contest.tally, contest.work, contest.names))
    return 0


def play(contest: Match) -> None:
    """Plays to the end, showing how it goes; after Ctrl-C it says how the match goes on."""
    try:
        with shown(contest), closing(contest.play()) as games:
            for _ in games:
                pass
    except KeyboardInterrupt:
        done = f"{contest.tally.record.games:,} of {contest.settings.games:,} games"
        later = "the same command goes on with it" if contest.folder is not None else "nothing is kept without --out"
        print(f"\nmatch interrupted after {done}; {later}", file=sys.stderr)
        raise


def progress_line(contest: Match) -> str:
    """Games, results and speed so far."""
    done, games = contest.tally.record.games, contest.settings.games
    search = contest.facts.search
    rate = search.rows / search.total if search.total else 0.0
    played = contest.facts.games
    left = f", {duration(search.total / played * (games - done))} left" if played else ""
    result = f"  {summary(contest.tally)}" if done else ""
    return f"{done:,}/{games:,} games{result}  {rate:,.0f} evaluations/s  {duration(search.total)}{left}"


@contextmanager
def shown(contest: Match) -> Iterator[None]:
    """Shows progress on stderr meanwhile: one line that is renewed on a terminal, elsewhere a line now and then."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        with _every(LINE_SECONDS, contest, lambda line: print(line, file=sys.stderr, flush=True)):
            yield
        return
    with console.status("opening the nets") as status, _every(TERMINAL_SECONDS, contest, status.update):
        yield


@contextmanager
def _every(seconds: float, contest: Match, show: Callable[[str], None]) -> Iterator[None]:
    """Shows the progress line every so many seconds of play, in a thread: two games may end minutes apart."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(seconds):
            if contest.nets_are_open:
                show(progress_line(contest))

    thread = threading.Thread(target=tick, daemon=True, name="progress")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
