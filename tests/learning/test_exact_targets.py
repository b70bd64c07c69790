"""Targets that are exact: what alpha-beta finds out about the ends of recorded games."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from run_toys import TINY, Silent, tiny

import hauteur as ht
from hauteur.games.positions import exact_values
from hauteur.games.registry import load_game
from hauteur.learning.exact_ends import with_exact_ends
from hauteur.learning.loop import learn
from hauteur.learning.recipe import parse_recipe
from hauteur.learning.recorded_files import good_games, shards_of
from hauteur.matches.record import GameRecord

SMALL = "connect4(columns=4,rows=4)"


def games(count: int) -> list[GameRecord]:
    return list(ht.self_play(SMALL, "net=uniform visits=12 temperature=1", games=count, seed=3))


def test_targets_are_those_of_the_whole_tree() -> None:
    game = load_game(SMALL)
    values = exact_values(game)
    found = games(4)
    for record, exact in zip(found, with_exact_ends(found, game, 1_000_000), strict=True):
        state = game.new_initial_state()
        ends = np.cumsum(exact.policy_lengths)[:-1]
        policies = zip(np.split(exact.policy_actions, ends), np.split(exact.policy_counts, ends), strict=True)
        before = np.split(record.policy_actions, np.cumsum(record.policy_lengths)[:-1])
        for move, (actions, counts) in enumerate(policies):
            of_moves = values(state)
            best = state.legal_actions()[np.equal(of_moves, max(of_moves))]
            assert exact.proven[move] == max(of_moves) + 2
            assert set(actions) == (set(best) & set(before[move]) or set(best))
            assert (counts > 0).all()
            state.apply(int(record.actions[move]))


def test_what_takes_too_long_is_as_it_was() -> None:
    game = load_game(SMALL)
    found = games(6)
    for record, exact in zip(found, with_exact_ends(found, game, 60), strict=True):
        first = int(np.argmax(exact.proven > 0))
        assert 0 < first < len(exact.actions)
        assert (exact.proven[first:] > 0).all()
        assert not exact.proven[:first].any()
        edges = int(record.policy_lengths[:first].sum())
        assert np.array_equal(exact.policy_actions[:edges], record.policy_actions[:edges])
        assert np.array_equal(exact.policy_counts[:edges], record.policy_counts[:edges])


def test_a_position_whose_good_moves_were_not_seen_has_them_all_alike() -> None:
    game, (record, *_) = load_game(SMALL), games(1)
    last = int(record.policy_lengths[:-1].sum())
    state = game.new_initial_state()
    for action in record.actions[:-1].tolist():
        state.apply(action)
    values = exact_values(game)(state)
    best = state.legal_actions()[np.equal(values, max(values))]
    counts = record.policy_counts.copy()
    counts[last:][np.isin(record.policy_actions[last:], best)] = 0
    (exact,) = with_exact_ends([replace(record, policy_counts=counts)], game, 1_000_000)
    place = int(exact.policy_lengths[:-1].sum())
    assert exact.policy_actions[place:].tolist() == best.tolist()
    assert exact.policy_counts[place:].tolist() == [1] * len(best)


def test_a_run_learns_from_them(tmp_path: Path) -> None:
    learn(tiny(train={"proven_targets": "position", "exact_nodes": 100_000}), folder=tmp_path / "run", display=Silent())
    found = [stored.record for path in shards_of([tmp_path / "run" / "games"]) for stored in good_games(path)]
    assert len(found) == 24
    values = exact_values(load_game("tictactoe"))
    for record in found:
        state = record.plan.begin(load_game("tictactoe"))
        for action in [*record.plan.start, *record.actions.tolist()]:
            if state.ply >= len(record.plan.start):
                move = state.ply - len(record.plan.start)
                assert record.proven_targets[move] == max(values(state)) + 2
            state.apply(int(action))


@pytest.mark.parametrize(
    ("game", "train", "words"),
    [
        ("tictactoe", {"exact_nodes": 9}, 'train.exact_nodes needs train.proven_targets = "position" or "earlier"'),
        ("tictactoe", {"proven_targets": "earlier"}, "whose proofs are targets, or train.exact_nodes"),
    ],
)
def test_settings_that_do_not_fit(game: str, train: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_recipe(TINY | {"game": game, "train": train}, "test")


def test_a_game_whose_past_matters_is_refused(tmp_path: Path) -> None:
    recipe = parse_recipe(TINY | {"game": "chess", "train": {"exact_nodes": 9, "proven_targets": "earlier"}}, "test")
    with pytest.raises(ValueError, match=r"train\.exact_nodes: chess cannot be solved by its"):
        learn(recipe, folder=tmp_path / "run", display=Silent())
    assert not (tmp_path / "run").exists()
