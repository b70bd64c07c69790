"""Laws that every game must obey, checked along random games.

Search, training and recorded games rely on them; a new game is ready when `hauteur check-game` passes.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.pictures import action_squares, board_of
from hauteur.system.seeds import stream

DRAWING_INTERVAL = 8
"""Plies from one position that is drawn to the next: drawing is slow, and all positions are drawn alike."""


@dataclass
class LawResult:
    """One law, how often it was checked, and how it was first broken (None: it never was)."""

    name: str
    text: str
    checks: int = 0
    broken: str | None = None

    def __str__(self) -> str:
        return f"{'ok    ' if self.broken is None else 'broken'} {self.name}: {self.broken or self.text}"


class LawResults(list[LawResult]):
    """Results of all laws; displayed as one line a law."""

    @property
    def ok(self) -> bool:
        """True where no law was broken."""
        return all(result.broken is None for result in self)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


@dataclass
class Visit:
    """A position on a random game, with what the laws compare it to."""

    game: _core.Game
    state: _core.State
    moves: tuple[int, ...]
    twins: list[_core.State]
    seen: dict[int, tuple[bytes, bytes]]
    rng: np.random.Generator
    legal: NDArray[np.int64] = field(init=False)
    features: NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        self.legal = self.state.legal_actions()
        self.features = self.state.features()


class Law(NamedTuple):
    """A law; `check` returns None, or a description of the violation."""

    name: str
    text: str
    check: Callable[[Visit], str | None]


def check_laws(game: _core.Game, *, games: int, seed: int) -> LawResults:
    """Play `games` random games and check every law at every position; one result a law, broken or not."""
    if games < 1:
        raise ValueError(f"games must be >= 1, got {games}")
    results = LawResults(LawResult(law.name, law.text) for law in LAWS)
    seen: dict[int, tuple[bytes, bytes]] = {}
    for index in range(games):
        _check_along_a_game(game, stream(seed, "check-game", index), seen, results)
    return results


def _check_along_a_game(
    game: _core.Game, rng: np.random.Generator, seen: dict[int, tuple[bytes, bytes]], results: Sequence[LawResult]
) -> None:
    moves: list[int] = []
    try:
        for visit in _random_game(game, rng, seen, moves):
            for law, result in zip(LAWS, results, strict=True):
                _check_law(law, result, visit)
    except Exception as error:  # whatever a game throws is what the user wants to see
        result = results[0]
        result.broken = result.broken or f"{_raised(error)}{_after(moves)}"


def _random_game(
    game: _core.Game, rng: np.random.Generator, seen: dict[int, tuple[bytes, bytes]], moves: list[int]
) -> Iterator[Visit]:
    """The positions of one game with uniformly random moves; with every symmetry a twin plays the mirrored moves."""
    state = game.new_initial_state()
    _, actions = game.symmetries()
    becomes = np.argsort(actions, axis=1)
    twins = [game.new_initial_state(symmetry) for symmetry in range(len(actions))]
    while True:
        visit = Visit(game, state, tuple(moves), twins, seen, rng)
        yield visit
        if state.outcome() is not None or len(visit.legal) == 0:
            return
        action = int(rng.choice(visit.legal))
        moves.append(action)
        state.apply(action)
        for twin, new in zip(twins, becomes, strict=True):
            twin.apply(int(new[action]))


def _check_law(law: Law, result: LawResult, visit: Visit) -> None:
    """Check one law at one position; a law that was broken once is not checked again."""
    if result.broken is not None:
        return
    result.checks += 1
    try:
        message = law.check(visit)
    except Exception as error:  # as above
        message = _raised(error)
    if message is not None:
        result.broken = message + _after(visit.moves)


def _raised(error: Exception) -> str:
    return f"raised {type(error).__name__}: {error}"


def _after(moves: Sequence[int]) -> str:
    return f"; after the actions {list(moves)}"


def _runs(visit: Visit) -> str | None:
    """Check that the player to move is 0 or 1 and that ply counts the moves."""
    if visit.state.to_move not in (0, 1):
        return f"to_move is {visit.state.to_move}, not 0 or 1"
    return None if visit.state.ply == len(visit.moves) else f"ply is {visit.state.ply}, not {len(visit.moves)}"


def _legal_actions(visit: Visit) -> str | None:
    actions = visit.legal.astype(np.int64)
    if (np.diff(actions) > 0).all() and (actions < visit.game.num_actions).all():
        return None
    return f"legal actions {actions.tolist()} are not ascending below {visit.game.num_actions}"


def _outcome(visit: Visit) -> str | None:
    outcome, moves_left = visit.state.outcome(), len(visit.legal)
    if outcome not in (None, 1, 0, -1):
        return f"outcome is {outcome}"
    if outcome is None and not moves_left:
        return "no legal action, but the outcome is None"
    if outcome in (1, -1) and moves_left:
        return f"outcome is {outcome}, but {moves_left} actions are legal"
    given = visit.state.end_reason() is not None
    return None if given == (outcome is not None) else f"outcome {outcome}, end reason {visit.state.end_reason()!r}"


def _max_plies(visit: Visit) -> str | None:
    if len(visit.moves) <= visit.game.max_plies:
        return None
    return f"{len(visit.moves)} plies, but max_plies is {visit.game.max_plies}"


def _refusal(visit: Visit) -> str | None:
    """Check that up to four illegal actions and one out of range raise ValueError and change nothing."""
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
    """All facts that distinguish two positions."""
    legal, features = state.legal_actions().tobytes(), state.features().tobytes()
    results = state.outcome(), state.repetition()
    return state.key, state.to_move, state.ply, results, legal, features, state.notation(), state.text()


def _copies(visit: Visit) -> str | None:
    """Two copies that play the same move are equal; the original does not change."""
    before = _facts(visit.state)
    first, second = visit.state.copy(), visit.state.copy()
    if _facts(first) != before:
        return "a copy differs from its original"
    if len(visit.legal):
        action = int(visit.rng.choice(visit.legal))
        first.apply(action)
        after = _facts(first)
        second.apply(action)
        if _facts(second) != after:
            return f"two copies of a position differ after the same action {action}"
    return None if _facts(visit.state) == before else "a move on a copy changed the original"


def _encode(visit: Visit) -> str | None:
    shape = visit.game.feature_shape
    if visit.features.shape != shape or not np.isfinite(visit.features).all():
        return f"features are not {shape} finite numbers"
    row = np.full((1, *shape), np.nan, np.float32)
    _core.encode_positions([visit.state], row)
    if np.isnan(row).any():
        return f"{int(np.isnan(row).sum())} floats of the feature row are not written"
    return None if np.array_equal(row[0], visit.features) else "encode gives different features the second time"


def _keys(visit: Visit) -> str | None:
    content = (visit.features.tobytes(), visit.legal.tobytes())
    if visit.seen.setdefault(visit.state.key, content) == content:
        return None
    return f"key {visit.state.key} belongs to two positions with different features or legal actions"


def _notation(visit: Visit) -> str | None:
    for action in visit.legal.tolist():
        text = visit.state.action_to_text(action)
        if not text or visit.state.parse(text) != action:
            return f"action {action} is written {text!r}, which is read as another action"
    return None


def _symmetries(visit: Visit) -> str | None:
    """The twin that mirrored moves lead to has the mirrored features and actions, the same mover and outcome."""
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


def _repetition(visit: Visit) -> str | None:
    """Check, while the game is not over, that a repeat has the mover and legal actions of the earlier position."""
    repeat = visit.state.repetition()
    if repeat is None or visit.state.outcome() is not None:
        return None
    count, plies, _ = repeat
    if count < 1 or not 1 <= plies <= len(visit.moves):
        return f"repetition is {repeat} after {len(visit.moves)} plies"
    earlier = visit.game.new_initial_state()
    for action in visit.moves[: len(visit.moves) - plies]:
        earlier.apply(action)
    same = earlier.to_move == visit.state.to_move and np.array_equal(earlier.legal_actions(), visit.legal)
    return None if same else f"repetition is {repeat}, but the position {plies} plies ago was another one"


def _drawings(visit: Visit) -> str | None:
    if len(visit.moves) % DRAWING_INTERVAL and visit.state.outcome() is None:
        return None
    if not visit.state.text().strip():
        return "the text drawing is empty"
    root = ElementTree.fromstring(visit.state.svg())
    return None if root.tag == "{http://www.w3.org/2000/svg}svg" else f"the drawing's root element is {root.tag}"


def _squares(visit: Visit) -> str | None:
    """Check that up to eight actions change what stands on the last of their squares, where the text is a board."""
    before = board_of(visit.state, ())
    if before is None:
        return None  # its squares are not pointed at
    for action in visit.rng.choice(visit.legal, size=min(8, len(visit.legal)), replace=False).tolist():
        squares = action_squares(visit.state, action)
        behind = board_of(visit.state.child(action), ())
        if behind is not None and squares and before.cells[squares[-1]] == behind.cells[squares[-1]]:
            name = visit.state.action_to_text(action)
            changed = [i for i in range(len(before.cells)) if before.cells[i] != behind.cells[i]]
            places = ", ".join(str(divmod(i, before.columns)) for i in changed) or "no square"
            last = divmod(squares[-1], before.columns)
            return f"squares({action}), the move {name}, is {last} last, where nothing changes; what changes: {places}"
    return None


def _determinism(visit: Visit) -> str | None:
    """Checked at the end of a game: the same actions lead to the same position."""
    if visit.state.outcome() is None:
        return None
    again = visit.game.new_initial_state()
    for action in visit.moves:
        again.apply(action)
    return None if _facts(again) == _facts(visit.state) else "the same actions lead to another position"


LAWS = (
    Law("runs", "every question is answered; ply counts the moves; to_move is 0 or 1", _runs),
    Law("legal", "legal actions are ascending, without repeats, below num_actions", _legal_actions),
    Law(
        "outcome", "a game without legal actions is over; a won game has none; only ended games have a reason", _outcome
    ),
    Law("length", "no game is longer than max_plies", _max_plies),
    Law("refusal", "an illegal action is refused and changes nothing", _refusal),
    Law("copies", "copies are equal and independent", _copies),
    Law("features", "features have their shape, are finite, written in full and the same every time", _encode),
    Law("keys", "positions with equal keys have equal features and legal actions", _keys),
    Law("notation", "every legal action is read back from its notation", _notation),
    Law("symmetries", "symmetries map features, legal actions and moves alike", _symmetries),
    Law(
        "repetition", "a position that is a repeat has the mover and the legal actions of the earlier one", _repetition
    ),
    Law("drawings", "text is not empty and SVG is well-formed", _drawings),
    Law("squares", "an action changes what stands on the last of its squares", _squares),
    Law("determinism", "the same actions lead to the same position", _determinism),
)
