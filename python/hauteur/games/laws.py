"""Laws that every game must obey, checked along random games.

Search, training and recorded games rely on them; a new game is ready when `hauteur check-game` passes.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.begins import over_at_the_start
from hauteur.games.pictures import action_squares, board_of
from hauteur.games.random_play import RandomPlay, board_text
from hauteur.games.transpositions import Transpositions, actions_text
from hauteur.system.hints import checked_seed, whole_number
from hauteur.system.seeds import stream

MOST_GAMES = 1_000_000_000
"""Random games that may be asked for."""

DRAWING_INTERVAL = 8
"""Plies from one position that is drawn to the next: drawing is slow, and all positions are drawn alike."""


@dataclass
class LawResult:
    """One law, how often it was checked, and how it was first broken (None: it never was)."""

    name: str
    """Name of the function that checks it."""
    text: str
    """What must be so."""
    checks: int = 0
    """How often it was checked."""
    broken: str | None = None
    """How it was broken first; None: it never was."""
    is_wrong_answer: bool = False
    """The game gave an answer that is not allowed, such as text instead of a number."""

    @property
    def holds(self) -> bool:
        """Whether it was checked and never broken: a game that cannot be asked leaves laws without a check."""
        return self.broken is None and self.checks > 0

    def __str__(self) -> str:
        verdict = "ok" if self.holds else "-"
        if self.broken is not None:
            verdict = "BROKEN"
        found = "" if self.broken is None else f"\n       {self.broken}"
        return f"{verdict:6} {self.name:14} {self.checks:9,} checks  {self.text}{found}"


class LawResults(list[LawResult]):
    """Results of all laws; displayed as a line a law, with how it is broken below it.

    played: what the random games looked like.
    """

    def __init__(self, results: Iterable[LawResult] = ()) -> None:
        super().__init__(results)
        self.played = RandomPlay()

    @property
    def ok(self) -> bool:
        return all(result.broken is None for result in self)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


@dataclass
class Visit:
    """A position on a random game, with what the laws compare it to."""

    game: _core.Game
    """The game."""
    state: _core.State
    """The position."""
    moves: list[int]
    """Actions that led to it."""
    twins: list[_core.State]
    """With every symmetry a position that the mirrored moves have led to, the identity first."""
    moved_copy: _core.State | None
    """A copy of the position before, after the same move; None at the start."""
    seen: dict[int, tuple[bytes, bytes]]
    """Facts of the positions met so far, by their key, with which equal keys are compared."""
    transpositions: Transpositions
    """Positions seen by key and ply, with which other orders of moves are compared."""
    rng: np.random.Generator
    """Draws what a law checks at random."""
    legal: NDArray[np.int64] = field(init=False)
    """int64 [n]: its legal actions."""
    features: NDArray[np.float32] = field(init=False)
    """float32 [C, H, W]: its features."""

    def __post_init__(self) -> None:
        self.legal = self.state.legal_actions()
        self.features = self.state.features()


Law = Callable[[Visit], str | None]
"""A law: None, or a description of the violation. Its name is the function's, its text the docstring."""


def check_laws(game: _core.Game, *, games: int, seed: int) -> LawResults:
    """Play `games` random games and check every law at every position; one result a law, broken or not."""
    whole_number("games", games, 1, MOST_GAMES)
    checked_seed(seed)
    results = LawResults()
    for law in LAWS:
        statement = str(law.__doc__).splitlines()[0].rstrip(".")
        results.append(LawResult(law.__name__, statement))
    checks = _Checks(game, results)
    for index in range(games):
        moves: list[int] = []
        try:
            checks.along_a_game(stream(seed, "check-game", index), moves)
        except Exception as error:  # of the game itself, between two checks
            _note(results[0], error, moves)
    return results


@dataclass
class _Checks:
    """Checks of the laws of a game along random games."""

    game: _core.Game
    results: LawResults
    seen: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.transpositions = Transpositions(self.game)
        self.copies = self.results[LAWS.index(copies)]

    def along_a_game(self, rng: np.random.Generator, moves: list[int]) -> None:
        """Check all laws along one game with uniformly random moves; a law that was broken once is not checked again.

        moves: gets the actions that were played.
        """
        game = self.game
        played = self.results.played
        state = game.new_initial_state()
        becomes = np.argsort(game.symmetries()[1], axis=1)
        twins = [game.new_initial_state(symmetry) for symmetry in range(len(becomes))]
        copied: _core.State | None = None
        while True:
            visit = Visit(game, state, moves, twins, copied, self.seen, self.transpositions, rng)
            for law, result in zip(LAWS, self.results, strict=True):
                _check(law, result, visit)
            outcome = state.outcome()
            if outcome is not None:
                played.board = played.board or board_text(game.new_initial_state())
                played.ended(outcome, len(moves))
            if outcome is not None or len(visit.legal) == 0:
                return
            played.moved(state.to_move, len(visit.legal))
            moves.append(int(rng.choice(visit.legal)))
            copied = state.copy() if self.copies.broken is None else None
            state.apply(moves[-1])
            if copied is not None:
                copied.apply(moves[-1])
            for twin, new in zip(twins, becomes, strict=True):
                twin.apply(int(new[moves[-1]]))


def _check(law: Law, result: LawResult, visit: Visit) -> None:
    """Check a law here unless it is broken already; an exception of the game breaks it too."""
    if result.broken is not None:
        return
    result.checks += 1
    try:
        message = law(visit)
    except Exception as error:  # whatever a game throws is what the user wants to see
        _note(result, error, visit.moves)
    else:
        if message is not None:
            _note(result, message, visit.moves)


def _note(result: LawResult, problem: str | Exception, moves: list[int]) -> None:
    """Keep how a law is broken, with the actions that lead there, unless it is known already."""
    if result.broken is not None:
        return
    result.is_wrong_answer = isinstance(problem, _core.WrongAnswer)
    message = str(problem)
    if isinstance(problem, Exception) and not result.is_wrong_answer:
        message = f"raised {type(problem).__name__}: {problem}"
    has_place = "after the actions [" in message
    result.broken = message if has_place else f"{message}; after the actions {actions_text(moves)}"


def runs(visit: Visit) -> str | None:
    """Every question is answered; ply counts the moves, at most max_plies; to_move is 0 or 1."""
    if visit.state.to_move not in (0, 1):
        return f"to_move is {visit.state.to_move}, not 0 or 1"
    if len(visit.moves) > visit.game.max_plies:
        return f"{len(visit.moves)} plies, but max_plies is {visit.game.max_plies}"
    if visit.state.ply != len(visit.moves):
        return f"ply is {visit.state.ply}, not {len(visit.moves)}"
    return None


def legal(visit: Visit) -> str | None:
    """Legal actions are ascending, without repeats, below num_actions."""
    actions = visit.legal.astype(np.int64)
    if (np.diff(actions) > 0).all() and (actions < visit.game.num_actions).all():
        return None
    return f"legal actions {actions.tolist()} are not ascending below {visit.game.num_actions}"


def outcome(visit: Visit) -> str | None:
    """A game without legal actions is over; a won game has none; only ended games have a reason."""
    outcome = visit.state.outcome()
    moves_left = len(visit.legal)
    if outcome is not None and not visit.moves:
        return over_at_the_start(outcome)
    if outcome not in (None, 1, 0, -1):
        return f"outcome is {outcome}"
    if outcome is None and not moves_left:
        return "no legal action, but the outcome is None"
    if outcome in (1, -1) and moves_left:
        return f"outcome is {outcome}, but {moves_left} actions are legal"
    given = visit.state.end_reason() is not None
    if given == (outcome is not None):
        return None
    return f"outcome {outcome}, end reason {visit.state.end_reason()!r}"


def transpositions(visit: Visit) -> str | None:
    """Equal keys have equal outcomes for the mover, and the same action leads to equal keys."""
    goes_on = visit.state.outcome() is None and len(visit.legal) > 0
    if goes_on or visit.game.past_matters is not None:
        return None
    return visit.transpositions.violation(visit.moves, visit.rng)


def refusal(visit: Visit) -> str | None:
    """An illegal action is refused and changes nothing."""
    illegal = np.setdiff1d(np.arange(visit.game.num_actions), visit.legal)
    chosen = visit.rng.choice(illegal, size=min(4, len(illegal)), replace=False)
    before = _facts(visit.state)
    for action in [*map(int, chosen), visit.game.num_actions]:
        try:
            visit.state.apply(action)
        except ValueError:
            if _facts(visit.state) != before:
                return f"the refused action {action} changed the state"
        else:
            return f"the illegal action {action} was played"
    return None


def _facts(state: _core.State) -> tuple[object, ...]:
    legal = state.legal_actions().tobytes()
    features = state.features().tobytes()
    results = state.outcome(), state.repetition()
    return state.key, state.to_move, state.ply, results, legal, features, state.notation(), state.text()


def copies(visit: Visit) -> str | None:
    """Copies are equal, independent and go on alike."""
    before = _facts(visit.state)
    first = visit.state.copy()
    second = visit.state.copy()
    if _facts(first) != before:
        return "a copy differs from its original"
    if len(visit.legal):
        action = int(visit.rng.choice(visit.legal))
        first.apply(action)
        after = _facts(first)
        second.apply(action)
        if _facts(second) != after:
            return f"two copies of a position differ after the same action {action}"
    if _facts(visit.state) != before:
        return "a move on a copy changed the original"
    # Only after a move: until then a copy has the answers that its original gave.
    if visit.moved_copy is not None and _facts(visit.moved_copy) != before:
        return "a copy of the position before the last action is another one after it: copy() leaves something out"
    return None


def features(visit: Visit) -> str | None:
    """Features have their shape, are finite, written in full and the same every time."""
    shape = visit.game.feature_shape
    if visit.features.shape != shape or not np.isfinite(visit.features).all():
        return f"features are not {shape} finite numbers"
    row = np.full((1, *shape), np.nan, np.float32)
    _core.encode_positions([visit.state], row)
    if np.isnan(row).any():
        return f"{int(np.isnan(row).sum())} floats of the feature row are not written"
    if np.array_equal(row[0], visit.features):
        return None
    return "encode gives different features the second time"


def keys(visit: Visit) -> str | None:
    """Positions with equal keys have equal features and legal actions."""
    content = (visit.features.tobytes(), visit.legal.tobytes())
    if visit.seen.setdefault(visit.state.key, content) == content:
        return None
    return f"key {visit.state.key} belongs to two positions with different features or legal actions"


def notation(visit: Visit) -> str | None:
    """Every legal action is read back from its notation."""
    for action in visit.legal.tolist():
        text = visit.state.action_to_text(action)
        if not text or visit.state.parse(text) != action:
            return f"action {action} is written {text!r}, which is read as another action"
    return None


def symmetries(visit: Visit) -> str | None:
    """Symmetries map features, legal actions and moves alike."""
    squares, actions = visit.game.symmetries()
    legal = np.zeros(visit.game.num_actions, bool)
    legal[visit.legal] = True
    flat = visit.features.reshape(visit.game.feature_shape[0], -1)
    for index, twin in enumerate(visit.twins):
        if not np.array_equal(twin.features().reshape(flat.shape), flat[:, squares[index]]):
            return f"symmetry {index} does not carry over to the features"
        if not np.array_equal(np.flatnonzero(legal[actions[index]]), twin.legal_actions()):
            return f"symmetry {index} does not carry over to the legal actions"
        if (twin.to_move, twin.outcome()) != (visit.state.to_move, visit.state.outcome()):
            return f"symmetry {index} changes the player to move or the outcome"
    return None


def repetition(visit: Visit) -> str | None:
    """A position that is a repeat has the mover and the legal actions of the earlier one."""
    repeat = visit.state.repetition()
    if repeat is None or visit.state.outcome() is not None:
        return None
    count, plies, _ = repeat
    if count < 1 or not 1 <= plies <= len(visit.moves):
        return f"repetition is {repeat} after {len(visit.moves)} plies"
    earlier = visit.game.new_initial_state()
    for action in visit.moves[: len(visit.moves) - plies]:
        earlier.apply(action)
    if earlier.to_move == visit.state.to_move and np.array_equal(earlier.legal_actions(), visit.legal):
        return None
    return f"repetition is {repeat}, but the position {plies} plies ago was another one"


def drawings(visit: Visit) -> str | None:
    """Text is not empty and SVG is well-formed."""
    if len(visit.moves) % DRAWING_INTERVAL:
        return None
    root = ElementTree.fromstring(visit.state.svg())
    if root.tag != "{http://www.w3.org/2000/svg}svg":
        return f"the drawing's root element is {root.tag}"
    return None if visit.state.text().strip() else "the text drawing is empty"


def squares(visit: Visit) -> str | None:
    """An action changes what stands on the last of its squares."""
    before = board_of(visit.state, ())
    some = visit.rng.choice(visit.legal, size=min(8, len(visit.legal)), replace=False)
    for action in some.tolist():
        squares = action_squares(visit.state, action)
        behind = board_of(visit.state.child(action), ())
        if before is None or behind is None or not squares:
            return None  # nothing is pointed at
        if before.cells[squares[-1]] == behind.cells[squares[-1]]:
            last = divmod(squares[-1], before.columns)
            name = visit.state.action_to_text(action)
            return f"squares({action}), the move {name}, is {last} last, where nothing changes"
    return None


LAWS: tuple[Law, ...] = (
    *(runs, legal, outcome, refusal, copies, features, keys, transpositions, notation),
    *(symmetries, repetition, drawings, squares),
)
