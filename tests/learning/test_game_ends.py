"""Ownership and score as targets: by hand, through symmetries, in windows that move, in training."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import hauteur as ht
from hauteur import _core
from hauteur.games.registry import has_points, load_game
from hauteur.learning.extra_heads import extra_losses
from hauteur.learning.recipe import parse_recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run import self_play
from hauteur.learning.sections import ExtraTargets, TrainSettings
from hauteur.learning.targets import GameEnds
from hauteur.learning.trainers import Trainer
from hauteur.matches.record import GameRecord

GO = load_game("go(size=3)")
POINTS = ExtraTargets(ownership=1.5, score=0.5)


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return list(self_play(GO, "net=uniform visits=6 temperature=1", games=12, seed=2))


def end_of(record: GameRecord) -> _core.State:
    state = GO.new_initial_state()
    for action in (*record.plan.start, *record.actions):
        state.apply(int(action))
    return state


@pytest.mark.parametrize("spec", ["go(size=5)", "go(size=7,komi=0.5)", "othello(size=6)", "othello"])
def test_the_lead_is_the_sum_of_what_is_owned(spec: str) -> None:
    game = load_game(spec)
    komi = -float(game.new_initial_state().score() or 0)
    random = ht.stream(1, spec)
    for _ in range(5):
        state = game.new_initial_state()
        while state.outcome() is None:
            owned = state.ownership()
            assert owned is not None
            assert owned.shape == game.feature_shape[1:]
            assert state.score() == pytest.approx(float(owned.sum()) - komi)
            state.apply(int(random.choice(state.legal_actions())))


@pytest.mark.parametrize("spec", ["connect4", "chess", "hex", "minichess", "nogo", "tictactoe", "gomoku(size=9)"])
def test_games_without_points_have_none(spec: str) -> None:
    start = load_game(spec).new_initial_state()
    assert start.ownership() is None
    assert start.score() is None
    assert not has_points(load_game(spec))


def test_targets_are_the_movers_view_of_the_end(records: list[GameRecord]) -> None:
    buffer = ReplayBuffer(GO, extra=POINTS)
    buffer.add(records)
    games = Games.of(records)
    moves = np.arange(buffer.positions)
    samples = buffer.samples_of(moves)
    for move, game in enumerate(games.game_of(moves)):
        end = end_of(records[game])
        sign = 1 if games.movers[move] == 0 else -1
        owned = samples.extra["ownership"][move]
        score = samples.extra["score"][move]
        if end.outcome() is None:
            assert np.isnan(owned).all()
            assert np.isnan(score)
        else:
            points = end.ownership()
            lead = end.score()
            assert points is not None
            assert lead is not None
            assert np.array_equal(owned[0], sign * points)
            assert score == pytest.approx(sign * lead / 3)
            assert (score > 0) == (samples.wdl[move, 0] == 1)


def test_ownership_turns_with_the_board(records: list[GameRecord]) -> None:
    buffer = ReplayBuffer(GO, extra=POINTS)
    buffer.add(records)
    samples = buffer.samples_of(np.arange(buffer.positions))
    squares, _ = GO.symmetries()
    for symmetry, order in enumerate(squares):
        turned = buffer.transformed(samples, np.full(buffer.positions, symmetry))
        expected = samples.extra["ownership"].reshape(buffer.positions, 9)[:, order]
        assert np.array_equal(turned.extra["ownership"].reshape(expected.shape), expected, equal_nan=True)
        assert np.array_equal(turned.extra["score"], samples.extra["score"], equal_nan=True)


def test_games_that_ended_early_have_no_such_target(records: list[GameRecord]) -> None:
    longest = max(records, key=lambda record: len(record.actions))
    games = Games.of([longest])
    shorter = replace(games, lines=games.lines[:-1], line_lengths=games.line_lengths - 1)
    whole, early = (GameEnds.of(some, 0, lambda origin: GO.new_initial_state()) for some in (games, shorter))
    assert np.isfinite(whole.lead).all()
    assert np.isnan(early.lead).all()
    targets = early.targets(np.zeros(1, np.int64), np.zeros(1, np.uint8))
    assert np.isnan(targets["ownership"]).all()


def test_a_window_that_moves_has_the_ends_of_its_games(records: list[GameRecord]) -> None:
    moving = ReplayBuffer(GO, window=5, extra=POINTS)
    for record in records:
        moving.add([record])
    fresh = ReplayBuffer(GO, window=5, extra=POINTS)
    fresh.add(records)
    every = np.arange(fresh.positions)
    one = moving.samples_of(every)
    other = fresh.samples_of(every)
    for name in ("ownership", "score"):
        assert np.array_equal(one.extra[name], other.extra[name], equal_nan=True)


def test_losses_by_hand_and_rows_without_an_end() -> None:
    ownership = torch.tensor([[[[1.0, -1.0, 0.0]]], [[[float("nan")] * 3]]])
    score = torch.tensor([2.0, float("nan")])
    logits = torch.zeros(2, 1, 1, 3)
    batch = {"ownership": ownership, "score": score, "wdl": torch.zeros(2, 3)}
    lead = torch.zeros(2, 1)
    found = extra_losses(POINTS, {"ownership": logits, "score": lead}, torch.zeros(2, 3), batch)
    assert found["ownership"].item() == pytest.approx(np.log(2) / 2)
    assert found["score"].item() == pytest.approx(1.5 / 2)


def test_both_are_learned(records: list[GameRecord]) -> None:
    settings = TrainSettings(batch_size=32, extra=POINTS)
    buffer = ReplayBuffer(GO, extra=POINTS)
    buffer.add(records)
    trainer = Trainer(GO, ht.ResNet(filters=8, blocks=1), settings, seed=1)
    first = trainer.fit(buffer, steps=5).extra
    last = trainer.fit(buffer, steps=80).extra
    assert set(first) == {"ownership", "score"}
    assert all(last[name] < first[name] for name in first)


@pytest.mark.parametrize("name", ["ownership", "score"])
def test_games_without_points_are_refused(name: str) -> None:
    message = r"train\.extra: ownership and score are of games of points.*not of tictactoe"
    with pytest.raises(ValueError, match=message):
        parse_recipe({"game": "tictactoe", "train": {"extra": {name: 1.0}}}, "test")
    with pytest.raises(ValueError, match=message):
        ReplayBuffer(load_game("tictactoe"), extra=ExtraTargets.model_validate({name: 1.0}))
