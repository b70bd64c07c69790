"""The nature of self-play in Joshi 2025, section 4.2.1: at N_scl 1 far more games are won than drawn, and with a high
N_scl both sides exchange their pieces early, with a low one games stay complicated.

Complication has no number in the paper. What is counted here is the pieces on the board after a number of moves; games
that ended before count with their last position. Of the kinds of complication that the paper names, unequal material is
counted too: in what share of the positions after moves 10 to 40 one side has 2 pawns or more than the other. The games
of figure 2, in a folder beside this one, are not played again.
"""

from __future__ import annotations

from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import COLOURS, Match, Played, play, points
from hauteur_experiments.measured import Mean, Record, contrast
from hauteur_experiments.ratio import ratio_of, ratio_text
from hauteur_experiments.search_contempt.settings import (
    LEAST_GAMES,
    N_SCL_SETS,
    PAPER,
    SelfPlay,
    contempt,
    game_of,
    paper_match,
    scoped,
)
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import SMALLEST_POINTS, Claim, Inequality

MOVES = (10, 20, 30, 40)
"""Moves of each side after which pieces are counted."""

JUDGED = 30
RATIO = 2.5
"""The paper's (w + l)/d at N_scl 1."""

FROM_MOVE, TO_MOVE = 10, 40
"""Moves of each side after which material is compared."""

PIECE_VALUES = {"q": 9, "r": 5, "b": 3, "n": 3, "p": 1}
UNEQUAL = 2
"""Pawns that one side has more, from which on material is unequal."""

CHOSEN_AFTER = "the measure was chosen after the games"
"""Scope of the count of unequal material, which was not among the claims when these games were first judged."""

PIECE = 1.0
"""Difference in pieces that matters: one of a pair that is exchanged."""

ONE = SelfPlay("n1", "N_scl 1", contempt(1), Record(0, 0, 0))
"""Of this setting the paper has a ratio alone."""

SETS = (ONE, *N_SCL_SETS)
TITLE = "Pieces on the board by N_scl"


def matches(setting: Setting) -> list[Match]:
    """The self-play of each set."""
    return [paper_match(setting, one) for one in SETS]


def make(setting: Setting) -> Result:
    """Play the sets, or take their games from beside, and count."""
    played = play(setting, matches(setting), shared=True)
    rows = []
    lines = []
    unequal = {}
    at_judged = {}
    for number, one in enumerate(SETS):
        games = played[one.name]
        by_move = pieces_by_move(games)
        unequal[one.title] = unequal_share(games)
        at_judged[one.title] = by_move[JUDGED]
        rows.append(_row(one.title, by_move, unequal[one.title]))
        pieces = [by_move[move] for move in MOVES]
        lines.append(points(one.title, MOVES, pieces, COLOURS[number], joined=True))
    text = f"Self-play of {game_of(setting)}; games that ended before count with their last position. Shades: 95 %."
    figure = ht.Figure("contempt-nature", TITLE, text, "pieces", "moves of each side", lines=tuple(lines))
    record = Record.of(played[ONE.name].tally)
    found = [ratio_finding(record), *piece_findings(at_judged), unequal_finding(unequal)]
    return scoped(setting, Result(rows, found, [figure]))


def pieces_by_move(played: Played) -> dict[int, Mean]:
    """Pieces on the board after each of MOVES, over the games."""
    counted: dict[int, list[float]] = {move: [] for move in MOVES}
    for game in played.games:
        state = ht.load_game(played.match.game).new_initial_state()
        counts = [pieces_of(state)]
        for move in game.moves.split()[: 2 * max(MOVES)]:
            state.apply_text(move)
            counts.append(pieces_of(state))
        for move in MOVES:
            counted[move].append(counts[min(2 * move, len(counts) - 1)])
    return {move: Mean(counts) for move, counts in counted.items()}


def pieces_of(state: ht.State) -> float:
    """Pieces on the board of a position with a FEN."""
    return float(sum(sign.isalpha() for sign in state.fen.split()[0]))


def _row(title: str, pieces: dict[int, Mean], unequal: Mean) -> dict[str, Any]:
    """A line of the table: pieces by move, and the share of positions with unequal material in percent."""
    low, high = unequal.interval(0.95)
    counts = {f"pieces_{move}": pieces[move].value for move in MOVES}
    return {"setting": title, **counts, "unequal": unequal.value, "unequal_low": low, "unequal_high": high}


def unequal_share(played: Played) -> Mean:
    """Percentage of the positions after moves FROM_MOVE to TO_MOVE with unequal material: the mean of the games that
    last so long.
    """
    shares = []
    for game in played.games:
        state = ht.load_game(played.match.game).new_initial_state()
        found = []
        for ply, move in enumerate(game.moves.split()[: 2 * TO_MOVE], start=1):
            state.apply_text(move)
            if ply % 2 == 0 and ply >= 2 * FROM_MOVE:
                found.append(abs(balance_of(state)) >= UNEQUAL)
        if found:
            shares.append(100 * sum(found) / len(found))
    return Mean(shares)


def balance_of(state: ht.State) -> int:
    """White's material less Black's, in pawns, of a position with a FEN."""
    signs = [sign for sign in state.fen.split()[0] if sign.isalpha()]
    return sum(PIECE_VALUES.get(sign.lower(), 0) * (1 if sign.isupper() else -1) for sign in signs)


def unequal_finding(unequal: dict[str, Mean]) -> Finding:
    """Material is unequal more often at the least N_scl of figure 2 than with PUCT."""
    low = N_SCL_SETS[0].title
    high = N_SCL_SETS[-1].title
    more = contrast((1, unequal[low]), (-1, unequal[high]))
    what = f"positions with unequal material, {low} less {high}"
    side = Inequality(what, more, 0.0, "above", LEAST_GAMES, unit="percentage points", matters=SMALLEST_POINTS)
    shown = ", ".join(f"{title} {share.value:.1f} %" for title, share in unequal.items())
    return Finding.of("unequal", Claim((side,)), shown, CHOSEN_AFTER)


def ratio_finding(one: Record) -> Finding:
    """(w + l)/d at N_scl 1 is above the paper's bound; a half of it matters."""
    side = Inequality("(w + l)/d of N_scl 1", ratio_of(one), RATIO, "above", LEAST_GAMES, matters=2 * RATIO)
    return Finding.of("one", Claim((side,)), ratio_text(one))


def piece_findings(pieces: dict[str, Mean]) -> list[Finding]:
    """More pieces are left at the least N_scl of figure 2 than with PUCT, and at every N_scl than at the next."""
    titles = [one.title for one in N_SCL_SETS]

    def more(low: str, high: str) -> Inequality:
        what = f"pieces after {JUDGED} moves, {low} less {high}"
        return Inequality(
            what,
            contrast((1, pieces[low]), (-1, pieces[high])),
            0.0,
            "above",
            LEAST_GAMES,
            unit="pieces",
            matters=PIECE,
        )

    return [
        Finding.of("pieces", Claim((more(titles[0], titles[-1]),))),
        Finding.of("pieces-steps", Claim(tuple(map(more, titles[:-1], titles[1:])))),
    ]


EXPERIMENTS = (
    Experiment(
        "contempt-nature",
        f"{PAPER}, section 4.2.1",
        "self-play with search-contempt: decisive games at N_scl 1, pieces on the board by move",
        make,
        claims=stated(
            f"{PAPER}, section 4.2.1",
            "one | (w + l)/d is above 2.5 at N_scl 1 | above 2.5",
            "pieces | with PUCT pieces are exchanged earlier than at N_scl 5 (fewer left after 30 moves) | no number",
            "pieces-steps | ... and at each N_scl earlier than at the next lower one | no number",
            "attacks | nets that learn from such games are less open to adversarial attacks (conclusion) | no number"
            " | an attacker trained against each of two nets: hundreds of core hours; weaker, exact"
            " exploitability of 24 nets in Connect Four 6x5, learned again: about 5 core hours",
        )
        + stated(
            "this laboratory",
            "unequal | at N_scl 5 material is unequal (by 2 pawns or more, moves 10 to 40) more often than with PUCT"
            " | no number",
        ),
        matches=matches,
        uses=("nets", "visits", "game", "precision"),
        looks=True,
    ),
)
