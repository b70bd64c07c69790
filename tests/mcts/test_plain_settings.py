"""Plain settings: the core reads what it reads of the models, and checks it."""

import pytest

from hauteur import _core
from hauteur.mcts.lc0_options import SEARCH_OPTIONS, search_params, search_values
from hauteur.mcts.params import Gumbel, SearchParams, Temperature
from hauteur.mcts.plain_settings import PlainSettings, checked_search, draws_moves, has_section, search_model

pytestmark = pytest.mark.quick

GIVEN = {"CPuct": 2.5, "ScLimit": 40, "Contempt": "100", "DirichletNoiseEpsilon": 0.1, "FpuStrategyAtRoot": "absolute"}


@pytest.mark.parametrize("given", [{}, GIVEN])
def test_the_core_reads_the_same_settings_in_both_forms(given: dict[str, float | str]) -> None:
    game = _core.Game("chess")
    plain = checked_search(search_values(given, max_tree_bytes=1000, opponent_net=None))
    model = search_params(given, max_tree_bytes=1000)
    assert search_model(plain) == model
    assert _core.Forest(game, plain).params == _core.Forest(game, model).params


def test_options_have_the_defaults_of_the_models() -> None:
    defaults = SearchParams()
    assert len(SEARCH_OPTIONS) > 20
    for option in SEARCH_OPTIONS:
        section, _, name = option.field.rpartition(".")
        if section in ("cpuct", "fpu"):
            assert option.default == getattr(getattr(defaults, section), name)


def test_refused_settings_are_named() -> None:
    with pytest.raises(ValueError, match="n_scl must not be 0 without opponent_net"):
        checked_search({"search_contempt": {"n_scl": 0}})
    with pytest.raises(ValueError, match="colour"):
        checked_search({"colour": 1})


def test_sections_and_draws_in_both_forms() -> None:
    assert has_section(SearchParams(gumbel=Gumbel()), "gumbel")
    assert has_section(PlainSettings({"gumbel": {}}), "gumbel")
    assert not has_section(SearchParams(), "gumbel")
    assert not has_section(PlainSettings({"gumbel": None}), "gumbel")
    assert draws_moves(Temperature(endgame=0.5))
    assert draws_moves(PlainSettings({"initial": 0.5}))
    assert not draws_moves(Temperature())
    assert not draws_moves(PlainSettings())
