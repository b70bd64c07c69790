"""Players without a forest: in the arena beside networks, as text."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
import selfplay_toys
from learning_toys import ToyEvaluator

from hauteur import _core
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.record import GameRecord
from hauteur.mcts.params import SearchParams
from hauteur.players.baselines import Baseline, make_baseline
from hauteur.players.move_player import ChosenMove, EngineFailure, EngineResignation, GameLost, MovePlayer, MoveRequest
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player

GAME = _core.Game("nogo(size=5)")


def games_of(
    players: list[SearchPlayer | MovePlayer], games: int = 6, facts: ArenaFacts | None = None
) -> list[GameRecord]:
    return selfplay_toys.games_of(players, games, game=GAME, parallel=3, batch_size=2, facts=facts)


def net_player() -> SearchPlayer:
    return SearchPlayer("toy", ToyEvaluator(GAME), SearchParams(), 20)


def test_moves_are_recorded_and_not_learned_from() -> None:
    with ThreadPoolExecutor(2) as workers:
        games = games_of([net_player(), make_baseline(GAME, Baseline("rave", 50), workers)])
    for game in games:
        own = game.movers == game.plan.sides.index(1)
        assert own.any()
        assert not game.learn[own].any()
        assert game.learn[~own].all()
        assert not game.visits[own].any()
        assert (game.policy_lengths[own] == 1).all()
        assert np.isnan(game.root_wdl[own]).all()
        assert np.isfinite(game.root_wdl[~own]).all()
        first = np.cumsum(game.policy_lengths) - game.policy_lengths
        assert (game.policy_actions[first[own]] == game.actions[own]).all()
        assert (game.policy_counts[first[own]] == 1).all()


@pytest.mark.parametrize("kind", [Baseline("random"), Baseline("mcts", 30), Baseline("rave", 30)])
def test_games_do_not_depend_on_the_threads(kind: Baseline) -> None:
    lines = []
    for threads in (1, 3):
        with ThreadPoolExecutor(threads) as workers:
            games = games_of([make_baseline(GAME, kind, workers), make_baseline(GAME, Baseline("random"), workers)])
            lines.append([(game.actions.tolist(), game.outcome, game.notes) for game in games])
    assert lines[0] == lines[1]
    assert len({tuple(actions) for actions, _, _ in lines[0]}) > 1


@dataclass
class Watching:
    """Plays the first move, checks what it is asked, loses game 1 by failing and game 2 by resigning."""

    workers: Executor
    name: str = "watching"
    running: set[int] = field(default_factory=set)
    ended: list[int] = field(default_factory=list)
    closed: int = 0

    def choose(self, request: MoveRequest) -> Future[ChosenMove]:
        assert self.closed == 0
        assert request.game not in self.ended
        self.running.add(request.game)
        return self.workers.submit(self._choose, request)

    def _choose(self, request: MoveRequest) -> ChosenMove:
        replayed = GAME.new_initial_state()
        assert request.origin == replayed.notation()
        for action in request.actions:
            replayed.apply(action)
        assert replayed.key == request.state.key
        losses: dict[int, GameLost] = {1: EngineFailure("engine crashed", "exit code 3"), 2: EngineResignation()}
        if request.game in losses and len(request.actions) >= 6:
            raise losses[request.game]
        return ChosenMove(int(request.state.legal_actions()[0]), score=-0.5, depth=7, seconds=2.5)

    def dispute(self, over: MoveRequest) -> str:
        assert over.game in self.running
        assert over.state.is_terminal
        return f"it says that game {over.game} is its own"

    def end(self, game: int) -> None:
        self.running.remove(game)
        self.ended.append(game)

    def close(self) -> None:
        self.closed += 1


def test_a_lost_game_leaves_the_others_alone() -> None:
    with ThreadPoolExecutor(2) as workers:
        watching = Watching(workers)
        games = games_of([net_player(), watching])
        alone = games_of([net_player(), Watching(workers)], games=1)
    assert sorted(watching.ended) == list(range(6))
    assert not watching.running
    assert watching.closed == 1
    assert games[0].actions.tolist() == alone[0].actions.tolist()
    assert (games[1].outcome, games[1].end_reason, games[1].resigned) == (-1, "engine crashed", -1)
    assert games[1].notes == {len(games[1].actions): "exit code 3"}
    assert (games[2].outcome, games[2].end_reason, games[2].resigned) == (1, "resignation", 1)
    assert games[2].notes == {}
    assert all(game.end_reason not in ("resignation", "engine crashed") for game in (games[0], *games[3:]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rave", "'rave' is no player: write rave:N, N from 1 to 10,000,000"),
        ("rave:0", "write rave:N"),
        ("rave:-3", "write rave:N"),
        ("random:3", "'random:3' is no player: write random"),
        ("rave:10 temperature=1", "rave:10 is a player without a network: temperature does not apply; allowed: name"),
        ("rave:10 net=uniform", "net does not apply"),
        ("rave:10 cpuct.init=3", "search does not apply"),
        ("rave:10 mcts:10", "baseline is given twice"),
        ("baseline=lion:3", "no player 'lion:3' without a network; there are random, material, mcts:N, rave:N"),
    ],
)
def test_what_is_wrong_with_a_baseline(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_player(text)
