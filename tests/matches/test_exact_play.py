"""Players measured by exact play: games against every reply, solved positions, the solver."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from learning_toys import Answers, ToyEvaluator
from numpy.typing import NDArray
from search_toys import solved_tictactoe

from hauteur import _core
from hauteur.cli import main
from hauteur.cli.commands import prove as commands
from hauteur.games.positions import exact_values, position
from hauteur.games.registry import load_game
from hauteur.matches import exact_play
from hauteur.matches.exact_play import MoveChooser, PlayedTree, Preserved, SolvedSet, TreePlayer
from hauteur.mcts.params import SearchParams
from hauteur.players.search_player import SearchPlayer

GAME = _core.Game("tictactoe")
CONNECT4 = _core.Game("connect4")


class FunctionEvaluator(ToyEvaluator):
    """Answers by a function of the features."""

    function: Callable[[NDArray[np.float32]], Answers]

    def __call__(self, features: NDArray[np.float32]) -> Answers:
        return self.function(features)


def player(game: _core.Game, function: Callable[[NDArray[np.float32]], Answers], visits: int) -> SearchPlayer:
    evaluator = FunctionEvaluator(game, batch_size=64)
    evaluator.function = function
    return SearchPlayer("toy", evaluator, SearchParams(), visits)


def rising(features: NDArray[np.float32]) -> Answers:
    """Knows nothing and prefers high actions."""
    logits = np.tile(np.arange(9, dtype=np.float32), (len(features), 1))
    return logits, np.full((len(features), 3), 1 / 3, np.float32)


def uniform7(features: NDArray[np.float32]) -> Answers:
    """All columns alike, all values 0."""
    return np.zeros((len(features), 7), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


def against_every_reply(one: SearchPlayer) -> list[PlayedTree]:
    return [TreePlayer(one, GAME, replies="all").play(side) for side in (0, 1)]


def test_a_player_that_knows_the_values_never_loses() -> None:
    results = against_every_reply(player(GAME, solved_tictactoe, 100))
    assert [result.side for result in results] == [0, 1]
    assert [result.losses for result in results] == [0, 0]
    assert all(result.wins > 0 and result.draws > 0 for result in results)
    assert all(result.searched < result.positions for result in results)


def reached_by_highest_square(side: int) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """All and the lost boards that can come about when one side always takes the highest free square."""
    met = set()
    lost = set()
    todo = [GAME.new_initial_state()]
    while todo:
        state = todo.pop()
        board = tuple(state.text().split())
        if board in met:
            continue
        met.add(board)
        legal = state.legal_actions().tolist()
        if state.outcome() == (-1 if side == 0 else 1):
            lost.add(board)
        for action in legal[-1:] if state.to_move == side else legal:
            child = state.copy()
            child.apply(action)
            todo.append(child)
    return met, lost


def test_every_reply_is_met_and_every_loss_found() -> None:
    results = against_every_reply(player(GAME, rising, 1))
    for result in results:
        met, lost = reached_by_highest_square(result.side)
        assert (result.positions, result.losses) == (len(met), len(lost))
        assert len(result.mistakes) == result.checked - result.kept > 0


def test_the_set_that_ships_is_what_it_says() -> None:
    solved = exact_play.solved_set(CONNECT4)
    assert len(solved.positions) == exact_play.COUNT
    assert len({one.state.key for one in solved.positions}) == len(solved.positions)
    assert SolvedSet.from_text(CONNECT4, solved.text()) == solved
    assert {solved.phase(ply) for ply in solved.plies} == set(exact_play.PHASES)
    solver = _core.ExactSolver(CONNECT4, 18)
    for one in solved.thinned(500).positions:
        assert one.state.outcome() is None
        if one.state.ply >= 18:
            assert solver.move_values(one.state) == list(one.values)
            twin = position("connect4", [str(8 - int(column)) for column in one.state.notation()])
            assert solver.move_values(twin) == list(one.values)[::-1]


def test_sets_are_found_again_by_their_seed() -> None:
    game = load_game("nogo(size=4)")
    first, again, other = (exact_play.solved_set(game, 20, seed=seed, total=2_000_000) for seed in (0, 0, 1))
    assert first == again != other
    values = exact_values(game)
    assert all(list(one.values) == values(one.state) for one in [*first.positions, *other.positions])


class Heap:
    """Nim: one, two or three matches are taken from a heap; who takes the last one wins."""

    num_actions = 3
    feature_shape = (1, 1, 1)
    max_plies = 12

    def __init__(self, left: int = 12, to_move: int = 0) -> None:
        self.left = left
        self.to_move = to_move

    def legal_actions(self) -> list[int]:
        return list(range(min(3, self.left)))

    def apply(self, action: int) -> None:
        self.left, self.to_move = self.left - action - 1, 1 - self.to_move

    def outcome(self) -> int | None:
        return None if self.left else (-1, 1)[self.to_move]

    def features(self) -> NDArray[np.float32]:
        return np.full((1, 1, 1), self.left, np.float32)

    def copy(self) -> Heap:
        return type(self)(self.left, self.to_move)


class Remembering(Heap):
    """The same with rules that look back."""

    past_matters = True


def test_a_game_of_ones_own_is_solved_unless_its_rules_look_back() -> None:
    game = _core.Game.from_python(Heap(), "heap")
    state = game.new_initial_state()
    solver = _core.ExactSolver(game, 10)
    while state.outcome() is None:
        left = int(state.features()[0, 0, 0])
        values = [1 if (left - taken) % 4 == 0 else -1 for taken in (1, 2, 3) if taken <= left]
        assert solver.move_values(state) == values
        state.apply(0)
    (tree,) = [TreePlayer(player(game, lambda rows: taking(rows, 3), 1), game).play(1)]
    assert (tree.value, tree.complete, tree.perfect) == (1, True, False)
    with pytest.raises(ValueError, match=r"heap cannot be solved by .* depend on the moves before"):
        _core.ExactSolver(_core.Game.from_python(Remembering(), "heap"))


def taking(features: NDArray[np.float32], actions: int) -> Answers:
    """Knows nothing."""
    return np.zeros((len(features), actions), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


def test_the_solver_takes_positions_of_its_game_alone() -> None:
    with pytest.raises(ValueError, match="this solver is for connect4, got a state of tictactoe"):
        _core.ExactSolver(CONNECT4).move_values(GAME.new_initial_state())
    with pytest.raises(ValueError, match="table_bits must be 10 to 28, got 3"):
        _core.ExactSolver(CONNECT4, 3)


def test_shares_of_preserved_values() -> None:
    late = [one for one in exact_play.solved_set(CONNECT4).positions if 28 <= one.state.ply <= 30]
    solver_player = player(CONNECT4, uniform7, 400)
    shares, in_all = exact_play.value_preserving_moves(solver_player, late)
    assert sorted(shares) == [28, 29, 30]
    assert in_all == exact_play.summed(list(shares.values()))
    actions = MoveChooser(solver_player, CONNECT4).choose([one.state for one in late])
    kept = sum(one.preserved_by(int(action)) for one, action in zip(late, actions, strict=True))
    assert in_all.preserved == kept
    assert in_all.share > 0.8
    part = Preserved(10, 9, 4, 3)
    assert (part.share, part.choices_share) == (0.9, 0.75)
    assert part.interval[0] < 0.6 < part.share < part.interval[1] < 1


def test_the_tree_of_best_replies_is_that_of_plain_negamax() -> None:
    """On a board of 4 x 4, against a player without knowledge; a sample is within the tree."""
    game = load_game("connect4(columns=4,rows=4)")
    values = exact_values(game)
    knows_nothing = player(game, lambda rows: taking(rows, 4), 5)
    for side in (0, 1):
        tree = TreePlayer(knows_nothing, game).play(side)
        chooser = MoveChooser(knows_nothing, game)
        met = set()
        mistakes = 0
        level = {0: game.new_initial_state()}
        while level:
            following = {}
            for state in level.values():
                met.add((state.key, state.ply))
                legal = state.legal_actions().tolist()
                known = list(values(state))
                if state.outcome() is None and state.to_move == side:
                    legal = [int(action) for action in chooser.choose([state])]
                    mistakes += known[state.legal_actions().tolist().index(legal[0])] < max(known)
                elif state.outcome() is None:
                    legal = [a for a, value in zip(legal, known, strict=True) if value == max(known)]
                for action in legal if state.outcome() is None else ():
                    child = state.child(action)
                    following[child.key] = child
            level = following
        assert tree.complete
        assert tree.value == 0
        assert not tree.perfect
        assert (tree.positions, len(tree.mistakes)) == (len(met), mistakes)
        assert tree.checked == tree.searched == tree.kept + mistakes
        few = TreePlayer(knows_nothing, game, lines=5).play(side)
        assert few.sampled_from is not None
        assert few.positions < tree.positions
        assert not few.complete


def use_toy(monkeypatch: pytest.MonkeyPatch, solver_player: SearchPlayer) -> None:
    """The commands find this player's evaluator instead of a net's."""
    monkeypatch.setattr(commands, "evaluator_of", lambda game, net: solver_player.evaluator)


def test_a_loss_gives_exit_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prove", "tictactoe", "--net", "toy.safetensors", "--visits"]
    use_toy(monkeypatch, player(GAME, rising, 1))
    assert main.main([*words, "1"]) == 1
    assert "  mistake: " in capsys.readouterr().out
    use_toy(monkeypatch, player(GAME, solved_tictactoe, 1))
    assert main.main([*words, "50"]) == 0
    assert "positions visited, 0 losses; 50 visits a move" in capsys.readouterr().out


def test_prove_connect4(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    use_toy(monkeypatch, player(CONNECT4, uniform7, 1))
    arguments = ["prove", "connect4", "--net", "toy.safetensors", "--visits", "10", "--positions", "300"]
    assert main.main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    total = document["total"]
    assert total["positions"] == 300 == sum(part["positions"] for part in document["by_phase"].values())
    assert 0 < total["choices_preserved"] < total["choices"] < 300
    assert main.main([*arguments, "--at-least", str(total["interval_95"][0] - 0.001)]) == 0
    assert main.main([*arguments, "--at-least", str(total["share"])]) == 1
    assert "value-preserving moves: " in capsys.readouterr().out


def test_prove_as_first(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Tic-tac-toe is complete; of Connect Four it is said what was not followed or checked."""
    use_toy(monkeypatch, player(GAME, solved_tictactoe, 1))
    assert main.main(["prove", "tictactoe", "--net", "toy.safetensors", "--as-first", "--visits", "100"]) == 0
    assert "perfect: complete, and no move gives value away" in capsys.readouterr().out
    use_toy(monkeypatch, player(CONNECT4, uniform7, 1))
    words = ["prove", "connect4", "--net", "toy.safetensors", "--as-first", "--visits", "10", "--lines", "3"]
    assert main.main(words) in (0, 1)
    out = capsys.readouterr().out
    assert "not complete: from ply 2 on" in out
    assert "not checked: " in out
    assert main.main([*words, "--at-least", "0.5"]) == main.EXIT_BAD_INPUT


def test_a_set_that_ends_early_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    early = exact_play.solved_set(load_game("nogo(size=4)"), 40, seed=1)
    monkeypatch.setattr(commands, "solved_or_refused", lambda *_, **__: early)
    for asked, said in ((41, True), (40, False)):
        assert commands.prove("nogo(size=4)", net="uniform", visits=2, positions=asked) == 0
        assert ("40 of 41 asked for: there are no more" in capsys.readouterr().out) == said
