"""The loop of games in plain Python: one game after another, one visit at a time. Read this to know what the core does.

The core (`hauteur.matches.arena`, crates/core/src/play) plays the same games, move for move and number for number, from
the same seeds; tests compare the two.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.games.game_line import PLY_LIMIT, RESIGNATION
from hauteur.matches.openings import opening_state
from hauteur.matches.record import COLUMNS, GamePlan, GameRecord, Resignation
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import root_moves
from hauteur.mcts.scores import pawns
from hauteur.players.move_player import EngineResignation, GameLost, MovePlayer, MoveRequest
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayoutCap
from hauteur.system.seeds import derived_seed, stream
from reference.choice import Candidate, choose, temperature_at
from reference.resignation import NO_SIDE, ResignationWatch

TARGET_UNITS = 65_535
"""Counts of a whole policy target where it is not made of visits; shares below half of one are left out."""
LEAST_PRIOR = 1e-9
"""Least prior in the policy surprise."""

Row = dict[str, Any]
"""A move and what is recorded of it, by column of GameRecord; its policy as policy_actions and policy_counts."""


def play_plainly(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    plans: Iterable[GamePlan],
    *,
    seed: int,
    purpose: str,
    max_plies: int | None = None,
    max_moves: int | None = None,
    resignation: Resignation | None = None,
    tree_per_side: bool = False,
) -> Generator[GameRecord]:
    """Play the planned games; the rules are those of `hauteur.matches.arena.GameRules`."""
    forests = [player.forest(game, seed=seed) if isinstance(player, SearchPlayer) else None for player in players]
    try:
        for plan in plans:
            game_seed = derived_seed(seed, purpose, plan.index) if plan.seed is None else plan.seed
            own_trees = tree_per_side or plan.sides[0] != plan.sides[1]
            yield _PlainGame(game, players, forests, plan, game_seed, own_trees).play(max_plies, max_moves, resignation)
    finally:
        for player in players:
            if not isinstance(player, SearchPlayer):
                player.close()


@dataclass
class _PlainGame:
    """A game in progress.

    trees: by number; 0 is that of the first player, 1 that of the second, where each has its own. unseen: moves that a
    tree has not seen.
    """

    game: _core.Game
    players: Sequence[SearchPlayer | MovePlayer]
    forests: Sequence[_core.Forest | None]
    plan: GamePlan
    seed: int
    own_trees: bool
    rows: list[Row] = field(default_factory=list)
    trees: dict[int, int] = field(default_factory=dict)
    unseen: dict[int, list[int]] = field(default_factory=dict)

    def play(self, max_plies: int | None, max_moves: int | None, resignation: Resignation | None) -> GameRecord:
        """Play until the game is over, by its rules, a resignation, a failure or a limit."""
        state = opening_state(self.game, self.plan)
        random = stream(self.seed, "moves")
        watch = None if resignation is None else ResignationWatch.begin(resignation, self.seed)
        lost: GameLost | None = None
        most_plies = math.inf if max_plies is None else max_plies
        most_moves = math.inf if max_moves is None else max_moves
        while state.outcome() is None and self.plies < most_plies and len(self.rows) < most_moves:
            mover = self.plan.sides[state.to_move]
            player = self.players[mover]
            forest = self.forests[mover]
            begun = time.perf_counter()
            try:
                row = (
                    self._searched(player, forest, state, random)
                    if isinstance(player, SearchPlayer) and forest is not None
                    else self._asked(player, state)
                )
            except GameLost as reason:
                lost = reason
                break
            row.setdefault("seconds", time.perf_counter() - begun)
            row["movers"] = state.to_move
            if watch is not None:
                win, _, loss = row.get("root_wdl", (math.nan,) * 3)
                watch.see(state.to_move, float(np.float32(win) - np.float32(loss)), self.plies)
            self.rows.append(row)
            state.apply(row["actions"])
            for moves in self.unseen.values():
                moves.append(row["actions"])
            if watch is not None and watch.ends_game:
                break
        self._leave()
        side, resigns = (NO_SIDE, False) if watch is None else (watch.side, watch.ends_game)
        return self._record(_result(state, lost, side, resigns=resigns), lost)

    @property
    def plies(self) -> int:
        """Plies of the game until now, those of its start included."""
        return len(self.plan.start) + len(self.rows)

    def _searched(
        self, player: SearchPlayer, forest: _core.Forest, state: _core.State, random: np.random.Generator
    ) -> Row:
        """Search in the mover's tree of this game, which it keeps from move to move, and choose a move."""
        number = state.to_move if self.own_trees else 0
        if number not in self.trees:
            self.trees[number] = forest.add(state, derived_seed(self.seed, "tree", number))
            self.unseen[number] = []
        tree = np.array([self.trees[number]], np.int64)
        for action in self.unseen[number]:
            forest.advance(tree, np.array([action], np.uint16))
        self.unseen[number].clear()
        full = True
        visits = player.visits
        cap = player.playout_cap
        if cap is not None:
            full = searches_in_full(cap, self.seed, self.plies)
            visits = player.visits if full else cap.fast_visits
            forest.set_quiet(tree, np.array([not full]))
        forest.set_visit_limits(tree, np.array([visits], np.uint32))
        SearchDriver(forest, player.evaluator, large=player.large, batch_size=1, in_flight=1).run()
        return {"learn": player.learns and full} | _choice(player, forest, tree, state.ply, random.random())

    def _asked(self, player: SearchPlayer | MovePlayer, state: _core.State) -> Row:
        """Let a player without a forest find a move; GameLost where it loses instead."""
        assert not isinstance(player, SearchPlayer)
        actions = (*self.plan.start, *(row["actions"] for row in self.rows))
        origin = self.plan.begin(self.game).notation()
        seed = derived_seed(self.seed, "answer", state.ply)
        chosen = player.choose(MoveRequest(self.plan.index, state.copy(), origin, actions, seed)).result()
        known: Row = {"actions": chosen.action, "learn": 0, "depths": chosen.depth, "note": chosen.note}
        known |= {"policy_actions": [chosen.action], "policy_counts": [1]}
        known |= {} if chosen.score is None else {"scores": chosen.score}
        return known if chosen.seconds is None else known | {"seconds": chosen.seconds}

    def _leave(self) -> None:
        """Remove the trees; tell players without a forest that the game is over."""
        for number, tree in self.trees.items():
            forest = self.forests[self.plan.sides[number]]
            assert forest is not None
            forest.remove(np.array([tree], np.int64))
        for number in {*self.plan.sides}:
            player = self.players[number]
            if not isinstance(player, SearchPlayer):
                player.end(self.plan.index)

    def _record(self, result: Row, lost: GameLost | None) -> GameRecord:
        columns: Row = {"policy_lengths": [len(row["policy_actions"]) for row in self.rows]}
        for one in COLUMNS:
            values = [row.get(one.name, one.default_row) for row in self.rows]
            if one.level == "edge":
                values = [value for row in values for value in row]
            columns.setdefault(one.name, values)
        notes = {at: row["note"] for at, row in enumerate(self.rows) if row.get("note")}
        if lost is not None and lost.detail:
            notes[len(self.rows)] = lost.detail
        arrays: Row = {one.name: one.array(columns[one.name]) for one in COLUMNS}
        return GameRecord(plan=self.plan, seed=self.seed, notes=notes, **arrays, **result)


def searches_in_full(cap: PlayoutCap, game_seed: int, ply: int) -> bool:
    """Return whether the move at this ply of this game is searched in full: one draw for every game and ply."""
    return bool(stream(game_seed, "playout cap", ply).random() < cap.full_share)


def teaches_visits(search: SearchParams) -> bool:
    """Return whether the policy target is the visits: no rule that changes it is on."""
    search = search.without_neutral_rules()
    return not (search.gumbel or search.solver or search.forced_playouts or search.posterior)


def _choice(player: SearchPlayer, forest: _core.Forest, tree: Any, ply: int, uniform: float) -> Row:
    """Return the move of a finished tree, `ply` plies into the game, and what its search found."""
    visits = forest.root_visits(tree)
    priors = forest.root_priors(tree)
    counts = visits[0] if teaches_visits(player.search) else np.rint(forest.policy_targets(tree)[0] * TARGET_UNITS)
    edges = np.flatnonzero(counts)
    wdl = forest.root_values(tree)[0]
    net = forest.network_values(tree)[0]
    lower, upper, _ = forest.root_bounds(int(tree[0]))
    return {
        "actions": choose(
            _candidates(forest, int(tree[0])), int(forest.best_actions(tree)[0]), ply, uniform, player.temperature
        ),
        "policy_actions": edges.tolist(),
        "policy_counts": counts[edges].astype(np.uint32).tolist(),
        "root_wdl": wdl,
        "net_value": net[0] - net[2],
        "surprise": policy_surprise(counts[edges], priors[0][edges]),
        "visits": int(forest.root_node_visits(tree)[0]),
        "temperatures": temperature_at(player.temperature, ply),
        "scores": pawns(float(wdl[0] - wdl[2])),
        "proven": lower + 2 if lower == upper else 0,
    }


def _candidates(forest: _core.Forest, tree: int) -> list[Candidate]:
    """Return the moves of a root by action."""
    moves = sorted(root_moves(forest, tree, lines=0), key=lambda move: move.action)
    return [
        Candidate(one.action, one.visits, one.q if one.visits else math.nan, one.prior, one.proven) for one in moves
    ]


def policy_surprise(counts: Any, priors: Any) -> float:
    """Return KL(target || prior) = sum_a target(a) ln(target(a) / prior(a)), in nats, >= 0; target ~ counts > 0.

    How far a search is from its net (Wu, KataGo's methods, "Policy Surprise Weighting"); hauteur.learning.replay draws
    positions by it. priors: the net's, without the root's noise.
    """
    target = counts.astype(np.float64) / counts.sum(dtype=np.float64)
    terms = target * np.log(target / np.maximum(priors, np.float32(LEAST_PRIOR)))
    return max(0.0, float(sum(terms.tolist())))


def _result(state: _core.State, lost: GameLost | None, side: int, *, resigns: bool) -> Row:
    """Return outcome, end reason and the side that resigned (or would have, if the game was played out)."""
    if lost is not None:
        loser = state.to_move
        resigned = loser if isinstance(lost, EngineResignation) else NO_SIDE
        return {"outcome": -1 if loser == 0 else 1, "end_reason": lost.reason, "resigned": resigned}
    if (outcome := state.outcome()) is not None:
        reason = state.end_reason() or ""
        return {"outcome": outcome, "end_reason": reason, "resigned": NO_SIDE if resigns else side}
    if resigns:
        return {"outcome": -1 if side == 0 else 1, "end_reason": RESIGNATION, "resigned": side}
    return {"outcome": 0, "end_reason": PLY_LIMIT, "resigned": side}
