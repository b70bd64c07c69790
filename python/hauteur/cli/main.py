"""The command line: which command is which function, and how errors reach the user.

A command is a plain typed function in `hauteur.cli.commands`; it is imported only when it is called, so that
`hauteur uci` starts without torch. It returns None (exit status 0) or an exit status. Bad input is a ValueError
or OSError: one line on stderr and exit status 2.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hauteur.cli.interrupts import EXIT_INTERRUPTED as EXIT_INTERRUPTED
from hauteur.cli.interrupts import end_in_order
from hauteur.system.errors import explain, is_of_pydantic, one_line
from hauteur.system.extras import require
from hauteur.system.plugins import COMMANDS_GROUP, import_named, offered

if TYPE_CHECKING:
    from cyclopts import App

EXIT_BAD_INPUT = 2
IN_UNITS = frozenset({"match", "sprt", "tournament", "tune", "experiment"})
"""Commands whose games workers may play; `train` answers signals itself."""
INSTALL = "in a checkout: make setup, or pip install --editable experiments"


class Command(NamedTuple):
    """One command: its words on the command line, the function, the line in the list of commands."""

    words: str
    function: str
    help: str


COMMANDS = (
    Command("play", "play:play", "Play a game against a net, in the terminal."),
    Command("analyse", "engine:analyse", "Search a position; show every move with visits, prior, value and line."),
    Command("explain", "explain:explain", "Search a position with two settings; what differs, and what each rule did."),
    Command("review", "review:review", "Review recorded games: W/D/L over the game, mistakes, an annotated PGN."),
    Command("uci", "uci:uci", "Chess engine for UCI programs; lc0's option names."),
    Command("gtp", "gtp:gtp", "Engine for GTP programs: Go, NoGo, Hex and every other game."),
    Command("gomocup", "gomocup:gomocup", "Engine for managers of Gomoku that speak the Gomocup's protocol."),
    Command("analysis", "analysis:analysis", "Engine for programs that send queries as lines of JSON, as KataGo's."),
    Command("web", "web:web", "Open the browser lab: play, analyse, review, watch runs and matches."),
    Command("train", "learn:train", "Learn a game from zero by self-play, as a recipe says."),
    Command("compare", "learn:compare", "Learn several recipes, seed by seed, and say which is better."),
    Command("match", "match:match", "Play a match between two players, many games at once, with error bars."),
    Command("tune strength", "tune:strength", "Find values of settings that make a player stronger, by matches."),
    Command("sprt", "match:sprt", "Play a match until a sequential test says which of two differences is true."),
    Command("tournament", "match:tournament", "Play all pairings of several players; crosstable and rating list."),
    Command("rate", "match:rate", "Rating list of matches and PGN files; or a player on the ladder (--ladder)."),
    Command(
        "report",
        "learn:report",
        "Write the page of a run, match, tournament or tuning; compare runs.",
    ),
    Command("prove", "prove:prove", "Check a net's play, or players', against exact play."),
    Command("perft", "games:perft", "Count the move sequences of a length; checks a game's rules."),
    Command("check-game", "games:check_game", "Run the laws that every game obeys."),
    Command("puzzles mine", "puzzles:mine", "Mine puzzles from games or positions; Lichess CSV, EPD, JSON."),
    Command("puzzles solve", "puzzles:solve", "Measure how many puzzles players solve, by visits."),
    Command("games export", "learn:export", "Write recorded games as PGN or SGF."),
    Command("net get", "nets:get", "Download public nets, such as maia-1900; without a name list them."),
    Command("net info", "nets:info", "Show what a net file holds."),
    Command("net convert", "nets:convert", "Write a net in another format."),
    Command("bench search", "bench:search", "Visits per second of the bare search."),
    Command("bench evaluator", "bench:evaluator", "Evaluations per second of a net, by batch size and precision."),
    Command("doctor", "doctor:doctor", "Show versions, devices, threads, backends, and what is missing."),
)

NEEDS = {
    "web": ("starlette", "uvicorn", "websockets", "jinja2"),
    "train": ("torch", "pyarrow"),
    "compare": ("torch", "pyarrow"),
    "games export": ("pyarrow",),
}
"""Optional modules without which a command can do nothing (`system/extras.py`)."""

NEED_NOTHING = {"--help", "-h", "--list"}
"""Words with which a command needs no optional module."""

OUTSIDE = {
    "experiment": ("hauteur-experiments", "Make a table or figure of the papers; without a name, list them."),
}
"""Known commands of other distributions: the distribution, and the line in the list of commands."""

MEANT_COMMANDS = {
    "selfplay": "train",
    "learn": "train",
    "nets": "net get",
    "get": "net get",
    "download": "net get",
    "net list": "net get",
    "net ls": "net get",
    "net download": "net get",
    "net show": "net info",
    "serve": "web",
    "gui": "web",
    "browser": "web",
    "lab": "web",
    "version": "--version",
    "engine": "uci",
    "pbrain": "gomocup",
    "piskvork": "gomocup",
    "elo": "rate",
    "ratings": "rate",
    "solve": "puzzles solve",
    "mine": "puzzles mine",
    "puzzle": "puzzles",
    "search": "analyse",
    "eval": "analyse",
    "analyze": "analyse",
    "annotate": "review",
    "gauntlet": "tournament",
    "list": "train --list",
}
"""Commands of other programs, and what to write here."""

OF_PLAYERS = ("hauteur match", "hauteur sprt", "hauteur tournament", "hauteur tune strength", "hauteur rate")
"""Commands whose players are texts with nets and limits of their own."""

MEANT_OPTIONS = {
    "--nodes": "--visits",
    "--simulations": "--visits",
    "--playouts": "--visits",
    "--depth": "--visits or --time: a search is not limited by its depth",
    "--movetime": "--time, in seconds",
    "--seconds": "--time",
    "--model": "--net",
    "--network": "--net",
    "--weights": "--net",
    "--elo": "--net maia-1500, or another Maia net, which plays like people of its rating",
    "--rating": "--net maia-1500, or another Maia net, which plays like people of its rating",
    "--level": "--visits: fewer are weaker; or --net maia-1100",
    "--colour": "--human first or --human second",
    "--color": "--human first or --human second",
    "--side": "--human first or --human second",
    "--white": "--human first",
    "--black": "--human second",
    "--rounds": "--games",
    "-n": "--games or --visits",
    "--position": "--fen or --moves",
    "--pgn": "hauteur review FILE.pgn",
    "--output": "--out",
    "-o": "--out",
    "--concurrency": "--parallel",
}
"""Options of other programs, and what to write here."""

HIDDEN = (Command("greeting", "greeting:greeting", "Say what can be done now, and with which nets."),)
"""Commands that need not be listed: `hauteur` alone is one."""

SECTIONS = {
    "Play and analyse": ("play", "web", "analyse", "review", "explain", "puzzles", "uci", "gtp", "gomocup", "analysis"),
    "Learn": ("train", "compare", "report", "prove", "games"),
    "Measure": ("match", "sprt", "tournament", "rate", "tune", "experiment", "bench"),
    "Nets, rules, this program": ("net", "check-game", "perft", "doctor"),
}
"""Headings of the list of commands, each with the first words of its commands."""

GROUPS = {
    "puzzles": "Mine puzzles, and measure how players solve them.",
    "games": "Bring recorded games in and out.",
    "net": "Download, look at and convert nets.",
    "tune": "Find settings of players by games.",
    "bench": "Measure speed on this machine.",
}


OF_FILES = ("csv", "log", "openings", "out", "output", "pgn", "png", "run", "save", "save-tree", "sgf", "to")
"""Options whose values are files and folders."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The `hauteur` command; returns the exit status.

    Without arguments it greets who sits at a terminal, and is a UCI engine for a program that talks to it.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:
        words = ["greeting"] if sys.stdin.isatty() else ["uci"]
    if words[0] == "help":  # `hauteur help train`
        words = [*words[1:], "--help"]
    if arguments is None:
        _listen_to_interrupts(words)
    return guarded(lambda: run(words))


def _listen_to_interrupts(words: Sequence[str]) -> None:
    """Let an interrupt end engines at once, which have nothing to save; elsewhere it is a KeyboardInterrupt.

    A request to end (SIGTERM) is one too where games are played in units, once those in work are finished.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    if IN_UNITS.intersection(words[:1]) and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end_in_order)
    ends_at_once = words[:1] in (["uci"], ["gtp"], ["gomocup"], ["analysis"])
    handler = (lambda *_: os._exit(EXIT_INTERRUPTED)) if ends_at_once else signal.default_int_handler
    signal.signal(signal.SIGINT, handler)


def main_uci() -> int:
    """The `hauteur-uci` command: `hauteur uci`, for chess programs that give no arguments."""
    sys.argv[1:1] = ["uci"]
    return main()


def run(words: Sequence[str]) -> int:
    """Run one command, return its exit status; raise what the command raises."""
    words = without_imports(words, load=True)
    if words == ["uci"]:  # chess programs start it so, and wait; without options nothing need be read
        from hauteur.cli.commands.uci import uci

        uci()
        return 0
    if words in (["--version"], ["-V"]):
        print(version())
        return 0
    from cyclopts import CycloptsError, UnknownCommandError

    _check_layer(words)
    _check_files(words)
    first = words[0] if words else ""
    own = {command.words.split()[0] for command in (*COMMANDS, *HIDDEN)}
    app = make_app(outside=first not in own)
    if first in OUTSIDE and first not in app:
        return complain(f"hauteur {first} is in {OUTSIDE[first][0]}, which is not installed ({INSTALL})")
    try:
        status = app(_with_switches_joined(words), print_error=False, exit_on_error=False, result_action="return_value")
    except UnknownCommandError as error:
        unknown, *_ = error.unused_tokens or ["?"]
        return complain(unknown_command(unknown, error.command_chain or ()))
    except CycloptsError as error:
        command = " ".join(["hauteur", *(error.command_chain or ())])
        cause = error.__cause__
        wrong = cause if isinstance(cause, Exception) and is_of_pydantic(cause) else error
        said = one_line(wrong).rstrip(".")
        meant = meant_option(said, command, options_of(app, error.command_chain or ()))
        return complain(f"{missing_word(said, words) or meant or said} (see {command} --help)")
    return status if isinstance(status, int) else 0


def _with_switches_joined(words: Sequence[str]) -> list[str]:
    """Return the words with `--search.KEY true` as one word, as the parser wants the value of a switch."""
    joined: list[str] = []
    for word in words:
        is_value = word in ("true", "false") and joined and joined[-1].startswith("--search.") and "=" not in joined[-1]
        if is_value:
            joined[-1] = f"{joined[-1]}={word}"
        else:
            joined.append(word)
    return joined


def _check_layer(words: Sequence[str]) -> None:
    """Raise MissingLayerError if modules that the command needs are not installed. Its help needs none."""
    for command, modules in NEEDS.items():
        named = command.split()
        if list(words[: len(named)]) == named and not NEED_NOTHING & set(words):
            require(f"hauteur {command}", *modules)


def _check_files(words: Sequence[str]) -> None:
    """Raise ValueError for an option whose file has an empty name, as from a variable of the shell that is not set.

    It would be the working folder, which then gets the files of a match or a run.
    """
    for option in OF_FILES:
        followed = [after for word, after in pairwise(words) if word == f"--{option}"]
        if "" in followed or f"--{option}=" in words:
            raise ValueError(f"--{option}: a file or folder has no name: its text is empty")


def without_imports(words: Sequence[str], *, load: bool = False) -> list[str]:
    """Return the words without `--import FILE.py` or `--import MODULE`, which any command may have; load: import them.

    It may be given several times, and one may name several, separated by commas.
    ValueError where one cannot be imported, or is missing.
    """
    rest: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, entry = word.partition("=")
        if name != "--import":
            rest.append(word)
            continue
        entry = entry if equals else next(left, "")
        if not entry:
            raise ValueError("--import needs a .py file or a module, which registers games or networks")
        for one in entry.split(",") if load else ():
            if one.strip():
                import_named(one.strip(), "--import")
    return rest


def make_app(*, outside: bool = True) -> "App":
    """The cyclopts application with every command, none of them imported.

    outside: with those of other distributions, which takes a look at all that are installed.
    """
    from cyclopts import App, Group

    app = App(
        name="hauteur",
        help="Learn two-player games from zero, play and analyse them, measure search ideas. Every command takes "
        "--import FILE.py (or a module), which registers games and networks of your own.",
        version=version,
        version_flags=["--version", "-V"],
        group_commands=Group("Options", sort_key=len(SECTIONS)),
        suppress_keyboard_interrupt=False,
    )
    sections: dict[str, Group] = {}
    for number, (heading, members) in enumerate(SECTIONS.items()):
        section = Group(heading, sort_key=number)
        sections |= dict.fromkeys(members, section)
    groups = {
        word: App(name=word, help=text, group=sections[word], group_commands=Group("Commands"))
        for word, text in GROUPS.items()
    }
    for command in (*COMMANDS, *HIDDEN):
        *group, name = command.words.split()
        parent = groups[group[0]] if group else app
        place = f"hauteur.cli.commands.{command.function}"
        section_of_it = None if group else sections.get(name)
        parent.command(place, name=name, help=command.help, show=command not in HIDDEN, group=section_of_it)
    for group_app in groups.values():
        app.command(group_app)
    for entry in offered(COMMANDS_GROUP) if outside else ():
        about = OUTSIDE.get(entry.name, ("", f"From {entry.module}."))[1]
        app.command(entry.value, name=entry.name, help=about, group=sections.get(entry.name))
    app.register_install_completion_command(help="Complete commands and options in this shell (bash, zsh, fish).")
    return app


def unknown_command(word: str, group: Sequence[str]) -> str:
    """Return the message for an unknown command, listing the known ones; imports none of them."""
    if word.endswith(".py"):
        return f"there is no command {word!r}: every file has its own --import, as in --import a.py --import {word}"
    from hauteur.system.formatting import did_you_mean

    depth = len(group)
    of_group = set()
    for command in COMMANDS:
        chain = command.words.split()
        if chain[:depth] == [*group] and len(chain) > depth:
            of_group.add(chain[depth])
    known = sorted(of_group)
    if not group:
        known += OUTSIDE
    whole = " ".join([*group, word])
    near = did_you_mean(word, known)
    if whole in MEANT_COMMANDS:
        near = f" (write hauteur {MEANT_COMMANDS[whole]})"
    if whole.startswith("puzzles ") and "." in word:
        near = f" (write hauteur puzzles mine {word} --out FOLDER)"
    verb = "are" if len(known) > 1 else "is"
    return f"there is no command {whole!r}{near}; there {verb} {', '.join(known)}"


def missing_word(said: str, words: Sequence[str]) -> str:
    """Return what is missing where a parameter was not given at all; empty for any other complaint."""
    wanted = re.match(r'Command "[^"]*" parameter (\S+) requires an argument', said)
    return f"{wanted[1]} is missing" if wanted is not None and wanted[1] not in words else ""


def options_of(app: "App", chain: Sequence[str]) -> frozenset[str]:
    """Return the options that a command has; empty for a group of commands."""
    place = app
    for word in chain:
        place = place[word]
    if place.default_command is None:
        return frozenset()
    return frozenset(name for argument in place.assemble_argument_collection() for name in argument.names)


def meant_option(said: str, command: str, options: Collection[str]) -> str:
    """Return what to write instead of an unknown option or of words too many; empty where that is not known.

    options: those that the command has.
    """
    unknown = re.match(r"Unknown option: (-+[\w-]+)", said)
    if unknown is not None:
        if command == "hauteur train":
            return f"there is no option {unknown[1]}: settings of a recipe are words, such as selfplay.games=200"
        return _meant_by(unknown[1], command, options)
    unused = re.match(r"Unused Tokens: \[(.*)\]", said)
    if unused is not None and command in ("hauteur analyse", "hauteur explain"):
        return f'{unused[1]}: moves are given as --moves "e4 e5", a position as --fen'
    if unused is None:
        return ""
    meant = _meant_by_settings(re.findall(r"'([\w.-]+)=([^']*)'", unused[1]), options)
    return f"unexpected argument {unused[1]}{meant}"


def _meant_by_settings(settings: Sequence[tuple[str, str]], options: Collection[str]) -> str:
    """Return how a command takes the settings of a player that were given to it as words; empty where it does not."""
    if not settings:
        return ""
    if "--player" in options:
        text = " ".join(f"{key}={value}" for key, value in settings)
        return f': write --player "{text}"'
    if all(f"--{key}" in options for key, _ in settings):
        return ": write " + " ".join(f"--{key} {value}" for key, value in settings)
    return ""


def _meant_by(unknown: str, command: str, options: Collection[str]) -> str:
    """Return what to write instead of an unknown option; empty where the command has no such thing."""
    meant = _of_command(MEANT_OPTIONS.get(unknown, unknown), options)
    first = re.match(r"--[\w-]+", meant)
    is_there = first is None or first[0] in options
    if is_there and meant != unknown:
        return f"there is no option {unknown}: write {meant}"
    if command in OF_PLAYERS and first is not None and first[0] in ("--visits", "--net"):
        return f'there is no option {unknown}: a player has it in its text, such as "net=NET visits=400"'
    return ""


def _of_command(meant: str, options: Collection[str]) -> str:
    """Return what is meant without the alternatives that a command lacks; all of it where the command has none."""
    kept = []
    for alternative in meant.split(" or "):
        option = re.match(r"--[\w-]+", alternative)
        if option is None or option[0] in options:
            kept.append(alternative)
    return " or ".join(kept) or meant


def version() -> str:
    """Version of the package, read from the compiled core."""
    from hauteur import __version__

    return __version__


def guarded(action: Callable[[], int]) -> int:
    """Run `action`; turns bad input into one line on stderr. HAUTEUR_TRACEBACK=1 shows where it comes from."""
    try:
        status = action()
        sys.stdout.flush()
    except BrokenPipeError:  # a closed output pipe (`| head`): nothing to print, and nothing left for Python to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return EXIT_INTERRUPTED
    except (ValueError, OSError, ImportError) as error:
        message = explain(error)
        if message is None or os.environ.get("HAUTEUR_TRACEBACK", "0") not in ("", "0"):
            raise
        return complain(message)
    return status


def complain(message: str) -> int:
    """Print the error line; return the exit status for bad input."""
    print(f"hauteur: {message}", file=sys.stderr)
    return EXIT_BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
