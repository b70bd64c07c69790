"""A Lichess bot that plays at odds, with the standard library and python-chess alone.

It accepts challenges of chess, among them those "from position", and plays each game with the UCI engine in odds mode,
as White or Black. The token of a bot account (scope bot:play) is in the environment variable LICHESS_TOKEN:

    LICHESS_TOKEN=... python examples/lichess_bot/bot.py --net maia-1900
"""

import argparse
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import chess
import chess.engine

VARIANTS = ("standard", "fromPosition", "chess960")
PAUSES = (1.0, 5.0, 30.0)
"""Seconds before a lost stream is opened again."""
OVERHEAD = 0.3
"""Seconds of a move that the network takes."""


class Lichess:
    """The calls of Lichess's bot API that a bot needs."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        with self._open(path) as reply:
            return json.load(reply)

    def post(self, path: str, **fields: str) -> None:
        """Send a command."""
        with self._open(path, json.dumps(fields).encode()):
            pass

    def stream(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a stream until it ends; empty lines keep it alive."""
        with self._open(path) as reply:
            for line in reply:
                if line.strip():
                    yield json.loads(line)

    def _open(self, path: str, data: bytes | None = None) -> Any:
        headers = {**self._headers, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._url}/api/{path}", data, headers)
        return urllib.request.urlopen(request, timeout=60)


def play_game(lichess: Lichess, game: str, me: str, command: list[str], options: dict[str, Any]) -> None:
    """Play one game to its end."""
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as engine:
        engine.configure(options)
        start = chess.STARTING_FEN
        colour = chess.WHITE
        chess960 = False
        for event in lichess.stream(f"bot/game/stream/{game}"):
            if event["type"] == "gameFull":
                fen = event.get("initialFen", "startpos")
                start = chess.STARTING_FEN if fen == "startpos" else fen
                colour = chess.WHITE if event["white"].get("id") == me else chess.BLACK
                chess960 = event["variant"]["key"] == "chess960"
            state = event["state"] if event["type"] == "gameFull" else event
            if state.get("type", "gameState") != "gameState":
                continue  # chat, opponent gone
            if state["status"] != "started":
                return
            board = chess.Board(start, chess960=chess960)
            for move in state["moves"].split():
                board.push_uci(move)
            if board.turn == colour and not board.is_game_over():
                move = engine.play(board, limit_of(state), game=game).move
                lichess.post(f"bot/game/{game}/move/{move}")


def limit_of(state: dict[str, Any]) -> chess.engine.Limit:
    """Return the clocks of a game, in seconds."""
    white, black, white_inc, black_inc = (state[key] / 1000 for key in ("wtime", "btime", "winc", "binc"))
    return chess.engine.Limit(
        white_clock=max(OVERHEAD, white - OVERHEAD),
        black_clock=max(OVERHEAD, black - OVERHEAD),
        white_inc=white_inc,
        black_inc=black_inc,
    )


def run(lichess: Lichess, command: list[str], options: dict[str, Any], *, games: int | None = None) -> None:
    """Answer challenges and play their games, each in a thread; games: the number after which it ends, None: never."""
    me = lichess.get("account")["id"]
    lost = 0
    playing = list[threading.Thread]()
    while games is None or len(playing) < games:
        try:
            for event in lichess.stream("stream/event"):
                lost = 0
                if event["type"] == "challenge" and event["challenge"].get("challenger", {}).get("id") != me:
                    challenge = event["challenge"]
                    fits = challenge["variant"]["key"] in VARIANTS
                    lichess.post(f"challenge/{challenge['id']}/{'accept' if fits else 'decline'}")
                elif event["type"] == "gameStart":
                    game = event["game"]["gameId"]
                    playing.append(threading.Thread(target=play_game, args=(lichess, game, me, command, options)))
                    playing[-1].start()
                if games is not None and len(playing) >= games:
                    break
        except (OSError, urllib.error.URLError) as error:
            pause = PAUSES[min(lost, len(PAUSES) - 1)]
            print(f"stream lost ({error}); again in {pause:g} s", file=sys.stderr)
            lost += 1
            time.sleep(pause)
    for thread in playing:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description="A Lichess bot that plays at odds.")
    parser.add_argument("--net", help="net of the engine; default: the one that ships")
    parser.add_argument("--url", default="https://lichess.org", help="address of the server")
    parser.add_argument("--games", type=int, help="end after this many games")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="option of the engine")
    chosen = parser.parse_args()
    token = os.environ.get("LICHESS_TOKEN", "")
    if not token:
        sys.exit("LICHESS_TOKEN must hold the token of a bot account")
    options: dict[str, Any] = {"OddsMode": True, **dict(text.split("=", 1) for text in chosen.option)}
    command = [sys.executable, "-m", "hauteur.cli", "uci", *(["--weights", chosen.net] if chosen.net else [])]
    run(Lichess(chosen.url, token), command, options, games=chosen.games)


if __name__ == "__main__":
    main()
