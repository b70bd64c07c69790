"""Commands of the documents at a size for tests: smaller numbers, and the files that they name.

This is the one place that knows how a command becomes small. A command that cannot is only parsed, with the reason.
"""

import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from lc0_toys import random_net, random_tensors

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.learning.shipped_recipes import recipe_file
from hauteur.networks import convert, save
from hauteur.networks.layers import resnet_shapes
from hauteur.networks.resnet_architecture import ResNetArchitecture

FAKES = Path(__file__).resolve().parent

ONLY_PARSED = {
    "make": "run by .ci/run",
    "python examples": "needs an account of a server; tested in tests/engine",
    "python benchmarks": "measures for minutes",
    "python checks": "needs reference files; tested in tests/mcts",
    "git show": "needs the history of the repository",
    "hauteur experiment (keep|compare)": "needs a run; tested in tests/experiments",
    "hauteur$": "greets in a terminal and is an engine elsewhere; tested in tests/cli",
    "mkdir": "makes a folder",
    "pip": "needs a package index",
    "hauteur experiment plan": "takes minutes to hours; tested in tests/experiments",
    "hauteur experiment [a-z]+-": "takes minutes at its smallest size; tested in tests/experiments",
    "hauteur (experiment (cpuct|fpu|solver|repeats|validation|variance))": "takes minutes at its smallest size",
    "hauteur bench": "measures for seconds to minutes; tested in tests/cli",
    "hauteur .*--cluster ": "needs a cluster; tested in tests/cluster",
    "hauteur net get [a-z]": "needs a network; tested in tests/networks with a server on this machine",
    "hauteur puzzles solve": "needs puzzles, and a game or two have none; tested in tests/studies",
    "hauteur analyse .*--against ": "needs networks of people's moves; tested in tests/studies",
    "python examples/lichess_bot": "is driven by a server; tested in tests/engine",
    "hauteur rate .*--ladder": "plays games with Stockfish and nets of people's moves; tested in tests/matches",
    "hauteur web": "a server that does not end; tested in tests/web",
    "hauteur prove connect4": "measures in 5,000 positions; tested in tests/matches",
}
"""Beginnings of commands that are parsed and not executed, with the reason."""

PARTS = {
    r"\bvisits=\d+": "visits=4",
    r"\b(mcts|rave|solver):(\d)\d*": r"\1:\2",
    r"\b(small|large)[-_]visits=\d+": r"\1-visits=4",
    r"\b(nodes|depth)=\d+": r"\1=1",
    r"tc=\S+": "movetime=10",
    r"\b(maia-\d+)\b(?!\.)": r"\1.pb.gz",
    r"uci:lc0 .*": "uci:stockfish nodes=1",
    r"\b(Threads|UCI_\w+)=\S+ ?": "",
    r' args="[^"]*"': "",
    r"gtp:('[^']*'|hauteur gtp)( --\S+ [^\s=]+)*": f"gtp:'{sys.executable}' '{FAKES / 'fake_gtp_engine.py'}'",
    r"gomocup:pbrain-rapfi": f"gomocup:'{sys.executable}' '{FAKES / 'fake_gomocup_engine.py'}' good",
}
"""Parts of a command, mostly of the text of a player, and what they become."""

SMALL = {
    "match": {"--games": "2", "--max-plies": "12", "--parallel": "2", "--threads": "1"},
    "sprt": {"--most-games": "2", "--max-plies": "12", "--parallel": "2", "--threads": "1"},
    "tournament": {"--games": "2", "--max-plies": "12", "--threads": "1"},
    "analyse": {"--visits": "8", "--threads": "1"},
    "review": {"--visits": "4", "--threads": "1"},
    "explain": {"--visits": "8", "--threads": "1"},
    "check-game": {"--games": "2"},
    "prove": {"--visits": "2", "--positions": "20"},
    "compare": {"--seeds": "1"},
    "puzzles mine": {"--positions": "2", "--threads": "1"},
    "tune strength": {"--iterations": "1", "--games": "2", "--verification": "2", "--parallel": "2", "--threads": "1"},
    "games export": {"--first-generation": "1"},
}
"""Options by command, which are set to these values where the command has them."""

NETWORK = ("network.filters=4", "network.blocks=1", "network.value_hidden=8")
TRAIN = (
    *("run.generations=1", "run.threads=1", "run.solved_positions=0"),
    *("selfplay.games=4", "selfplay.visits=4", "selfplay.parallel_games=4", "selfplay.batch_size=4"),
    *("train.batch_size=8", "train.window_games=8", "gate.games=2", "gate.visits=2"),
)
"""Settings of every `hauteur train`; of its network where the run does not begin with another one."""

VERDICTS = ("sprt", "prove")
"""Commands whose exit status 1 is a result: undecided, or a game lost."""

TINY = {"filters": 4, "blocks": 1}
"""The network of a file that a command reads."""

TALKING = ("play", "uci", "gtp", "gomocup", "analysis")
"""Commands that hold a conversation; here they are sent `quit` at once."""


def perform(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Execute a command of the documents in the working directory, small, with the files that it names; or parse it.

    Return its exit status.
    """
    variables = {}
    while re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    own = words[1:3] if words[1:2] == ["--import"] else []  # such a file registers what a block registered already
    words = [words[0], *words[1 + len(own) :]]
    words = words[: next((i for i, word in enumerate(words) if word in ("|", ">", "<", "&&", ";", "&")), len(words))]
    line = " ".join(words)
    reason = next((why for start, why in ONLY_PARSED.items() if re.match(start, line)), "")
    if words[0] != "hauteur":
        if not reason:
            raise AssertionError(f"{line}: neither a command of hauteur nor in ONLY_PARSED")
        return 0
    if reason:
        parse(words[1:])
        return 0
    words = smaller(words[1:])
    provide(words)
    if words[0] in TALKING or variables or own:
        command = [sys.executable, "-m", "hauteur.cli", *own, *words]
        environment = os.environ | variables
        ended = subprocess.run(command, input="quit\n", text=True, check=False, env=environment, stderr=subprocess.PIPE)
        assert ended.returncode >= 0, f"signal {-ended.returncode}: {ended.stderr[-2000:]}"
        return ended.returncode
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    status = main.main(words)
    return 0 if words[0] in VERDICTS and status == 1 else status


def parse(words: list[str]) -> None:
    """Read a command line as hauteur does, without running it. Raise cyclopts' error where it does not fit."""
    if words not in ([], ["--help"], ["--version"]):
        main.make_app().parse_args(words, print_error=False, exit_on_error=False)


def smaller(words: list[str]) -> list[str]:
    """Return a command of the same form that takes a moment."""
    name = next((known for known in SMALL if words[: len(known.split())] == known.split()), "")
    for option, value in SMALL.get(name, {}).items():
        if option in words:
            words[words.index(option) + 1] = value
        elif takes(words, option):
            words += [option, value]
    for pattern, small in PARTS.items():
        words = [re.sub(pattern, small, word) for word in words]
    if words[0] == "train":
        begins = any("start.net" in word for word in words)
        other = re.search(r"^(net|kind) = ", recipe_file(words[1]).read_text(encoding="utf-8"), re.MULTILINE)
        words = [*words, *TRAIN, *(() if begins or other else NETWORK)]
    if words[0] == "compare":
        # Without visits of its own for all: the recipes of the documents differ in these.
        # Solved positions are the measure.
        own = ("selfplay.visits", "run.solved_positions")
        common = [setting for setting in (*TRAIN, *NETWORK) if not setting.startswith(own)]
        common.append("run.solved_positions=20")
        options = next((place for place, word in enumerate(words) if word.startswith("--")), len(words))
        words = ["compare", *(" ".join([recipe, *common]) for recipe in words[1:options]), *words[options:]]
    return words


def takes(words: list[str], option: str) -> bool:
    """Return whether a command has an option."""
    try:
        parse([*words, option, "2"])
    except Exception:  # whatever cyclopts raises for an option that is unknown, or for two that exclude each other
        return False
    return True


TEXTS = {
    ".epd": "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNB1KBNR w KQkq -\n",
    ".pgn": '[White "SF1600"]\n[Black "net-10"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n',
    ".sgf": "(;GM[1]FF[4]SZ[5]RE[W+R];B[aa];W[bb])\n",
}
"""Files that commands read, by their endings."""


def provide(words: list[str]) -> None:
    """Write the files that a command reads and that are not there: nets of its game, openings, games."""
    recipe = tomllib.loads(recipe_file(words[1]).read_text(encoding="utf-8")) if words[0] == "train" else {}
    game = recipe.get("game") or game_of(words)
    text = " ".join(words)
    for name in re.findall(r"runs/[\w-]+\.toml", text):
        text += f" {Path(name).read_text(encoding='utf-8')}"
    for name in re.findall(r"runs/\w+/[\w-]+(?=\s|$)", text) if words[0] in ("report", "games") else []:
        provide_run(Path(name))
    for name in re.findall(r"[\w./-]*(?:\.pb\.gz|\.safetensors|\.epd|\*\.pgn|\.pgn|\.sgf|\bsgf(?=\s--game))", text):
        path = Path(name.replace("*", "one"))
        if path.exists() or name in written_by(words):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in TEXTS:
            path.write_text(TEXTS[path.suffix])
        elif name.endswith("sgf"):
            path.mkdir()
            (path / "one.sgf").write_text("(;GM[1]FF[4]SZ[9]RE[W+R];B[aa];W[bb])\n")
        elif name.endswith(".pb.gz"):
            random_net(path, filters=4, blocks=1)
        elif game == "chess":
            convert(random_net(path.with_suffix(".pb.gz"), filters=4, blocks=1), path)
        else:
            write_net(path, game, recipe.get("network", TINY))


def provide_run(folder: Path) -> None:
    """Learn a generation of the game that a run's folder is named for, as small as it can be."""
    if not folder.exists():
        recipe = Path(f"{folder.parent.name}.toml")
        recipe.write_text(f'game = "{folder.parent.name}"\n')
        limit = ("selfplay.max_plies=6", "network.policy_channels=2", "network.value_channels=2")
        assert main.main(["train", str(recipe), "--run", str(folder), *TRAIN, *NETWORK, *limit]) == 0


def written_by(words: list[str]) -> list[str]:
    """Return the files that a command writes, which must not be there before."""
    if words[:2] == ["net", "convert"]:
        return words[3:4]
    return [words[words.index("--out") + 1]] if "--out" in words else []


def game_of(words: list[str]) -> str:
    """Return the game that a command is about."""
    if "--game" in words:
        return words[words.index("--game") + 1]
    named = words[0] in ("analyse", "explain", "prove", "play") and not "".join(words[1:2]).startswith("-")
    return words[1] if named and len(words) > 1 else "chess"


def write_net(path: Path, game: str, network: dict[str, Any]) -> None:
    """Write a small net with random weights for a game."""
    built = load_game(game)
    architecture = ResNetArchitecture(feature_shape=built.feature_shape, num_actions=built.num_actions, **network)
    save(
        path.with_suffix(".safetensors"), architecture, random_tensors(resnet_shapes(architecture), 0), game=built.spec
    )
    path.with_suffix(".safetensors").replace(path)
