"""hauteur bench compare: nodes and evaluations per second of the processor, beside lc0 and other UCI programs."""

import json as json_format
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.cli.commands.bench import announced, check_positive, spread_in_digits
from hauteur.cli.commands.bench_start import COMMAND
from hauteur.networks.evaluators.base import Precision
from hauteur.players.settings import parse_player
from hauteur.system.tables import text_table

if TYPE_CHECKING:
    from hauteur.matches.match_result import MatchResult
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
"""Where nothing else is asked for: openings, middlegames and an endgame, in FEN."""
OURS = "hauteur"
PATIENCE = 600.0
"""Seconds that one search may take."""
LC0 = "env OMP_NUM_THREADS=1 {path} --task-workers=0"
"""lc0 as fast as it is on few cores with small nets: without threads beside those that it was given."""
TRIAL_NODES = 1000
"""Nodes of the search that shows how fast a backend is."""
LC0_BACKENDS = ("onednn", "blas", "eigen", "onnx-cpu", "xla")
"""lc0's backends that compute a net on the processor; which of them are there depends on how it was built."""


@dataclass
class ProgramSpeed:
    """A program and its work, a round each."""

    label: str
    name: str
    rounds: "list[EngineWork]" = field(default_factory=list)

    def rates(self, measure: str) -> list[float]:
        """Return one figure a round; empty where the program or the system does not say."""
        return [value for work in self.rounds if (value := MEASURES[measure](work)) is not None]


def compare(
    *programs: str,
    net: str = "",
    positions: Path | None = None,
    nodes: int = 10_000,
    threads: int = 1,
    rounds: int = 3,
    precision: Precision | None = None,
    option: tuple[str, ...] = (),
    lc0_backend: str = "",
    elo: int = 0,
    limit: str = "movetime=100",
    json: bool = False,
    html: Path | None = None,
) -> None:
    """Compare hauteur's UCI engine with lc0 and other UCI programs, in turns on the same positions.

    In every round each program searches every position once, as a new game, for the same number of nodes. What counts
    is the time of the processor, of all threads of a program; it needs Linux, elsewhere there is the clock alone.
    Evaluations and batches are those of hauteur: other programs do not say them.

    Parameters
    ----------
    programs
        `lc0` (on the path), `lc0:PATH`, or a player's text such as "uci:stockfish Hash=64"; default: lc0. lc0 gets the
        same net and threads, `--task-workers=0` and OMP_NUM_THREADS=1; other programs get what their text says.
    net
        Net of hauteur and lc0; default: the one that ships (lc0 needs a file that it can read).
    positions
        File of positions, FEN or EPD, one a line; default: six that are built in.
    nodes
        Nodes of each search.
    threads
        Threads of hauteur's and lc0's net.
    rounds
        Rounds; the minimum, median and maximum are printed.
    precision
        float32, bfloat16, int8, of hauteur's net; default: the engine's.
    option
        An option of hauteur's engine as NAME=VALUE; may be repeated.
    lc0_backend
        Backend of lc0; default: the one of its backends for processors that makes most nodes in a short search.
    elo
        Also play so many games against each program (0: none), openings twice with sides swapped.
    limit
        Limit of a move in these games, such as movetime=100 or nodes=800. With movetime no program keeps time back for
        an overhead, unless its text says so.
    json
        Print one JSON object instead of a table.
    html
        Write a page of the results to this file.
    """
    from hauteur.games.registry import load_game
    from hauteur.system.provenance import provenance

    check_positive(nodes=nodes, threads=threads, rounds=rounds)
    if elo < 0 or elo % 2:
        raise ValueError(f"--elo must be an even number of games, 0 or more, got {elo}")
    game = load_game("chess")
    fens = POSITIONS if positions is None else read_positions(positions)
    net = net_file(net)
    engines = {OURS: our_engine(net, threads, precision, option)}
    for text in programs or ("lc0",):
        engine = other_engine(text, net, threads, lc0_backend)
        label = text if text.startswith("uci:") else f"{text} {engine.options.get('Backend', '')}".strip()
        engines[label if label not in engines else f"{label} ({len(engines)})"] = engine
    speeds = measured(game, engines, fens, nodes, rounds)
    matches = {label: played(engines[OURS], engines[label], label, elo, limit) for label in [*engines][1:] if elo}
    results = {f"{label}, {limit}": match_text(found) for label, found in matches.items()}
    facts = {"net": Path(net).name, "nodes": nodes, "positions": len(fens), "threads": threads, "rounds": rounds}
    facts |= {"precision": precision or "default", "options": list(option)}
    if html is not None:
        from hauteur.cli.commands.bench_compare_page import write_page

        write_page(html, facts, table(speeds), results, engines, provenance())
    if json:
        line = {"bench": "compare"} | facts | {"programs": [summary(one, speeds[0]) for one in speeds]}
        print(json_format.dumps(line | {"matches": {label: found.to_json() for label, found in matches.items()}}))
    else:
        print(", ".join(f"{key} {value}" for key, value in facts.items() if value != []))
        print(text_table(*table(speeds)))
        for against, result in results.items():
            print(f"{OURS} against {against}: {result}")


def measured(
    game: Any, engines: "Mapping[str, EngineSettings]", fens: tuple[str, ...], nodes: int, rounds: int
) -> list[ProgramSpeed]:
    """Start the programs, let each search once unmeasured, then all in turns; ValueError where one fails."""
    from hauteur.players.engines.host import EngineHost
    from hauteur.players.engines.speed import EngineWork, TimedEngine

    with EngineHost(1) as host:
        running = {label: TimedEngine(game, settings, host) for label, settings in engines.items()}
        speeds = [ProgramSpeed(label, engine.name) for label, engine in running.items()]
        for engine in running.values():
            engine.search(fens[0], max(1, nodes // 10))  # nets are open, and files in the system's memory, afterwards
        for _ in announced(rounds):
            for speed in speeds:
                engine = running[speed.label]
                speed.rounds.append(sum((engine.search(fen, nodes) for fen in fens), EngineWork()))
        for engine in running.values():
            engine.close()
    return speeds


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
        options = {"WeightsFile": net, "Threads": str(threads), "SmartPruningFactor": "0"}
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
    if not backend and option is not None:
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


def read_positions(path: Path) -> tuple[str, ...]:
    """Return the FENs of a file; ValueError names the line that has none."""
    from hauteur.games.epd import parse_epd
    from hauteur.games.registry import load_game, with_fen

    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                state = load_game(with_fen("chess", parse_epd(line)[0])).new_initial_state()
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if state.outcome() is not None:
                raise ValueError(f"{path}, line {number}: the game is over there")
            found.append(state.notation())
    if not found:
        raise ValueError(f"{path}: no positions; one FEN or line of EPD each is needed")
    return tuple(found)


# What is measured, and how it is shown.


def ratio(part: float, whole: float | None) -> float | None:
    """Return part / whole; None where either says nothing."""
    return part / whole if part and whole else None


MEASURES = {
    "nodes_per_cpu_second": lambda work: ratio(work.nodes, work.cpu_seconds),
    "nodes_per_second": lambda work: ratio(work.nodes, work.seconds),
    "evaluations_per_cpu_second": lambda work: ratio(work.evaluations, work.cpu_seconds),
    "evaluations_per_node": lambda work: ratio(work.evaluations, work.nodes),
    "rows_per_batch": lambda work: ratio(work.evaluations, work.batches),
    "batch_fill": lambda work: ratio(work.evaluations, work.capacity),
    "cores": lambda work: ratio(work.cpu_seconds or 0.0, work.seconds),
}
"""Figures of a round by their names; None where the program or the system does not say."""


def spread(values: list[float]) -> dict[str, float] | None:
    """Least, median and greatest, to four digits; None without values."""
    return spread_in_digits(values) if values else None


def ratios(ours: ProgramSpeed, other: ProgramSpeed) -> list[float]:
    """Return hauteur's nodes per second over the other's, round by round: of the processor, else on the clock."""
    by_processor = all(len(one.rates("nodes_per_cpu_second")) == len(one.rounds) for one in (ours, other))
    measure = "nodes_per_cpu_second" if by_processor else "nodes_per_second"
    return [a / b for a, b in zip(ours.rates(measure), other.rates(measure), strict=True)]


def summary(one: ProgramSpeed, ours: ProgramSpeed) -> dict[str, Any]:
    """Return all figures of a program."""
    figures = {name: spread(one.rates(name)) for name in MEASURES}
    work = [asdict(work) for work in one.rounds]
    return {"program": one.label, "name": one.name, **figures, "ratio": spread(ratios(ours, one)), "work": work}


def table(speeds: list[ProgramSpeed]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return names and rows of the table: a program each, figures as median and range."""
    names = ("program", *(name.replace("_", " ").replace(" per ", " / ") for name in MEASURES), f"{OURS} / it")
    rows = []
    for one in speeds:
        figures = [shown(spread(one.rates(name))) for name in MEASURES]
        title = one.label if one.name in ("", one.label) else f"{one.label}: {one.name}"
        rows.append((title, *figures, shown(spread(ratios(speeds[0], one)))))
    return names, rows


def shown(figures: dict[str, float] | None) -> str:
    """Return `median [least, greatest]`, or a dash."""
    if figures is None:
        return "-"
    least, middle, most = (number(figures[end]) for end in ("min", "median", "max"))
    return middle if least == most else f"{middle} [{least}, {most}]"


def number(value: float) -> str:
    """Return a figure with about three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


# Games.


def played(ours: "EngineSettings", other: "EngineSettings", label: str, games: int, limit: str) -> "MatchResult":
    """Play a match between hauteur and a program, each move within the limit."""
    from hauteur.matches.play import play_match
    from hauteur.players.engines.settings import engine_words

    def player(engine: "EngineSettings", name: str) -> str:
        words = engine_words(without_overhead(engine, limit).model_copy(update={"nodes": None}))
        own = [word for word in words if not word.startswith("move_timeout=")]
        return " ".join([*own, limit, f"name={shlex.quote(name)}"])

    return play_match(player(ours, OURS), player(other, label), "chess", games=games, parallel=1)


def without_overhead(engine: "EngineSettings", limit: str) -> "EngineSettings":
    """Return the program with all of a movetime for its search: lc0 subtracts its overhead, 200 ms, from it."""
    from hauteur.games.registry import load_game
    from hauteur.players.engines.probe import probed

    option = probed(load_game("chess"), engine).overhead if limit.startswith("movetime=") else None
    return engine if option is None else with_options(engine, {option.name: "0"})


def match_text(found: "MatchResult") -> str:
    """Return score and Elo of a match, hauteur's view."""
    low, high = found.elo_interval
    return (
        f"{found.wins} wins, {found.draws} draws, {found.losses} losses, "
        f"Elo {found.elo:+.0f} [{low:+.0f}, {high:+.0f}] (95 %)"
    )
