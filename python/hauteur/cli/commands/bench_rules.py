"""hauteur bench rules: what each search rule costs, as visits per second relative to plain PUCT."""

import json
from statistics import median
from typing import Any, get_args

from hauteur import _core
from hauteur.cli.commands.bench import check_positive, spread
from hauteur.mcts.params import SearchParams
from hauteur.system.settings import Section

VISITS = {"chess": 100_000}
"""Visits of a round; other games have 60,000."""

SETTINGS: dict[str, dict[str, Any]] = {
    "search_contempt": {"n_scl": 10},
    "wdl_contempt": {"contempt": 100.0},
}
"""Rules whose defaults leave the search as it is, with the setting that is measured."""

WITHOUT_MEASURE = ("second_net",)
"""Rules that a search without a network cannot show."""


def rules(*specs: str, rule: tuple[str, ...] = (), visits: int = 0, rounds: int = 5) -> None:
    """Measure visits per second with each search rule, relative to plain PUCT, on one thread, without a network.

    The policy is uniform, values are derived from position keys. Every round runs plain PUCT, the rule twice, and plain
    PUCT, so that the ratio stays meaningful on a loaded machine. Prints one JSON line per rule and game.

    Parameters
    ----------
    specs
        Games, e.g. chess "nogo(size=7)"; default: connect4 and chess.
    rule
        Rules by section name, e.g. search_contempt; may be repeated; default: all.
    visits
        Visits of the tree grown from the start position in each run; 0 = 100,000 for chess, 60,000 for others.
    rounds
        Rounds; the minimum, median and maximum are printed.
    """
    check_positive(rounds=rounds)
    measured = measured_rules()
    unknown = [name for name in rule if name not in measured]
    if unknown:
        raise ValueError(f"--rule must be one of {', '.join(measured)}, got {unknown[0]!r}")
    for spec in specs or ("connect4", "chess"):
        game = _core.Game(spec)
        wanted = visits or VISITS.get(game.name, 60_000)
        check_positive(visits=wanted)
        run(game, SearchParams(), wanted // 4)
        for name in rule or measured:
            print(json.dumps(measure(game, name, measured[name], wanted, rounds)), flush=True)


def measured_rules() -> dict[str, Any]:
    """The settings of all rules that are measured, by name; `graph` has no section."""
    sections = {name: section_of(field.annotation) for name, field in SearchParams.model_fields.items()}
    rules = {name: kind for name, kind in sections.items() if kind is not None and name not in WITHOUT_MEASURE}
    found = {name: kind(**SETTINGS.get(name, {})).model_dump(exclude_none=True) for name, kind in rules.items()}
    return {**found, "graph": True}


def section_of(annotation: Any) -> type[Section] | None:
    """The section behind a field `Section | None` that belongs to a rule; None for other fields."""
    kinds = [kind for kind in get_args(annotation) if isinstance(kind, type) and issubclass(kind, Section)]
    return kinds[0] if kinds and kinds[0].__module__ == "hauteur.mcts.rules" else None


def measure(game: _core.Game, name: str, settings: Any, visits: int, rounds: int) -> dict[str, Any]:
    """The JSON line of one rule: its rate, plain PUCT's, and the ratio round by round."""
    plain, ruled = SearchParams(), SearchParams.model_validate({name: settings})
    rates, others, ratios = [], [], []
    for _ in range(rounds):
        before, first, last, after = (run(game, params, visits) for params in (plain, ruled, ruled, plain))
        rates.append(rate(first, last))
        others.append(rate(before, after))
        ratios.append(rates[-1] / others[-1])
    return {
        "bench": "rules",
        "game": game.spec,
        "rule": name,
        "settings": settings,
        "visits": int(last["visits"]),
        "relative": {"min": round(min(ratios), 3), "median": round(median(ratios), 3), "max": round(max(ratios), 3)},
        "visits_per_second": spread(rates),
        "plain_visits_per_second": spread(others),
        "mean_depth": round(last["depth_sum"] / last["visits"], 2),
        "bytes_per_visit": round(last["bytes"] / last["visits"], 1),
    }


def run(game: _core.Game, params: SearchParams, visits: int) -> dict[str, float]:
    """Counters and seconds of one search from the start position."""
    return _core.bench_search(game.new_initial_state(), params, visits)


def rate(*results: dict[str, float]) -> float:
    """Visits per second of some runs together."""
    return sum(result["visits"] for result in results) / sum(result["seconds"] for result in results)
