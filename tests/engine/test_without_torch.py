"""The engine with an exported net starts without torch and other heavy packages."""

import subprocess
import sys
from pathlib import Path

WITHOUT_TORCH = """
import io, sys
from hauteur.engine.uci.engine import UciEngine as Engine
from hauteur.engine.streams import Output
engine = Engine(Output(sys.stdout))
engine.options.set("WeightsFile", sys.argv[1])
engine.run([b"isready", b"position startpos", b"go nodes 20", b"wait"])
heavy = {"torch", "onnxscript", "pyarrow", "scipy"} & {name.partition(".")[0] for name in sys.modules}
print("loaded", sorted(heavy))
"""


def test_engine_with_an_exported_net_needs_no_torch(shared_data: Path) -> None:
    net = shared_data / "nets" / "maia-1100.pb.gz"
    for _ in range(2):  # the first run may export the net
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH, str(net)], capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "\nbestmove " in done.stdout
    assert done.stdout.endswith("loaded []\n")
