"""`hauteur analyse`: looking at one position."""

import json as json_format
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hauteur import _core
from hauteur.cli.commands.links import link_address, repeat_link
from hauteur.cli.commands.options import GameSpec, NetName, SearchSettings, Seed, SettingsListed
from hauteur.cli.commands.search_settings import print_settings
from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import FoundMove, PlayingSession, PlaySettings
from hauteur.mcts.limits import Limits
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import RootReport
from hauteur.mcts.saved_tree import check_ending
from hauteur.mcts.search_run import OnReport
from hauteur.mcts.time_manager import Budget
from hauteur.networks.bundled import net_or_shipped
from hauteur.networks.evaluators.base import Precision
from hauteur.networks.names import WITHOUT_FILE, resolve_net
from hauteur.system.files import check_folder

DEFAULT_VISITS = 800
MOVES_SHOWN = 12
PIPE_WIDTH = 160
"""Columns of the table where it is no terminal that shows it."""

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]


def analyse(
    spec: GameSpec = "chess",
    *,
    net: NetName | None = None,
    large_net: NetName | None = None,
    fen: str | None = None,
    moves: Words = (),
    visits: int | None = None,
    time: float | None = None,
    only: Words = (),
    multipv: int = MOVES_SHOWN,
    json: bool = False,
    syzygy: str | None = None,
    batch_size: int | None = None,
    threads: int = 0,
    precision: Precision = "auto",
    seed: Seed = 0,
    link: bool = False,
    from_link: str | None = None,
    save_tree: Path | None = None,
    list_settings: SettingsListed = False,
    search: SearchSettings = SearchParams(),  # noqa: B008  (immutable)
) -> int:
    """Search a position; show every move with visits, prior, value and line.

    Parameters
    ----------
    spec
        Game, such as chess, connect4, nogo(size=7).
    net
        Net file, name of a net (`hauteur net get` lists them), `uniform` or `rollout`. Default: the net that comes
        with the game; for chess the one that HAUTEUR_NET names goes before it.
    large_net
        A second, large net that corrects the first one: two-net search, see --search.second-net.
    fen
        Chess and minichess: the position. Default: the start of the game.
    moves
        Moves played from there, in any notation of the game.
    visits
        Visits of the root, its own evaluation included. Default: 800; with --time no limit. With two nets: the first
        net's, and the large one's in the proportion that --search.second-net gives (default 8 : 1).
    time
        Seconds.
    only
        The only moves to look at.
    multipv
        How many moves to show with their lines of play.
    json
        Print one JSON object instead.
    syzygy
        Chess: folders of Syzygy tablebases, separated as in PATH.
    batch_size
        Most positions evaluated together; 1: exactly sequential search. Default: what suits the backend.
    threads
        Threads of the net on the processor; 0: one a core.
    precision
        Of the net: float32, bfloat16, float16; auto: float16 on a GPU,
        bfloat16 where the processor multiplies it, else float32.
    seed
        Of all random draws.
    link
        Print a link that repeats the search, to the same tree, by --from-link or on the page Analyse.
    from_link
        Repeat the search of a link, and compare the tree; of the other options --net, --large-net, --multipv and --json
        may be given. Exit status 1: another tree, and what differs here.
    save_tree
        Write the 20,000 most visited nodes of the tree to this file, .json or .parquet (needs pyarrow), with position,
        settings, nets, seed and digest. `hauteur web` and `SearchTree.open` read it.
    """
    if list_settings:
        return print_settings()
    rows = multipv
    for name, value, least, most in (("multipv", multipv, 1, 500), ("threads", threads, 0, 1024)):
        if not least <= value <= most:
            raise ValueError(f"--{name} must be {least} to {most}, got {value}")
    _check_tree_file(save_tree, from_link)
    if from_link is not None:
        return repeat_link(from_link, net, large_net, rows=rows, as_json=json)
    limits = analysis_limits(visits, time)
    if link and (limits.visits is None or limits.budget is not None):
        raise ValueError("--link needs a search that visits alone end: without --time")
    start, actions, state = find_position(spec, fen, moves)
    if not len(state.legal_actions()):
        raise ValueError(f"nothing to analyse: the game is over ({state.end_reason()})")
    restriction = tuple(state.parse(move) for move in only)
    tablebase = _core.Tablebase(syzygy) if syzygy else None
    name = net_or_shipped(net, start.game)
    settings = PlaySettings(search, batch_size=batch_size, tablebase=tablebase)
    with PlayingSession(start.game, settings, seed=seed) as session:
        choice = NetChoice(name, resolve_net(large_net) if large_net else "", precision=precision, threads=threads)
        session.open(choice)
        session.set_position(start, actions)
        session.prepare()
        player = session.wait()
        report = _search(session, limits, actions=restriction, lines=rows, quiet=json)
        facts = {"evaluator": player.name if isinstance(player, OpenNets) else ""}
        if link and limits.visits is not None:
            facts["link"] = link_address(session, choice, (spec, fen, moves, only), limits.visits, report)
        if save_tree is not None:
            _save_tree(session, choice, save_tree)
    _show(report, f"{name} and {large_net}" if large_net else name, facts, rows=rows, as_json=json)
    return 0


def _check_tree_file(path: Path | None, from_link: str | None) -> None:
    """Raise ValueError unless a tree can be saved there after the search."""
    if path is None:
        return
    if from_link is not None:
        raise ValueError("--save-tree does not go with --from-link")
    check_ending(path)
    check_folder(path)


def _save_tree(session: PlayingSession, choice: NetChoice, path: Path) -> None:
    nets = [net for net in (choice.net, choice.large) if net and net not in WITHOUT_FILE]
    session.ask(lambda tree: tree.save(path, nets=nets)).result()


def analysis_limits(visits: int | None, time: float | None) -> Limits:
    """Limits of an analysis; ValueError for limits that are none."""
    if visits is not None and visits < 1:
        raise ValueError(f"--visits must be >= 1, got {visits}")
    if time is not None and not 0.0 < time < 1e9:
        raise ValueError(f"--time must be a number of seconds above 0, got {time}")
    if visits is None and time is None:
        visits = DEFAULT_VISITS
    return Limits(visits=visits, budget=None if time is None else Budget(time, time))


def find_position(
    spec: str, fen: str | None, moves: tuple[str, ...]
) -> tuple[_core.State, tuple[int, ...], _core.State]:
    """Start of the game, the actions since, and the position after them."""
    from hauteur.games.registry import load_game, with_fen

    start = load_game(with_fen(spec, fen)).new_initial_state()
    state, actions = start.copy(), list[int]()
    for number, text in enumerate(" ".join(moves).split(), 1):
        try:
            action = state.parse(text)
        except ValueError as error:
            raise ValueError(f"--moves, move {number}: {error}") from None
        actions.append(action)
        state.apply(action)
    return start, tuple(actions), state


def _search(
    session: PlayingSession, limits: Limits, *, actions: tuple[int, ...], lines: int, quiet: bool
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


def _show(report: RootReport, net: str, facts: dict[str, str], *, rows: int, as_json: bool) -> None:
    from rich.console import Console

    from hauteur.engine.terminal_board import position_text
    from hauteur.mcts.report_text import report_json, report_view

    game = report.state.game.spec
    if as_json:
        print(json_format.dumps(report_json(report, game=game, net=net) | facts))
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPE_WIDTH)
    console.print(position_text(report.state, console))
    console.print(f"{game}, net {net}", style="bold", markup=False)
    console.print(f"evaluator: {facts['evaluator']}", style="dim", markup=False)
    console.print(report_view(report, rows=rows))
    if "link" in facts:
        print(facts["link"])
