"""hauteur tournament: all pairings of several players at once, with crosstable and rating list."""

from __future__ import annotations

import json as json_format
from contextlib import closing
from typing import TYPE_CHECKING

from hauteur.cli.commands.game_options import GameOptions, played_by
from hauteur.cli.commands.match import say_interrupted, warn_of_movetimes
from hauteur.cli.commands.match_view import games_line, shown, speed_line
from hauteur.cli.commands.options import NO_WORKERS, PlayerText, Workers
from hauteur.matches.folder import TournamentFolder
from hauteur.matches.game_files import header_of, write_games
from hauteur.matches.ratings.tables import crosstable, rating_table
from hauteur.matches.report.pages import renew_page
from hauteur.matches.results import MatchGame
from hauteur.matches.tournament import Kind, Tournament, TournamentSettings
from hauteur.players.settings import parse_player

if TYPE_CHECKING:
    from rich.table import Table


def tournament(
    *players: PlayerText,
    kind: Kind = "round-robin",
    games: int = 100,
    options: GameOptions = GameOptions(),  # noqa: B008  (immutable)
    workers: Workers = NO_WORKERS,
) -> None:
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
    parsed = tuple(parse_player(text, f"player {number}") for number, text in enumerate(players, 1))
    settings = TournamentSettings(players=parsed, kind=kind, games=games, **options.settings(game))
    folder = None if options.out is None else TournamentFolder(options.out)
    openings = options.read_openings(game)
    with played_by(options, workers) as resources:
        tournament = Tournament(game, settings, openings, options.openings, resources, folder)
        played = play(tournament)
    write_files(tournament, played, options)
    renew_page(options.out)
    print(json_format.dumps(tournament.result(), indent=2) if options.json else tournament_text(tournament))


def play(tournament: Tournament) -> list[dict[int, MatchGame]]:
    """Play to the end, showing how it goes; the games of each pairing by their numbers, where they are not on disk."""
    games: list[dict[int, MatchGame]] = [{} for _ in tournament.matches]
    warn_of_movetimes(tournament.game, tournament.settings.players)
    try:
        with shown(tournament, progress_line, live_table), closing(tournament.play()) as played:
            for number, game in played:
                if tournament.folder is None:
                    games[number][game.index] = game
    except KeyboardInterrupt:
        if tournament.folder is not None:
            renew_page(tournament.folder.path)
        say_interrupted(
            "tournament", tournament.games_done, tournament.games_wanted, kept=tournament.folder is not None
        )
        raise
    return games


def write_files(tournament: Tournament, played: list[dict[int, MatchGame]], options: GameOptions) -> None:
    """Write the games of all pairings to one file: the requested files and that of the folder."""
    for path in options.files(tournament.game):
        kept = [
            games.values() if match.folder is None else match.folder.games()
            for match, games in zip(tournament.matches, played, strict=True)
        ]
        headers = [header_of(match) for match in tournament.matches]
        write_games(path, zip(headers, kept, strict=True), evals=options.eval)


def tournament_text(tournament: Tournament) -> str:
    """Rating list, crosstable, cost."""
    found = tournament.ratings()
    names = [rating.name for rating in found.ratings] or tournament.names
    results = {match.names: match.tally.record for match in tournament.matches}
    work = tournament.work
    rate = work.evaluations / work.seconds if work.seconds else 0.0
    cost = f"{tournament.games_done:,} games, {work.seconds:,.1f} s, {rate:,.0f} evaluations/s"
    old = [match for match in tournament.matches if match.tally.unchecked]
    unchecked = [f"{' - '.join(match.names)}: {match.tally.unchecked_text}" for match in old]
    return "\n\n".join([rating_table(found), crosstable(names, results), "\n".join([cost, *unchecked])])


def progress_line(tournament: Tournament) -> str:
    """Games and the leading players so far."""
    ratings = tournament.ratings().ratings[:5]
    leaders = ", ".join(f"{rating.name} {rating.elo:+.0f}" for rating in ratings)
    return f"{games_line(tournament)}  {leaders}  {speed_line(tournament)}"


def live_table(tournament: Tournament) -> Table:
    """The rating list so far, as a table for the terminal."""
    from rich.table import Table

    table = Table(
        "", "player", "Elo", "95 %", "games", "score", title=f"{tournament.settings.kind}, {tournament.game.spec}"
    )
    for number, rating in enumerate(tournament.ratings().ratings, 1):
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
    table.caption = f"{tournament.games_wanted - tournament.games_done:,} games left\n{speed_line(tournament)}"
    return table
