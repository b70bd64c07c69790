"""`hauteur analyse`: looking at one position."""

import json as json_format
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur import _core
from hauteur.cli.commands.options import GameArgument, PlayerText, Searcher, SettingsListed, Words
from hauteur.engine.nets import OpenNets
from hauteur.engine.playing import FoundMove, PlayingSession
from hauteur.mcts.limits import Budget, Limits
from hauteur.mcts.params import SearchParams
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.mcts.report import OnReport, RootReport
from hauteur.mcts.tree_source import check_ending
from hauteur.networks.names import WITHOUT_FILE
from hauteur.players.settings import parse_player
from hauteur.studies.traps import MoveTrap, TrapFinder, traps_text
from hauteur.system.files import check_folder

DEFAULT_VISITS = 800
PIPE_WIDTH = 160
"""Columns of the table where no terminal shows it."""


@Parameter(name="*")
@dataclass(frozen=True)
class AnalyseOptions:
    """A position, how long it is searched, and what is shown."""

    fen: str | None = None
    """Chess and minichess: the position. Default: the start of the game."""
    moves: Words = ()
    """Moves played from there, in any notation of the game."""
    visits: int | None = None
    """Visits of the root, its own evaluation included. Default: 800; with --time no limit. With two nets: the first
    net's, and the large one's in the proportion that --search.second-net gives (default 8 : 1)."""
    time: float | None = None
    """Seconds."""
    only: Words = ()
    """The only moves to look at."""
    against: PlayerText | None = None
    """An opponent with a net, such as human-1500: of the best moves also what they are worth against such a player,
    and how often it finds the answer. Costs about three times the visits."""
    multipv: Annotated[int, Parameter(validator=Number(gte=1, lte=500))] = 12
    """How many moves to show with their lines of play."""
    json: bool = False
    """Print one JSON object instead."""
    save_tree: Path | None = None
    """Write the 20,000 most visited nodes of the tree to this file, .json, with position,
    settings, nets, seed and digest. `hauteur web` and `SearchTree.open` read it."""
    list_settings: SettingsListed = False
    """Print the settings of the search instead."""


def analyse(
    spec: GameArgument = "chess",
    *,
    searcher: Searcher = Searcher(),  # noqa: B008  (immutable)
    options: AnalyseOptions = AnalyseOptions(),
) -> int:
    """Search a position; show every move with visits, prior, value and line.

    Parameters
    ----------
    spec
        Game, such as chess, connect4, nogo(size=7).
    """
    if options.list_settings:
        return print_settings()
    if options.save_tree is not None:
        check_ending(options.save_tree)
        check_folder(options.save_tree)
    limits = analysis_limits(options.visits, options.time)
    start, actions, state = find_position(spec, options.fen, options.moves)
    if not len(state.legal_actions()):
        raise ValueError(f"nothing to analyse: the game is over ({state.end_reason()})")
    only = tuple(state.parse(move) for move in options.only)
    nets = searcher.nets(start.game)
    traps = None
    if options.against is not None:
        opponent = parse_player(options.against, "--against")
        traps = TrapFinder(start.game, nets.net, opponent, threads=searcher.threads or None)
    with PlayingSession(start.game, searcher.settings(), seed=searcher.seed) as session:
        session.open(nets)
        session.set_position(start, actions)
        session.prepare()
        player = session.wait()
        report = _search(session, limits, actions=only, lines=options.multipv, quiet=options.json)
        if options.save_tree is not None:
            path = options.save_tree
            named = [net for net in (nets.net, nets.large) if net and net not in WITHOUT_FILE]
            session.ask(lambda tree: tree.save(path, nets=named)).result()
    evaluator = player.name if isinstance(player, OpenNets) else ""
    name = f"{nets.net} and {nets.large}" if nets.large else nets.net
    found = None
    if traps is not None:
        with traps:
            found = traps.find(state, visits=max(2, report.visits), seed=searcher.seed)
    _show(report, name, evaluator, rows=options.multipv, as_json=options.json, traps=found)
    if found is not None and not options.json:
        print(f"\n{traps_text(found, options.against or '')}")
    return 0


def print_settings() -> int:
    """Print every setting of the search with its default and what is allowed; return the exit status."""
    from hauteur.players.listing import settings_of

    for row in settings_of(SearchParams):
        default = "none" if row.default in (None, (), "") else str(row.default).lower()
        option = f"--search.{row.key.replace('_', '-')}"
        print(f"{option:47} {default:12} {row.allowed}".rstrip())
    return 0


def analysis_limits(visits: int | None, time: float | None) -> Limits:
    """Limits of an analysis; ValueError for limits that are none."""
    if visits is not None and not 1 <= visits <= MOST_VISITS:
        raise ValueError(f"--visits must be 1 to {MOST_VISITS:,}, got {visits}")
    if time is not None and not 0.0 < time < 1e9:
        raise ValueError(f"--time must be a number of seconds above 0, got {time}")
    if visits is None and time is None:
        visits = DEFAULT_VISITS
    return Limits(visits=visits, budget=None if time is None else Budget(time, time))


def find_position(
    spec: str, fen: str | None, moves: tuple[str, ...]
) -> tuple[_core.State, tuple[int, ...], _core.State]:
    """Start of the game, the actions since, and the position after them."""
    from hauteur.games.played_game import move_words
    from hauteur.games.registry import fen_notes, load_game, with_fen

    if fen is not None and not load_game(spec).has_fen:
        raise ValueError(f"--fen is for games that have FENs, chess and minichess, got {spec}")
    start = load_game(with_fen(spec, fen)).new_initial_state()
    for note in fen_notes(spec, fen):
        print(f"hauteur: note: {note}", file=sys.stderr)
    state = start.copy()
    actions: list[int] = []
    for number, text in enumerate(move_words(" ".join(moves)), 1):
        try:
            action = state.parse(text)
        except ValueError as error:
            raise ValueError(f"--moves, move {number}: {error}") from None
        actions.append(action)
        state.apply(action)
    return start, tuple(actions), state


def _search(
    session: PlayingSession,
    limits: Limits,
    *,
    actions: tuple[int, ...],
    lines: int,
    quiet: bool,
) -> RootReport:
    """Search, showing the table while it grows if there is somebody to see it. Ctrl-C ends the search early."""
    from rich.console import Console

    console = Console()
    if quiet or not console.is_terminal:
        return _result(session, session.start(limits, actions=actions, lines=lines))
    from rich.live import Live

    from hauteur.mcts.report_text import report_view

    with Live(console=console, transient=True, refresh_per_second=8) as live:
        show: OnReport = lambda report: live.update(report_view(report, rows=lines))  # noqa: E731
        return _result(session, session.start(limits, actions=actions, lines=lines, on_report=show))


def _result(session: PlayingSession, search: "Future[FoundMove]") -> RootReport:
    while True:
        try:
            report = search.result().report
        except KeyboardInterrupt:
            session.stop()
        else:
            assert report is not None  # a player with nets always reports
            return report


def _show(
    report: RootReport,
    net: str,
    evaluator: str,
    *,
    rows: int,
    as_json: bool,
    traps: Sequence[MoveTrap] | None,
) -> None:
    from rich.console import Console

    from hauteur.mcts.report import report_json
    from hauteur.mcts.report_text import report_view

    game = report.state.game.spec
    if as_json:
        facts = {} if traps is None else {"traps": [one.to_json() for one in traps]}
        print(json_format.dumps(report_json(report, game=game, net=net, evaluator=evaluator, **facts)))
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPE_WIDTH)
    console.print(report.state.text(), markup=False, highlight=False)
    console.print(f"{game}, net {net}", style="bold", markup=False)
    console.print(f"evaluator: {evaluator}", style="dim", markup=False)
    console.print(report_view(report, rows=rows))
