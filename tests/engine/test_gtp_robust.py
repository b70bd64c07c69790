"""The GTP engine survives what it should never be sent: every line that holds a request is answered, and only those."""

import random
import re
from collections.abc import Sequence

import pytest
from gtp_table import Table

LINES = 10_000
GOOD = [
    *("protocol_version", "name", "version", "list_commands", "known_command play", "gogui-interrupt"),
    *("boardsize 5", "boardsize 3", "clear_board", "komi 6.5", "play b C3", "play w D4", "17 play black A1"),
    *("genmove b", "genmove w", "undo", "undo", "showboard", "final_score"),
    *("move_history", "time_settings 10 5 3", "time_left b 4 0"),
    *("kata-analyze 10", "kata-analyze w interval 5 rootInfo true", "# interrupt", "# nothing"),
]
WORDS = [
    *("play", "genmove", "boardsize", "b", "white", "A1", "C3", "T19", "I5", "pass", "resign", "-1", "0"),
    *("5", "1e999", "nan", "#", "%s", "kata-analyze", "interval", "undo", "99999999999999999999", "\x00"),
    *("é", "♔", "\t", "known_command"),
]


def random_line(rng: random.Random) -> bytes:
    """A line of noise, of words in any order, or a good line with some bytes changed."""
    kind = rng.randrange(5)
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(60))).replace(b"\n", b" ")
    if kind == 1:
        return " ".join(rng.choices(WORDS, k=rng.randrange(1, 8))).encode()
    line = bytearray(rng.choice(GOOD).encode())
    for _ in range(rng.randrange(3)):
        line[rng.randrange(len(line))] = rng.randrange(32, 256)
    return bytes(line)


def lines_of(seed: int, count: int) -> list[bytes]:
    """Return this number of lines that do not end the engine by rights."""
    rng = random.Random(seed)
    return [line for line in (random_line(rng) for _ in range(count)) if b"quit" not in line]


def requests(lines: Sequence[bytes]) -> int:
    """How many of the lines hold a request: something that is neither control character, space nor comment."""
    kept = [re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b"", line).partition(b"#")[0] for line in lines]
    return sum(bool(text.replace(b"\t", b" ").strip(b" ")) for text in kept)


def answers(text: str) -> list[str]:
    """The answers, each held to its form."""
    assert text.endswith("\n\n")
    found = text.removesuffix("\n\n").split("\n\n")
    wrong = [answer for answer in found if not re.match(r"[=?][0-9]*(?:[ \n]|$)", answer)]
    assert not wrong
    return found


@pytest.mark.parametrize(("seed", "player"), [(1, "net=uniform visits=4"), (2, "rave:3")])
def test_mutated_lines_are_all_answered(seed: int, player: str) -> None:
    lines = lines_of(seed, LINES // 2)
    table = Table(player=player)
    table.engine.run([*lines, b"clear_board", b"boardsize 5", b"9 genmove b", b"quit", b"name"])
    found = answers(table.stream.getvalue())
    assert len(found) == requests(lines) + 4
    assert re.fullmatch(r"=9 [A-E][1-5]", found[-2])
    assert not any("internal error" in answer for answer in found)
    assert sum(answer.startswith("=") for answer in found) > len(found) // 10, "some lines are good"


def test_an_error_of_the_program_is_an_answer() -> None:
    table = Table()
    table.session.board._state = None  # type: ignore[assignment]
    first, second = answers(table.run("1 showboard\n2 name"))
    assert first.startswith("?1 internal error: AttributeError")
    assert second == "=2 hauteur"
