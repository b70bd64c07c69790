"""A program that speaks the Gomocup's protocol, with faults on request: `fake_gomocup_engine.py FAULT`.

It plays the first free point, row by row from the top, and says a line for people before every move. FAULT `good` is
none; any other shows at its second move in a game, but `refuses-board`, `refuses-options` and `silent` at its start.
"""

import sys
import time

ANSWERS = {"no-point": "centre", "outside": "15,0", "occupied": "0,0", "error": "ERROR I do not know"}


class Engine:
    """Reads commands."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.size = 0
        self.taken: set[tuple[int, int]] = set()
        self.asked = 0

    def run(self) -> None:
        for line in sys.stdin:
            word, _, rest = line.strip().partition(" ")
            if word == "END":
                return
            self.hear(word, rest)

    def hear(self, word: str, rest: str) -> None:
        match word:
            case "START" | "RESTART":
                self.begin(rest)
            case "BEGIN":
                self.move()
            case "TURN":
                self.take(rest)
                self.move()
            case "BOARD":
                self.read_board()
                self.move()
            case "INFO":
                if self.fault == "refuses-options" and rest.startswith("max_node"):
                    say("UNKNOWN max_node")
            case "ABOUT":
                if self.fault != "silent":
                    say('name="Fake Five", version="1.2", author="nobody", country="XX"')
            case _:
                say("UNKNOWN command")

    def begin(self, size: str) -> None:
        if self.fault == "refuses-board":
            say("ERROR unsupported size")
            return
        self.size = int(size or self.size)
        self.taken = set()
        self.asked = 0
        say("OK")

    def read_board(self) -> None:
        self.taken = set()
        for line in sys.stdin:
            if line.strip() == "DONE":
                return
            x, y, _ = line.split(",")
            self.take(f"{x},{y}")

    def take(self, point: str) -> None:
        x, y = map(int, point.split(","))
        if (x, y) in self.taken:
            say(f"ERROR {point} was told twice")
            sys.exit(3)
        self.taken.add((x, y))

    def move(self) -> None:
        self.asked += 1
        if self.asked == 2 and self.fault != "good":
            self.fail()
        points = ((x, y) for y in range(self.size) for x in range(self.size))
        x, y = next(point for point in points if point not in self.taken)
        self.taken.add((x, y))
        say(f"MESSAGE I like {x},{y}")
        say(f"{x},{y}")

    def fail(self) -> None:
        if self.fault == "crash":
            sys.exit(5)
        if self.fault == "hang":
            time.sleep(600)
        if self.fault in ANSWERS:
            say(ANSWERS[self.fault])


def say(text: str) -> None:
    sys.stdout.write(text + "\r\n")
    sys.stdout.flush()


if __name__ == "__main__":
    Engine(sys.argv[1]).run()
