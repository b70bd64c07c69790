"""The base layer on a machine that has nothing: a wheel is installed without extras and without Rust, and used.

`python .ci/base_layer.py WHEEL [--net CHESS_NET]` makes a new environment in a temporary folder with an empty home and
no cache, installs the wheel from the package index, and runs what the base promises: analysis, a UCI game, a GTP move,
a match, a tournament, puzzles, an exact proof. Commands that need more must name their layer in one line, with status
2. Prints what was downloaded, the seconds, and the times of starts. Only Python's own library is used here.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

MOST_MEGABYTES = 45
"""Of all downloads together."""

ABSENT = ("torch", "onnxruntime", "pyarrow", "scipy", "onnx", "matplotlib", "starlette", "uvicorn", "jinja2")

UCI_GAME = """
import chess, chess.engine, sys
board = chess.Board()
with chess.engine.SimpleEngine.popen_uci(sys.argv[1], timeout=60) as engine:
    engine.configure({"WeightsFile": sys.argv[2]} if sys.argv[2] else {})
    while not board.is_game_over() and board.ply() < 30:
        board.push(engine.play(board, chess.engine.Limit(nodes=20)).move)
print(board.ply(), "plies", board.fen())
"""

MATES = """1k6/8/1K6/8/8/8/8/7R w - - bm Rh8#; id "rook";
6k1/5ppp/8/8/8/8/8/R6K w - - bm Ra8#; id "back rank";
"""

NAMES_ITS_LAYER = (
    ("train", ["train", "runs/tictactoe.toml"]),
    ("train", ["match", "net=tictactoe visits=2", "random", "--game", "tictactoe", "--backend", "torch"]),
    ("onnx", ["match", "net=tictactoe visits=2", "random", "--game", "tictactoe", "--backend", "onnxruntime"]),
    ("web", ["web"]),
)
"""Layers, and commands that cannot do without them."""


class BaseLayer:
    """The new environment, and what happens in it."""

    def __init__(self, folder: Path, net: str) -> None:
        self.folder = folder
        self.net = net
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        (folder / "home").mkdir()
        system = [path for path in os.get_exec_path() if not {"cargo", "rustc"} & set(names_in(path))]
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP", "PIP_INDEX_URL") if name in os.environ}
        self.environment = kept | {
            "PATH": os.pathsep.join([str(self.bin), *system]),
            "HOME": str(folder / "home"),
            "USERPROFILE": str(folder / "home"),
            "PIP_NO_CACHE_DIR": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def install(self, wheel: Path) -> float:
        """Install the wheel into a new environment; return the megabytes of all downloads and the wheel."""
        began, used = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-m", "venv", str(self.folder / "venv")], check=True)
        said = self.run("python", "-m", "pip", "install", "--progress-bar", "off", str(wheel.resolve())).stdout
        megabytes = wheel.stat().st_size / 1e6
        for size, unit in re.findall(r"Downloading \S+ \(([\d.]+) ?([kM]B)\)", said):
            megabytes += float(size) / (1000 if unit == "kB" else 1)
        print(f"base: {megabytes:.1f} MB, the wheel {wheel.stat().st_size / 1e6:.1f} of them")
        now = os.times()
        processor = now.children_user + now.children_system - used.children_user - used.children_system
        print(f"base: installed in {time.perf_counter() - began:.0f} s, {processor:.0f} s of processor time")
        return megabytes

    def run(self, program: str, *words: str, text: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment; end everything if its status is another one."""
        done = subprocess.run(
            [str(self.bin / program), *words],
            input=text,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.folder,
            timeout=300,
            check=False,
        )
        if done.returncode != status:
            sys.exit(f"base: {program} {' '.join(words)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
        return done

    def hauteur(self, *words: str, expect: str, text: str = "") -> None:
        """Run a command of hauteur, whose output must have a line that fits."""
        began = time.perf_counter()
        done = self.run("hauteur", *words, text=text)
        if not re.search(expect, done.stdout):
            sys.exit(f"base: hauteur {' '.join(words)}: no {expect!r} in\n{done.stdout}{done.stderr}")
        print(f"base: ok, {time.perf_counter() - began:.1f} s: hauteur {' '.join(words)}")

    def use(self) -> None:
        """Everything that the base promises."""
        net = ["--net", self.net] if self.net else []
        (self.folder / "mates.epd").write_text(MATES, encoding="utf-8")
        self.hauteur("doctor", expect="no problems found")
        self.hauteur("net", "info", "connect4", expect="sha256")
        self.hauteur("analyse", "connect4", "--visits", "100", expect="ended by: visits")
        self.hauteur("analyse", "chess", *net, "--visits", "20", expect="ended by: visits")
        self.hauteur("play", "tictactoe", text="quit\n", expect="")
        self.hauteur("gtp", "--game", "nogo(size=5)", "--player", "rave:50", text="genmove b\nquit\n", expect="= [A-E]")
        self.hauteur("match", "visits=10", "random", "--game", "connect4", "--games", "4", expect="score")
        self.hauteur(
            "tournament", "visits=5", "mcts:20", "random", "--game", "tictactoe", "--games", "2", expect="6 games"
        )
        self.hauteur("puzzles", "solve", "mates.epd", *net, "--visits", "200", expect="2")
        self.hauteur("prove", "tictactoe", "--visits", "50", expect=" 0 losses")
        self.hauteur("perft", "chess", "3", expect="8,?902")
        self.hauteur("check-game", "nogo(size=4)", expect="laws hold along 20 random games")
        played = self.run("python", "-c", UCI_GAME, str(self.bin / "hauteur-uci"), self.net).stdout
        print(f"base: ok: a UCI game of {played.strip()}")

    def lack(self) -> None:
        """Return what is not installed is named, and nothing else is there."""
        for layer, words in NAMES_ITS_LAYER:
            said = self.run("hauteur", *words, status=2).stderr
            if said.count("\n") != 1 or f"pip install 'hauteur[{layer}]'" not in said:
                sys.exit(f"base: hauteur {' '.join(words)} does not name the layer {layer}: {said}")
            print(f"base: ok: {said.strip()}")
        found = "import importlib.util, sys; print(*[n for n in sys.argv[1:] if importlib.util.find_spec(n)])"
        present = self.run("python", "-c", found, *ABSENT).stdout.strip()
        if present:
            sys.exit(f"base: the base layer has {present}")

    def web(self, wheel: Path) -> None:
        """With the extra `web` beside the base every page of the browser lab opens."""
        self.run("python", "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[web]")
        command = [str(self.bin / "hauteur"), "web", "--port", "0"]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment, cwd=self.folder) as lab:
            try:
                line = lab.stdout.readline() if lab.stdout else ""
                address = re.search(r"http://\S+", line)
                page = urllib.request.urlopen(address[0]).read() if address else b""
                seconds = time.perf_counter() - began
                others = re.findall(rb'<a href="/([a-z]+)"', page)
                for other in others if address else []:
                    urllib.request.urlopen(address[0] + other.decode()).close()
            finally:
                lab.send_signal(signal.SIGTERM)
        if b"<main" not in page or len(others) < 8 or lab.returncode not in (0, -signal.SIGTERM):
            sys.exit(f"base: hauteur web: {line!r}, status {lab.returncode}, {page[:1000]!r}")
        print(f"base: ok: first of {len(others)} pages after {seconds:.1f} s: {line.strip()}")


def names_in(folder: str) -> list[str]:
    """Names of the programs in a folder, without endings."""
    try:
        return [path.stem for path in Path(folder).iterdir()]
    except OSError:
        return []


def main() -> None:
    """Install, use, report."""
    parser = argparse.ArgumentParser(description="Test of the base layer in a new environment.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--net", default="", help="a chess net, where none ships")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hauteur-base-") as folder:
        base = BaseLayer(Path(folder), str(Path(arguments.net).resolve()) if arguments.net else "")
        megabytes = base.install(arguments.wheel)
        base.use()
        base.lack()
        base.web(arguments.wheel)
        if megabytes > MOST_MEGABYTES:
            sys.exit(f"base: {megabytes:.1f} MB are more than {MOST_MEGABYTES}")
    print("base: all is well")


if __name__ == "__main__":
    main()
