"""Players for programs in Python: made of objects, or of the texts that the commands take.

A `Player` is a `PlayerSettings` that may also hold what no text can: an evaluator that is an object, and search rules
written in Python. What plays games builds it with `hauteur.players.build`, as it builds one that was read from text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from hauteur.mcts.own_rules import checked_rules
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.players.baselines import is_baseline
from hauteur.players.engines.settings import is_engine
from hauteur.players.settings import PlayerSettings, parse_player, player_text
from hauteur.system.formatting import described
from hauteur.system.hints import with_hints

if TYPE_CHECKING:
    from hauteur.mcts.own_rules import Rule
    from hauteur.players.chess_engine import PlayerEngine
    from hauteur.players.function_player import ChooseMove


class Player(PlayerSettings):
    """A player: an evaluator with settings of its search. `Player.from_text` makes one of a text.

    Parameters
    ----------
    evaluator
        Everything that `hauteur.evaluator` takes: a net file or the name of a net, `"uniform"`, `"rollout"`, a
        callable, a torch module, an evaluator; None: the net that comes with the game. Players with the same file or
        object share its batches.
    params
        Settings of the search; default: `SearchParams()`, plain PUCT with lc0's constants.
    visits
        Visits of the root, its own evaluation included, at which a move is chosen: 1 to 1,000,000,000.
    temperature
        Of the choice of moves, 0 (the best move) to 100, or a `Temperature` schedule: p ~ N^(1/T).
    name
        What results call it; default: that of the evaluator, and what differs from the defaults.
    rules
        Search rules written in Python (`hauteur.Rule`), in their order.

    Raise ValueError for values out of range. Whether evaluator and game fit each other shows when games begin.

    >>> import hauteur as ht
    >>> ht.Player("uniform", ht.SearchParams(draw_score=0.1), visits=50, temperature=0.5)
    Player('net=uniform visits=50 temperature=0.5 search.draw_score=0.1')
    """

    evaluator: Any = Field(default=None, exclude=True)
    """An evaluator that is an object, instead of `net`."""
    rules: tuple[Any, ...] = Field(default=(), exclude=True)
    """Search rules written in Python."""
    function: Any = Field(default=None, exclude=True)
    """A function that chooses the moves, in the place of a search (`from_function`)."""

    @with_hints
    def __init__(
        self,
        evaluator: Any = None,
        params: SearchParams | None = None,
        *,
        visits: int = 100,
        temperature: float | Temperature = 0.0,
        name: str = "",
        rules: Sequence[Rule] | None = None,
    ) -> None:
        is_named = evaluator is None or isinstance(evaluator, str | Path)
        net = str(evaluator) if is_named and evaluator is not None else None
        if net is not None and (is_baseline(net) or is_engine(net)):
            raise ValueError(f"{net!r} is a player without a net: write hauteur.Player.from_text({net!r})")
        if net is not None and "=" in net and not Path(net).exists():
            raise ValueError(f"{net!r} is the text of a player: write hauteur.Player.from_text({net!r})")
        values: dict[str, Any] = {
            "name": name,
            "net": net,
            "visits": visits,
            "temperature": temperature if isinstance(temperature, Temperature) else {"initial": temperature},
            "search": SearchParams() if params is None else params,
            "evaluator": None if is_named else evaluator,
            "rules": checked_rules([] if rules is None else rules),
        }
        try:
            super().__init__(**values)
        except ValueError as error:
            raise ValueError(f"Player: {error}") from None

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the player that a text describes, as the command `hauteur match` reads it.

        text: `key=value` words with any setting of player, search and temperature (`"visits=50 net=maia-1900
        cpuct.init=2"`), or the path of a TOML file of such keys; or a program, `"uci:stockfish nodes=1000 Threads=1"`,
        `"gtp:gnugo"`, `"gomocup:pbrain-rapfi movetime=1000"`; or a player without a net: `random`, `material`,
        `mcts:N`, `rave:N`. All keys are in docs/how-to/play-matches.md. Raise ValueError naming the word that is wrong
        and what is allowed.

        >>> import hauteur as ht
        >>> ht.Player.from_text("net=uniform visits=50").visits
        50
        >>> ht.Player.from_text("mcts:400 name=rollouts")
        Player('mcts:400 name=rollouts')
        """
        if not isinstance(text, str):
            raise TypeError(f"a player is described by a text, such as 'visits=50', got {described(text)}")
        return cls.of(parse_player(text))

    @classmethod
    def from_function(cls, choose: ChooseMove, name: str = "") -> Self:
        """Return a player whose moves a function chooses, for matches against anything that Python can call.

        choose: gets the position, a `State` of its own in which it may play on, and returns a legal action, or its text
        as `State.parse` reads it (chess: UCI or SAN). Calls come one at a time, from threads of the match. name:
        default: that of the function. What the function raises ends the match; so does a move that is not legal.

        >>> import hauteur as ht
        >>> first = ht.Player.from_function(lambda state: int(state.legal_actions()[0]), name="first")
        >>> match = ht.play_match(first, "random", "tictactoe", games=2, seed=0, random_plies=1, progress=False)
        >>> len(match.games)
        2
        """
        if not callable(choose):
            raise ValueError(f"Player.from_function needs a function of a position, got {choose!r}")
        settings = PlayerSettings(name=name or object_name(choose))
        return cls.model_construct(**dict(settings), function=choose)

    @property
    def has_net(self) -> bool:
        """True where it searches with a net (or with an evaluator in its place)."""
        return self.function is None and super().has_net

    def as_engine(self, game: str = "chess", *, threads: int = 0, seed: int = 0) -> PlayerEngine:
        """Return the player with the calls of `chess.engine`: `play(board, limit)` and `analyse(board, limit)`.

        game: what it plays; threads: of its net on the processor, 0: one a core; seed: of its random draws. A context
        manager. Raise ValueError where the player does not fit the game.

        >>> import chess
        >>> import hauteur as ht
        >>> with ht.Player("uniform", visits=100).as_engine() as engine:
        ...     engine.play(chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")).move
        Move.from_uci('a1a8')
        """
        import hauteur as ht  # the engine is built of players

        return ht.PlayerEngine(self, game, threads=threads, seed=seed)

    @classmethod
    def of(cls, settings: PlayerSettings) -> Self:
        """Return settings of a player as a Player."""
        return cls.model_construct(**{name: getattr(settings, name) for name in PlayerSettings.model_fields})

    def __repr__(self) -> str:
        return f"Player({player_label(self)!r})"

    __str__ = __repr__


def player_label(settings: PlayerSettings, *, without: tuple[str, ...] = ()) -> str:
    """Return the text of a player's settings, objects included as they show themselves."""
    words = [player_text(settings, without=without)]
    if isinstance(settings, Player):
        if settings.evaluator is not None and "net" not in without:
            words.insert(0, f"evaluator={object_name(settings.evaluator)}")
        if settings.function is not None:
            words.insert(0, f"function={object_name(settings.function)}")
        if settings.rules:
            words.append(f"rules={list(settings.rules)}")
    return " ".join(word for word in words if word)


def object_name(thing: object) -> str:
    """Return what a Python object is called: its name, or that of its class."""
    for attribute in ("name", "__name__"):
        if isinstance(name := getattr(thing, attribute, None), str) and name:
            return name
    return type(thing).__name__
