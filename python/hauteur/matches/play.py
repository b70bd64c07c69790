"""Matches, sequential tests and tournaments in one call, for programs in Python."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hauteur import _core
from hauteur.cluster.open import open_workers
from hauteur.cluster.scheduler import Scheduler
from hauteur.games.positions import as_state
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.game_files import form_of, header_of, write_games
from hauteur.matches.match import NO_LIMIT, Match, MatchSettings
from hauteur.matches.match_result import MatchResult, SprtResult, games_of
from hauteur.matches.openings import Opening, opening_of, read_opening, read_openings
from hauteur.matches.ratings.bradley_terry import rating_list as fitted_list
from hauteur.matches.ratings.elo import Model, Sprt
from hauteur.matches.ratings.rating_list import RatingList
from hauteur.matches.ratings.sources import encounters_of_tally
from hauteur.matches.report.pages import renew_page
from hauteur.matches.results import MatchGame, Tally, summary
from hauteur.matches.tournament import Kind, Tournament, TournamentSettings
from hauteur.players.build import Resources
from hauteur.players.player import Player
from hauteur.players.settings import Colours, PlayerSettings, parse_player
from hauteur.system.progress import ProgressLine
from hauteur.system.settings import validated

if TYPE_CHECKING:
    from hauteur.games.positions import PositionLike

OnGame = Callable[[MatchGame], object]


def play_match(
    a: Player | str,
    b: Player | str,
    game: _core.Game | str,
    *,
    games: int = 400,
    seed: int = 0,
    openings: str | Path | Sequence[PositionLike] | None = None,
    random_plies: int = 4,
    colours: Colours = "swap",
    max_plies: int | None = None,
    parallel: int = 64,
    threads: int = 0,
    workers: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
    on_game: OnGame | None = None,
    progress: bool | None = None,
) -> MatchResult:
    """Play a match between two players, many games at once, and return its result from A's view.

    Parameters
    ----------
    a, b
        `hauteur.Player` objects, or texts as of `hauteur.Player.from_text`.
    game
        A game, or the spec of one: `"connect4"`.
    games
        How many, even unless `colours` gives A one seat.
    seed
        Of all random draws, 0 or more. Game k of a match depends on seed, k, opening and players alone.
    openings
        A file of openings (EPD, FEN or moves, one a line; .pgn for chess), or a list of such lines or of positions (a
        `chess.Board`, a State). Their order is drawn by the seed; after the last the first is used again.
    random_plies
        Without openings: uniformly random plies that each pair of games begins with.
    colours
        `swap`: each opening twice, A first and A second; `first`, `second`: A's seat; `mover`: A is to move after it.
    max_plies
        A longer game is a draw; None: the game's own rules.
    parallel
        Games at a time, 1 to 100,000; their positions share batches of the evaluators.
    threads
        Of each net on the processor, 1 to 1024; 0: one a core.
    workers
        Processes that play the games, `parallel` at a time each; 0: this process plays them, or with `cluster` as many
        as there is room for. The games are the same. Players that are Python objects cannot be sent to workers.
    cluster
        Where workers run: `local`, `auto` or HOST:PORT, a cluster of Ray; None: this machine, without Ray.
    out
        A folder that keeps the match. The same call goes on there after an interruption, and `games` may be raised;
        with other settings, nets or Python sources it is refused. None: nothing is kept on disk.
    on_game
        Called with each finished game (`MatchGame`).
    progress
        Show a line of progress; None: on a terminal and in a notebook.

    Ctrl-C (KeyboardInterrupt) ends the match; the result then has the games played so far, and `complete` is False.
    Raise ValueError, in one line, for settings that are out of range or do not fit each other, the game or the folder;
    what an evaluator object raises comes out as it is. Intervals: docs/reference/ratings.md.

    >>> import hauteur as ht
    >>> match = ht.play_match(ht.Player("uniform", visits=30), "random", "tictactoe", games=20)
    >>> len(match.games), match.wins + match.draws + match.losses, match.score > 0.5
    (20, 20, True)
    """
    with open_workers(workers, cluster) as scheduler:
        options = _Options.of(game, seed, openings, random_plies, max_plies, parallel, threads, workers, scheduler)
        match = _match(a, b, options, games=games, colours=colours, out=out)
        played, interrupted = _played(match.play(), on_game, ProgressLine(progress, _BEGIN), match)
    _write(match.folder, options.game, [match], interrupted)
    return MatchResult(match, games_of(match, played), interrupted)


def sprt(
    a: Player | str,
    b: Player | str,
    game: _core.Game | str,
    *,
    elo0: float = 0.0,
    elo1: float = 10.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    model: Model = "normalised",
    max_games: int | None = None,
    seed: int = 0,
    openings: str | Path | Sequence[PositionLike] | None = None,
    random_plies: int = 4,
    max_plies: int | None = None,
    parallel: int = 64,
    threads: int = 0,
    workers: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
    on_game: OnGame | None = None,
    progress: bool | None = None,
) -> SprtResult:
    """Play until a sequential probability ratio test decides whether A is elo1 or only elo0 above B.

    elo0 < elo1, within -2000 to 2000, in the unit `model`: `logistic` is Elo of the score, `normalised` is divided by
    the deviation of the pairs, so that the length of the test does not depend on the openings. alpha: probability of
    accepting elo1 where elo0 is true, beta: of elo0 where elo1 is true, 0 to 0.5. max_games: even; None: no limit. The
    others are those of `play_match`, also what is raised and what Ctrl-C does.

    The result has `verdict` ("elo1", "elo0", or None where the games ended before) and `llr`; its numbers are those of
    the pairs that the test counted, in the order of their numbers. Source: docs/reference/ratings.md.

    >>> import hauteur as ht
    >>> ht.sprt("net=uniform visits=40", "random", "tictactoe", elo1=100, parallel=16).verdict
    'elo1'
    """
    test = Sprt(elo0, elo1, alpha, beta, model)
    most = NO_LIMIT if max_games is None else max_games
    with open_workers(workers, cluster) as scheduler:
        options = _Options.of(game, seed, openings, random_plies, max_plies, parallel, threads, workers, scheduler)
        match = _match(a, b, options, games=most, colours="swap", out=out, test=test)
        played, interrupted = _played(match.play(), on_game, ProgressLine(progress, _BEGIN), match)
    _write(match.folder, options.game, [match], interrupted)
    return SprtResult(match, games_of(match, played), interrupted)


def tournament(
    players: Sequence[Player | str],
    game: _core.Game | str,
    *,
    games: int = 100,
    kind: Kind = "round-robin",
    seed: int = 0,
    openings: str | Path | Sequence[PositionLike] | None = None,
    random_plies: int = 4,
    max_plies: int | None = None,
    parallel: int = 64,
    threads: int = 0,
    workers: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
    on_game: OnGame | None = None,
    progress: bool | None = None,
) -> RatingList:
    """Play all pairings of several players at once, and return their rating list.

    players: two or more with different names. games: of each pairing, even. kind: `round-robin`, or `gauntlet`: the
    first player against each of the others. out: a folder, with one of a match for each pairing, which the same call
    continues; players may be added at the end. The others are those of `play_match`, also what is raised; after Ctrl-C
    the list is that of the games played so far.

    The list (Bradley and Terry with Davidson's draws, docs/reference/ratings.md) has Elo with 95 % intervals,
    `difference(a, b)`, `crosstable()` and `to_pandas()`; 0 is the mean of the players.

    >>> import hauteur as ht
    >>> ratings = ht.tournament(["net=uniform visits=40", "mcts:20", "random"], "tictactoe", games=10)
    >>> [rating.name for rating in ratings.ratings][-1]
    'random'
    """
    if isinstance(players, str | PlayerSettings) or not isinstance(players, Sequence):
        raise ValueError(f"players must be a list of two or more players, got {players!r}")
    given = tuple(_settings(player, f"player {number}") for number, player in enumerate(players, 1))
    folder = None if out is None else TournamentFolder(Path(out))
    with open_workers(workers, cluster) as scheduler:
        options = _Options.of(game, seed, openings, random_plies, max_plies, parallel, threads, workers, scheduler)
        settings = {"players": given, "kind": kind, "games": games, **options.settings}
        cup = Tournament(
            options.game,
            validated(TournamentSettings, settings, "tournament"),
            options.openings,
            options.openings_file,
            options.resources,
            folder,
            openings_name=options.openings_name,
        )
        with closing(cup.play()) as finished:
            _, interrupted = _played((played for _, played in finished), on_game, ProgressLine(progress, _BEGIN), cup)
    _write(folder, options.game, cup.matches, interrupted)
    return cup.ratings()


def rating_list(
    matches: Iterable[tuple[str, str, MatchResult | Tally]], *, anchors: Mapping[str, float] | None = None
) -> RatingList:
    """Return the rating list of matches that were played: names of A and B, and the result, of each.

    anchors: players whose Elo is given; without any the mean of the players is 0. Raise ValueError for matches without
    a game, and for an anchor that is no player.

    >>> import hauteur as ht
    >>> match = ht.play_match("net=uniform visits=40", "random", "tictactoe", games=20)
    >>> ratings = ht.rating_list([("searcher", "random", match)], anchors={"random": 0.0})
    >>> ratings.ratings[0].name
    'searcher'
    """
    tallies = [(a, b, one if isinstance(one, Tally) else one.match.tally) for a, b, one in matches]
    met = [found for a, b, tally in tallies for found in encounters_of_tally(tally, (a, b))]
    return fitted_list(met, anchors=anchors)


class _Options(NamedTuple):
    """Settings that matches and tournaments have in common."""

    game: _core.Game
    settings: dict[str, Any]
    openings: Sequence[Opening]
    openings_file: Path | None
    openings_name: str
    resources: Resources

    @classmethod
    def of(
        cls,
        game: _core.Game | str,
        seed: int,
        openings: str | Path | Sequence[PositionLike] | None,
        random_plies: int,
        max_plies: int | None,
        parallel: int,
        threads: int,
        workers: int,
        scheduler: Scheduler | None,
    ) -> _Options:
        """Read game and openings; ValueError for what is not allowed."""
        game = load_game(game) if isinstance(game, str) else game
        try:
            resources = Resources(parallel, threads=threads, scheduler=scheduler, workers=workers)
        except ValueError as error:
            raise ValueError(str(error).removeprefix("--")) from None  # an argument here, no option
        file, name, lines = None, "", list[Opening]()
        if isinstance(openings, str | Path):
            file = Path(openings)
            lines = read_openings(file, game)
        elif openings is not None:
            lines = _read_lines(openings, game)
            texts = (line if isinstance(line, str) else repr(as_state(line)) for line in openings)
            digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
            name = f"{len(lines)} openings sha256 {digest}"
        plies = 0 if lines else random_plies
        settings = {"game": game.spec, "seed": seed, "random_plies": plies, "max_plies": max_plies}
        return cls(game, settings, lines, file, name, resources)


def _read_lines(lines: Sequence[object], game: _core.Game) -> list[Opening]:
    """Read openings from texts and positions; ValueError names the first that is none."""
    found = []
    for number, line in enumerate(lines):
        try:
            found.append(read_opening(line, game) if isinstance(line, str) else opening_of(as_state(line), game))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise ValueError(f"openings[{number}]: {error}") from None
    if not found:
        raise ValueError("openings must not be empty; None: random plies")
    return found


def _settings(given: object, label: str) -> PlayerSettings:
    """Return the settings of a player that was given as an object or as a text."""
    if isinstance(given, PlayerSettings):
        return given
    if isinstance(given, str):
        return parse_player(given, label)
    raise ValueError(f"{label} must be a text or a hauteur.Player, got {given!r}: write hauteur.Player(...)")


def _match(
    a: Player | str,
    b: Player | str,
    options: _Options,
    *,
    games: int,
    colours: Colours,
    out: str | Path | None,
    test: Sprt | None = None,
) -> Match:
    values = {"a": _settings(a, "player A"), "b": _settings(b, "player B"), "games": games, "colours": colours}
    return Match(
        game=options.game,
        settings=validated(MatchSettings, values | options.settings, "match"),
        openings=options.openings,
        openings_file=options.openings_file,
        openings_name=options.openings_name,
        resources=options.resources,
        folder=None if out is None else MatchFolder(Path(out)),
        sprt=test,
    )


_BEGIN = "opening the nets"


def _played(
    finished: Generator[MatchGame], on_game: OnGame | None, line: ProgressLine, match: Match | Tournament
) -> tuple[list[MatchGame], bool]:
    """Play to the end; return the games of this session, and whether Ctrl-C ended them."""
    played: list[MatchGame] = []
    try:
        with closing(finished), line:
            for game in finished:
                played.append(game)
                _show(line, match)
                if on_game is not None:
                    on_game(game)
            _show(line, match, last=True)
    except KeyboardInterrupt:
        return played, True
    return played, False


def _show(line: ProgressLine, match: Match | Tournament, *, last: bool = False) -> None:
    if not (last or line.is_due):
        return  # intervals cost time, and games may end by the thousand
    done, wanted = match.games_done, match.games_wanted
    result = f"  {summary(match.tally)}" if isinstance(match, Match) and match.tally.record.games else ""
    of = "" if wanted is None else f"/{wanted:,}"
    line.show(f"{done:,}{of} games{result}", None if wanted is None else done / max(wanted, 1), last=last)


def _write(
    folder: MatchFolder | TournamentFolder | None, game: _core.Game, matches: Sequence[Match], interrupted: bool
) -> None:
    """Write the page of a folder, and, once all are played, the games in the form that the game has."""
    if folder is None:
        return
    form = form_of(game)
    if form is not None and not interrupted:
        kept = [(header_of(match), match.folder.games()) for match in matches if match.folder is not None]
        write_games(folder.path / f"games.{form}", kept)
    renew_page(folder.path, game)
