"""Players without a network as text: `random`, `mcts:N`, `rave:N`, `solver` and `solver:NODES`."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SIMULATIONS = 10_000_000
MOST_NODES = 10_000_000_000


@dataclass(frozen=True)
class Baseline:
    """What a player without a network is: its kind, and the number behind the colon where it has one.

    number: simulations a move (mcts, rave), most positions searched a move (solver).
    """

    kind: str
    number: int | None = None

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"


@dataclass(frozen=True)
class _Form:
    """How a kind is written. number: the name of what stands behind the colon, None = nothing does."""

    number: str | None
    is_needed: bool
    most: int


FORMS = {
    "random": _Form(None, False, 0),
    "mcts": _Form("N", True, MOST_SIMULATIONS),
    "rave": _Form("N", True, MOST_SIMULATIONS),
    "solver": _Form("NODES", False, MOST_NODES),
}


def is_baseline(word: str) -> bool:
    """Whether the word begins like a player without a network."""
    return word.partition(":")[0] in FORMS


def parse_baseline(text: str) -> Baseline:
    """Reads a player without a network; ValueError says what is allowed."""
    kind, colon, number = text.partition(":")
    if kind not in FORMS:
        raise ValueError(f"no player {text!r} without a network; there are {', '.join(map(_usage, FORMS))}")
    form = FORMS[kind]
    if not colon and not form.is_needed:
        return Baseline(kind)
    if form.number is None or not number.isdecimal() or not 1 <= int(number) <= form.most:
        allowed = "" if form.number is None else f", {form.number} from 1 to {form.most:,}"
        raise ValueError(f"{text!r} is no player: write {_usage(kind)}{allowed}")
    return Baseline(kind, int(number))


def _usage(kind: str) -> str:
    form = FORMS[kind]
    if form.number is None:
        return kind
    return f"{kind}:{form.number}" if form.is_needed else f"{kind}[:{form.number}]"
