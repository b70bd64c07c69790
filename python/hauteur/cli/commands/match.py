"""hauteur match and hauteur sprt: many games at once between two players, with error bars or until a test ends."""

import json as json_format
import sys
from collections.abc import Iterable
from contextlib import closing

from hauteur import _core
from hauteur.cli.commands.game_options import GameOptions, played_by
from hauteur.cli.commands.match_view import match_table, progress_line, shown
from hauteur.cli.commands.options import NO_WORKERS, PlayerText, Workers
from hauteur.matches.folder import MatchFolder
from hauteur.matches.game_files import header_of, write_games
from hauteur.matches.match import NO_LIMIT, Match, MatchSettings
from hauteur.matches.ratings.elo import Model, Sprt
from hauteur.matches.report.pages import renew_page
from hauteur.matches.results import MatchGame, table
from hauteur.players.engines.probe import movetime_warning
from hauteur.players.settings import Colours, PlayerSettings, parse_player

EXIT_ELO0, EXIT_UNDECIDED = 1, 3
"""Exit status of `hauteur sprt` where elo0 was accepted, and where --max-games ended it."""


def match(
    a: PlayerText,
    b: PlayerText,
    *,
    games: int = 400,
    colours: Colours = "swap",
    options: GameOptions = GameOptions(),  # noqa: B008  (immutable)
    workers: Workers = NO_WORKERS,
) -> int:
    """Play a match between two players, many games at once; with --out, an interrupted match resumes.

    Parameters
    ----------
    a
        Player whose results are shown: key=value words such as "net=FILE visits=100 temperature=0.5
        search.cpuct.init=1.5 name=NAME", with any setting of search and temperature, or the path of a TOML file with
        the same keys. Or a program: "uci:stockfish nodes=1000 UCI_Elo=1600", "gtp:gnugo --mode gtp". Or
        a player without a network: random, mcts:N (N random games a move), rave:N (the same for NoGo, stronger), solver
        or solver:NODES (exact play of small games), with no other key than name=NAME.
    b
        Its opponent, in the same form.
    games
        Number of games; raising it continues a finished match.
    colours
        swap: each opening twice, A first and A second. first, second: A always has that seat. mover: A always has the
        side to move after the opening, as in odds files in which the giver moves first.
    """
    match = make_match(a, b, options, games=games, colours=colours)
    with played_by(options, workers) as match.resources:
        play(match, options)
    return 0


def sprt(
    a: PlayerText,
    b: PlayerText,
    *,
    elo0: float = 0.0,
    elo1: float = 10.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    model: Model = "normalised",
    max_games: int | None = None,
    options: GameOptions = GameOptions(),  # noqa: B008  (immutable)
    workers: Workers = NO_WORKERS,
) -> int:
    """Play until a sequential test decides whether A is elo1 or only elo0 above B; many games at once, with resume.

    Exit status: 0 elo1 accepted, 1 elo0 accepted, 3 undecided within --max-games.

    Parameters
    ----------
    a
        Player under test, as in `hauteur match`.
    b
        Its opponent.
    elo0
        Elo of A above B that is not enough.
    elo1
        Elo of A above B that is enough.
    alpha
        Probability of accepting elo1 where elo0 is true.
    beta
        Probability of accepting elo0 where elo1 is true.
    model
        Unit of both: Elo of the score, or normalised by the deviation of the pairs, which makes the test length
        independent of the opening book.
    max_games
        Upper limit of games. Default: none.
    """
    test = Sprt(elo0, elo1, alpha, beta, model)
    games = NO_LIMIT if max_games is None else max_games
    match = make_match(a, b, options, games=games, colours="swap", sprt=test)
    with played_by(options, workers) as match.resources:
        play(match, options)
    verdict = match.test.verdict if match.test is not None else None
    return EXIT_UNDECIDED if verdict is None else 0 if verdict else EXIT_ELO0


def make_match(
    a: str, b: str, options: GameOptions, *, games: int, colours: Colours, sprt: Sprt | None = None
) -> Match:
    """Return the match that the options of a command describe."""
    game = options.make_game()
    settings = MatchSettings(
        a=parse_player(a, "player A"),
        b=parse_player(b, "player B"),
        games=games,
        colours=colours,
        **options.settings(game),
    )
    return Match(
        game=game,
        settings=settings,
        openings=options.read_openings(game),
        openings_file=options.openings,
        resources=options.resources,
        folder=None if options.out is None else MatchFolder(options.out),
        sprt=sprt,
    )


def play(match: Match, options: GameOptions) -> None:
    """Play to the end with progress, and print the result; on Ctrl-C print the command to resume."""
    games: dict[int, MatchGame] = {}
    warn_of_movetimes(match.game, (match.settings.a, match.settings.b))
    try:
        with shown(match, progress_line, match_table), closing(match.play()) as played:
            for game in played:
                if match.folder is None:
                    games[game.index] = game
    except KeyboardInterrupt:
        renew_page(options.out)
        say_interrupted("match", match.games_done, match.games_wanted, kept=match.folder is not None)
        raise
    write_files(match, games.values(), options)
    renew_page(options.out)
    text = table(match.tally, match.work, match.names, match.test)
    print(json_format.dumps(match.result(), indent=2) if options.json else text)


def warn_of_movetimes(game: _core.Game, players: Iterable[PlayerSettings]) -> None:
    """Print to stderr which programs' overheads take up their movetimes. ValueError where a program is missing."""
    for engine in {player.engine.model_dump_json(): player.engine for player in players if player.engine}.values():
        if (warning := movetime_warning(game, engine)) is not None:
            print(f"hauteur: warning: {warning}", file=sys.stderr, flush=True)


def write_files(match: Match, games: Iterable[MatchGame], options: GameOptions) -> None:
    """Write the games as PGN or SGF to the requested files and the folder; with a folder, those of all sessions."""
    for path in options.files(match.game):
        kept = games if match.folder is None else match.folder.games()
        write_games(path, [(header_of(match), kept)], evals=options.eval)


def say_interrupted(what: str, done: int, wanted: int | None, *, kept: bool) -> None:
    """Print to stderr that games were interrupted and whether they can be resumed."""
    of = "" if wanted is None else f" of {wanted:,}"
    later = "the same command goes on with it" if kept else "nothing is kept without --out"
    print(f"\n{what} interrupted after {done:,}{of} games; {later}", file=sys.stderr)
