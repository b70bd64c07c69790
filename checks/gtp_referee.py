"""A referee between `hauteur gtp` and another GTP program of Go: both are driven by GTP alone, and neither is believed.

    python checks/gtp_referee.py --games 100

It has a board of its own (no suicide, no position twice, area with all stones alive), plays every move on both sides,
changes komi from game to game, and ends with status 1 where a move was illegal, refused, or a score disputed: ours must
be that of the referee, the other program's must name the same winner. Games that the other program scores by other
points are counted too.
"""

from __future__ import annotations

import argparse
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

COLUMNS = "ABCDEFGHJKLMNOPQRST"
KOMI = ("5.5", "6.5", "7", "7.5")
MOST_PLIES = 500
GNU_GO = "gnugo --mode gtp --level 1 --chinese-rules --play-out-aftermath --capture-all-dead --positional-superko"
OURS = "{program} gtp --game 'go(size={size})' --player visits={visits} --threads 1 --seed 1"

Point = tuple[int, int]


class Program:
    """A program that speaks GTP; every command has a number, which the response must repeat."""

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._number = 0

    def ask(self, command: str) -> tuple[bool, str]:
        """Give a command; return whether it succeeded, and the text of the response."""
        assert self._process.stdin is not None
        self._number += 1
        self._process.stdin.write(f"{self._number} {command}\n")
        self._process.stdin.flush()
        first, *more = self._lines(command)
        found = re.fullmatch(rf"([=?]){self._number}(?: (.*))?", first)
        if found is None:
            raise SystemExit(f"{command!r} was answered by {first!r}")
        return found[1] == "=", "\n".join([found[2] or "", *more]).strip()

    def tell(self, command: str) -> str:
        """Give a command that must succeed."""
        is_good, text = self.ask(command)
        if not is_good:
            raise SystemExit(f"{command!r} was refused: {text}")
        return text

    def _lines(self, command: str) -> list[str]:
        assert self._process.stdout is not None
        lines: list[str] = []
        for line in self._process.stdout:
            if line.strip():
                lines.append(line.rstrip())
            elif lines:
                return lines
        raise SystemExit(f"a program ended at {command!r}")


class Board:
    """The referee's board."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stones: dict[Point, str] = {}
        self._seen = {frozenset[tuple[Point, str]]()}

    def play(self, colour: str, vertex: str) -> bool:
        """Play a move; return whether it was legal, and leave the board unchanged where it was not."""
        if vertex.lower() == "pass":
            return True
        point = (COLUMNS.index(vertex[0].upper()), int(vertex[1:]) - 1)
        if point in self.stones or not max(point) < self.size:
            return False
        before = dict(self.stones)
        self.stones[point] = colour
        for near in self._around(point):
            if self.stones.get(near, colour) != colour:
                self._take_if_dead(near)
        position = frozenset(self.stones.items())
        if self._is_dead(point) or position in self._seen:
            self.stones = before
            return False
        self._seen.add(position)
        return True

    def area(self) -> int:
        """Points of Black less those of White: stones, and empty regions that touch one colour alone."""
        points = Counter(self.stones.values())
        counted: set[Point] = set()
        for column in range(self.size):
            for row in range(self.size):
                if (column, row) in self.stones or (column, row) in counted:
                    continue
                region, touched = self._region((column, row))
                counted |= region
                if len(touched) == 1:
                    points[touched.pop()] += len(region)
        return points["b"] - points["w"]

    def _around(self, point: Point) -> Iterator[Point]:
        for column, row in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            near = (point[0] + column, point[1] + row)
            if min(near) >= 0 and max(near) < self.size:
                yield near

    def _region(self, start: Point) -> tuple[set[Point], set[str]]:
        """Return what is connected with a point and alike, and what it touches: colours, and "" for empty points."""
        kind = self.stones.get(start, "")
        region = {start}
        touched: set[str] = set()
        waiting = [start]
        while waiting:
            for near in self._around(waiting.pop()):
                other = self.stones.get(near, "")
                if other != kind:
                    touched.add(other)
                elif near not in region:
                    region.add(near)
                    waiting.append(near)
        return region, touched

    def _is_dead(self, point: Point) -> bool:
        return "" not in self._region(point)[1]

    def _take_if_dead(self, point: Point) -> None:
        region, touched = self._region(point)
        if "" not in touched:
            for stone in region:
                del self.stones[stone]


def points_of(score: str) -> float:
    """Return a score as points of Black less those of White."""
    found = re.fullmatch(r"([BW])\+([0-9.]+)", score)
    if found is None:
        return 0.0
    return float(found[2]) if found[1] == "B" else -float(found[2])


class Match:
    """The games, and what was wrong with them."""

    def __init__(self, ours: Program, theirs: Program, size: int) -> None:
        self.programs = (ours, theirs)
        self.size = size
        self.random = random.Random(5)
        self.counts: Counter[str] = Counter()

    def game(self, number: int) -> str:
        """Play a game, in every second one with the other program as Black; return what is said of it."""
        komi = self.random.choice(KOMI)
        for program in self.programs:
            for command in (f"boardsize {self.size}", "clear_board", f"komi {komi}"):
                program.tell(command)
        board = Board(self.size)
        plies, end = self._moves(number, board)
        said = f"game {number}: komi {komi}, {plies} plies, {end}"
        if end == "two passes":
            said += f", {self._score(board, float(komi), number)}"
        elif end.startswith("resigned"):
            self.counts["won"] += end == "resigned by the other program"
        else:
            self.counts["wrong"] += 1
        return said

    def _moves(self, number: int, board: Board) -> tuple[int, str]:
        """Return the number of plies, and how the game ended."""
        passes = 0
        for ply in range(MOST_PLIES):
            colour = "bw"[ply % 2]
            # Of `programs`: 0 is ours, which is Black in games with an even number.
            mover = (ply + number) % 2
            name = ("hauteur", "the other program")[mover]
            is_good, vertex = self._move(board, colour, ply, self.programs[mover])
            if not is_good:
                return ply, f"{name} refused genmove: {vertex}"
            if vertex.lower() == "resign":
                return ply, f"resigned by {name}"
            if ply > 1 and not board.play(colour, vertex):
                return ply, f"illegal move {vertex} of {name}"
            # Moves of the opening are of neither program, so both are told them.
            for place, program in enumerate(self.programs):
                if place == mover and ply > 1:
                    continue
                is_good, why = program.ask(f"play {colour} {vertex}")
                if not is_good:
                    return ply, f"{vertex} of {name} was refused: {why}"
            passes = passes + 1 if vertex.lower() == "pass" else 0
            if passes == 2:
                return ply + 1, "two passes"
        return MOST_PLIES, "no end"

    def _move(self, board: Board, colour: str, ply: int, program: Program) -> tuple[bool, str]:
        """Return the program's answer to genmove; of the first two plies a random point, so that games differ."""
        if ply > 1:
            return program.ask(f"genmove {colour}")
        while True:
            column = self.random.randrange(self.size)
            row = self.random.randrange(self.size)
            vertex = f"{COLUMNS[column]}{row + 1}"
            if board.play(colour, vertex):
                return True, vertex

    def _score(self, board: Board, komi: float, number: int) -> str:
        """Compare the scores of both programs with the referee's, count, and return them in words."""
        right = board.area() - komi
        ours, theirs = (points_of(program.tell("final_score")) for program in self.programs)
        is_disputed = ours != right or (theirs > 0) != (right > 0) or (theirs < 0) != (right < 0)
        self.counts["disputed"] += is_disputed
        self.counts["other points"] += theirs != right
        won = ours > 0 if number % 2 == 0 else ours < 0
        self.counts["won"] += won
        return f"ours {ours:+g}, theirs {theirs:+g}, referee {right:+g}"


def main() -> int:
    """Play the games; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--program", default=GNU_GO, help="the other program with its arguments")
    given = parser.parse_args()
    beside = shlex.quote(str(Path(sys.executable).parent / "hauteur"))
    ours = Program(OURS.format(program=beside, size=given.size, visits=given.visits))
    match = Match(ours, Program(given.program), given.size)
    for number in range(given.games):
        print(match.game(number), flush=True)
    counts = match.counts
    print(
        f"{given.games} games: {counts['wrong']} with an illegal or refused move, {counts['disputed']} with a disputed "
        f"score, {counts['other points']} with other points; hauteur won {counts['won']}"
    )
    return 1 if counts["wrong"] or counts["disputed"] else 0


if __name__ == "__main__":
    sys.exit(main())
