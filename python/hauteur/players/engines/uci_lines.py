"""Parsing of the lines of a UCI engine: options, search reports, its move. Invalid lines give None."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from hauteur.mcts.scores import mate_score
from hauteur.system.formatting import quoted

Kind = Literal["check", "spin", "combo", "button", "string"]
KINDS: tuple[Kind, ...] = ("check", "spin", "combo", "button", "string")
OPTION = re.compile(r"option\s+name\s+(?P<name>\S.*?)\s+type\s+(?P<kind>[a-z]+)(?P<rest>(?:\s.*)?)", re.ASCII)
PART = re.compile(r"\s(default|min|max|var)(?=\s|$)", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,9}")
MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnQRBN]?", re.ASCII)


@dataclass(frozen=True)
class EngineOption:
    """An option of an engine. least, most: of a spin, None where the engine gave none; values: of a combo.

    default: as the engine wrote it, empty without one.
    """

    name: str
    kind: Kind
    least: int | None = None
    most: int | None = None
    values: tuple[str, ...] = ()
    default: str = field(default="", compare=False)

    def problem(self, value: str) -> str | None:
        """Return what is wrong with a value, as the end of a sentence; None where nothing is."""
        if self.kind == "spin":
            return self._spin_problem(value)
        if self.kind == "check" and value not in ("true", "false"):
            return f"must be true or false, got {quoted(value)}"
        if self.kind == "combo" and value.lower() not in map(str.lower, self.values):
            return f"must be one of {', '.join(self.values)}; got {quoted(value)}"
        return None

    def _spin_problem(self, value: str) -> str | None:
        if not NUMBER.fullmatch(value):
            return f"must be a whole number, got {quoted(value)}"
        if self.least is not None and int(value) < self.least:
            return f"must be at least {self.least}, got {value}"
        return None if self.most is None or int(value) <= self.most else f"must be at most {self.most}, got {value}"

    def command(self, value: str) -> str:
        """The line that sets it."""
        return f"setoption name {self.name}" + ("" if self.kind == "button" else f" value {value}")


@dataclass(frozen=True)
class EngineReport:
    """An engine's report of a search. score: in pawns from the mover's view; depth: in plies, 0 unknown."""

    score: float | None
    depth: int


def parse_option(line: str) -> EngineOption | None:
    """Read `option name Hash type spin default 16 min 1 max 1024`."""
    found = OPTION.fullmatch(line.strip())
    if found is None:
        return None
    kind = next((kind for kind in KINDS if kind == found["kind"]), None)
    if kind is None:
        return None
    _, *parts = PART.split(found["rest"])
    values = list(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    least, most = (_bound([value for key, value in values if key == name]) for name in ("min", "max"))
    default = next((value for key, value in values if key == "default"), "")
    choices = tuple(value for key, value in values if key == "var")
    return EngineOption(found["name"], kind, least, most, choices, default)


def parse_info(line: str) -> EngineReport | None:
    """Read depth and score of `info depth 12 score cp 25 ... pv e2e4`; None where it has no score of the best move.

    A bound (lowerbound, upperbound) is no score.
    """
    words = line.split(" string ")[0].split()
    if not words or words[0] != "info" or "score" not in words:
        return None
    if _after(words, "multipv") not in (None, 1) or "lowerbound" in words or "upperbound" in words:
        return None
    cp, mate = _after(words, "cp"), _after(words, "mate")
    if cp is None and mate is None:
        return None
    score = mate_score(mate) if mate is not None else (cp or 0) / 100
    return EngineReport(score, min(max(_after(words, "depth") or 0, 0), 65_535))


def parse_bestmove(line: str) -> str | None:
    """The move of `bestmove e2e4 ponder e7e5`, as the engine wrote it; None where there is no move."""
    words = line.split()
    return words[1] if len(words) > 1 and words[0] == "bestmove" else None


def _after(words: list[str], name: str) -> int | None:
    """The number behind the first word of this name."""
    place = words.index(name) + 1 if name in words else len(words)
    return int(words[place]) if place < len(words) and NUMBER.fullmatch(words[place]) else None


def _bound(values: list[str]) -> int | None:
    """Engines write bounds beyond 32 bits too."""
    return int(values[0]) if values and re.fullmatch(r"-?[0-9]{1,20}", values[0]) else None
