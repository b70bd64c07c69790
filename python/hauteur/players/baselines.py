"""Players without a network as text: `random`, `material`, and `mcts:N` and `rave:N`, N random games a move."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from hauteur import _core
from hauteur.players.move_player import ChosenMove, MoveFunction, MoveRequest

MOST_SIMULATIONS = 10_000_000
FORMS = {"random": "random", "material": "material", "mcts": "mcts:N", "rave": "rave:N"}
"""How each kind is written."""
MOST_RAVE_ACTIONS = 256
"""Most actions of a game that `rave` plays."""
PIECE_GAMES = ("chess", "minichess")
"""Games that `material` plays."""
PIECE_VALUES = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9}
"""What pieces are worth to `material`, by their letters in a FEN."""
MATE_VALUE = 1000
"""More than all pieces together."""


@dataclass(frozen=True)
class Baseline:
    """A player without a network: its kind, and the simulations a move behind the colon where it has them."""

    kind: str
    number: int | None = None

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"


def is_baseline(word: str) -> bool:
    """Return whether the word begins like a player without a network."""
    return word.partition(":")[0] in FORMS


def parse_baseline(text: str) -> Baseline:
    """Parse a player without a network; raise ValueError with the allowed forms."""
    kind, colon, number = text.partition(":")
    if kind not in FORMS:
        raise ValueError(f"no player {text!r} without a network; there are {', '.join(FORMS.values())}")
    form = FORMS[kind]
    if form == kind and not colon:
        return Baseline(kind)
    if form == kind or not number.isdecimal() or not 1 <= int(number) <= MOST_SIMULATIONS:
        allowed = "" if form == kind else f", N from 1 to {MOST_SIMULATIONS:,}"
        raise ValueError(f"{text!r} is no player: write {form}{allowed}")
    return Baseline(kind, int(number))


@dataclass(frozen=True)
class BaselinePlayer:
    """A player without a network; `workers` compute its moves."""

    name: str
    rule: MoveFunction
    workers: Executor

    def choose(self, request: MoveRequest) -> Future[ChosenMove]:
        return self.workers.submit(self.rule, request.state, request.seed)

    def end(self, game: int) -> None:
        """Do nothing: no state is kept per game."""

    def close(self) -> None:
        """Do nothing: the workers belong to their owner."""


def make_baseline(game: _core.Game, baseline: Baseline, workers: Executor, name: str = "") -> BaselinePlayer:
    """The player of this kind for this game; ValueError where the game has none."""
    return BaselinePlayer(name or str(baseline), move_function(game, baseline), workers)


def move_function(game: _core.Game, baseline: Baseline) -> MoveFunction:
    """The choice of a move by a player of this kind; ValueError where the game has none."""
    if baseline.kind == "random":
        return _random_move
    if baseline.kind == "material":
        if game.name not in PIECE_GAMES:
            raise ValueError(f"material plays {' and '.join(PIECE_GAMES)}, got {game.spec}")
        return _material_move
    if baseline.kind == "rave" and game.num_actions > MOST_RAVE_ACTIONS:
        allowed = f"rave plays games of at most {MOST_RAVE_ACTIONS} actions, {game.spec} has {game.num_actions}"
        raise ValueError(f"{allowed}; mcts:{baseline.number} plays every game")
    search = _core.mcts_search if baseline.kind == "mcts" else _core.rave_search
    number = baseline.number or 0

    def visits_of(state: _core.State, seed: int) -> list[int]:
        visits: list[int] = search(state, number, seed)[:, 0].tolist()
        return visits

    return _most_visited(visits_of)


def _random_move(state: _core.State, seed: int) -> ChosenMove:
    return ChosenMove(_drawn(state.legal_actions().tolist(), seed))


def _material_move(state: _core.State, seed: int) -> ChosenMove:
    """Look one ply ahead: mate, else the most material, drawn uniformly among equals."""
    actions: list[int] = state.legal_actions().tolist()
    values = [_material_after(state, action) for action in actions]
    most = max(values)
    best = [action for action, value in zip(actions, values, strict=True) if value == most]
    return ChosenMove(_drawn(best, seed))


def _material_after(state: _core.State, action: int) -> int:
    """Return what the mover has more than its opponent after a move, in pawns; MATE_VALUE for mate."""
    child = state.child(action)
    sign = 1 if state.to_move == 0 else -1
    if child.outcome() == sign:
        return MATE_VALUE
    board = child.fen.split()[0]
    first = sum(PIECE_VALUES.get(letter, 0) for letter in board)
    second = sum(PIECE_VALUES.get(letter, 0) for letter in board.swapcase())
    return sign * (first - second)


def _drawn(actions: list[int], seed: int) -> int:
    """Return one of the actions, drawn uniformly."""
    return actions[_core.random_u64(seed, 0) * len(actions) >> 64]


def _most_visited(visits: Callable[[_core.State, int], list[int]]) -> MoveFunction:
    """The legal move with most visits, the lowest of those tied; visits: of every action by position and seed."""

    def choose(state: _core.State, seed: int) -> ChosenMove:
        found = visits(state, seed)
        return ChosenMove(max(sorted(state.legal_actions().tolist()), key=found.__getitem__))

    return choose
