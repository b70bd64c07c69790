"""A GTP engine for NoGo with faults on request: `fake_gtp_engine.py FAULT`.

It plays the first legal point. FAULT `good` is none, `passes` plays Othello and makes forced passes by itself, and
`columns` plays Connect Four, without `boardsize`; any other shows at its second genmove in a game. Every process
leaves a file named by its number in the folder FAKE_ENGINE_PIDS, so that a test can look whether it has ended.
"""

import os
import sys
import time
from pathlib import Path

from hauteur import _core

COMMANDS = "name version protocol_version list_commands boardsize clear_board play genmove time_settings time_left quit"
LARGEST = 9
ANSWERS = {"resign": "= resign", "pass": "= PASS", "no-point": "= 99I", "error": "? I do not know"}
RAW = {"wrong-id": "=99 B2\n\n", "no-id": "= B2\n\n", "garbage": "B2\n\n", "unended": "= B2\n"}


class RefusedError(Exception):
    """The answer begins with a question mark."""


class Engine:
    """Reads commands."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.game = {"passes": "othello", "columns": "connect4"}.get(fault, "nogo")
        spec = self.game if fault == "columns" else f"{self.game}(size=6)"
        self.state = _core.Game(spec).new_initial_state()
        self.asked = 0

    def run(self) -> None:
        for line in sys.stdin:
            number, command, *words = line.split()
            if command == "quit":
                return
            try:
                self.say(number, f"= {self.answer(command, words)}")
            except RefusedError as error:
                self.say(number, f"? {error}")

    def say(self, number: str, text: str) -> None:
        """`= text` with the number of the command; some engines write empty lines between."""
        sys.stdout.write(f"\n{text[0]}{number}{text[1:]}\n\n")
        sys.stdout.flush()

    def answer(self, command: str, words: list[str]) -> str:
        if command == "genmove":
            return self.genmove(words[0])
        if command == "final_score" and self.fault.startswith("counts"):
            return self.final_score()
        if command not in self.commands().split():
            raise RefusedError("unknown command")
        if command == "play":
            self.play(*words)
        elif command == "boardsize":
            self.resize(int(words[0]))
        elif command == "clear_board":
            self.state = self.state.game.new_initial_state()
            self.asked = 0
        return {"name": "Fake Go", "version": "2", "protocol_version": "2", "list_commands": self.commands()}.get(
            command, ""
        )

    def commands(self) -> str:
        left_out = {"no-clock": "time_settings", "columns": "boardsize"}.get(self.fault)
        return "\n".join(word for word in COMMANDS.split() if word != left_out)

    def final_score(self) -> str:
        """The right winner, or by the fault the other one, or none; or the end of the process."""
        if self.fault == "counts-and-crashes":
            sys.exit(5)
        outcome = self.state.outcome()
        assert outcome in (1, -1)
        winner = "BW" if outcome == 1 else "WB"
        return {"counts": f"{winner[0]}+3.5", "counts-wrong": f"{winner[1]}+56.5"}.get(self.fault, "cannot say")

    def resize(self, size: int) -> None:
        if size > LARGEST:
            raise RefusedError("unacceptable size")
        self.state = _core.Game(f"{self.game}(size={size})").new_initial_state()

    def play(self, colour: str, point: str) -> None:
        if self.fault == "passes" and point == "pass":
            raise RefusedError("syntax error")
        if "bw"[self.state.to_move] != colour:
            raise RefusedError("not the turn of this colour")
        try:
            action = self.state.parse(point)
        except ValueError:
            raise RefusedError("invalid coordinate") from None
        self.state.apply(action)
        while self.fault == "passes" and self.must_pass():
            self.state.apply(self.state.parse("pass"))

    def must_pass(self) -> bool:
        """Return whether the side to move can only pass."""
        legal = self.state.legal_actions().tolist()
        return [self.state.action_to_text(action) for action in legal] == ["pass"]

    def genmove(self, colour: str) -> str:
        self.asked += 1
        if self.fault == "passes" and "bw"[self.state.to_move] != colour:
            return "pass"
        if self.asked == 2 and self.fault in ANSWERS:
            raise_or_text = ANSWERS[self.fault]
            if raise_or_text.startswith("?"):
                raise RefusedError(raise_or_text[2:])
            return raise_or_text[2:]
        if self.asked == 2 and self.fault == "illegal":
            return self.state.notation().split()[0]
        if self.asked == 2 and self.fault in RAW:
            sys.stdout.write(RAW[self.fault])
            sys.stdout.flush()
            time.sleep(1000)
        if self.asked == 2 and self.fault == "crash":
            sys.exit(4)
        point = self.state.action_to_text(int(self.state.legal_actions()[0]))
        self.play(colour, point)
        return point.lower()


def main(fault: str = "good") -> None:
    folder = os.environ.get("FAKE_ENGINE_PIDS")
    if folder is not None:
        (Path(folder) / str(os.getpid())).touch()
    Engine(fault).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
