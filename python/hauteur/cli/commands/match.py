"""hauteur match, sprt, tournament, rate: many games at once between players, with error bars or until a test ends."""

import json as json_format
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hauteur import _core
from hauteur.cli.commands.game_options import GameOptions
from hauteur.cli.commands.options import GameSpec, PlayerText, Seed
from hauteur.cli.commands.play import odds_start_of
from hauteur.games.odds import WHITE, parse_odds
from hauteur.learning.trained_search import search_notes
from hauteur.matches.match_result import MatchResult
from hauteur.matches.play import play_match, run_tournament
from hauteur.matches.play import sprt as play_sprt
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import Model
from hauteur.matches.ratings.rating_list import crosstable, rating_table, ratings_json, read_results
from hauteur.matches.rungs.climb import Climb, ClimbFolder, ClimbSettings
from hauteur.matches.rungs.report import keep_result, ladder_result, ladder_text
from hauteur.matches.rungs.table import rung_table
from hauteur.matches.tournament import Kind, Tournament
from hauteur.players.engines.settings import is_engine
from hauteur.players.settings import Colours, parse_player
from hauteur.system.progress import ProgressLine
from hauteur.system.settings import validated

EXIT_ELO0 = 1
"""Exit status of `hauteur sprt` where elo0 was accepted."""
EXIT_UNDECIDED = 3
"""Exit status of `hauteur sprt` where nothing was accepted."""
EXIT_INTERRUPTED = 130


def match(
    a: PlayerText,
    b: PlayerText,
    *,
    games: int = 400,
    colours: Colours | None = None,
    odds: str | None = None,
    options: GameOptions = GameOptions(),  # noqa: B008  (immutable)
) -> int:
    """Play a match between two players, many games at once; with --out, an interrupted match resumes.

    Parameters
    ----------
    a
        Player whose results are shown: key=value words such as "net=FILE visits=100 temperature=0.5
        search.cpuct.init=1.5 name=NAME", with any setting of search and temperature, or the path of a TOML file with
        the same keys. Or a program: "uci:stockfish nodes=1000 UCI_Elo=1600", "gtp:gnugo --mode gtp". Or
        a player without a network: random, material (chess: one ply), mcts:N (N random games a move), rave:N (the
        same with all-moves-as-first values, for games of at most 256 actions), with no other key than name=NAME.
    b
        Its opponent, in the same form.
    games
        Number of games; raising it continues a finished match.
    colours
        swap: each opening twice, A first and A second. first, second: A always plays so. mover: A always has the
        side to move after the opening, as in odds files in which the giver moves first. Default: swap; at odds the
        side that gives them.
    odds
        Chess: A gives these odds, such as "queen d1", "rook a8 + knight b8", "queen for knight".
    """
    if odds is not None:
        start = odds_start_of(options.game, odds)
        colours = colours or ("first" if parse_odds(odds).giver == WHITE else "second")
        options = replace(options, game=start.spec)
    game = options.make_game()
    _say_searches(game, a, b)
    match = play_match(a, b, game, games=games, colours=colours or "swap", **options.arguments())
    return _shown(match, options)


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
) -> int:
    """Play until a sequential test decides whether A is elo1 or only elo0 above B; many games at once, with resume.

    Exit status: 0 elo1 accepted, 1 elo0 accepted, 3 undecided within --max-games, or as the same games come again.

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
    game = options.make_game()
    _say_searches(game, a, b)
    result = play_sprt(
        a,
        b,
        game,
        elo0=elo0,
        elo1=elo1,
        alpha=alpha,
        beta=beta,
        model=model,
        max_games=max_games,
        **options.arguments(),
    )
    verdict = {"elo1": 0, "elo0": EXIT_ELO0, None: EXIT_UNDECIDED}[result.verdict]
    return _shown(result, options) or verdict


def tournament(
    *players: PlayerText,
    kind: Kind = "round-robin",
    games: int = 100,
    options: GameOptions = GameOptions(),  # noqa: B008  (immutable)
) -> int:
    """Play all pairings of several players, many games at once; with --out, an interrupted tournament resumes.

    Parameters
    ----------
    players
        Two or more, each as in `hauteur match`; more may be added at the end later.
    kind
        round-robin: all against all. gauntlet: the first player against each of the others.
    games
        Number of games of each pairing, two from each opening with colours swapped.
    """
    game = options.make_game()
    cup = run_tournament(players, game, options.arguments(), games=games, kind=kind)
    if cup.interrupted:
        return _interrupted("tournament", cup.games_done, cup.games_wanted, kept=options.out is not None)
    options.write_games(cup.matches)
    text = json_format.dumps(cup.result(), indent=2) if options.json else tournament_text(cup)
    print(text)
    return 0


def _say_searches(game: _core.Game, *players: str) -> None:
    """Say on stderr what search a net carries, and that a learning run's net has another than it was trained with."""
    for label, text in zip("AB", players, strict=True):
        for note in search_notes(label, parse_player(text, f"player {label}"), game):
            print(note, file=sys.stderr)


def _shown(result: MatchResult, options: GameOptions) -> int:
    """Write the files and print the result; return the exit status."""
    match = result.match
    if result.interrupted:
        return _interrupted("match", match.games_done, match.games_wanted, kept=options.out is not None)
    options.write_games([match])
    text = json_format.dumps(match.result(), indent=2) if options.json else repr(result)
    print(text)
    return 0


def _interrupted(what: str, done: int, total: int | None, *, kept: bool) -> int:
    """Print to stderr that games were interrupted and whether they can be resumed; return the exit status."""
    of = "" if total is None else f" of {total:,}"
    later = "the same command goes on with it" if kept else "nothing is kept without --out"
    print(f"\n{what} interrupted after {done:,}{of} games; {later}", file=sys.stderr)
    return EXIT_INTERRUPTED


def tournament_text(cup: Tournament) -> str:
    """Rating list, crosstable, cost."""
    found = cup.ratings()
    names = [rating.name for rating in found.ratings] or cup.names
    results = {match.names: match.tally.different.record for match in cup.matches}
    work = cup.work
    rate = work.evaluations / work.seconds if work.seconds else 0.0
    repeats = f" ({cup.note}; repeats count once)" if cup.note else ""
    cost = f"{cup.games_done:,} games{repeats}, {work.seconds:,.1f} s, {rate:,.0f} evaluations/s"
    return "\n\n".join([rating_table(found), crosstable(names, results), cost])


def rate(
    *what: str,
    anchor: tuple[str, ...] = (),
    ladder: Annotated[bool, Parameter(negative="")] = False,
    game: GameSpec = "chess",
    seed: Seed = 0,
    within: float = 50.0,
    max_games: int = 400,
    stockfish: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Rate players by all games of matches, tournaments and PGN files together; or one player on the ladder.

    Parameters
    ----------
    what
        Folders of matches (--out of `hauteur match`, `sprt`, `tournament`), folders of such folders, and .pgn files;
        with --ladder one player, as in `hauteur match`: "uci:ENGINE nodes=1000".
    anchor
        NAME=ELO: a player whose rating is fixed; may be given for several.
    ladder
        Play the player against opponents of known strength, none limited by time, until its rating is known; see
        docs/reference/ratings.md.
    game
        With --ladder: the game; there is a ladder of chess.
    seed
        With --ladder: of openings and draws. The same seed gives the same games.
    within
        With --ladder: half of the 95 % interval in Elo at which it ends, the error of the rungs included.
    max_games
        With --ladder: the most games.
    stockfish
        With --ladder: the Stockfish of the opponents. Default: the one on the path.
    out
        With --ladder: a folder for games.pgn, games.jsonl and result.json; the same command goes on there.
    json
        Print one JSON object; of a list with the differences between all players and their intervals.
    """
    if ladder:
        return rate_on_ladder(what, game, seed, within, max_games, stockfish, out, json=json)
    if not what:
        raise ValueError("name at least one folder of a match or tournament, or a .pgn file")
    if not Path(what[0]).exists() and (is_engine(what[0]) or "=" in what[0]):
        raise ValueError(f"{what[0]!r} is a player: it is rated with --ladder")
    sources = [read_results(Path(path)) for path in what]
    for lacking, number in (
        ("a result", sum(source.unfinished for source in sources)),
        ("the name of a player", sum(source.nameless for source in sources)),
    ):
        if number:
            left_out = f"1 game without {lacking} is" if number == 1 else f"{number:,} games without {lacking} are"
            print(f"{left_out} left out", file=sys.stderr)
    encounters = [encounter for source in sources for encounter in source.encounters]
    with_itself = [encounter for encounter in encounters if encounter.first == encounter.second]
    if alone := sum(encounter.record.games for encounter in with_itself):
        counted = "1 game" if alone == 1 else f"{alone:,} games"
        print(f"not counted: {counted} in which both players have the same name", file=sys.stderr)
    # A player of such games alone would stand in the list at 0, as if that were known.
    between_two = [encounter for encounter in encounters if encounter.first != encounter.second]
    found = rating_list(between_two, anchors=dict(map(_anchor, anchor)))
    if not found.ratings:
        raise ValueError("no game has a result and the names of two players")
    print(json_format.dumps(ratings_json(found), indent=2) if json else rating_table(found))
    return 0


def rate_on_ladder(
    what: Sequence[str],
    game: str,
    seed: int,
    within: float,
    max_games: int,
    stockfish: str | None,
    out: Path | None,
    *,
    json: bool,
) -> int:
    """Rate a player on the ladder of a game, print the result and return the exit status."""
    if len(what) != 1:
        raise ValueError(f'--ladder rates one player, such as "uci:ENGINE nodes=1000" in quotes; got {len(what)}')
    table = rung_table(game)
    player = parse_player(what[0])
    values = {"player": player, "seed": seed, "within": within, "max_games": max_games}
    settings = validated(ClimbSettings, values, "rate --ladder")
    climb = Climb(table, settings, None if out is None else ClimbFolder(out), stockfish)
    interrupted = _climbed(climb)
    keep_result(climb)
    if interrupted:
        return _interrupted("rating", len(climb.games), None, kept=out is not None)
    print(json_format.dumps(ladder_result(climb), indent=2) if json else ladder_text(climb))
    return 0


def _climbed(climb: Climb) -> bool:
    """Play the games with a line of progress; return whether Ctrl-C ended them."""
    try:
        with closing(climb.play()) as games, ProgressLine(None, "opening the players") as line:
            for _ in games:
                if line.is_due:
                    found = climb.estimate()
                    line.show(f"{len(climb.games)} games  Elo {found.elo:.0f} ±{found.error_of_games:.0f}")
    except KeyboardInterrupt:
        return True
    return False


def _anchor(text: str) -> tuple[str, float]:
    """Name and Elo; the name may itself have an equals sign."""
    name, equals, elo = text.rpartition("=")
    try:
        if not equals or not name:
            raise ValueError
        return name, float(elo)
    except ValueError:
        raise ValueError(f"--anchor is NAME=ELO, got {text!r}") from None
