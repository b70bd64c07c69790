"""Pages of the search methods: one for each rule, and settings with which a method can be seen."""

import pytest

from hauteur.games.registry import make, with_fen
from hauteur.mcts.params import SearchParams
from hauteur.players.settings import parse_player
from hauteur.studies.explain.explain import changed, method_page
from hauteur.studies.explain.question import side_of
from hauteur.studies.methods import TRIALS, Method, methods


def test_every_rule_has_a_page() -> None:
    pages = {method.name for method in methods()}
    assert {page for name in SearchParams.model_fields if (page := method_page(name))} <= pages
    assert set(TRIALS) <= pages
    assert len(pages) == len(methods()) > 15
    assert all(method.title and method.text and method.use for method in methods())


@pytest.mark.parametrize("method", [method for method in methods() if method.trial], ids=lambda method: method.name)
def test_trials_switch_their_method_on(method: Method) -> None:
    game = make(with_fen("chess", method.fen))
    side = side_of(method.trial, game, "side A", parse_player(""))
    assert {method_page(name) for name in changed(side)} == {method.name}
