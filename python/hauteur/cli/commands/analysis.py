"""`hauteur analysis`: the analysis engine for programs that send queries as lines of JSON."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands.options import NetSearcher, SettingsListed
from hauteur.mcts.plain_settings import MOST_VISITS

DEFAULT_VISITS = 800
"""Visits of a position, as in `hauteur analyse`."""


def analysis(
    *,
    searcher: NetSearcher = NetSearcher(),  # noqa: B008  (immutable)
    visits: Annotated[int, Parameter(validator=Number(gte=1, lte=MOST_VISITS))] = DEFAULT_VISITS,
    log: Path | None = None,
    list_settings: SettingsListed = False,
) -> int:
    """Engine for programs that send queries as lines of JSON, in KataGo's shape: many positions of any game at once.

    Parameters
    ----------
    visits
        Visits of a position where a query has no maxVisits.
    log
        File to which the conversation is appended.
    """
    from hauteur.cli.commands.engine import print_settings

    if list_settings:
        return print_settings()
    searcher.check_nets()
    from hauteur.engine.analysis.engine import AnalysisEngine
    from hauteur.engine.analysis.query import MOST_LINE, Defaults
    from hauteur.engine.analysis.searches import QuerySearches
    from hauteur.engine.streams import Output, bounded_lines

    output = Output(sys.stdout)
    if log is not None:
        output.log_to(str(log))
    with QuerySearches(searcher.nets, seed=searcher.seed, batch_size=searcher.batch_size) as searches:
        engine = AnalysisEngine(searches, Defaults(visits, searcher.search_params()), output)
        engine.run(bounded_lines(sys.stdin.fileno(), MOST_LINE))
    return 0
