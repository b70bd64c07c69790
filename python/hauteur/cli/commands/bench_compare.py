"""hauteur bench compare: speed beside lc0, alphazero-pybind11 and other UCI programs, per second of the processor."""

import json as json_format
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from hauteur.cli.commands.bench import announced, check_positive, spread_in_digits
from hauteur.cli.commands.bench_programs import COMMAND, StartTime, Taken, measure
from hauteur.networks.evaluators.base import Precision
from hauteur.players.settings import parse_player
from hauteur.system.tables import text_table

if TYPE_CHECKING:
    from hauteur.cli.commands.bench_programs import SelfPlayed
    from hauteur.players.engines.settings import EngineSettings
    from hauteur.players.engines.speed import EngineWork

POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 2 8",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)
"""What is searched: openings, middlegames and an endgame, in FEN."""
OURS = "hauteur"
PATIENCE = 600.0
"""Seconds that one search may take."""
LC0 = "env OMP_NUM_THREADS=1 {path} --task-workers=0"
"""lc0 as fast as it is on few cores with small nets: without threads beside those that it was given."""
TRIAL_NODES = 1000
"""Nodes of the search that shows how fast a backend is."""
GAMES = {"chess": 16, "connect4": 512}
"""Games of self-play in a round where nothing else is asked for."""
LC0_BACKENDS = ("onednn", "blas", "eigen", "onnx-cpu", "xla")
"""lc0's backends that compute a net on the processor; which of them are there depends on how it was built."""


Search = tuple[int, str]
"""Nodes, and the program's label."""


@dataclass
class SpeedFound:
    """What the programs did, a value a round each, by their labels; searches by their nodes too."""

    searches: "dict[Search, list[EngineWork]]" = field(default_factory=dict)
    starts: dict[str, list[Taken]] = field(default_factory=dict)
    games: "dict[str, list[SelfPlayed]]" = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One figure of every program, a value a round. less: the smaller the better; of_ours: says nothing of speed."""

    what: str
    values: dict[str, list[float]]
    less: bool = False
    of_ours: bool = False

    def ratios(self, label: str) -> list[float]:
        """How many times as good hauteur is, round by round; none where one of the two does not say."""
        ours, other = self.values[OURS], self.values[label]
        if self.of_ours or label == OURS or len(ours) != len(other):
            return []
        return [b / a if self.less else a / b for a, b in zip(ours, other, strict=True)]


@Parameter(name="*")
@dataclass(frozen=True)
class CompareOptions:
    """What is compared, and how often."""

    net: str = ""
    """Net of both; default: the one that ships (lc0 needs a file that it can read), with azpb random weights, 32x4.
    `uniform`: searches without a net, of lc0 with its backend `random`."""
    nodes: tuple[int, ...] = (1000, 10_000)
    """Nodes of each search; several if given several times."""
    games: int | None = None
    """Games of self-play in a round, 0: none; default: 16 of chess, 512 of Connect Four."""
    visits: int = 100
    """Visits a move of self-play."""
    threads: int = 1
    """Threads of hauteur's and lc0's net in searches; self-play has one."""
    rounds: int = 5
    """Rounds; the minimum, median and maximum are printed."""
    precision: Precision | None = None
    """Of hauteur's net, and of the one that it lends to azpb; default: the engine's, and self-play's."""
    option: tuple[str, ...] = ()
    """An option of hauteur's engine as NAME=VALUE; may be repeated."""
    lc0_backend: str = ""
    """Backend of lc0; default: the one of its backends for processors that makes most nodes in a short search."""
    json: bool = False
    """Print one JSON object instead of a table."""

    def check(self) -> None:
        """Raise ValueError for a number that is out of range."""
        check_positive(nodes=min(self.nodes), visits=self.visits, threads=self.threads, rounds=self.rounds)
        if self.games is not None and self.games < 0:
            raise ValueError(f"--games must be 0 or more, got {self.games}")

    @property
    def facts(self) -> dict[str, Any]:
        """Tell what the first line of the result names."""
        facts = {"net": Path(self.net).name, "visits": self.visits, "threads": self.threads, "rounds": self.rounds}
        return facts | {"precision": self.precision or "default", "options": list(self.option)}


def compare(*programs: str, options: CompareOptions = CompareOptions()) -> None:
    """Compare hauteur's speed with lc0, alphazero-pybind11 and other UCI programs, in turns.

    In every round each UCI program is started and asked for a move, and searches six positions once, as a new game,
    for the same numbers of nodes; lc0 also plays games of self-play in chess, alphazero-pybind11 in Connect Four with
    hauteur's evaluator. What counts is the time of the processor, of all threads of a program; it needs Linux,
    elsewhere there is the clock alone.

    Parameters
    ----------
    programs
        `lc0` (on the path), `lc0:PATH`, or a player's text such as "uci:stockfish Hash=64"; default: lc0. Or `azpb` or
        `azpb:FOLDER` alone, alphazero-pybind11's module. lc0 gets the same net and threads, `--task-workers=0` and
        OMP_NUM_THREADS=1; other programs get what their text says.
    """
    options.check()
    if any(program.partition(":")[0] == "azpb" for program in programs):
        if len(programs) > 1:
            raise ValueError("azpb is compared alone: it plays Connect Four, the others chess")
        show(options, rows_of(connect4_games(programs[0], options)))
        return
    options = replace(options, net=net_file(options.net))
    engines = engines_of(programs or ("lc0",), options)
    found = measured(engines, options.nodes, chess_players(engines, options), options.rounds)
    show(options, rows_of(found))


def show(options: CompareOptions, rows: list[Row]) -> None:
    """Print the table, or all of it as a JSON object."""
    if options.json:
        print(json_format.dumps({"bench": "compare"} | options.facts | {"rows": [summary(row) for row in rows]}))
        return
    print(", ".join(f"{key} {value}" for key, value in options.facts.items() if value != []))
    print(text_table(*table(rows)))


def engines_of(programs: tuple[str, ...], options: CompareOptions) -> "dict[str, EngineSettings]":
    """Return hauteur's engine and the others by their labels."""
    engines = {OURS: our_engine(options.net, options.threads, options.precision, options.option)}
    for text in programs:
        engine = other_engine(text, options.net, options.threads, options.lc0_backend)
        label = text if text.startswith("uci:") else f"lc0 {engine.options.get('Backend', '')}".strip()
        engines[label if label not in engines else f"{label} ({len(engines)})"] = engine
    return engines


Player = Callable[[], "SelfPlayed"]
"""Plays the games of one round."""


def chess_players(engines: "Mapping[str, EngineSettings]", options: CompareOptions) -> dict[str, Player]:
    """Return the players of self-play in chess, hauteur and lc0; none without games, a net or lc0."""
    from hauteur.cli.commands.bench_programs import hauteur_plays, lc0_plays

    net, visits, precision = engines[OURS].options["WeightsFile"], options.visits, options.precision
    games = GAMES["chess"] if options.games is None else options.games
    lc0 = {label: engine for label, engine in engines.items() if label.startswith("lc0")}
    if not games or not lc0 or net == "uniform":
        return {}
    ours: dict[str, Player] = {OURS: lambda: hauteur_plays("chess", net, games, visits, precision)}
    return ours | {label: lambda engine=engine: lc0_plays(engine, games, visits) for label, engine in lc0.items()}


def connect4_games(program: str, options: CompareOptions) -> SpeedFound:
    """Let hauteur and alphazero-pybind11 play games of Connect Four in turns, with the same net and evaluator."""
    from hauteur.cli.commands.bench import net_file as given_or_random
    from hauteur.cli.commands.bench_programs import azpb_folder, azpb_plays, hauteur_plays
    from hauteur.games.registry import load_game
    from hauteur.networks.names import resolve_net

    games = GAMES["connect4"] if options.games is None else options.games
    check_positive(games=games)
    visits, precision = options.visits, options.precision
    net = Path(resolve_net(options.net)) if options.net else None
    folder, found = azpb_folder(program), SpeedFound(games={OURS: [], "azpb": []})
    with given_or_random(load_game("connect4"), net, 32, 4) as path:
        for _ in announced(options.rounds):
            found.games["azpb"].append(azpb_plays(folder, str(path), games, visits, precision))
            found.games[OURS].append(hauteur_plays("connect4", str(path), games, visits, precision))
    return found


def measured(
    engines: "Mapping[str, EngineSettings]",
    nodes: tuple[int, ...],
    players: Mapping[str, Player],
    rounds: int,
) -> SpeedFound:
    """Let the programs start, search and play in turns; ValueError where one fails."""
    from hauteur.games.registry import load_game
    from hauteur.players.engines.host import EngineHost
    from hauteur.players.engines.speed import EngineWork, TimedEngine

    starts = {label: start_of(label, engine) for label, engine in engines.items()}
    found = SpeedFound({(number, label): [] for number in nodes for label in engines}, {label: [] for label in engines})
    found.games.update({label: [] for label in players})
    with EngineHost(1) as host:
        running = {label: TimedEngine(load_game("chess"), settings, host) for label, settings in engines.items()}
        for engine in running.values():
            engine.search(POSITIONS[0], max(1, min(nodes) // 10))  # nets are open, and files in memory, afterwards
        for _ in announced(rounds):
            for (number, label), works in found.searches.items():
                works.append(sum((running[label].search(fen, number) for fen in POSITIONS), EngineWork()))
            for label, start in starts.items():
                found.starts[label].append(measure(start))
            for label, play in players.items():
                found.games[label].append(play())
        for engine in running.values():
            engine.close()
    return found


def start_of(label: str, engine: "EngineSettings") -> StartTime:
    """Return the start of a program until its first move, of one node."""
    program, *words = shlex.split(engine.command)
    options = "".join(f"setoption name {name} value {value}\n" for name, value in engine.options.items())
    lines = f"uci\n{options}isready\nposition startpos\ngo nodes 1\n"
    return StartTime(label, words, lines, "bestmove", program)


def our_engine(net: str, threads: int, precision: str | None, option: tuple[str, ...]) -> "EngineSettings":
    """Return the UCI engine of this installation. Its searches end at their nodes, and it counts its evaluations."""
    options = {"WeightsFile": net, "Threads": str(threads), "SmartPruningFactor": "0", "UCI_ShowEPS": "true"}
    options |= {} if precision is None else {"Precision": precision}
    for text in option:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"--option must be NAME=VALUE, got {text!r}")
        options[name] = value
    return uci_engine(shlex.join([sys.executable, "-c", COMMAND, "uci"]), options)


def other_engine(text: str, net: str, threads: int, lc0_backend: str = "") -> "EngineSettings":
    """Return the settings of a program by its text; ValueError where it is none."""
    if text == "lc0" or text.startswith("lc0:"):
        path = shutil.which(text.removeprefix("lc0:"))
        if path is None:
            raise ValueError(f"{text}: no such program on the path; name one, such as lc0:PATH or uci:stockfish")
        if net.endswith(".safetensors"):
            raise ValueError(f"{text}: lc0 does not read {Path(net).name}; --net must name a net of lc0, or uniform")
        options = {"Threads": str(threads), "SmartPruningFactor": "0"}
        options |= {"Backend": "random"} if net == "uniform" else {"WeightsFile": net}
        engine = uci_engine(LC0.format(path=shlex.quote(str(Path(path).absolute()))), options)
        return with_backend(engine, lc0_backend)
    if not text.startswith("uci:"):
        raise ValueError(f"a program must be lc0, lc0:PATH or uci:PROGRAM [OPTION=VALUE ...], got {text!r}")
    program = parse_player(f"{text} nodes=1", "program").engine
    assert program is not None
    return program.model_copy(update={"move_timeout": program.move_timeout or PATIENCE})


def with_backend(engine: "EngineSettings", backend: str) -> "EngineSettings":
    """Return lc0 with this backend; where none is named, with its quickest one for processors, as far as it has any."""
    from hauteur.games.registry import load_game
    from hauteur.players.engines.probe import probed

    option = probed(load_game("chess"), engine).option("Backend")
    if not backend and option is not None and "Backend" not in engine.options:
        backend = quickest(engine, tuple(name for name in LC0_BACKENDS if name in option.values))
    return with_options(engine, {"Backend": backend} if backend else {})


def quickest(engine: "EngineSettings", backends: tuple[str, ...]) -> str:
    """Return the backend that makes most nodes a second in a short search; empty without any.

    One that does not open the net is left out; ValueError, the last one's, where none does.
    """
    from hauteur.games.registry import load_game
    from hauteur.players.engines.host import EngineHost
    from hauteur.players.engines.speed import TimedEngine

    rates: dict[str, float] = {}
    error: ValueError | None = None
    with EngineHost(1) as host:
        for backend in backends if len(backends) > 1 else ():
            try:
                running = TimedEngine(load_game("chess"), with_options(engine, {"Backend": backend}), host)
                running.search(POSITIONS[0], TRIAL_NODES // 10)
                work = running.search(POSITIONS[1], TRIAL_NODES)
                running.close()
            except ValueError as failure:
                error = failure
            else:
                rates[backend] = ratio(work.nodes, work.cpu_seconds or work.seconds) or 0.0
    if backends and not rates and error is not None:
        raise error
    return max(rates, key=lambda name: rates[name]) if rates else next(iter(backends), "")


def with_options(engine: "EngineSettings", options: dict[str, str]) -> "EngineSettings":
    """Return the program with these options beside its own, which go before them."""
    own = {name.lower() for name in engine.options}
    added = {name: value for name, value in options.items() if name.lower() not in own}
    return engine.model_copy(update={"options": {**engine.options, **added}})


def uci_engine(command: str, options: dict[str, str]) -> "EngineSettings":
    """Return a program whose first answer may take as long as the opening of a net does."""
    from hauteur.players.engines.settings import EngineSettings

    return EngineSettings(
        protocol="uci", command=command, nodes=1, options=options, start_timeout=60.0, move_timeout=PATIENCE
    )


def net_file(net: str) -> str:
    """Return the path of the net, or the word `uniform`."""
    from hauteur.games.registry import load_game
    from hauteur.networks.bundled import net_or_shipped

    found = net_or_shipped(net or None, load_game("chess"))
    return found if found == "uniform" else str(Path(found).absolute())


# What is measured, and how it is shown.


def ratio(part: float, whole: float | None) -> float | None:
    """Return part / whole; None where either says nothing."""
    return part / whole if part and whole else None


RATES = {
    "nodes / CPU s": lambda work: ratio(work.nodes, work.cpu_seconds),
    "nodes / s": lambda work: ratio(work.nodes, work.seconds),
}
FILLS = {
    "evaluations / node": lambda work: ratio(work.evaluations, work.nodes),
    "rows / batch": lambda work: ratio(work.evaluations, work.batches),
}
"""Figures of a search by their names, the second ones hauteur's alone; None where nothing says them."""


def rows_of(found: SpeedFound) -> list[Row]:
    """Return all figures."""
    rows = []
    for number in dict.fromkeys(nodes for nodes, _ in found.searches):
        works = {label: works for (nodes, label), works in found.searches.items() if nodes == number}
        for name, rate in (RATES | FILLS).items():
            rows.append(Row(f"{number:,} nodes: {name}", said(works, rate), of_ours=name in FILLS))
    if found.starts:
        rows.append(Row("first move: s", said(found.starts, lambda one: one.seconds), less=True))
        rows.append(Row("first move: CPU s", said(found.starts, lambda one: one.cpu_seconds), less=True))
    if found.games:
        rows.append(Row("self-play: moves / CPU s", said(found.games, lambda one: one.moves / one.cpu_seconds)))
        rows.append(Row("self-play: games / CPU s", said(found.games, lambda one: one.games / one.cpu_seconds)))
        fill: Callable[[SelfPlayed], float | None] = lambda one: ratio(one.evaluations or 0, one.moves)  # noqa: E731
        rows.append(Row("self-play: evaluations / move", said(found.games, fill), of_ours=True))
    return rows


def said(values: Mapping[str, list[Any]], figure: Callable[[Any], float | None]) -> dict[str, list[float]]:
    """Return a figure of every program and round, without those that are not known."""
    return {label: [value for one in ones if (value := figure(one)) is not None] for label, ones in values.items()}


def summary(row: Row) -> dict[str, Any]:
    """Return a row for JSON: of every program the values of the rounds, least, median and greatest, and ratios."""
    values = {label: {"rounds": values, **spread_in_digits(values)} for label, values in row.values.items() if values}
    ratios = {label: spread_in_digits(found) for label in row.values if (found := row.ratios(label))}
    return {"what": row.what, "programs": values, "hauteur_times_as_good": ratios}


def table(rows: list[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return names and lines of the table: median and range of every program, and how many times as good hauteur is."""
    labels = list(rows[0].values)
    names = ("", *labels, *(f"{OURS} : {label}" for label in labels[1:]))
    return names, [(row.what, *cells(row, labels)) for row in rows]


def cells(row: Row, labels: list[str]) -> Iterator[str]:
    """Yield what the table shows of a row."""
    yield from (shown(row.values.get(label, [])) for label in labels)
    yield from (shown(row.ratios(label) if label in row.values else []) for label in labels[1:])


def shown(values: list[float]) -> str:
    """Return `median [least, greatest]`, or a dash."""
    if not values:
        return "-"
    figures = spread_in_digits(values)
    least, middle, most = (number(figures[end]) for end in ("min", "median", "max"))
    return middle if least == most else f"{middle} [{least}, {most}]"


def number(value: float) -> str:
    """Return a figure with about three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
