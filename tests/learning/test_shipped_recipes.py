"""Recipes by name: those that ship, in the package alone; files of a checkout are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.learning.recipe import load_recipe
from hauteur.learning.run import learn
from hauteur.learning.shipped_recipes import (
    BUNDLED,
    CATALOGUE,
    FOLDER,
    expectation,
    recipe_file,
    recipe_lines,
    shipped_recipes,
)
from hauteur.networks.strength import shipped_nets
from hauteur.players.baselines import move_function, parse_baseline
from hauteur.players.settings import parse_player

RUNS = Path(__file__).resolve().parent.parent.parent / "runs"


def test_every_recipe_of_the_package_is_in_the_catalogue() -> None:
    files = {path for path in FOLDER.rglob("*.toml") if path.name != CATALOGUE}
    assert {recipe.path for recipe in shipped_recipes()} == files
    for recipe in shipped_recipes():
        assert recipe_file(recipe.name) == recipe.path
        assert load_game(recipe.game).spec == load_game(load_recipe(recipe.path).game).spec


def test_the_recipes_of_a_checkout_are_those_of_the_package() -> None:
    """There is one text of each: what stands in runs is the package's file, or reads the same."""
    in_runs = sorted(path for path in [*RUNS.glob("*.toml"), *(RUNS / BUNDLED).glob("*.toml")])
    assert [path.relative_to(RUNS) for path in in_runs] == sorted(
        recipe.path.relative_to(FOLDER) for recipe in shipped_recipes()
    )
    for path in in_runs:
        assert path.read_bytes() == (FOLDER / path.relative_to(RUNS)).read_bytes()


def test_games_that_are_not_solved_have_a_yardstick() -> None:
    """A newcomer's run shows its strength; the opponents are there on every machine."""
    without = [recipe.name for recipe in shipped_recipes() if load_recipe(recipe.path).yardstick is None]
    measured = [recipe for recipe in shipped_recipes() if recipe.minutes is not None and recipe.name in without]
    assert [recipe.name for recipe in measured] == ["tictactoe", "connect4", "nogo5", "bundled/chess"]
    for recipe in shipped_recipes():
        settings = load_recipe(recipe.path).yardstick
        if settings is not None:
            play = parse_player(settings.opponent)
            if play.net is not None:
                assert play.net in shipped_nets()
                continue
            assert settings.opponent.startswith(("mcts:", "rave:", "material"))
            assert play.baseline is not None
            move_function(load_game(recipe.game), parse_baseline(play.baseline))


def test_the_list_has_a_line_a_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["train", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == recipe_lines()
    assert len(lines) == 1 + len(shipped_recipes())
    assert " ".join(lines[1].split()) == "tictactoe tictactoe 18 s no loss in any line of play"


def test_a_file_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert recipe_file("connect4") == FOLDER / "connect4.toml"
    Path("connect4").write_text('game = "tictactoe"\n')
    assert recipe_file("connect4") == Path("connect4")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a recipe, such as `hauteur train tictactoe`"),
        (["conect4"], "there is no recipe 'conect4' (did you mean connect4?)"),
        (["go(size=5)"], "there is no recipe 'go(size=5)' (that game has go5);"),
        (["go"], "there is no recipe 'go' (that game has go5, go7, go9, go9_again, bundled/go9_64x6);"),
        (["../recipes/connect4"], "there is no recipe '../recipes/connect4'"),
        (["catalogue"], "there is no recipe 'catalogue'"),
        (["runs/none.toml"], "runs/none.toml: No such file"),
        (["runs/go9.toml"], "runs/go9.toml: No such file: the recipe that ships is called go9"),
    ],
)
def test_a_recipe_that_is_not_there(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.main(["train", *words]) == main.EXIT_BAD_INPUT
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_recipe_by_name_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("run.generations=1", "selfplay.games=8", "selfplay.visits=4", "gate.games=2", "run.threads=1")
    run = learn("tictactoe", *small, "run.solved_positions=0", on_generation=lambda _: None)
    assert run.folder == Path("runs/tictactoe/default")
    assert run.best.is_file()


def test_what_a_run_takes_and_reaches_is_said_of_recipes_that_were_measured(tmp_path: Path) -> None:
    takes = "18 s of CPU time in all on a core of a server"
    assert expectation("tictactoe") == f"tictactoe: {takes}; then no loss in any line of play"
    assert expectation("tictactoe", changed=True).startswith("tictactoe without these changes: 18 s of CPU time")
    assert expectation("chess").endswith("; how long it takes and what it reaches was not measured")
    (tmp_path / "tictactoe.toml").write_text('game = "tictactoe"\n', encoding="utf-8")
    assert expectation(tmp_path / "tictactoe.toml") == ""
