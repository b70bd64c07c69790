"""The form of new runs: every number, switch and choice of a recipe, with the recipe's values; no files, no players."""

from pathlib import Path

import pytest

from hauteur.learning.recipe import Recipe, load_recipe
from hauteur.studies.folders import FolderList
from hauteur.system.settings import flat_settings
from hauteur.web.recipe_form import SHOWN, chosen_recipe, recipe_files, recipe_form


def entries(recipe: Recipe) -> dict[str, str]:
    return {one["key"]: one["default"] for group in recipe_form(recipe) for one in group["settings"]}


def test_the_form_has_the_values_of_the_recipe(root: Path) -> None:
    recipe = load_recipe(root / "runs" / "tictactoe.toml")
    shown = entries(recipe)
    assert (shown["selfplay.games"], shown["network.filters"], shown["run.exact"]) == ("500", "16", "true")
    assert shown["selfplay.search.dirichlet.alpha"] == "1.0"
    assert set(SHOWN) <= set(shown)
    for key in set(flat_settings(recipe.model_dump())) & set(shown):
        assert chosen_recipe(None, "tictactoe", "x", {key: shown[key]}).run.tag == "x", key


def test_nothing_in_the_form_names_files_programs_or_folders() -> None:
    forbidden = ("start", "opponent", "game", "run.directory", "run.tag", "selfplay.opening_book", "network.kind")
    shown = entries(Recipe(game="chess"))
    assert not [key for key in shown if key.startswith(forbidden)]
    for key in ("start.net", "opponent.engine", "run.directory", "selfplay.opening_book", "run.tag", "x"):
        with pytest.raises(ValueError, match=f"{key} cannot be changed here"):
            chosen_recipe(None, "chess", "x", {key: "/etc/passwd"})


def test_what_was_chosen(root: Path) -> None:
    path = root / "runs" / "tictactoe.toml"
    recipe = chosen_recipe(path, "connect4", "mine", {"selfplay.visits": "7", "controller": "on"})
    assert (recipe.game, recipe.run.tag, recipe.selfplay.visits, recipe.selfplay.games) == ("connect4", "mine", 7, 500)
    assert recipe.controller is not None
    for settings, message in (
        ({"selfplay.visits": "0"}, "recipe: selfplay.visits: Input should be greater than or equal to 1, got '0'"),
        ({"gate.by": "nobody"}, "gate.by: Input should be 'match'"),
    ):
        with pytest.raises(ValueError, match=message):
            chosen_recipe(path, "connect4", "mine", settings)
    with pytest.raises(ValueError, match=r"run\.tag"):
        chosen_recipe(None, "connect4", "../elsewhere", {})


def test_recipes_of_the_roots(tmp_path: Path) -> None:
    place = tmp_path / "lab"
    (place / "some" / "deep" / "er" / "still").mkdir(parents=True)
    (place / "a.toml").write_text('game = "chess"')
    (place / "some" / "b.toml").write_text('game = "tictactoe"\n[run]\ngenerations = 3')
    (place / "some" / "deep" / "er" / "still" / "c.toml").write_text('game = "chess"')
    (place / "pyproject.toml").write_text("[project]")
    (place / "large.toml").write_text('game = "chess"\n' + "#" * 200_000)
    (tmp_path / "outside.toml").write_text('game = "chess"')
    (place / "link.toml").symlink_to(tmp_path / "outside.toml")
    assert recipe_files(FolderList([place])) == {
        "lab/a.toml": place / "a.toml",
        "lab/some/b.toml": place / "some" / "b.toml",
    }
