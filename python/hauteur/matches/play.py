"""Matches, sequential tests and tournaments in one call, for programs in Python and for the commands."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from hauteur import _core
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.games.positions import as_state
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.game_files import write_games
from hauteur.matches.match import Match
from hauteur.matches.match_result import MatchResult, SprtResult, games_of
from hauteur.matches.openings import Opening, opening_of, openings_name, read_opening, read_openings
from hauteur.matches.ratings.bradley_terry import rating_list as fitted_list
from hauteur.matches.ratings.elo import Model, Sprt
from hauteur.matches.ratings.rating_list import Encounter, RatingList
from hauteur.matches.report.pages import renew_page
from hauteur.matches.results import MatchGame, Tally, standing
from hauteur.matches.settings import NO_LIMIT, MatchSettings
from hauteur.matches.tournament import Kind, Tournament, TournamentSettings, best_of
from hauteur.networks.evaluators.base import Backend
from hauteur.players.build import Resources
from hauteur.players.player import Player
from hauteur.players.settings import Colours, PlayerSettings, given_player
from hauteur.system.formatting import described, duration
from hauteur.system.hints import with_hints
from hauteur.system.progress import ProgressLine
from hauteur.system.settings import validated

if TYPE_CHECKING:
    from hauteur.games.positions import PositionLike

GAME_SETTINGS = ("seed", "order", "max_plies", "random_plies")
"""Options that decide the games."""

OnGame = Callable[[MatchGame], object]


class MatchOptions(TypedDict, total=False):
    """Options that matches, sequential tests and tournaments have in common; all may be left out."""

    seed: int
    """Seed of all random draws, 0 or more; game k of a match depends on seed, k, opening and players alone."""
    openings: str | Path | Sequence[PositionLike] | None
    """A file (EPD, FEN or moves, one a line; .pgn for chess), or a list of such lines or of positions (a `chess.Board`,
    a State). After the last one the first is used again."""
    order: Literal["random", "file"]
    """Order of the openings: drawn by the seed, or with `file` as given."""
    random_plies: int
    """Uniformly random plies that each pair of games begins with, where there are no openings (4)."""
    max_plies: int | None
    """A longer game is a draw; None: the game's own rules."""
    parallel: int
    """Games at a time, 1 to 100,000 (64); their positions share batches of the evaluators."""
    batch_size: int | None
    """Maximum rows of a batch; None: half of `parallel`."""
    threads: int
    """Threads of each net on the processor, 1 to 1024; 0: one a core."""
    backend: Backend | None
    """What computes the nets; None: what suits the machine."""
    workers: int
    """Processes of this machine that play the games; 0: this process plays them, or with `cluster` as many as fit. The
    games are the same."""
    cluster: str | None
    """Where workers run: `auto` or HOST:PORT, a cluster of Ray; None: this machine, without Ray."""
    out: str | Path | None
    """A folder that keeps the match; the same call resumes there after an interruption, and `games` may be raised. With
    other settings, nets or Python sources it is refused. None: nothing is kept on disk."""
    on_game: OnGame | None
    """Called with each finished game (`MatchGame`)."""
    progress: bool | None
    """Whether to show a line of progress; None: on a terminal and in a notebook."""


@with_hints
def play_match(
    a: Player | str,
    b: Player | str,
    game: _core.Game | str,
    *,
    games: int = 400,
    colours: Colours = "swap",
    **options: Unpack[MatchOptions],
) -> MatchResult:
    """Play a match between two players, many games at once, and return its result from A's view.

    Parameters
    ----------
    a, b
        `hauteur.Player` objects, or texts as of `hauteur.Player.from_text`.
    game
        A game, or the spec of one: `"connect4"`.
    games
        How many, even unless `colours` gives A one side.
    colours
        `swap`: each opening twice, A first and A second; `first`, `second`: A's side; `mover`: A is to move after it.
    options
        Any of `hauteur.matches.play.MatchOptions`: seed, openings, order, random_plies, max_plies, parallel,
        batch_size, threads, backend, workers, cluster, out, on_game, progress.

    Ctrl-C (KeyboardInterrupt) ends the match; the result then has the games played so far, and `complete` is False.
    Raise ValueError, in one line, for settings that are out of range or do not fit each other, the game or the folder;
    what an evaluator object raises comes out unchanged. Intervals: docs/reference/ratings.md.

    >>> import hauteur as ht
    >>> match = ht.play_match(ht.Player("uniform", visits=30), "random", "tictactoe", games=20)
    >>> len(match.games), match.wins + match.draws + match.losses, match.score > 0.5
    (20, 20, True)
    """
    match = _run_match(a, b, game, options, games=games, colours=colours)
    return MatchResult(match, games_of(match))


@with_hints
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
    **options: Unpack[MatchOptions],
) -> SprtResult:
    """Play until a sequential probability ratio test decides whether A is elo1 or only elo0 above B.

    elo0 < elo1, within -2000 to 2000, in the unit `model`: `logistic` is Elo of the score, `normalised` is divided by
    the deviation of the pairs, so that the length of the test does not depend on the openings. alpha: probability of
    accepting elo1 where elo0 is true, beta: of elo0 where elo1 is true, 0 to 0.5. max_games: even; None: no limit. The
    options are those of `play_match`, also what is raised and what Ctrl-C does.

    The result has `verdict` ("elo1", "elo0", or None where the games ended before) and `llr`; its numbers are those of
    the pairs that the test counted, in the order of their numbers. Source: docs/reference/ratings.md.

    >>> import hauteur as ht
    >>> ht.sprt("net=uniform visits=40", "random", "tictactoe", elo1=100, parallel=16).verdict
    'elo1'
    """
    test = Sprt(elo0, elo1, alpha, beta, model)
    most = NO_LIMIT if max_games is None else max_games
    match = _run_match(a, b, game, options, games=most, colours="swap", test=test)
    return SprtResult(match, games_of(match))


@with_hints
def tournament(
    players: Sequence[Player | str],
    game: _core.Game | str,
    *,
    games: int = 100,
    kind: Kind = "round-robin",
    **options: Unpack[MatchOptions],
) -> RatingList:
    """Play all pairings of several players at once, and return their rating list.

    players: two or more with different names. games: of each pairing, even. kind: `round-robin`, or `gauntlet`: the
    first player against each of the others. The options are those of `play_match`, also what is raised; the folder
    `out` has one of a match for each pairing, and players may be added at the end; after Ctrl-C the list is that of the
    games played so far.

    The list (Bradley and Terry with Davidson's draws, docs/reference/ratings.md) has Elo with 95 % intervals,
    `difference(a, b)`, `crosstable()` and `to_pandas()`; 0 is the mean of the players.

    >>> import hauteur as ht
    >>> ratings = ht.tournament(["net=uniform visits=40", "mcts:20", "random"], "tictactoe", games=10)
    >>> [rating.name for rating in ratings.ratings][-1]
    'random'
    """
    return run_tournament(players, game, options, games=games, kind=kind).ratings()


def rating_list(
    matches: Iterable[tuple[str, str, MatchResult | Tally]], *, anchors: Mapping[str, float] | None = None
) -> RatingList:
    """Return the rating list of matches that were played: names of A and B, and the result, of each.

    anchors: players whose Elo is given; without any the mean of the players is 0. Raise ValueError for matches without
    a game, and for an anchor that is not a player.

    >>> import hauteur as ht
    >>> match = ht.play_match("net=uniform visits=40", "random", "tictactoe", games=20)
    >>> ratings = ht.rating_list([("searcher", "random", match)], anchors={"random": 0.0})
    >>> ratings.ratings[0].name
    'searcher'
    """
    if not isinstance(matches, Iterable):
        raise TypeError(f"matches must be a list of (name, name, result), got {described(matches)}")
    if anchors is not None and not isinstance(anchors, Mapping):
        raise TypeError(f"anchors must be a dict of names and Elo, got {described(anchors)}")
    encounters = []
    for a, b, result in matches:
        tally = result if isinstance(result, Tally) else result.match.tally
        encounters.append(Encounter(a, b, tally.different.record))
    return fitted_list(encounters, anchors=anchors)


def run_tournament(
    players: Sequence[Player | str],
    game: _core.Game | str,
    options: MatchOptions,
    *,
    games: int,
    kind: Kind,
) -> Tournament:
    """Play a tournament, as `tournament`, and write its page and files."""
    if isinstance(players, str | PlayerSettings) or not isinstance(players, Sequence):
        raise ValueError(f"players must be a list of two or more players, got {players!r}")
    if len(players) < 2:
        raise ValueError(f"a tournament has two or more players, got {len(players)}")
    given = tuple(given_player(player, f"player {number}") for number, player in enumerate(players, 1))
    settings, shared = _shared(game, options)
    values = {"players": given, "kind": kind, "games": games, **settings}
    checked = validated(TournamentSettings, values, "tournament")
    out = options.get("out")
    folder = None if out is None else TournamentFolder(Path(out))
    cup = Tournament(settings=checked, folder=folder, **shared)
    _play(cup, options)
    return cup


def _run_match(
    a: Player | str,
    b: Player | str,
    game: _core.Game | str,
    options: MatchOptions,
    *,
    games: int,
    colours: Colours,
    test: Sprt | None = None,
) -> Match:
    """Play a match to the end, and write its page and files."""
    values = {"a": given_player(a, "player A"), "b": given_player(b, "player B"), "games": games, "colours": colours}
    settings, shared = _shared(game, options)
    checked = validated(MatchSettings, values | settings, "match")
    out = options.get("out")
    folder = None if out is None else MatchFolder(Path(out))
    match = Match(settings=checked, folder=folder, sprt=test, **shared)
    _play(match, options)
    return match


def _shared(game: _core.Game | str, options: MatchOptions) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the games, and the game, openings and resources; ValueError for what is not allowed."""
    if unknown := sorted(options.keys() - MatchOptions.__annotations__.keys()):
        raise TypeError(f"unexpected option {unknown[0]!r}; there are {', '.join(MatchOptions.__annotations__)}")
    game = load_game(game)
    given = dict[str, Any](options)
    lines = options.get("openings")
    try:
        resources = Resources(
            options.get("parallel", 64),
            options.get("batch_size"),
            options.get("threads", 0),
            options.get("backend"),
        )
    except ValueError as error:
        raise ValueError(str(error).removeprefix("--")) from None  # an argument here, no option
    settings = {key: given[key] for key in GAME_SETTINGS if key in given}
    settings["game"] = game.spec
    shared: dict[str, Any] = {"game": game, "resources": resources}
    if lines is None:
        return settings, shared
    if isinstance(lines, str | Path):
        file = Path(lines)
        openings = read_openings(file, game)
        name = openings_name(file)
    else:
        openings = _read_lines(lines, game)
        texts = (line if isinstance(line, str) else repr(as_state(line)) for line in lines)
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
        name = f"{len(openings)} openings sha256 {digest}"
    return settings | {"random_plies": 0}, shared | {"openings": openings, "openings_name": name}


def _read_lines(lines: Sequence[object], game: _core.Game) -> list[Opening]:
    """Read openings from texts and positions; ValueError names the first that is none."""
    found = []
    for number, line in enumerate(lines):
        try:
            if isinstance(line, str):
                found.append(read_opening(line, game))
            else:
                found.append(opening_of(as_state(line), game))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise ValueError(f"openings[{number}]: {error}") from None
    if not found:
        raise ValueError("openings must not be empty; None: random plies")
    return found


def _play(games: Match | Tournament, options: MatchOptions) -> None:
    """Play to the end or until Ctrl-C; write the page of a folder, and once all are played its games.FORM."""
    on_game = options.get("on_game")
    wanted = WorkerOptions(options.get("workers", 0), options.get("cluster"), options.get("threads", 0))
    try:
        with ExitStack() as stack:
            line = stack.enter_context(ProgressLine(options.get("progress"), "opening the nets"))
            scheduler = stack.enter_context(open_scheduler(wanted))
            for _, game in stack.enter_context(closing(games.play_all(scheduler))):
                _show(line, games)
                if on_game is not None:
                    on_game(game)
            _show(line, games, last=True)
    except KeyboardInterrupt:
        games.interrupted = True
    if games.folder is None:
        return
    form = games.game.record_form
    if form is not None and not games.interrupted:
        played = [(match, match.games()) for match in games.matches]
        write_games(games.folder.path / f"games.{form}", played)
    renew_page(games.folder.path, games.game)


def _show(line: ProgressLine, match: Match | Tournament, *, last: bool = False) -> None:
    """Show the score so far, at most a few times a second."""
    if not (last or line.is_due):
        return  # intervals cost time, and games may end by the thousand
    done = match.games_done
    of = match.games_wanted
    share = None if of is None else done / max(of, 1)
    line.show(progress_text(match), share, last=last)


def progress_text(match: Match | Tournament) -> str:
    """Return games, result, speed and the time that is left, as far as they are known."""
    done = match.games_done
    of = match.games_wanted
    facts = match.facts
    games = f"{done:,} games" if of is None else f"{done:,}/{of:,} games"
    result = standing(match.tally) if isinstance(match, Match) else best_of(match.ratings())
    parts = [games, result]
    search = facts.search
    if search.total:
        parts.append(f"{search.rows / search.total:,.0f} evaluations/s")
    if of is not None and facts.games and of > done:
        # games in progress count as half played: short ones end first, and alone would promise too long a time
        halves = min(of - done, match.resources.parallel) / 2
        seconds_a_game = search.total / (facts.games + halves)
        left = seconds_a_game * (of - done - halves)
        parts.append(f"{duration(left)} left")
    return "  ".join(filter(None, parts))
