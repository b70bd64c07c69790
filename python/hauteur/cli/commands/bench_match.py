"""hauteur bench match: how much faster the games of a match are many at a time than one after another."""

import json
from dataclasses import replace
from pathlib import Path

from hauteur.cli.commands.bench import check_positive, sample_rows, timed_rates
from hauteur.cli.commands.options import Seed
from hauteur.games.registry import load_game
from hauteur.matches.match import Match, MatchSettings
from hauteur.players.build import Evaluators, Resources, resolved_net
from hauteur.players.settings import parse_player


def match(
    a: str,
    b: str,
    *,
    game: str = "chess",
    games: int = 200,
    alone: int = 8,
    parallel: int = 64,
    threads: int = 0,
    random_plies: int = 4,
    seed: Seed = 0,
) -> None:
    """Games per second of a match, many at a time and one after another, and the bare speed of its nets.

    What can be won is bounded by the nets: the share of the time that they take one after another, and how much faster
    they are in full batches than row by row.

    Parameters
    ----------
    a, b
        The players, as in `hauteur match`.
    game
        The game.
    games
        Games of the match, which are played many at a time.
    alone
        Of these, how many are played one after another: half of them before, half after.
    parallel
        Games at a time.
    threads
        Threads of a net; 0: one a core.
    random_plies
        Random plies at the beginning of a game.
    seed
        Of all random draws.
    """
    check_positive(games=games, alone=alone, parallel=parallel)
    settings = MatchSettings(
        game=load_game(game).spec,
        a=parse_player(a, "player A"),
        b=parse_player(b, "player B"),
        games=games,
        random_plies=random_plies,
        seed=seed,
    )
    one, many = Resources(1, 1, threads), Resources(parallel, None, threads)
    some = settings.model_copy(update={"games": max(2, alone // 4 * 2)})
    first, together, last = _played(some, one), _played(settings, many), _played(some, one)
    one_by_one = {key: (first[key] + last[key]) / 2 for key in first}
    line = {"bench": "match", "a": a, "b": b, "games": games, "parallel": parallel, "threads": many.cores}
    line |= {"together": together, "one_by_one": one_by_one, "nets": _bare_speeds(settings, many)}
    line["faster"] = {
        key: round(together[key] / one_by_one[key], 2) for key in ("games_per_second", "evaluations_per_second")
    }
    print(json.dumps(line), flush=True)


def _played(settings: MatchSettings, resources: Resources) -> dict[str, float]:
    """Play the match in memory; its speed."""
    match = Match(load_game(settings.game), settings, resources=resources)
    games = sum(1 for _ in match.play())
    work = match.work  # its seconds are those of play, without the opening of nets
    return {
        "games_per_second": round(games / work.seconds, 4),
        "evaluations_per_second": round(work.evaluations / work.seconds, 1),
        "rows_per_batch": round(work.evaluations / max(1, work.batches), 2),
        "batch_fill": round(work.evaluations / max(1, work.capacity), 4),
    }


def _bare_speeds(settings: MatchSettings, resources: Resources) -> dict[str, dict[str, float]]:
    """Evaluations per second of each net alone, row by row and in batches as full as those of the match can be."""
    game = load_game(settings.game)
    found: dict[str, dict[str, float]] = {}
    for rows in (1, resources.rows):
        with Evaluators(game, replace(resources, batch_size=rows)) as evaluators:
            for player in filter(lambda player: player.has_net, (settings.a, settings.b)):
                net = resolved_net(game, player)
                rate, _ = timed_rates(evaluators.get(net, player), sample_rows(game, rows), 2.0)
                found.setdefault(Path(net).name, {})[f"batch_{rows}"] = round(rate, 1)
    return found
