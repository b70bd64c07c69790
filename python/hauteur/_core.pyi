"""The compiled core: games, positions, search. Arrays in, arrays out; every error is a ValueError that says what is allowed."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, final

import chess
import numpy as np
from numpy.typing import NDArray

from hauteur.mcts.report import RootReport

__all__ = [
    "Batch",
    "Board",
    "ExactSolver",
    "Explained",
    "Forest",
    "Game",
    "GameOver",
    "MoveDue",
    "Network",
    "Odds",
    "PgnGame",
    "PgnReader",
    "PlayedGames",
    "SearchHistory",
    "SgfGame",
    "State",
    "StopFlag",
    "Tablebase",
    "TextGame",
    "Uniform",
    "WrongAnswer",
    "__version__",
    "annotated_sgf",
    "bench_search",
    "board_of",
    "captured",
    "check_settings",
    "choose_action",
    "clean_fen",
    "dirichlet",
    "encode_games",
    "encode_positions",
    "forced_win",
    "form_of_text",
    "game_names",
    "game_tree_view",
    "hint_view",
    "mcts_search",
    "moves_left",
    "moves_to_go",
    "odds_of",
    "parse_odds",
    "pgn_position_tags",
    "pgn_tag_value",
    "plan_clock",
    "position_of",
    "position_view",
    "python_game_from",
    "random_u64",
    "rave_search",
    "read_pgn_tree",
    "read_sgf",
    "read_text_game",
    "rollout_values",
    "settings_schema",
    "sgf_result",
    "sgf_spec",
    "sgf_text",
    "solved_positions",
    "start_board",
    "start_game",
    "start_rank",
    "state_from",
    "t_quantile",
    "toggled_odds",
    "why_no_board",
    "written_game",
    "written_pgn",
    "written_sgf",
]

__version__: str

class WrongAnswer(ValueError):  # noqa: N818  (as ValueError, it says what was wrong)
    """A game written in Python gave an answer that is not allowed: the game, the moves, the method, what is allowed."""

_Whole = Sequence[int] | NDArray[np.integer[Any]]
"""Whole numbers, one dimension; arrays of the core's own type (ids int64, visits uint32, actions uint16) are not copied."""

class _SearchSettings(Protocol):
    """Settings of a search: hauteur.mcts.params.SearchParams has this method as every pydantic model."""

    def model_dump_json(self, *, exclude_none: bool = False) -> str: ...

@final
class Game:
    """A game, built from its spec (`connect4`, `nogo(size=7)`, `chess(fen=...)`)."""

    def __new__(cls, spec: str) -> Game: ...
    @staticmethod
    def from_python(game: object, spec: str | None = None) -> Game:
        """Wraps a game written in Python, given as its initial position (see hauteur.games.registry.Position).

        `spec` is what builds it again, by default the class's name in small letters. An exception raised by a method
        of the position is raised again by the call that needed it (`gather`, `add`, `State.apply` ...); a forest that
        met one must not be used further.
        """
    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def feature_shape(self) -> tuple[int, int, int]: ...
    @property
    def colour_plane(self) -> int | None:
        """The plane of the features that is all ones where the second player is to move, zeros where the first one is;
        None where the features do not tell."""
    @property
    def max_plies(self) -> int: ...
    @property
    def look(self) -> _Look | Literal[""]:
        """How the squares of its text are drawn; empty: by `State.svg` alone."""
    @property
    def record_form(self) -> Literal["pgn", "sgf"] | None:
        """The form of files in which games are recorded; None: a line of moves."""
    @property
    def move_notation(self) -> str | None:
        """The notation of moves that people read (chess: `san`); None: the usual one."""
    @property
    def sides(self) -> tuple[str, str]:
        """What the two players are called, as captions call them: `White` and `Black`."""
    @property
    def has_fen(self) -> bool:
        """True where positions have a FEN, and the spec a parameter `fen`."""
    @property
    def has_draws(self) -> bool:
        """True where a game can end as a draw."""
    @property
    def past_matters(self) -> str | None:
        """What the value of a position depends on beyond its key and its ply; None in games without such rules."""
    def new_initial_state(self, symmetry: int = 0) -> State:
        """The start of the game, seen through the symmetry of this number (0: unchanged)."""
    def symmetries(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Square and action permutations, int32 [S, rows*columns] and [S, num_actions], identity first:
        new_plane.flat[i] = plane.flat[squares[s, i]]; new_policy[a] = policy[actions[s, a]]."""
    def __eq__(self, other: object, /) -> bool:
        """The same rules: one spec, and one class where they are written in Python."""
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

_Look = Literal["pieces", "stones", "reversi", "hexagons", "discs", "crosses", "letters"]

@final
class Board:
    """The look of a position on a rectangular board, in the units of its drawing."""

    @property
    def look(self) -> _Look: ...
    @property
    def cells(self) -> str:
        """One sign a square, row by row from the top, `.` where it is empty."""
    @property
    def row_labels(self) -> tuple[str, ...]: ...
    @property
    def column_labels(self) -> tuple[str, ...]: ...
    @property
    def caption(self) -> str:
        """Whose turn it is, or how the game ended."""
    @property
    def last(self) -> tuple[int, ...]:
        """Squares of the last move, as indices of cells."""
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the drawing."""
    @property
    def cell(self) -> int:
        """Side of a square."""
    @property
    def margins(self) -> tuple[int, int]:
        """Margins at the left and above."""
    @property
    def symbols(self) -> list[tuple[str, str, str]]:
        """Of every sign that such a board can have its id and the `<g>` that draws it; none where they are any letters."""
    @property
    def square_names(self) -> list[str]:
        """Name of every square, such as e4, in the order of the cells; row and column without labels."""
    def slant(self, row: int) -> int:
        """How far a row lies to the right of the top one: hexagons half a cell a row."""
    def ground(self, *, flip: bool = False) -> str:
        """The empty board with its labels as SVG; flip: seen from the second player's side."""

def board_of(state: State, last: Sequence[int] | None = None) -> Board | None:
    """The board of a position; None where its game has none. last: squares of the last move, where they are known."""

def why_no_board(state: State) -> str:
    """Why a position has no board of cells, in words that follow "because"; empty where it has one."""

@final
class Explained:
    """A search of a comparison at its end: its report, and the most visited nodes of its tree."""

    def __new__(cls, forest: Forest, id: int, state: State, facts: str, most: int) -> Explained:
        """Read a tree of a forest. state: its root; facts: JSON with side, evaluator, reason, seconds, new_visits, depth
        and rows; most: nodes that are read."""
    def effect_of_rule(self, name: str, key: str, off: Explained, page: str | None) -> str:
        """What a rule did, as JSON: this search has it, off does without. name: of the side; page: of the rule."""
    def explanation(self, other: Explained, rules: list[str], visits: int, seed: int, batch_size: int) -> str:
        """The comparison with another search as JSON. rules: what each rule did, as JSON."""
    def children(self, other: Explained, line: list[int]) -> str:
        """The moves after a line of actions that either search visited, as JSON. ValueError for a line of neither."""

@final
class TextGame:
    """A game that was read from a text."""

    @property
    def spec(self) -> str:
        """Of the game with its start."""
    @property
    def actions(self) -> tuple[int, ...]: ...
    @property
    def names(self) -> tuple[str, str]:
        """Of the players, empty where the text has none."""
    @property
    def outcome(self) -> int | None:
        """How it ended, off the board too; None where it goes on or nothing says so."""
    @property
    def reason(self) -> str:
        """Why it ended; empty where nothing says so."""
    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of how it was read, a line each: a FEN that was cleaned, a null move that ends it."""

def read_text_game(text: str, game: Game) -> TextGame: ...
def game_tree_view(text: str, game: Game) -> str: ...
def written_game(
    start: State,
    actions: Sequence[int],
    form: str,
    names: tuple[str, str],
    ending: tuple[int, str] | None,
    event: str,
    date: str,
) -> str:
    """A game as text. date: year, month and day with hyphens."""

def written_pgn(
    tags: list[tuple[str, str]], state: State, actions: list[int], result: str, comments: dict[int, str]
) -> str: ...
def pgn_position_tags(game: Game, start: State, is_start_of_game: bool) -> list[tuple[str, str]]: ...
def pgn_tag_value(text: str) -> str: ...
def written_sgf(game: Game, root: list[tuple[str, str]], actions: list[int], comments: dict[int, str]) -> str: ...
def annotated_sgf(
    text: str,
    game: Game,
    annotator: str,
    before: float | None,
    notes: dict[int, tuple[str, str, float, list[int], str]],
) -> str:
    """Return the first game of an SGF text with what a review says of its moves; all else of the text stays.

    before: Black's expected score before the first move. notes: by ply a comment, the property that judges the move, such
    as `BM[2]`, Black's expected score after it, the better line, what its first move says. Scores are in per cent.
    """

def sgf_result(outcome: int, reason: str) -> str: ...
def plan_clock(
    remaining: float,
    increment: float,
    moves_to_go: int | None,
    move_number: int,
    overhead: float,
    slowmover: float,
    lateness: float,
) -> tuple[float, float]:
    """Target and maximum of the seconds for the next move."""

def moves_left(move_number: int) -> float: ...
def moves_to_go(ply: int, max_plies: int) -> int | None:
    """The moves to go of a game of at most max_plies plies; None: more than a game usually has left."""

def captured(start: State, now: State) -> tuple[str, str]:
    """The pieces that each side has lost between the start of a game and a position, as signs, the most valuable first;
    empty where no pieces are drawn. Pieces that the start lacks were not lost, nor was a promoted pawn."""

@final
class Odds:
    """A handicap: pieces that the giver lacks at a start of chess, or lesser ones in their place."""

    @property
    def giver(self) -> int:
        """0 White, 1 Black."""
    @property
    def start(self) -> int:
        """Number of the start, 0 to 959; 518 is the normal one."""
    @property
    def given(self) -> list[tuple[str, str, str | None]]:
        """Of each given piece, in the order of the name, its home, its letter, and that of what stands there, or None."""
    @property
    def name(self) -> str:
        """Name in messages and tables: `queen d1 + rook a1`, `queen d8 for knight, start 356`."""
    @property
    def items(self) -> str:
        """The name without the number of the start."""
    @property
    def pieces(self) -> str:
        """The given pieces as letters in the order of the name: `q`, `qr`, `q>n`. Settings are chosen by them."""
    @property
    def fen(self) -> str:
        """The position, White to move. A rook, or what a king would castle with, takes its castling right with it."""
    @property
    def game(self) -> str:
        """The game that begins there, as a spec of `load_game`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def parse_odds(text: str, gives: str | None = None, start: int = 518) -> Odds: ...
def odds_of(fen: str) -> Odds | None: ...
def toggled_odds(odds: Odds | None, square: str, gives: str, start: int) -> Odds | None: ...
def start_board(number: int) -> dict[str, str]:
    """The signs of one of the 960 starts by square."""

def start_rank(number: int) -> str:
    """The first rank of one of the 960 starts by Scharnagl's numbers: 518 is rnbqkbnr."""

def start_game(number: int) -> str:
    """The game that begins at one of the 960 starts, as a spec of `load_game`."""

def position_view(state: State, flip: bool) -> str:
    """A position as the board of a page takes it, as JSON."""

def hint_view(state: State, report: RootReport) -> str:
    """The search of a position as the hint of a page, as JSON: ply, wdl of the first player, and the best moves."""

@final
class SearchHistory:
    """The reports of the searches of one position, a bounded number at even distances and the newest one.

    Seconds count from the first search of the position. Moves of reports that are kept have no lines.
    """

    def __new__(cls, state: State) -> SearchHistory: ...
    def begin_search(self) -> None:
        """Note that another search of the position begins."""
    def add(self, report: RootReport) -> str:
        """Keep the next report of the search; return it as the page Analyse takes it, as JSON. Values are for the player
        to move, unknown ones null; wdl: shares from 0 to 1."""
    def curves(self) -> str:
        """The samples as JSON: their seconds and visits, and of the moves that have most visits now, the most visited
        first, visits and q (null before the first visit) at each sample."""
    def moment(self, visits: int) -> str | None:
        """The report with the nearest visits as `add` returns it, its moves without lines; None before the first one."""

@final
class State:
    """One position of a game, a value: it can be compared, hashed, copied, pickled, and its repr builds it again."""

    @property
    def game(self) -> Game: ...
    @property
    def to_move(self) -> int:
        """0: first player, 1: second player."""
    @property
    def ply(self) -> int: ...
    @property
    def key(self) -> int: ...
    @property
    def position_key(self) -> int: ...
    def legal_actions(self) -> NDArray[np.int64]: ...
    @property
    def legal_moves(self) -> list[str]:
        """The legal moves as text, in the order of `legal_actions()`."""
    @property
    def start(self) -> State:
        """The start of the game, which `moves` begin from."""
    @property
    def moves(self) -> list[int]:
        """The actions played since `start`."""
    def apply(self, action: int) -> None:
        """Play a legal action in place. ValueError for what is not legal here, TypeError for what is no whole number."""
    def apply_text(self, text: str) -> None:
        """Play a legal move given as text, in place."""
    def child(self, action: int) -> State:
        """The position after a legal action."""
    def undo(self) -> int:
        """Take the last move back, in place; its action. ValueError at the start of the game."""
    def __eq__(self, other: object, /) -> bool:
        """Neither the rules nor a network can tell them apart."""
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def copy(self) -> State: ...
    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any) -> State: ...
    @property
    def is_terminal(self) -> bool: ...
    def outcome(self) -> int | None:
        """+1 first player won, 0 draw, -1 second player won, None: not over."""
    def repetition(self) -> tuple[int, int, int] | None:
        """Earlier occurrences of the position, plies since the latest, and the result that a repeat comes to (+1 the first
        player wins, 0 draw, -1 the second); None: it is new, or the game knows no repeats."""
    @property
    def outcome_depends_on_path(self) -> bool: ...
    def end_reason(self) -> str | None: ...
    def score(self) -> float | None:
        """The first player's points less the second's as the board stands, komi counted (Go: by area; Othello: discs);
        None in games without points."""
    def ownership(self) -> NDArray[np.int8] | None:
        """Whose point each square is as the board stands, int8 [rows, columns]: 1 the first player's, -1 the second's, 0
        nobody's (Go: by area; Othello: discs); None in games without points."""
    def features(self) -> NDArray[np.float32]:
        """Features, float32 [planes, rows, columns], from the mover's view."""
    def features_packed(self) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Masks uint64 [planes] and values float32 [planes]; boards of at most 64 squares."""
    def action_to_text(self, action: int, notation: str | None = None) -> str: ...
    def squares(self, action: int) -> list[tuple[int, int]]:
        """The squares of a legal action as (row, column) from the top left: from and to, or where the stone comes to lie."""
    def parse(self, text: str) -> int:
        """The action that a text means here, in any notation of the game; ValueError where it means none."""
    def san(self, action: int) -> str: ...
    def uci(self, action: int) -> str: ...
    @property
    def fen(self) -> str:
        """The position as FEN (chess, minichess); AttributeError in other games."""
    def board(self) -> chess.Board:
        """The position with its moves (chess); AttributeError in other games."""
    def text(self) -> str: ...
    def svg(self, *, flip: bool = False) -> str:
        """A stand-alone SVG document, the last move marked; flip: seen from the second player's side."""
    def _repr_svg_(self) -> str:
        """The board as notebooks show it (hauteur.games.pictures)."""
    def notation(self) -> str: ...
    def perft(self, depth: int) -> int: ...

@final
class Uniform:
    """Equal priors and an even value. Games ask the attribute `core` of an evaluator, this or a Network, instead of itself."""

    def __new__(cls) -> Uniform: ...

@final
class MoveDue:
    """A move is due from a player who does not search."""

    @property
    def number(self) -> int:
        """Of the game."""
    @property
    def player(self) -> int: ...
    @property
    def actions(self) -> list[int]:
        """Those since the beginning of the game."""
    @property
    def seed(self) -> int:
        """Of the player's draws for this move."""

@final
class GameOver:
    """A game is over."""

    @property
    def number(self) -> int: ...
    @property
    def record(self) -> dict[str, Any]:
        """Columns of GameRecord."""

@final
class PlayedGames:
    """Games that threads of the core play (hauteur.matches.arena). All calls may come from any thread.

    players: for each that searches (settings of the search, JSON of `MoveSettings`, index of its evaluator and of the
    large one, indices of those of further nets, rule chain or None), None for one that is asked for moves; rules: JSON of `GameRules` (crates/core/src/play/settings.rs).
    """

    def __new__(
        cls,
        game: Game,
        players: Sequence[tuple[_SearchSettings | str, str, int, int | None, Sequence[int], Any] | None],
        evaluators: Sequence[object],
        rules: str,
        *,
        parallel: int,
        batch_size: int,
        workers: int,
        seed: int,
    ) -> PlayedGames: ...
    @staticmethod
    def threads_of(evaluator: object, game: Game) -> int | None:
        """Threads that an evaluator of the core was made for; None where the interpreter computes every batch."""
    @property
    def has_room(self) -> bool:
        """True where more games should begin."""
    @property
    def running(self) -> int:
        """Games that have begun and are not over."""
    @property
    def workers(self) -> int:
        """Threads; 0 when they have ended."""
    def begin(self, number: int, state: State, sides: tuple[int, int], plies: int, seed: int) -> None:
        """Lets a game be played from this position. number: of no other running game; plies: that it has already."""
    def no_more(self) -> None:
        """There is no other game at present: threads with free places go on with those that they have."""
    def wait(self, seconds: float) -> GameOver | MoveDue | None:
        """The next event; None: nothing in this time. Raises what an evaluator has raised, and RuntimeError where games
        cannot go on."""
    def answer(self, number: int, action: int, *, score: float, depth: int, seconds: float | None, note: str) -> None:
        """The move that was due. score: NaN: unknown; depth: 0: unknown; seconds: None: as long as it took."""
    def lose(self, number: int, reason: str, detail: str, resigned: bool) -> None:
        """The player has lost instead of moving."""
    def facts(self) -> dict[str, float]: ...
    def network_facts(self) -> list[tuple[int, int, int, float, float]]:
        """By evaluator: rows, batches, capacity in rows, seconds in gather and apply, seconds in the evaluator."""
    def close(self) -> None:
        """Gives the running games up and waits for the threads."""

@final
class Batch:
    """Token of one gather: the rows that wait for the network."""

    def __len__(self) -> int: ...

@final
class StopFlag:
    """Asks steps of a forest to end; any thread may set it, once for all."""

    def __new__(cls) -> StopFlag: ...
    def set(self) -> None: ...
    @property
    def is_set(self) -> bool: ...

@final
class Network:
    """A residual network that the core computes. `layers` is a hauteur.networks.core_layers.CoreLayers.

    The answer to a row is the same bits in every batch; in float32 it is the same on every processor with a fused
    multiply-add, in bfloat16 on every one with the same instructions. precision: `float32`; `bfloat16` where the
    processor multiplies it. threads share the rows of a batch, 1 to 1024. instructions: of `available()`, default the
    first with the precision; for tests also `emulated-amx` and `emulated-avx512`, slow everywhere, which have the bits
    that bfloat16 has with those. Raises ValueError.
    """

    def __new__(
        cls,
        layers: object,
        precision: str = "float32",
        threads: int = 1,
        batch_size: int = 64,
        instructions: str | None = None,
    ) -> Network: ...
    def evaluate(self, features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Policy logits float32 [B, A] and win, draw, loss of the mover float32 [B, 3] of features [B, C, H, W]."""
    @property
    def instructions(self) -> str:
        """The instructions that it computes with."""
    @property
    def precision(self) -> str:
        """Type of the factors of its tower; sums are float32."""
    @property
    def bytes(self) -> int:
        """Bytes of its weights in memory."""
    @staticmethod
    def why_not_amx() -> str | None:
        """Why AMX is not used on this machine, in one line; None where it is."""
    @staticmethod
    def available() -> list[tuple[str, list[str]]]:
        """Instructions that this processor has, the best first, each with the precisions that it computes in."""

@final
class Forest:
    """Many searches, one batch. `params` is a hauteur.mcts.params.SearchParams, or the JSON text of one."""

    def __new__(
        cls, game: Game, params: _SearchSettings | str, seed: int = 0, threads: int = 1, rules: object = None
    ) -> Forest:
        """rules: a hauteur.mcts.own_rules.RuleChain of its own; ValueError where the settings do not go with rules."""

    @property
    def game(self) -> Game: ...
    @property
    def params(self) -> str:
        """All settings of the search as JSON, defaults written out."""
    @property
    def nets(self) -> list[int]:
        """The nets that the search asks: [0] without `second_net`, [0, 1] with both nets, [0, 1, 2, ...] with those of `second_net.more`, [1] with large turns alone."""
    def add(self, state: State, seed: int | None = None) -> int:
        """Starts a tree at a copy of `state`, returns its id. `seed` (default: derived from the forest's seed and the id) keys its random draws."""
    def set_tablebase(self, tablebase: Tablebase | None) -> None:
        """Leaves that the tables know are exact from now on; chess only."""
    def remove(self, ids: _Whole) -> None: ...
    def set_visit_limits(self, ids: _Whole, visits: _Whole) -> None:
        """Root visits (own evaluation included) at which a tree is finished; 0 = no limit (the default).

        With two nets these are the small net's, and the large one's come in the proportion large_visits : small_visits."""
    def set_quiet(self, ids: _Whole, quiet: NDArray[np.bool_]) -> None:
        """Search these trees as in play from now on (default: False).

        The root has neither Dirichlet noise nor forced playouts then."""
    def restrict_root(self, id: int, actions: Sequence[int]) -> None:
        """Only these actions are searched at the root, until the next advance; empty = all."""
    def active(self) -> NDArray[np.int64]:
        """Trees that still want visits: below their limit, not at the end of the game, below the memory cap."""
    def finished(self) -> NDArray[np.int64]:
        """Trees at their limit, at the end of the game or at the memory cap, with no rows in flight."""
    def gather(self, features: NDArray[np.float32] | int, net: int = 0) -> Batch:
        """Writes up to len(features) rows, float32 [B, planes, rows, columns]. Several batches may be in flight.

        A whole number in place of the rows: up to this number, of which nothing is written, for evaluators that read no features.

        net: 0 the small, 1 the large one of `second_net`, 2 and more those of `second_net.more`: rows of the trees whose next turns are that net's. ValueError for
        a net that the search does not ask."""
    def gather_packed(self, masks: NDArray[np.uint64], values: NDArray[np.float32], net: int = 0) -> Batch:
        """Like gather, uint64 [B, planes] and float32 [B, planes]."""
    def apply(self, batch: Batch, policy_logits: NDArray[np.float32], wdl: NDArray[np.float32]) -> None:
        """Answers: float32 [>= len(batch), num_actions] raw logits, float32 [>= len(batch), 3] win, draw, loss of the mover."""
    def cancel(self, batch: Batch) -> None:
        """Takes the batch's visits back."""
    def step(
        self,
        evaluator: Network | Uniform,
        rows: int,
        net: int = 0,
        batches: int = 1,
        stop: StopFlag | None = None,
        seconds: float | None = None,
        sure: int = 0,
    ) -> tuple[int, int, float, float]:
        """gather, evaluate and apply up to `batches` batches of at most `rows` rows; returns the rows and the batches that
        were computed, and the seconds in gather and apply, and in the evaluator. A batch that is being computed when `stop`
        is set, or `seconds` are over, is taken back, and none follows; the first `sure` batches are computed in any case.
        Raises ValueError."""
    def batch_states(self, batch: Batch) -> list[State]:
        """The positions behind the batch's rows, in their order."""
    def root_node_visits(self, ids: _Whole) -> NDArray[np.uint32]: ...
    def root_visits(self, ids: _Whole) -> NDArray[np.uint32]:
        """[T, num_actions] visits of the root's edges."""
    def root_q(self, ids: _Whole) -> NDArray[np.float32]:
        """[T, num_actions] Q of the root's edges for the root's mover, NaN where unvisited."""
    def best_actions(self, ids: _Whole) -> NDArray[np.uint16]:
        """[T] the actions to play: by the rule of choice of the settings, else most visits, then Q, then prior. Actions that
        `restrict_root` forbids come last. ValueError for a tree that was not searched or whose game is over."""
    def root_counters(self, id: int) -> tuple[int, int, int, int, int]:
        """Counts after every batch: visits of the root, and of the tree since it began, whatever root it had,
        visits (with two nets the small one's), the sum of their depths, rows, and leaves that the tablebase knew."""
    def root_rivals(self, id: int) -> tuple[list[int], list[float]]:
        """Visits and Q (NaN before the first) of the root's edges that `restrict_root` allows; empty before the first evaluation."""
    def root_mean(self, id: int) -> float:
        """Q of the root for its mover, draw score and contempt included; NaN before the first visit."""
    def root_bounds(self, id: int) -> tuple[int, int, int | None]:
        """(lower, upper, plies): the proven bounds of the result for the root's mover over the moves that it may choose, -1
        loss, 0 draw, 1 win, (-1, 1) where nothing is proven; and once they meet the plies to the end, None where an oracle's
        word is all that is known (solver)."""
    def policy_targets(self, ids: _Whole) -> NDArray[np.float32]:
        """[T, num_actions] what a network is taught, rows sum to 1: shares of the root's visits (the priors before the first),
        or what the rule of choice makes of them; 0 where the tree was not searched."""
    def root_priors(self, ids: _Whole) -> NDArray[np.float32]:
        """[T, num_actions] stored priors (policy temperature applied, noise not)."""
    def root_values(self, ids: _Whole) -> NDArray[np.float32]:
        """[T, 3] win, draw, loss of the root's mover by the search."""
    def reported_values(self, ids: _Whole) -> NDArray[np.float32]:
        """[T, 3] `root_values` as reports show them: without the shift of WDL contempt, as far as `eval_objectivity` says."""
    def network_values(self, ids: _Whole) -> NDArray[np.float32]:
        """[T, 3] win, draw, loss of the root's mover by the network alone, before any WDL contempt."""
    def root_edges(self, id: int) -> list[dict[str, Any]]:
        """One dict an edge: action, visits, large_visits (turns of the larger nets), in_flight, prior, q, wdl (3 floats or None), reported_wdl (wdl as reports show it), u, score, value (network's q of the child, or None), terminal, lower and upper (proven bounds), plies (to the end once they meet, else None), variance (sample variance of the visits' values where the search keeps it, else None), frozen (weight by search-contempt where the node is frozen, else None), replies (visited edges of the position behind it), node_visits (of the node behind it, in graph search by whatever moves; 0 where there is none), node_frozen (that node is frozen); in the order of `best_actions`, the action to play first."""
    def root_visits_of(self, id: int, net: int) -> NDArray[np.uint32]:
        """Completed visits by the turns of one net, in the order of `root_edges`; zeros for a net that does not search."""
    def edges_at(self, id: int, line: Sequence[int], most: int | None = None) -> list[dict[str, Any]] | None:
        """The same for the position behind a line of actions, for its mover, the most visited first, at most `most`; None where
        the network has not seen it. Costs what the edges of the nodes on the line cost, however large the tree. u of a leaf
        is without tree balance, which counts replies when a node is selected from for the first time."""
    def branches(self, id: int, count: int) -> dict[str, NDArray[Any]]:
        """The most visited nodes below the root as columns [n], n <= count: each stands behind its parent, among equals the one
        that was met first goes first; a node of a graph comes once for every line to it. Columns: parent (int32, the row
        of the node before, -1 the root), action, visits, large_visits, prior, q, reported_wdl [n, 3], value, score, terminal,
        lower, upper, plies, frozen, replies, node_visits, node_frozen as in `root_edges`; NaN for None, plies -1."""
    def principal_variation(self, id: int, action: int | None = None, max_length: int = 64) -> list[int]:
        """Most visited line, beginning with `action`, else with the action to play."""
    def edges_after(self, id: int, line: Sequence[int]) -> list[tuple[int, int, float | None]]:
        """(action, visits, weight) of every edge of the position behind a line of actions; empty if it was never evaluated.

        weight: the frozen weight by search-contempt, 0 = never drawn; None where the node is not frozen.
        """
    def advance(self, ids: _Whole, actions: _Whole) -> None:
        """Plays the actions and re-roots (keeps the subtree or clears it, as params.reuse_tree says)."""
    def state(self, id: int) -> State: ...
    def stats(self) -> dict[str, float]:
        """Totals since the forest began: visits, rows, large_visits and large_rows (of them, the larger nets'), cache_hits, position_hits, transpositions, cache_lookups, terminal_visits, oracle_hits, contempt_draws (replies drawn at frozen nodes), collisions, depth_sum, depth_max, nodes, bytes."""
    def tree_stats(self, id: int) -> dict[str, float]:
        """Return the same of one tree, with its edges; depth_max is from the present root.

        full: why the tree grows no more: 0 it may, 1 max_tree_bytes is reached, 2 a 32-bit counter has come near its end.
        """
    def digest(self, id: int) -> int:
        """Hash of the whole tree (structure, visits, values): equal trees have equal digests."""
    def check_invariants(self, id: int) -> None:
        """ValueError naming the first broken invariant."""
    def clear_cache(self) -> None: ...

@final
class ExactSolver:
    """Exact values of a game's positions by alpha-beta; `table_bits`: the table has 2**table_bits entries, 10 to 28.

    ValueError for a game in which a value depends on more of the past than key and ply, such as repetitions."""

    def __new__(cls, game: Game, table_bits: int = 22) -> ExactSolver: ...
    def move_values(self, state: State, nodes: int | None = None) -> list[int] | None:
        """Value of each legal move, in the order of `state.legal_actions()`: +1 the mover wins by it, 0 draw, -1 loses.

        None where that takes more than about `nodes` further positions."""
    @property
    def nodes(self) -> int:
        """Positions searched so far."""

@final
class Tablebase:
    """Syzygy tablebases of chess: exact results of positions with few pieces."""

    def __new__(cls, paths: str) -> Tablebase:
        """Folders, separated as in PATH; ValueError if none has tables."""
    @property
    def largest(self) -> int:
        """Pieces of the largest table."""
    @property
    def files(self) -> int: ...
    @property
    def missing(self) -> list[str]:
        """What is wrong with the folders that were left out, a line each."""
    def result(self, state: State) -> int | None:
        """1 win, 0 draw, -1 loss of the mover under the fifty-move rule, as its counter stands; None: not known."""
    def probe_wdl(self, state: State) -> int | None:
        """2 win, 1 win spoilt by the fifty-move rule, 0 draw, -1, -2 for the mover, as if a capture or pawn move had just been
        made; None: not in the tables."""
    def probe_dtz(self, state: State) -> int | None:
        """Plies to the capture, pawn move or mate that the mover's win (> 0) or loss (< 0) needs; 0 draw; None: not in the tables."""
    def root_actions(self, state: State, fast_play: bool = False) -> list[int] | None:
        """The legal actions that keep the result (with `fast_play` only the shortest wins); None: not in the tables."""

def game_names() -> list[str]: ...
def t_quantile(confidence: float, freedom: int) -> float:
    """t with P(T <= t) = confidence for Student's distribution of `freedom` degrees; confidence: 0.5 to below 1."""

def solved_positions(
    game: Game,
    count: int,
    seed: int = 0,
    nodes: int = 1_000_000,
    total: int = 100_000_000,
    table_bits: int = 22,
    watch: Callable[[str, int, int], object] | None = None,
) -> tuple[list[tuple[list[int], list[int]]], list[int], bool]:
    """Positions of games of random and of decent play with the exact values of their legal moves, in the order of their plies.

    count: as many, or fewer where there are no more; nodes: positions searched for one at most, total: for all; watch: takes
    what is done, how often, and of how many. Returned: (moves, values) of each, positions that took too long by ply from 0,
    whether no two moves end one with a winner."""

def forced_win(
    state: State, moves: int, actions: Sequence[int] | None = None, stop: StopFlag | None = None, nodes: int = 2**64 - 1
) -> list[int] | None:
    """The line of the shortest win of the mover in at most `moves` of his moves, whatever is answered; None: there is none.

    actions: the only first moves to look at; None: all. Empty where `stop` came before that was known, or after about
    `nodes` positions. Exact, of any game; the past counts."""

def python_game_from(game: object, spec: str) -> Game:
    """Builds a pickled game that is written in Python."""

def position_of(given: State | chess.Board | str) -> State:
    """The position that a user gave: a State (a copy), a board with its moves, or a FEN of chess."""

def clean_fen(fen: str, chess960: bool = False) -> tuple[str, bool, list[str]]:
    """Return a FEN of chess without the castling rights and the en passant square that no position can have.

    Then: whether it is of Chess960, asked for or seen from castling rights that only Chess960 has; and what was changed,
    a line each, none where the FEN was taken as it is. Every reader of positions cleans so. ValueError for what stays wrong.
    """

def read_pgn_tree(
    text: str,
) -> tuple[dict[str, str], Game, str | None, int | None, list[str], list[tuple[int, str, str, str, str, list[int]]]]:
    """Return a game of a PGN text with its variations: tags, game, FEN (None: the usual start), outcome, notes, nodes.

    A node: the number of its parent (-1: the start of the game, which is the first node), UCI, SAN, the comments before and
    after, glyphs. ValueError where the main line cannot be read.
    """

@final
class PgnReader:
    """Reads the games of a PGN file or text one after another. plays: main lines too, else tags and results alone.

    annotated: main lines, and each game keeps its variations and comments.
    """

    @staticmethod
    def of_file(path: str | os.PathLike[str], plays: bool = True, annotated: bool = False) -> PgnReader:
        """Read a file in pieces; it may be longer than the memory. OSError where it cannot be read."""
    @staticmethod
    def of_text(text: str, plays: bool = True, annotated: bool = False) -> PgnReader: ...
    def __iter__(self) -> PgnReader: ...
    def __next__(self) -> PgnGame: ...

@final
class PgnGame:
    """A game of a PGN file. What belongs to its moves raises ValueError where `wrong` is not None, or they were not read.

    number, line: in the file, from 1. plies: words of its main line that stand for moves. tagged: the result by the tag
    alone; by what stands after the moves where the tag has none. wrong: why it cannot be used, in a line. game: chess or Chess960, from
    its start; fen: of that, None the usual one. moves: as UCI. outcome: by result and tag; ValueError where these differ.
    ended: why it ended by the rules. notes: what a user should know, a line each.
    """

    number: int
    line: int
    tags: dict[str, str]
    plies: int
    tagged: str
    wrong: str | None
    game: Game
    fen: str | None
    actions: tuple[int, ...]
    moves: tuple[str, ...]
    outcome: int | None
    ended: str | None
    notes: list[str]
    def tree(self) -> list[tuple[int, str, str, str, str, list[int]]]:
        """Return the nodes as `read_pgn_tree` does. ValueError where the reader keeps no annotations."""

@final
class SgfGame:
    """A game of SGF. What belongs to its moves raises ValueError where `wrong` is not None: why it cannot be used, in a line.

    tags: the properties of its first node, the first value of each. moves: as the game writes them. reason: why it ended, by
    the rules, else as its result says. text: of its tree as the file has it, decoded.
    """

    number: int
    tags: dict[str, str]
    text: str
    wrong: str | None
    game: Game
    actions: tuple[int, ...]
    moves: tuple[str, ...]
    outcome: int | None
    reason: str

def form_of_text(text: str) -> Literal["pgn", "sgf", "fen", "moves"]:
    """Return what a text is, as it begins."""

def read_sgf(text: str, game: Game | None = None) -> list[SgfGame]:
    """Return the games of an SGF text. game: which they must be of; None: each says so itself."""

def sgf_spec(text: str, wanted: str = "") -> str:
    """Return the spec of the first game of an SGF text. ValueError where it has none that can be read.

    wanted: the name of the game that is expected, which decides between Go and NoGo where the text does not.
    """

def sgf_text(data: bytes) -> str:
    """Return the bytes of an SGF file as text: by the encoding that it names, else UTF-8, else Latin-1."""

def state_from(game: Game, symmetry: int, moves: Sequence[int]) -> State:
    """Builds a pickled position."""

def encode_positions(states: Sequence[State], out: NDArray[np.float32], threads: int = 1) -> None:
    """Features of many states into float32 [B, planes, rows, columns]."""

def encode_games(
    starts: Sequence[State],
    actions: Sequence[NDArray[np.uint16]],
    games: NDArray[np.int64],
    plies: NDArray[np.int64],
    out: NDArray[np.float32],
    threads: int = 1,
    legal: NDArray[np.uint8] | None = None,
) -> None:
    """Row i of `out` = features of game games[i] after plies[i] of its actions; of `legal` [rows, num_actions] = 1
    where an action is legal there, else 0."""

def rollout_values(states: Sequence[State], seed: int = 0, games: int = 1) -> NDArray[np.float32]:
    """Win, draw, loss shares of the movers in `games` uniformly random games from each state, float32 [N, 3].

    A pure function of the seed and the state's key."""

def mcts_search(state: State, simulations: int, seed: int = 0) -> NDArray[np.uint32]:
    """UCT by random games, any game (docs/reference/players.md).

    uint32 [num_actions, 2]: visits of every legal move, and what its player got in them in halves (2 a win, 1 a draw);
    other rows 0. The same seed gives the same numbers.
    """

def rave_search(state: State, simulations: int, seed: int = 0) -> NDArray[np.uint32]:
    """Random games with all-moves-as-first values (docs/reference/players.md), games of at most 256 actions.

    uint32 [num_actions, 4]: visits, what its player got in them in halves (2 a win, 1 a draw), all-moves-as-first visits and
    halves (20 of both were given at the start) of every legal move, other rows 0. The same seed gives the same numbers.
    """

def settings_schema() -> str:
    """Return the schema of all settings of a search as JSON: a list of sections, each after those that it has.

    A section has `name`, `text`, `rule` (it is one) and `settings`; a setting `name`, `text`, `type`, `default` and `range`.
    """

def check_settings(section: str, settings: str) -> bool:
    """Check the settings of SearchParams or of a rule, given as JSON. True where they leave the search unchanged."""

def choose_action(
    moves: Sequence[tuple[int, int, float, float, int | None]], best: int, ply: int, uniform: float, temperature: str
) -> int:
    """The action to play after a search, `ply` plies into the game.

    moves: of the root by action: action, visits, Q (NaN where unvisited), prior, proven result. best: of the search, played
    at temperature 0 and where a win is proven; else `uniform`, in [0, 1), decides. temperature: JSON of `Temperature`."""

def random_u64(key: int, counter: int) -> int:
    """Draw number `counter` of the counter-based generator with this key."""

def dirichlet(key: int, counter: int, alpha: float, n: int) -> NDArray[np.float64]:
    """The noise that a tree draws for its root; starts at draw `counter` of generator `key`."""

def bench_search(state: State, params: _SearchSettings | str, visits: int, encode: bool = False) -> dict[str, float]:
    """Searches with a uniform policy and values drawn from the positions' keys; counters as Forest.stats, and seconds."""
