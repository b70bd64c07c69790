"""Self-play against a fixed opponent, and with a tree for each side."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_toys import Silent, tiny
from run_toys import games_of as games_in
from selfplay_toys import CAP, GAME, RESIGNS, games_of, play_generation, player, same

from hauteur.games.game_line import NO_NET, RESIGNATION
from hauteur.learning.loop import learn
from hauteur.learning.metrics import learner_metrics
from hauteur.learning.planned import planned_selfplay
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.sections import SelfPlaySettings
from hauteur.matches.record import GamePlan
from hauteur.mcts.params import Dirichlet, ForcedPlayouts, SearchContempt, SearchParams

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("colours", "sides"), [("swap", {0, 1}), ("first", {0}), ("second", {1}), ("mover", {0, 1})])
def test_only_the_learner_is_learned_from(tmp_path: Path, colours: Any, sides: set[int]) -> None:
    settings = SelfPlaySettings(
        episodes="best-versus-opponent", games=12, visits=12, parallel_games=6, batch_size=6, opening_plies=3
    )
    opponent = replace(player(1, visits=1), learns=False)
    planned = planned_selfplay(GAME, settings, generation=1, nets=[7, NO_NET], seed=1, colours=colours)
    buffer = ReplayBuffer(GAME, 100)
    games = buffer.extend(play_generation([player(), opponent], planned, tmp_path))
    assert games is not None
    learners = np.argmax(games.nets == 7, axis=1)
    assert set(learners.tolist()) == sides
    assert set(games.nets.ravel().tolist()) == {7, NO_NET}
    of_move = np.repeat(learners, np.diff(games.moves_before))
    np.testing.assert_array_equal(games.learn == 1, games.movers == of_move)
    score = learner_metrics(games)
    assert sum(score.values()) == 12
    assert score["wins"] == sum((games.outcome == 1) & (learners == 0)) + sum((games.outcome == -1) & (learners == 1))
    if colours == "mover":
        starts = games.line_offsets[:-1] * 0 + np.diff(games.line_offsets) - np.diff(games.moves_before)
        np.testing.assert_array_equal(learners, starts % 2)


def test_a_model_of_the_opponent_switches_its_rule_on() -> None:
    recipe = parse_recipe({"game": "chess", "selfplay": {"opponent_net": "maia-1500"}}, "test")
    assert recipe.selfplay.search.opponent_net is not None
    assert recipe.selfplay.search.opponent_net.share == 1.0
    with pytest.raises(ValueError, match=r"a model of the opponent needs both, selfplay.opponent_net"):
        parse_recipe({"game": "chess", "selfplay": {"search": {"opponent_net": {}}}}, "test")
    large = {"filters": 8, "blocks": 1}
    two = {"opponent_net": "maia-1500", "search": {"second_net": {"large_visits": 5}}}
    with pytest.raises(ValueError, match="second_net"):
        parse_recipe({"game": "chess", "large": large, "selfplay": two}, "test")


CONTEMPT = SearchParams(dirichlet=Dirichlet(), search_contempt=SearchContempt(n_scl=6))


def test_everything_together_is_the_same_for_any_number_of_parallel_games_and_threads() -> None:
    options: dict[str, Any] = {"resignation": RESIGNS, "max_plies": 30}
    search = CONTEMPT.model_copy(update={"forced_playouts": ForcedPlayouts()})
    plans = [GamePlan(k, start=(3,) * (k % 4)) for k in range(16)]
    for per_side in (False, True):
        capped = player(cap=CAP, search=search)
        expected = games_of([capped], plans, tree_per_side=per_side, **options)
        for how in ({"parallel": 1}, {"parallel": 16, "batch_size": 64}, {"threads": 3}, {"in_flight": 1}):
            assert same(expected, games_of([capped], plans, tree_per_side=per_side, **(options | how)))
        assert not same(expected, games_of([capped], plans, tree_per_side=per_side, **(options | {"seed": 2})))


def tiny_recipe(**sections: Any) -> Recipe:
    selfplay = {
        "episodes": "best-versus-opponent",
        "playout_cap": {"fast_visits": 3, "full_share": 0.5},
        "resignation": {"threshold": -0.01, "moves": 1, "earliest_ply": 4, "play_through": 0.5},
    }
    own: dict[str, Any] = {"selfplay": selfplay, "opponent": {"baseline": "random"}, "gate": {"by": "off"}}
    return tiny(**(own | sections))


def as_text(rows: list[dict[str, Any]]) -> list[str]:
    """Rows to compare; NaN equals NaN."""
    return [repr(row) for row in rows]


def test_a_run_against_an_opponent_with_playout_cap_and_resignation(tmp_path: Path) -> None:
    display = Silent()
    learn(tiny_recipe(), folder=tmp_path / "a", display=display)
    metrics = [json.loads(line) for line in (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()]
    for line, text in zip(metrics, display.lines, strict=True):
        games = line["games"]
        generation = line["generation"]
        rows = [row for row in games_in(tmp_path / "a") if row["generation"] == generation]
        assert sum(games["learner"].values()) == games["games"] == 12
        assert games["resigned"]["games"] == sum(row["end_reason"] == RESIGNATION for row in rows)
        assert games["resigned"]["wrong"] <= games["resigned"]["played_out"]
        assert games["positions"] == sum(sum(row["learn"]) for row in rows)
        assert line["cost"]["evaluations"] == line["selfplay"]["evaluations"]
        learner = games["learner"]
        assert f"learner +{learner['wins']} ={learner['draws']} -{learner['losses']}" in text
        assert f"resigned {games['resigned']['games']}, wrong" in text
    assert sum(line["games"]["resigned"]["games"] for line in metrics) > 0
    learn(tiny_recipe(run={"threads": 2}), folder=tmp_path / "b", display=Silent())
    assert as_text(games_in(tmp_path / "a")) == as_text(games_in(tmp_path / "b"))


def test_the_moves_of_an_opponent_with_a_net_cost_nothing(tmp_path: Path) -> None:
    recipe = tiny_recipe(
        opponent={"net": "uniform", "colours": "second", "search": {"cache_size": 0}},
        run={"generations": 1},
    )
    learn(recipe, folder=tmp_path / "run", display=Silent())
    line = json.loads((tmp_path / "run" / "metrics.jsonl").read_text())
    of_opponent = sum(row["movers"].count(0) for row in games_in(tmp_path / "run"))
    assert line["selfplay"]["evaluations"] - line["cost"]["evaluations"] == of_opponent > 10


def test_an_opponent_plays_with_the_largest_batches_of_a_recipe(tmp_path: Path) -> None:
    selfplay = {"episodes": "best-versus-opponent", "batch_size": 100_000}
    recipe = tiny_recipe(opponent={"net": "uniform"}, selfplay=selfplay, run={"generations": 1})
    learn(recipe, folder=tmp_path / "run", display=Silent())
    assert len(games_in(tmp_path / "run")) == 12


@pytest.mark.parametrize(
    ("game", "selfplay", "opponent", "message"),
    [
        ("tictactoe", {"opening_book": "nowhere.epd"}, None, r"nowhere\.epd"),
        ("minichess", {"episodes": "best-versus-opponent"}, {"baseline": "rave:5"}, "opponent: rave plays games"),
        ("tictactoe", {"episodes": "best-versus-opponent"}, {"net": "nowhere.pb.gz"}, r"nowhere\.pb\.gz"),
    ],
)
def test_players_that_do_not_fit_are_named_before_the_run_begins(
    tmp_path: Path, game: str, selfplay: dict[str, Any], opponent: dict[str, Any] | None, message: str
) -> None:
    sections = {"selfplay": {"games": 2, **selfplay}} | ({"opponent": opponent} if opponent else {})
    with pytest.raises((OSError, ValueError), match=message):
        learn(parse_recipe({"game": game, **sections}, "test"), folder=tmp_path / "run", display=Silent())
    assert not (tmp_path / "run" / "config.toml").exists()
