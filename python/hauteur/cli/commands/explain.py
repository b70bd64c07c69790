"""`hauteur explain`: two searches of one position side by side, and what each rule did."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from cyclopts import Parameter

from hauteur.cli.commands.engine import find_position
from hauteur.cli.commands.options import GameSpec, NetName, PlayerText, SearchSettings, Seed
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import Precision
from hauteur.players.settings import PlayerSettings
from hauteur.studies.explain.question import BATCH_SIZE, DEFAULT_VISITS, PRESETS, Question, side_of

MOVES_SHOWN = 10
PIPE_WIDTH = 140
"""Columns of the tables where it is no terminal that shows them."""

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]


def explain(
    spec: GameSpec = "chess",
    *,
    a: PlayerText = PRESETS["search-contempt"][0],
    b: PlayerText = PRESETS["search-contempt"][1],
    net: NetName | None = None,
    fen: str | None = None,
    moves: Words = (),
    visits: int = DEFAULT_VISITS,
    seed: Seed = 0,
    batch_size: int = BATCH_SIZE,
    threads: int = 0,
    precision: Precision | None = None,
    multipv: int = MOVES_SHOWN,
    json: bool = False,
    search: SearchSettings = SearchParams(),  # noqa: B008  (immutable)
) -> int:
    """Search a position with two settings, or two nets: moves and trees side by side, and what every rule did.

    Both searches have the same position, seed and visits. What a rule did is counted in its tree, and measured by one
    more search with this rule alone off.

    Parameters
    ----------
    spec
        Game, such as chess, connect4, nogo(size=7).
    a
        First side: key=value words such as "search_contempt.n_scl=5 net=maia-1900 cpuct.init=2", with any setting of
        the search, net, large_net, precision. Without --a and --b: search-contempt with N_scl 5 against off.
    b
        Second side, in the same form; "": what both have in common.
    net
        Net of both, as in `hauteur analyse`.
    fen
        Chess and minichess: the position. Default: the start of the game.
    moves
        Moves played from there, in any notation of the game.
    visits
        Visits of the root, its own evaluation included.
    seed
        Of all random draws.
    batch_size
        Most positions evaluated together; 1: exactly sequential search.
    threads
        Threads of the net on the processor; 0: one a core.
    precision
        Of the nets: float32, bfloat16, float16; default: what suits the backend.
    multipv
        How many moves to show.
    json
        Print one JSON object instead.
    """
    if not 1 <= multipv <= 500:
        raise ValueError(f"--multipv must be 1 to 500, got {multipv}")
    if not 0 <= threads <= 1024:
        raise ValueError(f"--threads must be 0 to 1024, got {threads}")
    start, actions, _ = find_position(spec, fen, moves)
    given = {name: value for name, value in (("net", net), ("precision", precision)) if value is not None}
    changed = {"search": search.model_dump(exclude_unset=True)} if search != SearchParams() else {}
    common = PlayerSettings.model_validate(given | changed)
    question = Question(
        start=start,
        actions=actions,
        a=side_of(a, start.game, "--a", common, threads),
        b=side_of(b, start.game, "--b", common, threads),
        visits=visits,
        seed=seed,
        batch_size=batch_size,
    )
    found = _explained(question)
    if json:
        print(json_format.dumps(found, allow_nan=False))
    else:
        _show(found, question, multipv)
    return 0


def _explained(question: Question) -> dict[str, Any]:
    from hauteur.studies.explain.explain import explain as compare
    from hauteur.studies.explain.searched import Searches

    with Searches(question) as searches, _progress(searches) as step:
        return compare(question, searches, step)


@contextmanager
def _progress(searches: Any) -> Iterator[Any]:
    """Show which search is made, on stderr where it is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("searches", total=None)

        def step(done: int, of: int, what: str) -> None:
            bar.update(task, completed=done, total=of, description=what)
            searches.on_progress = lambda share: bar.update(task, completed=done + share)

        yield step


def _show(found: dict[str, Any], question: Question, rows: int) -> None:
    from rich.console import Console

    from hauteur.engine.terminal_board import position_text
    from hauteur.studies.explain.text import explain_view

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPE_WIDTH)
    console.print(position_text(question.position, console))
    console.print(explain_view(found, rows=rows))
