"""The public names of the package: which they are, that each is there, and that type checkers see the same."""

import ast
from pathlib import Path

import pytest

import hauteur

pytestmark = pytest.mark.quick

PUBLIC = {
    *("load_game", "position", "read_games", "register_game", "check_game", "Game", "State"),
    *("evaluator", "load_network", "save_network", "register_network", "ResNet"),
    *("SearchParams", "SearchContempt", "search", "search_batch", "Analysis", "Rule"),
    *("Player", "PlayerEngine", "play_match", "sprt", "tournament", "RatingList"),
    *("review", "puzzles"),
    *("self_play", "ReplayBuffer", "Trainer", "TrainSettings", "learn", "LearningRun", "Recipe", "GameRecord"),
    *("games", "nets", "settings", "__version__"),
    *("Tally", "rating_list", "exact_values", "exact_play", "ExperimentFolder", "Figure", "Series", "stream"),
}
"""A name is added or taken away here first: programs of others depend on them."""


def names_for_type_checkers() -> dict[str, str]:
    """Name -> module of every import under `if TYPE_CHECKING:`."""
    assert hauteur.__file__ is not None
    body = ast.parse(Path(hauteur.__file__).read_text(encoding="utf-8")).body
    block = next(node for node in body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


def test_public_names_are_frozen() -> None:
    assert set(hauteur.__all__) == PUBLIC
    assert len(PUBLIC) <= 46
    assert dir(hauteur) == sorted(hauteur.__all__)


def test_type_checkers_see_the_same_names() -> None:
    assert names_for_type_checkers() == hauteur._MODULES


@pytest.mark.parametrize("name", hauteur.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(hauteur, name)
    assert value is getattr(hauteur, name)
    assert name == "__version__" or value.__doc__


def test_other_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = hauteur.no_such_name
