"""hauteur tournament: all pairings of several players at once, with crosstable and rating list."""

from __future__ import annotations

import json as json_format
from contextlib import closing
from typing import TYPE_CHECKING

from hauteur.cli.commands.game_options import GameOptions
from hauteur.cli.commands.match import say_interrupted
from hauteur.cli.commands.match_view import games_line, shown, speed_line
from hauteur.matches.folder import TournamentFolder
from hauteur.matches.game_files import contest_of, write_games
from hauteur.matches.ratings.tables import crosstable, rating_table
from hauteur.matches.results import MatchGame
from hauteur.matches.tournament import Kind, Tournament, TournamentSettings
from hauteur.players.settings import parse_player

if TYPE_CHECKING:
    from rich.table import Table


def tournament(
    *players: str,
    kind: Kind = "round-robin",
    games: int = 100,
    options: GameOptions = GameOptions(),  # noqa: B008  (immutable)
) -> None:
    """Play all pairings of several players, many games at once; with --out, what was interrupted goes on.

    Parameters
    ----------
    players
        Two or more, each as in `hauteur match`; more may be added at the end later.
    kind
        round-robin: everybody against everybody. gauntlet: the first player against each of the others.
    games
        Number of games of each pairing, two from each opening with colours swapped.
    """
    game = options.make_game()
    parsed = tuple(parse_player(text, f"player {number}") for number, text in enumerate(players, 1))
    settings = TournamentSettings(players=parsed, kind=kind, games=games, **options.settings(game))
    folder = None if options.out is None else TournamentFolder(options.out)
    contest = Tournament(game, settings, options.read_openings(game), options.openings, options.resources, folder)
    played = play(contest)
    write_files(contest, played, options)
    print(json_format.dumps(contest.result(), indent=2) if options.json else tournament_text(contest))


def play(contest: Tournament) -> list[list[MatchGame]]:
    """Plays to the end, showing how it goes; the games of each pairing where they are not on disk."""
    games: list[list[MatchGame]] = [[] for _ in contest.matches]
    try:
        with shown(contest, progress_line, live_table), closing(contest.play()) as played:
            for number, game in played:
                if contest.folder is None:
                    games[number].append(game)
    except KeyboardInterrupt:
        say_interrupted("tournament", contest.games_done, contest.games_wanted, kept=contest.folder is not None)
        raise
    return games


def write_files(contest: Tournament, played: list[list[MatchGame]], options: GameOptions) -> None:
    """The games of all pairings in one file, where asked for and in the folder."""
    for path in options.files(contest.game):
        kept = [
            games if match.folder is None else list(match.folder.games())
            for match, games in zip(contest.matches, played, strict=True)
        ]
        contests = [contest_of(match) for match in contest.matches]
        write_games(path, zip(contests, kept, strict=True), evals=options.eval)


def tournament_text(contest: Tournament) -> str:
    """Rating list, crosstable, cost."""
    found = contest.ratings()
    names = [rating.name for rating in found.ratings] or contest.names
    results = {match.names: match.tally.record for match in contest.matches}
    work = contest.work
    rate = work.evaluations / work.seconds if work.seconds else 0.0
    cost = f"{contest.games_done:,} games, {work.seconds:,.1f} s, {rate:,.0f} evaluations/s"
    return "\n\n".join([rating_table(found), crosstable(names, results), cost])


def progress_line(contest: Tournament) -> str:
    """Games and the leading players so far."""
    ratings = contest.ratings().ratings[:5]
    leaders = ", ".join(f"{rating.name} {rating.elo:+.0f}" for rating in ratings)
    return f"{games_line(contest)}  {leaders}  {speed_line(contest)}"


def live_table(contest: Tournament) -> Table:
    """The rating list so far, as a table for the terminal."""
    from rich.table import Table

    table = Table("", "player", "Elo", "95 %", "games", "score", title=f"{contest.settings.kind}, {contest.game.spec}")
    for number, rating in enumerate(contest.ratings().ratings, 1):
        low, high = rating.interval()
        record = rating.record
        row = (
            rating.name,
            f"{rating.elo:+.0f}",
            f"{low:+.0f} to {high:+.0f}",
            f"{record.games:,}",
            f"{record.score:.1%}",
        )
        table.add_row(str(number), *row)
    table.caption = f"{contest.games_wanted - contest.games_done:,} games left\n{speed_line(contest)}"
    return table
