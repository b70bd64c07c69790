"""Search-contempt: the laws of frozen nodes, and the options that reach it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from forests import search
from scipy.stats import chisquare
from search_toys import hash_evaluator

from hauteur._core import Forest, Game
from hauteur.engine.uci.options import Options
from hauteur.games.played_game import position_after
from hauteur.mcts.lc0_options import Value, search_params
from hauteur.mcts.params import Fpu, SearchContempt, SearchParams
from hauteur.mcts.plain_settings import search_model
from reference import search_contempt
from reference.draws import Draws
from reference.search import Search
from reference.tree import Edge, Node

GAMES = ("connect4", "chess", "nogo(size=4)")
Edges = list[tuple[int, int, float | None]]


def searched(
    game: Game, rule: SearchContempt | None, *, visits: int = 400, seed: int = 0, rows: int = 1, salt: int = 1
) -> tuple[Forest, int]:
    """A forest with one searched tree from the start."""
    params = SearchParams(search_contempt=rule, fpu=Fpu(value=0.2))
    forest = Forest(game, params, 0)
    tree = forest.add(game.new_initial_state(), seed)
    search(forest, hash_evaluator(game.num_actions, salt=salt), visits=visits, rows=rows)
    return forest, tree


def nodes(forest: Forest, tree: int, line: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Edges]]:
    """All evaluated nodes of a tree with the lines that lead to them."""
    edges = forest.edges_after(tree, line)
    if edges:
        yield line, edges
        for action, visits, _ in edges:
            if visits:
                yield from nodes(forest, tree, (*line, action))


def is_frozen(edges: Edges) -> bool:
    """Return whether a node is frozen."""
    return edges[0][2] is not None


def mover_after(game: Game, line: tuple[int, ...]) -> int:
    """Return who moves after a line from the start."""
    return position_after(game.new_initial_state(), line).to_move


# -- laws --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("rows", [1, 16])
def test_without_sampling_it_is_puct_bit_for_bit(spec: str, rows: int) -> None:
    rules = (None, SearchContempt(n_scl=5, sampling_ratio=0.0))
    (plain, tree), (mixed, other) = (searched(Game(spec), rule, rows=rows) for rule in rules)
    assert mixed.digest(other) == plain.digest(tree)


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("n_scl", [1, 7, 40, -7])
def test_frozen_nodes_are_the_opponents_and_their_weights_add_up(spec: str, n_scl: int) -> None:
    game = Game(spec)
    forest, tree = searched(game, SearchContempt(n_scl=n_scl), visits=1000)
    frozen = 0
    for line, edges in nodes(forest, tree):
        is_own = mover_after(game, line) == game.new_initial_state().to_move
        visits = sum(n for _, n, _ in edges)
        expected = bool(line) and is_own == (n_scl < 0) and visits > abs(n_scl)
        assert is_frozen(edges) == expected or visits == abs(n_scl), (line, edges)
        if is_frozen(edges):
            frozen += 1
            assert sum(weight or 0 for _, _, weight in edges) == abs(n_scl)
            assert all(weight or not n for _, n, weight in edges), "only edges with weight are visited"
    assert frozen > 0


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_draws_follow_the_frozen_weights(temperature: float) -> None:
    """E N(s, a) = frozen visits + draws * weight / sum of weights; draws are independent."""
    n_scl = 24
    seeds = 40
    rule = SearchContempt(n_scl=n_scl, temperature=temperature)
    observed: dict[int, float] = {}
    weights: dict[int, float] = {}
    for seed in range(seeds):
        edges = replies(rule, seed)
        assert is_frozen(edges)
        total = sum(weight or 0.0 for *_, weight in edges)
        draws = sum(n for _, n, _ in edges) - n_scl
        frozen = frozen_visits(edges, temperature, n_scl)
        for action, n, weight in edges:
            if weight:
                observed[action] = observed.get(action, 0) + n - frozen[action]
                weights[action] = weights.get(action, 0) + draws * weight / total
    actions = sorted(weights)
    expected = np.array([weights[action] for action in actions])
    assert expected.sum() > 10_000
    assert chisquare([observed[action] for action in actions], expected).pvalue > 1e-4


def replies(rule: SearchContempt, seed: int) -> Edges:
    """The replies to one first move of Connect Four after a search of it alone."""
    game = Game("connect4")
    forest = Forest(game, SearchParams(search_contempt=rule), 0)
    tree = forest.add(game.new_initial_state(), seed)
    forest.restrict_root(tree, [3])
    search(forest, hash_evaluator(game.num_actions, sharpness=1.0), visits=800, rows=1)
    return forest.edges_after(tree, [3])


def frozen_visits(edges: Edges, temperature: float, n_scl: int) -> dict[int, float]:
    """N_scl(s, a) from the weights N_scl(s, a)^(1/T), which are known up to a factor."""
    shares = {action: (weight or 0.0) ** temperature for action, _, weight in edges}
    return {action: share * n_scl / sum(shares.values()) for action, share in shares.items()}


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schedule",
    [
        "1000",
        "1000:2",
        "a:0.5",
        "-1:0.5",
        "8:0.5 8:0.6",
        "9:0.5 8:0.6",
        "1:nan",
        "1:0.5,2:1",
        "1:1e-1",
        "1:",
        "\u0661:1",
    ],
)
def test_wrong_schedules_are_one_clear_line(schedule: str) -> None:
    with pytest.raises(ValueError, match=r"^ratio_schedule must be VISITS:RATIO pairs") as error:
        SearchContempt(ratio_schedule=schedule)
    assert schedule in str(error.value)
    options = Options()
    with pytest.raises(ValueError, match=r"HybridRatioSchedule must be VISITS:RATIO pairs .*, got "):
        options.set("hybridratioschedule", schedule)


def test_uci_options_reach_the_search() -> None:
    assert search_params({}).search_contempt is None
    given: dict[str, Value] = {
        "sclimit": 28,
        "SCTEMPERATURE": 1.5,
        "HybridSamplingRatio": 0.75,
        "hybridratioschedule": "100:0.5",
    }
    found = SearchContempt(n_scl=28, temperature=1.5, sampling_ratio=0.75, ratio_schedule="100:0.5")
    assert search_params(given).search_contempt == found
    options = Options()
    for name, value in (*given.items(), ("HybridRatioMode", "1")):
        options.set(name, str(value))
    assert search_model(options.search_params()).search_contempt == found
    with pytest.raises(ValueError, match="n_scl must not be 0"):
        options.set("ScLimit", "0")
    options.set("sclimit", "-40")
    rule = search_model(options.search_params()).search_contempt
    assert rule is not None
    assert rule.n_scl == -40


# -- where the paper's text is left ------------------------------------------------------------------------------------


def by_the_text(rule: SearchContempt, node: Node, root_mover: int, draws: Draws) -> Edge | None:
    """`draw_edge` as the paper's text has it: the visit that freezes a node goes by PUCT, and the next one is drawn."""
    if not search_contempt.acts_at(rule, node, root_mover):
        return None
    if not node.frozen:
        node.frozen = search_contempt.freeze(rule, node)
        return None
    return search_contempt.draw(node.frozen, draws.uniform())


def root_visits_of_the_reference(rule: SearchContempt, visits: int) -> dict[int, int]:
    """Visits of the moves of tic-tac-toe's start with a net of the tests, by the search in plain Python."""
    game = Game("tictactoe")
    evaluate = hash_evaluator(game.num_actions, salt=2)
    tree = Search(game.new_initial_state(), SearchParams(search_contempt=rule), 1, ())
    tree.visit_limit = visits
    while tree.wants_visit():
        leaves = tree.gather(1)
        features = [leaf.node.state.features() for leaf in leaves]
        tree.apply(leaves, *evaluate(np.array(features, np.float32).reshape(-1, *game.feature_shape)))
    return {action: count for action, count in tree.root_visits().items() if count}


def test_sampling_begins_one_visit_before_that_of_the_papers_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the author's engine. With a low N_scl the one visit can decide which move is the best."""
    rule = SearchContempt(n_scl=2)
    visits = 300
    ours = root_visits_of_the_reference(rule, visits)
    game = Game("tictactoe")
    forest = Forest(game, SearchParams(search_contempt=rule), 0)
    tree = forest.add(game.new_initial_state(), 1)
    search(forest, hash_evaluator(game.num_actions, salt=2), visits=visits, rows=1)
    assert {action: count for action, count, _ in forest.edges_after(tree, ()) if count} == ours
    monkeypatch.setattr(search_contempt, "draw_edge", by_the_text)
    text = root_visits_of_the_reference(rule, visits)
    best = max(text, key=text.__getitem__)
    assert (text[best], ours[best]) == (263, 20)
    high = SearchContempt(n_scl=1000)
    without = root_visits_of_the_reference(high, visits)
    monkeypatch.undo()
    assert root_visits_of_the_reference(high, visits) == without  # where nothing freezes the readings are the same
