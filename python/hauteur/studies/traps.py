"""Traps: moves that are worth more against a given opponent than against the best replies.

A plain search and one with a model of the opponent (`SearchParams.opponent_net`) look at the same position. Of each
move the difference of its two values is its gain; the model's replies to it are searched, and the share of them that
keep what the best reply keeps is how often such an opponent finds an answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hauteur.games.played_game import move_text
from hauteur.mcts.analysis import search, search_batch
from hauteur.mcts.params import OpponentNet, SearchContempt, SearchParams
from hauteur.networks.evaluators.factory import evaluator
from hauteur.players.settings import player_text
from hauteur.system.closing import Closing

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.mcts.result import SearchResult
    from hauteur.mcts.search_tree import TreeNode
    from hauteur.players.settings import PlayerSettings

MARGIN = 0.05
"""Expected score by which a reply that answers a move may be worse than the best one."""
LEAST_GAIN = 0.05
"""Expected score that the opponent's mistakes after a trap are worth, at least."""
LEAST_PRIOR = 0.01
"""Replies that the model gives less are not searched, but for the plain search's best one."""
REPLY_SHARE = 8
"""A reply is searched with an eighth of the visits."""
LEAST_REPLY_VISITS = 20
"""A reply is searched with at least this many visits."""
LEAST_TEMPERATURE = 0.001
EVEN = 0.5
LEAST_RISE = 0.1
"""Expected score that a mistake of the odds taker gives away, at least."""
MOST_TRAPS = 5
"""Mistakes of the odds taker that are looked into."""


@dataclass(frozen=True)
class MoveTrap:
    """A move against a model of the opponent. Values are expected scores of its player, 0 to 1."""

    action: int
    """The move, as an index into the policy vector."""
    move: str
    """The move as text."""
    visits: int
    """Visits of the move in the search against the model."""
    plain: float
    """Expected score by the plain search."""
    model: float
    """Expected score by the search against the model."""
    finds: float | None
    """Share of the model's replies that answer the move; None where the game ends with it."""
    answer: str
    """The best reply as text; empty where the game ends with it."""

    @property
    def gain(self) -> float:
        """Expected score that the model's mistakes are worth."""
        return self.model - self.plain

    @property
    def is_trap(self) -> bool:
        """Return whether the model's mistakes are worth LEAST_GAIN."""
        return self.finds is not None and self.gain >= LEAST_GAIN

    def to_json(self) -> dict[str, Any]:
        """Return the fields, rounded to four places, with `gain` and `trap`."""
        numbers = {name: round(getattr(self, name), 4) for name in ("plain", "model", "gain")}
        finds = None if self.finds is None else round(self.finds, 4)
        named = {"a": self.action, "move": self.move, "visits": self.visits, "answer": self.answer}
        return {**named, **numbers, "finds": finds, "trap": self.is_trap}


def model_of(against: PlayerSettings) -> tuple[str, OpponentNet]:
    """Return the net of a player as a model of the opponent, and the rule; ValueError for a player without a net."""
    if against.net is None:
        raise ValueError(f"against {player_text(against)}: a model of the opponent needs a net")
    return against.net, OpponentNet(temperature=max(LEAST_TEMPERATURE, against.policy_heat))


class TrapFinder(Closing):
    """The nets that traps are found with: the searching one, and that of an opponent.

    net: as for `hauteur.evaluator`; against: a player with a net, such as `human-1500`; its temperature is the model's,
    and with n visits a move above one it is a searcher of n visits; None: positions have scores, no traps are found.
    ValueError for a player without a net.
    """

    def __init__(
        self, game: _core.Game, net: object, against: PlayerSettings | None, *, threads: int | None = None
    ) -> None:
        model = None
        if against is not None:
            model, self._rule = model_of(against)
            self._n_scl = 0 if against.visits == 1 else against.visits
        self._own = evaluator(game, net, threads=threads)
        self._model = None if model is None else evaluator(game, model, threads=threads)

    @property
    def has_model(self) -> bool:
        """Return whether there is a model of the opponent, without which no traps are found."""
        return self._model is not None

    def close(self) -> None:
        """Close the nets."""
        self._own.close()
        if self._model is not None:
            self._model.close()

    def find(
        self,
        state: _core.State,
        *,
        visits: int = 800,
        moves: int = 5,
        seed: int = 0,
        also: int | None = None,
    ) -> list[MoveTrap]:
        """Return the most visited moves of either search, the best against the model first.

        visits: of each of the two searches, at least 2; moves: the most visited ones of each that are looked at; also:
        a move that is looked at if both searches have visited it. ValueError without a model of the opponent.
        """
        if self._model is None:
            raise ValueError("traps need a model of the opponent, got none")
        plain = search(state, self._own, SearchParams(), visits=visits, seed=seed)
        rule = SearchParams(opponent_net=self._rule, search_contempt=SearchContempt(n_scl=self._n_scl))
        model = search(state, self._own, rule, visits=visits, seed=seed, large=self._model)
        by_plain = _visited_children(plain)
        by_model = _visited_children(model)
        looked_at = dict.fromkeys([*list(by_plain)[:moves], *list(by_model)[:moves]])
        if also is not None:
            looked_at[also] = None
        both = {}
        for action in looked_at:
            if action in by_plain and action in by_model:
                both[action] = (by_plain[action], by_model[action])
        replies = {action: _replies(*nodes) for action, nodes in both.items()}
        reply_visits = max(LEAST_REPLY_VISITS, visits // REPLY_SHARE)
        values = self._values(replies, state, reply_visits, seed)
        found = [_trap(state, both[action], replies[action], values[action]) for action in both]
        return sorted(found, key=lambda one: -one.model)

    def scores(self, states: Sequence[_core.State], player: int, *, visits: int, seed: int = 0) -> list[float]:
        """Return a player's expected score in each position, exact where the game is over."""
        going_on = [state for state in states if state.outcome() is None]
        searched = []
        if going_on:
            searched = search_batch(going_on, self._own, visits=visits, seed=seed).wdl.tolist()
        chances = iter(searched)
        found = []
        for state in states:
            outcome = state.outcome()
            if outcome is None:
                win, draw, _ = next(chances)
                score = win + draw / 2
                if state.to_move != player:
                    score = 1 - win - draw / 2
            else:
                result = outcome if player == 0 else -outcome
                score = (1 + result) / 2
            found.append(score)
        return found

    def _values(
        self,
        replies: Mapping[int, Mapping[int, float]],
        state: _core.State,
        visits: int,
        seed: int,
    ) -> dict[int, dict[int, float]]:
        """Expected score of the player to move in `state` after each reply to each move."""
        pairs = [(action, reply) for action, known in replies.items() for reply in known]
        states = [state.child(action).child(reply) for action, reply in pairs]
        scores = self.scores(states, state.to_move, visits=visits, seed=seed)
        values: dict[int, dict[int, float]] = {action: {} for action in replies}
        for (action, reply), score in zip(pairs, scores, strict=True):
            values[action][reply] = score
        return values


def _visited_children(result: SearchResult) -> dict[int, TreeNode]:
    """Return the root's visited children by their action, the most visited first."""
    return {node.line[-1]: node for node in result.tree.root.children if node.visits}


def _replies(plain: TreeNode, model: TreeNode) -> dict[int, float]:
    """Return the model's share of each reply that is searched; none where the game is over."""
    best = plain.children[0].line[-1] if plain.children else None
    shares = {}
    for node in model.children:
        reply = node.line[-1]
        if node.prior >= LEAST_PRIOR or reply == best:
            shares[reply] = node.prior
    return shares


def _trap(
    state: _core.State,
    nodes: tuple[TreeNode, TreeNode],
    replies: Mapping[int, float],
    values: Mapping[int, float],
) -> MoveTrap:
    plain, model = nodes
    action = plain.line[-1]
    finds = None
    answer = ""
    if replies:
        best = min(values, key=lambda reply: values[reply])
        answers = [reply for reply in replies if values[reply] <= values[best] + MARGIN]
        kept = math.fsum(replies[reply] for reply in answers)
        finds = kept / math.fsum(replies.values())
        answer = move_text(plain.state, best)
    by_plain, by_model = ((1 + node.q) / 2 for node in nodes)
    visits = plain.visits + model.visits
    return MoveTrap(action, move_text(state, action), visits, by_plain, by_model, finds, answer)


def traps_text(found: Sequence[MoveTrap], against: str) -> str:
    """Format a table for people: each move with both values and how often the opponent finds an answer."""
    lines = [
        f"against {against}, expected score:",
        f"{'move':8} {'plain':>6} {'model':>6} {'gain':>6}  the answer",
    ]
    for one in found:
        line = f"{one.move:8} {100 * one.plain:5.1f}% {100 * one.model:5.1f}% {100 * one.gain:+6.1f}  "
        if one.finds is not None:
            line += f"{one.answer}; found {one.finds:.0%} of the time"
        if one.is_trap:
            line += "  trap"
        lines.append(line)
    return "\n".join(lines)


# -- games at odds -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SprungTrap:
    """A move of the odds giver that the odds taker answered wrongly."""

    ply: int
    """Ply of the move, from 0."""
    move: str
    """The move as text."""
    reply: str
    """The answer as text."""
    rise: float
    """Rise of the giver's expected score by the answer."""
    trap: MoveTrap | None
    """The move against the model; None where it was hardly searched, or there is no model."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields, numbers rounded to four places."""
        trap = None if self.trap is None else self.trap.to_json()
        return {"ply": self.ply, "move": self.move, "reply": self.reply, "rise": round(self.rise, 4), "trap": trap}


@dataclass(frozen=True)
class OddsStory:
    """The course of a game at odds. scores: the giver's expected score at the start and after each ply; won_back: the
    ply after which it stays at least even, None where it does not; traps: the greatest mistakes of the odds taker.
    """

    scores: tuple[float, ...]
    won_back: int | None
    traps: tuple[SprungTrap, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the fields, scores rounded to four places."""
        traps = [one.to_json() for one in self.traps]
        return {"scores": [round(score, 4) for score in self.scores], "won_back": self.won_back, "traps": traps}


def odds_story(
    start: _core.State,
    actions: Sequence[int],
    giver: int,
    finder: TrapFinder,
    *,
    visits: int = 200,
) -> OddsStory:
    """Return where the handicap of a game was won back and by which traps.

    giver: 0 first, 1 second player; visits: of the search of each position, and of each of a trap's two.
    """
    states = [start]
    for action in actions:
        states.append(states[-1].child(action))
    scores = finder.scores(states, giver, visits=visits)
    behind = max((ply for ply, score in enumerate(scores) if score < EVEN), default=-1)
    rises = []
    for ply in range(1, len(actions)):
        rise = scores[ply + 1] - scores[ply]
        answers_giver = states[ply].to_move != giver and states[ply - 1].to_move == giver
        if answers_giver and rise >= LEAST_RISE:
            rises.append((rise, ply))
    worst = sorted(rises)[-MOST_TRAPS:]
    traps = []
    for rise, ply in sorted(worst, key=lambda found: found[1]):
        before = states[ply - 1]
        action = actions[ply - 1]
        found = finder.find(before, visits=visits, also=action) if finder.has_model else []
        trap = next((one for one in found if one.action == action), None)
        texts = move_text(before, action), move_text(states[ply], actions[ply])
        traps.append(SprungTrap(ply - 1, *texts, rise, trap))
    even_from = behind + 1 if behind + 1 < len(scores) else None
    return OddsStory(tuple(scores), even_from, tuple(traps))
