"""A recipe's search for play: in the nets' files and nowhere else in the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hauteur as ht
from hauteur.learning.recipe import load_recipe, parse_recipe, recipe_toml
from hauteur.learning.run import learn
from hauteur.mcts.net_search import play_search_text
from hauteur.networks.names import resolve_net
from hauteur.networks.strength import shipped_nets
from hauteur.system.files import sha256_of

SMALL = ("run.generations=1", "selfplay.games=8", "selfplay.visits=4", "gate.games=2", "run.threads=1")
CARRIED = "solver.lookahead=1"
RECIPES = Path(__file__).resolve().parents[2] / "runs" / "bundled"


def test_nets_carry_it_and_games_and_weights_are_the_same(tmp_path: Path) -> None:
    plain = learn("tictactoe", *SMALL, "run.solved_positions=0", out=tmp_path / "plain", on_generation=lambda _: None)
    given = (*SMALL, "run.solved_positions=0", f"play_search={CARRIED}")
    carrier = learn("tictactoe", *given, out=tmp_path / "carrier", on_generation=lambda _: None)
    assert play_search_text(resolve_net(plain.best)) == ""
    assert play_search_text(resolve_net(carrier.best)) == CARRIED
    assert "play_search" not in ht.load_network(plain.best).description.training
    assert "play_search" not in (tmp_path / "plain" / "config.toml").read_text(encoding="utf-8")
    ours = ht.load_network(plain.best).tensors
    theirs = ht.load_network(carrier.best).tensors
    assert all((ours[name] == theirs[name]).all() for name in ours)
    games = [
        {path.name: sha256_of(path) for path in (tmp_path / run).rglob("*.parquet")} for run in ("plain", "carrier")
    ]
    assert games[0]
    assert games[0] == games[1]


def test_the_recipe_is_read_back_and_names_what_is_wrong() -> None:
    recipe = parse_recipe({"game": "gomoku", "play_search": "solver.threats=9"}, "recipe")
    assert 'play_search = "solver.threats=9"' in recipe_toml(recipe)
    assert "play_search" not in recipe_toml(parse_recipe({"game": "gomoku"}, "recipe"))
    with pytest.raises(ValueError, match=r"^recipe: play_search: play_search: solver.x is not a setting[^\n]*$"):
        parse_recipe({"game": "gomoku", "play_search": "solver.x=1"}, "recipe")


# A net whose recipe has another name was gone on with by hand, and its search for play stands in the catalogue alone.
@pytest.mark.parametrize("name", [name for name, net in shipped_nets().items() if net.play_search and not net.recipe])
def test_nets_that_ship_play_as_their_recipes_say(name: str) -> None:
    assert load_recipe(RECIPES / f"{name}.toml").play_search == shipped_nets()[name].play_search


def test_the_facts_are_those_of_the_file(tmp_path: Path) -> None:
    net = ht.load_network("tictactoe")
    ht.save_network(tmp_path / "own.safetensors", net.module, net.game, training={"play_search": CARRIED})
    assert json.dumps(CARRIED) in json.dumps(dict(ht.load_network(tmp_path / "own.safetensors").description.training))
    assert play_search_text(resolve_net(tmp_path / "own.safetensors")) == CARRIED
