"""Pages of the search methods: one for each rule, and settings with which a method can be seen."""

import pytest

from hauteur.cli.main import main
from hauteur.games.registry import load_game, with_fen
from hauteur.mcts.params import SearchParams
from hauteur.players.settings import parse_player
from hauteur.studies.explain.explain import changed
from hauteur.studies.explain.question import side_of
from hauteur.studies.methods import PAGES, TRIALS, Method, methods, page_of


def test_every_rule_has_a_page() -> None:
    pages = {method.name for method in methods()}
    assert {page for name in SearchParams.model_fields if (page := page_of(name))} <= pages
    assert set(TRIALS) <= pages
    assert len(pages) == len(methods()) > 15
    assert all(method.title and method.text and method.use for method in methods())


def test_no_rule_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    """A rule of SearchParams has a page, a trial on it, and stands in the help, by its being a field."""
    rules = SearchParams.off_by_default()
    assert {"graph", "search_contempt", "root_cpuct", "swap_colors"} < set(rules)
    assert PAGES.keys() <= SearchParams.model_fields.keys()
    assert [name for name in rules if page_of(name) is None] == []
    assert {page_of(name) for name in rules} - TRIALS.keys() == {"mpv-mcts", "opponent-net"}, "a trial has one net"
    assert main(["analyse", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert [name for name in rules if f" {name.replace('_', '-')}," not in shown.replace(".", ",")] == []


@pytest.mark.parametrize("method", [method for method in methods() if method.trial], ids=lambda method: method.name)
def test_trials_switch_their_method_on(method: Method) -> None:
    game = load_game(with_fen("chess", method.fen))
    side = side_of(method.trial, game, "side A", parse_player(""))
    assert {page_of(name) for name in changed(side)} == {method.name}
