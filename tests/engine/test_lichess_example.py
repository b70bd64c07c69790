"""The example bot for Lichess against a local fake of the API: challenges at odds, as White and as Black."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import chess
import pytest

from hauteur.games.odds import parse_odds

CLOCKS = {"wtime": 20_000, "btime": 20_000, "winc": 100, "binc": 100}
PLIES = 12


class FakeLichess(ThreadingHTTPServer):
    """The part of the bot API that one game needs. moves: of the game; the other side plays its first legal move."""

    def __init__(self, odds: str, bot: chess.Color) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.board = chess.Board(parse_odds(odds).fen)
        self.bot = bot
        self.fen = self.board.fen()
        self.events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.states: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.accepted = list[str]()
        self.declined = list[str]()
        for name, variant in (("wrong", "atomic"), ("game1", "fromPosition")):
            challenge = {"id": name, "variant": {"key": variant}, "challenger": {"id": "somebody"}}
            self.events.put({"type": "challenge", "challenge": challenge})

    def state(self, kind: str = "gameState") -> dict[str, Any]:
        """The state of the game; it ends after PLIES."""
        over = len(self.board.move_stack) >= PLIES or self.board.is_game_over()
        moves = " ".join(move.uci() for move in self.board.move_stack)
        return {"type": kind, "moves": moves, "status": "draw" if over else "started", **CLOCKS}

    def reply(self) -> None:
        """Play for the other side, then send the state."""
        if self.board.turn != self.bot and len(self.board.move_stack) < PLIES and not self.board.is_game_over():
            self.board.push(next(iter(self.board.legal_moves)))
        self.states.put(self.state())


class Handler(BaseHTTPRequestHandler):
    """Answers as Lichess does."""

    server: FakeLichess
    protocol_version = "HTTP/1.0"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Account and streams."""
        assert self.headers["Authorization"] == "Bearer secret"
        self.send_response(200)
        self.end_headers()
        parts = self.path.split("/")[2:]
        if parts == ["account"]:
            self.wfile.write(json.dumps({"id": "bot"}).encode())
        elif parts == ["stream", "event"]:
            self._stream(self.server.events)
        elif parts == ["bot", "game", "stream", "game1"]:
            sides = ({"id": "bot"}, {"id": "somebody"})
            white, black = sides if self.server.bot == chess.WHITE else sides[::-1]
            full = {"type": "gameFull", "initialFen": self.server.fen, "white": white, "black": black}
            self._send({**full, "variant": {"key": "fromPosition"}, "state": self.server.state()})
            if self.server.board.turn != self.server.bot:
                self.server.reply()
            self._stream(self.server.states)

    def do_POST(self) -> None:
        """Answers to challenges, and moves."""
        parts = self.path.split("/")
        status = 200
        if parts[2] == "challenge":
            (self.server.accepted if parts[4] == "accept" else self.server.declined).append(parts[3])
            if parts[4] == "accept":
                self.server.events.put({"type": "gameStart", "game": {"gameId": "game1"}})
        else:
            move = chess.Move.from_uci(parts[-1])
            status = 200 if move in self.server.board.legal_moves else 400
            if status == 200:
                self.server.board.push(move)
                self.server.reply()
        self.send_response(status)
        self.end_headers()

    def _stream(self, events: queue.Queue[dict[str, Any] | None]) -> None:
        while (event := events.get()) is not None:
            self._send(event)

    def _send(self, event: dict[str, Any]) -> None:
        self.wfile.write(json.dumps(event).encode() + b"\n")
        self.wfile.flush()


@pytest.fixture(params=[("queen d1", chess.WHITE), ("queen + rook a8", chess.BLACK)], ids=["white", "black"])
def fake(request: pytest.FixtureRequest) -> Iterator[FakeLichess]:
    """A server with a challenge at odds that the bot gives."""
    server = FakeLichess(*request.param)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.events.put(None)
    server.states.put(None)
    server.shutdown()


def test_a_game_at_odds_from_a_position(fake: FakeLichess, root: Path, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{fake.server_port}"
    log = tmp_path / "uci.log"
    command = [sys.executable, str(root / "examples" / "lichess_bot" / "bot.py"), "--url", url, "--games", "1"]
    options = ["--net", "uniform", "--option", f"LogFile={log}", "--option", "Threads=1"]
    ended = subprocess.run(
        [*command, *options],
        env={**os.environ, "LICHESS_TOKEN": "secret"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert (fake.accepted, fake.declined) == (["game1"], ["wrong"])
    assert len(fake.board.move_stack) >= PLIES
    assert "odds game, queen" in log.read_text(), "odds mode has recognised the handicap"


def test_a_missing_token_is_one_line(root: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "LICHESS_TOKEN"}
    command = [sys.executable, str(root / "examples" / "lichess_bot" / "bot.py")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.strip()) == (1, "LICHESS_TOKEN must hold the token of a bot account")
