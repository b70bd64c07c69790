"""Valid files and messages of every kind, from which fuzz_readers.py makes damaged ones."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np

import hauteur as ht

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from run_toys import tiny


def make_examples(folder: Path) -> None:
    """Write a run, a match, a tree and nets into a folder, unless it has them."""
    if (folder / "tree.json").exists():
        return
    from hauteur.cli import main
    from hauteur.learning.loop import learn
    from hauteur.networks import files, lc0, registry
    from hauteur.networks.layers import resnet_shapes
    from hauteur.networks.resnet_architecture import ResNetArchitecture

    shutil.rmtree(folder, ignore_errors=True)
    learn(tiny(run={"generations": 1}), folder=folder / "read_run")
    a = "net=uniform visits=4"
    b = "net=uniform visits=8"
    if main.main(["match", a, b, "--game", "connect4", "--games", "6", "--out", str(folder / "read_match")]):
        raise ValueError("the match that is an example was not played")
    resnet = ResNetArchitecture(
        feature_shape=(112, 8, 8), num_actions=1858, filters=4, blocks=1, se_channels=2, policy="convolution"
    )
    draws = np.random.default_rng(1)
    tensors = {name: draws.uniform(0.1, 0.9, size).astype(np.float32) for name, size in resnet_shapes(resnet).items()}
    (folder / "net.pb.gz").write_bytes(lc0.lc0_bytes(*lc0.from_resnet(resnet, tensors)))
    (folder / "half.safetensors").write_bytes(files.safetensors_bytes(resnet, tensors, game="chess", dtype="float16"))
    registry.convert(next((folder / "read_run" / "nets").glob("*.safetensors")), folder / "net.safetensors")
    tree = ht.search(ht.load_game("connect4").new_initial_state(), "uniform", visits=60).tree
    tree.save(folder / "tree.json")


FENS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w HAha - 4 20",
)
SPECS = (
    *("connect4", "connect4(columns=5,rows=4)", "nogo(rows=3,cols=4)", "go(size=5,komi=0.5)", "hex(size=5,swap=true)"),
    *("othello(size=6)", "gomoku(size=7)", "tictactoe", "minichess(fen=k4/5/1K3/5/2Q2 w - - 0 1)", "tutorial"),
    *(f"chess(fen={fen}, chess960=true, history_fill=no)" for fen in FENS),
    *("chess(odds=queen d1)", "chess(odds=knight, start=518)"),
)
PGN = (
    '[White "A"]\n[Result "1-0"]\n\n1. e4 {[%eval 0.3]} e5 $1 (1... c5 2. Nf3) 2. Qh5 Nc6 3. Bc4 Nf6?? ; x\n4. Qxf7#',
    f'[SetUp "1"]\n[FEN "{FENS[1]}"]\n[Variant "Chess960"]\n[Result "*"]\n\n20. O-O O-O-O *\n',
    '[White "A"] [Black "B"]\n1. Sf3 d5 (1... Sf6 {x} 2. c2-c4) 2. e4 \xb1 d:e4 3. -- a6 \xbd-\xbd\n',
    '[Event "a"]\n1. d4 e.p. (1. c4 1:0\n[Event "b"]\n[Fen "4k3/P7/8/8/8/8/8/4K3 w KQ e3"]\n1. a8(Q)+ 1:0',
)
SGF = (
    "(;FF[4]GM[1]SZ[5]KM[7.5]PB[a]PW[b\\]]RE[B+R];B[aa]C[x];W[bb](;B[cc];W[])(;B[dd]))",
    "(;GM[4]SZ[9]RE[W+];B[aa];W[ii];B[ee])",
    "by a program (;GaMe[1]SiZe[9]CA[Shift_JIS]KM[6,5]HA[1]RE[Jigo];b[ee]C[x];w[tt])",
)
EPD = (
    f'{FENS[0][:-3]} bm e4 d4; id "first"; c0 "text";\n# note\ne2e4 c7c5\n{FENS[1]}\n',
    '8/8/8/3k4/8/8/4Q3/4K3 w - - bm Qe4+; am Qe3; id "x";\n',
)
PLAYERS = (
    "net=uniform visits=100 temperature=0.5 cpuct.init=1.5 search_contempt.n_scl=20 name=x",
    "rave:400",
    "random",
    "human-1500",
    "uci:prog nodes=5 Hash=16",
    "gtp:prog --x -y 3 movetime=1000",
)
ODDS = ("queen d1", "knight", "queen + rook a1", "queen for knight", "rook a8 + knight b8")
UCI = (
    "uci\nisready\nposition startpos moves e2e4 e7e5\ngo nodes 3\nsetoption name MultiPV value 3\ngo movetime 1\nfen\n",
    f"setoption name UCI_Chess960 value true\nposition fen {FENS[1]} moves e1h1\ngo depth 1 searchmoves e8a8\nstop\n",
    "setoption name ContemptMode value play\ngo wtime 50 btime 50 winc 1 binc 1 movestogo 3\nponderhit\nucinewgame\n",
)
GTP = (
    "1 boardsize 5\nclear_board\nkomi 6.5\nplay b C3\ngenmove w\nshowboard\nundo\nfinal_score\ntime_left b 4 0\n",
    "kata-analyze b interval 5 rootInfo true\nloadsgf x\nlist_commands\ntime_settings 10 5 3\nfixed_handicap 2\n",
)
GOMOCUP = (
    "START 6\nINFO timeout_turn 10\nINFO rule 0\nBEGIN\nTURN 1,1\nTAKEBACK 1,1\nRESTART\nABOUT\nRECTSTART 7,7\n",
    "BOARD\n1,1,1\n2,2,2\n3,3,2\nDONE\nINFO time_left 100\nTURN 5,5\nINFO rule 4\nTURN 0,0\nFOO\n",
)
QUERIES = (
    '{"id": "a", "game": "connect4", "moves": ["4", "4"], "analyzeTurns": [0, 2], "maxVisits": 9, "priority": -1}\n',
    '{"id": "b", "position": "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "overrideSettings": {"cpuct.init": 2}}\n',
    '{"id": "c", "action": "terminate", "terminateId": "a", "turnNumbers": [1]}\n',
)
ENGINE = (
    "option name Hash type spin default 16 min 1 max 1024\noption name Style type combo default a var a var b\n",
    "info depth 12 multipv 1 score cp 25 nodes 5 pv e2e4\nbestmove e2e4 ponder e7e5\ninfo score mate -3 depth 99\n",
    "=1 ok\n\n?2 bad\n=\n= A1\n",
)
MESSAGES = (
    b'{"do": "play", "key": "k", "job": "j", "bytes": 3}\nabc',
    b'{"joined": true, "bytes": 0}\n{"bytes": 1}\nx',
)
MOVES = ("e2e4 e7e5 Ng1f3 O-O 4 d 3 A1 T19 pass a1 b2 c3", "1. e4 e5 2. Nf3 Nc6", "C3 D4 E5 pass pass", "a2a3 b4b5q")
UCI_WORDS = ("position startpos moves e2e4 e7e5", f"startpos moves e2e4 e7e5\nfen {FENS[1]} moves e1h1 e8a8")
UCI_GO = ("wtime 100 btime 100 winc 1 movestogo 3\nnodes 5\ndepth 3 searchmoves e2e4 d2d4\ninfinite\nmate 3",)
UCI_OPTIONS = (
    "name CPuct value 1.5\nname MultiPV value 3\nname ContemptMode value play\nname WDLCalibrationElo value 2000",
    "name ScLimit value 20\nname UCI_Chess960 value true\nname SyzygyPath value <empty>\nname Hash value 64",
)
CSV = ("PuzzleId,FEN,Moves,Rating\n8,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1,1785\n",)
