"""Odds by nodes: who gives, from which positions, the table of a small match, and what is made of given results."""

import json
from pathlib import Path

import pytest

from hauteur.games.odds import ODDS_STARTS
from hauteur.games.registry import load_game
from hauteur.matches.openings import read_opening
from hauteur.matches.results import MatchGame, Tally
from hauteur.players.settings import parse_player
from hauteur_experiments.experiment import ExperimentSetting, Finding, make_experiment
from hauteur_experiments.matches import MatchSpec, PlayedMatch
from hauteur_experiments.search_contempt import odds
from hauteur_experiments.search_contempt.odds import (
    figure,
    n_scls,
    node_counts,
    odds_lines,
    receiver,
    specs,
    start,
    table,
    white_gives,
)
from hauteur_experiments.search_contempt.odds_findings import (
    PUCT,
    Cell,
    fall,
    findings,
    fits,
    lead,
    lead_of_any,
    more,
    rise,
    rise_at_ends,
)

MINICHESS = "minichess(fen=rnbqk/ppppp/5/PPPPP/RNB1K w - - 0 1)"
UNIFORM = Path("uniform")


def setting(folder: Path, **changes: object) -> ExperimentSetting:
    values = {"nets": (UNIFORM,), "game": MINICHESS, "visits": 3, "opponent": "random", "scale": 0.02, "seeds": 1}
    return ExperimentSetting(folder, threads=1, show=lambda line: None, **(values | changes))  # type: ignore[arg-type]


def played(scores: list[float], openings: int = 10_000, ends: tuple[str, ...] = ("x",)) -> PlayedMatch:
    """A match whose giver made these points. openings: how many different ones; ends: of the games, in turn."""
    player = parse_player("net=uniform")
    games = [
        MatchGame(index=i, a="first", score=one, end=ends[i % len(ends)], plies=9, opening=f"line {i % openings}")
        for i, one in enumerate(scores)
    ]
    tally = Tally(paired=False)
    for game in games:
        tally.add(game)
    return PlayedMatch(MatchSpec("x", player, player, len(games)), tally, games)


def cells(**scores: tuple[int, int, float]) -> dict[tuple[int, int], Cell]:
    """Cells of (N_scl, nodes, share of 100 games that the giver wins)."""
    return {
        (n_scl, nodes): Cell(n_scl, nodes, played([1.0] * round(100 * share) + [0.0] * round(100 - 100 * share)))
        for n_scl, nodes, share in scores.values()
    }


def test_nodes_are_the_papers_or_grow_by_four_up_to_the_limit() -> None:
    assert node_counts(None) == [100, 800, 20_000]
    assert node_counts(1600) == [100, 400, 1600]
    assert node_counts(800) == [200, 800]
    assert node_counts(7) == [7]


@pytest.mark.parametrize("name", list(ODDS_STARTS))
def test_who_gives_is_who_lacks_men(name: str) -> None:
    assert white_gives(ODDS_STARTS[name]) == name.split()[-1].endswith(("1", "2"))


def test_equal_men_are_no_odds(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no odds: both sides have 10 men"):
        specs(setting(tmp_path, game="minichess(fen=rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1)"))


@pytest.mark.parametrize("game", ["minichess", "nogo(size=5)"])
def test_a_game_without_the_position_of_the_odds_is_refused(tmp_path: Path, game: str) -> None:
    with pytest.raises(ValueError, match=r"needs the position of the odds as --game 'chess\(fen=...\)', or in a game"):
        start(setting(tmp_path, game=game))


@pytest.mark.parametrize("seat", ["first", "second"])
def test_in_a_game_without_men_a_seat_gives_from_the_start(tmp_path: Path, seat: str) -> None:
    chosen = setting(tmp_path, game="connect4(rows=4, columns=6)", seat=seat)
    assert start(chosen) == ("connect4(columns=6,rows=4)", None)
    plan = next(iter(specs(chosen).values()))
    assert (plan.colours, list(plan.openings), plan.game) == (seat, [], "connect4(columns=6,rows=4)")


def test_a_seat_and_men_are_not_given_together(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--seat is for games without men, such as connect4; minichess has a position"):
        start(setting(tmp_path, seat="first"))


def test_queen_odds_of_chess_unless_others_are_asked_for(tmp_path: Path) -> None:
    assert start(setting(tmp_path, game=None)) == ("chess", ODDS_STARTS["queen d1"])


def test_the_openings_are_the_same_again_and_lack_the_queen() -> None:
    lines = odds_lines("chess", ODDS_STARTS["queen d1"], 30)
    assert lines == odds_lines("chess", ODDS_STARTS["queen d1"], 40)[:30]
    assert len(set(lines)) > 20
    assert all("Q" not in line.split()[0] and line.split()[1] == "w" for line in lines)
    assert all(read_opening(line, load_game("chess")).fen == line for line in lines)


def test_the_receiver_has_the_givers_net_unless_it_names_one(tmp_path: Path) -> None:
    assert receiver(setting(tmp_path, opponent=None)).net == "uniform"
    assert receiver(setting(tmp_path, opponent=None)).visits == 10
    assert receiver(setting(tmp_path, opponent="net=rollout")).net == "rollout"
    assert receiver(setting(tmp_path, opponent="random")).baseline == "random"


def test_only_the_rule_and_the_nodes_differ_between_givers(tmp_path: Path) -> None:
    plans = specs(setting(tmp_path, visits=400, opponent=None))
    assert [plan.name for plan in plans.values()][:5] == ["puct-100", "n28-100", "n10-100", "n3-100", "puct-400"]
    base = plans[PUCT, 100].a
    for (n_scl, nodes), plan in plans.items():
        rule = plan.a.search.search_contempt
        assert (rule.n_scl if rule else PUCT) == n_scl
        assert plan.a.visits == nodes
        search = plan.a.search.model_copy(update={"search_contempt": None})
        assert plan.a.model_copy(update={"visits": 100, "search": search}) == base
        assert (plan.b, plan.openings) == (plans[PUCT, 100].b, plans[PUCT, 100].openings)
    assert base.temperature.initial == 0.7


@pytest.mark.parametrize(
    ("visits", "expected"),
    [(1, [28, 1, 3]), (3, [28, 3, 1, 9]), (10, [28, 10, 3]), (28, [28, 9, 84]), (30, [28, 30, 10, 90])],
)
def test_n_scl_is_that_of_the_paper_and_around_the_receivers_visits(visits: int, expected: list[int]) -> None:
    assert n_scls(parse_player(f"visits={visits}", "receiver")) == expected
    assert n_scls(parse_player("random", "receiver")) == [28]


def test_the_receivers_visits_are_best_or_not() -> None:
    found = cells(a=(10, 400, 0.6), b=(28, 400, 0.4), c=(3, 400, 0.4), d=(PUCT, 400, 0.9))
    assert verdict_of(fits(found, 10, "score")) == "holds"
    assert verdict_of(fits(found, 3, "score")) == "does not hold"
    assert fits(found, 5, "score") is None
    assert verdict_of(fits(found | cells(e=(12, 400, 0.7)), 10, "score")) == "holds", "12 is not compared with 10"


def test_a_small_table_from_beginning_to_end_and_again(tmp_path: Path) -> None:
    experiment = odds.EXPERIMENTS[0]
    result = make_experiment(experiment, setting(tmp_path / "o"))
    assert [row["search"] for row in result.rows] == ["puct", "n28"]
    assert all(row["games"] == 4 and row["low_95"] <= row["score"] <= row["high_95"] for row in result.rows)
    again = make_experiment(experiment, setting(tmp_path / "o"))
    assert again.rows == result.rows
    assert json.loads((tmp_path / "o/result.json").read_text())["facts"]["receiver"] == {"baseline": "random"}
    games = [json.loads(line) for line in (tmp_path / "o/n28-3/games.jsonl").read_text().splitlines()]
    assert {game["a"] for game in games} == {"first"}


def test_connect_four_as_odds_from_beginning_to_end(tmp_path: Path) -> None:
    chosen = setting(tmp_path / "o", game="connect4(columns=4,rows=4)", seat="second", only=("puct-3", "n28-3"))
    result = make_experiment(odds.EXPERIMENTS[0], chosen)
    assert [row["search"] for row in result.rows] == ["puct", "n28"]
    assert {finding.scope for finding in result.findings} == {"another game"}
    games = [json.loads(line) for line in (tmp_path / "o/n28-3/games.jsonl").read_text().splitlines()]
    assert {game["a"] for game in games} == {"second"}
    assert json.loads((tmp_path / "o/experiment.json").read_text())["settings"]["seat"] == "second"


def test_some_matches_alone_make_a_part_of_the_table(tmp_path: Path) -> None:
    result = make_experiment(odds.EXPERIMENTS[0], setting(tmp_path / "o", only=("n28-3",)))
    assert [row["search"] for row in result.rows] == ["n28"]
    assert list(result.findings) == []


def verdict_of(finding: Finding | None) -> str:
    assert finding is not None
    return finding.verdict


def test_differences_are_of_games_with_the_same_opening() -> None:
    found = {(PUCT, 9): Cell(PUCT, 9, played([0, 0, 1, 1] * 30)), (1, 9): Cell(1, 9, played([0, 1, 1, 1] * 30))}
    finding = lead_of_any(found, "score")
    assert finding is not None
    assert finding.verdict == "holds"
    gain = "score: N_scl 1 at 9 nodes 25 [17.1, 32.9] percentage points (what matters: 6.66), 120 games"
    assert finding.measured == gain
    assert lead(found, "score") is None  # the paper's N_scl is 28


def test_openings_that_repeat_are_the_units() -> None:
    before, after = [0.0, 0, 1, 1] * 60, [0.0, 1, 1, 1] * 60
    found = {(n, 9): Cell(n, 9, played(scores, openings=60)) for n, scores in ((PUCT, before), (1, after))}
    finding = lead_of_any(found, "score")
    assert finding is not None
    assert finding.units == "60 openings"
    assert "25 [13.7, 36.3]" in finding.measured  # twice as wide as that of 240 games
    few = {(n, 9): Cell(n, 9, played(scores, openings=40)) for n, scores in ((PUCT, before), (1, after))}
    assert verdict_of(lead_of_any(few, "score")) == "open"


PAPERS = {"a": (PUCT, 100, 0.23), "b": (28, 100, 0.37), "c": (PUCT, 800, 0.55), "d": (28, 800, 0.57)}
LAST = {"e": (PUCT, 20_000, 0.10), "f": (28, 20_000, 0.95)}


def test_figures_like_the_papers_hold() -> None:
    found = cells(**PAPERS, **LAST)
    assert [verdict_of(one(found, "score")) for one in (rise, rise_at_ends, more, fall, lead_of_any)] == ["holds"] * 5
    assert verdict_of(lead(found, "score")) == "no such effect"  # 2 points at 800 nodes, not half of 23
    gains = rise_at_ends(found, "score"), more(found, "score")
    assert [finding is not None and finding.measured.split(" [")[0] for finding in gains] == [
        "score: N_scl 28 at 100 to 20,000 nodes 58",
        "score: N_scl 28 beyond PUCT 71",
    ]
    assert "36.76%" in table(found)
    drawn = figure(found)
    assert [series.name for series in drawn.lines] == ["PUCT", "N_scl 28", "paper, PUCT", "paper, N_scl 28"]
    assert drawn.x_ticks() == [100, 800, 20_000]


def test_every_step_and_every_number_of_nodes_counts() -> None:
    last_alone = cells(a=(PUCT, 100, 0.3), b=(28, 100, 0.3), c=(PUCT, 800, 0.3), d=(28, 800, 0.3))
    last_alone |= cells(e=(PUCT, 20_000, 0.3), f=(28, 20_000, 0.9))
    assert verdict_of(rise_at_ends(last_alone, "score")) == "holds"
    assert verdict_of(lead_of_any(last_alone, "score")) == "holds"
    assert verdict_of(rise(last_alone, "score")) == "no such effect"
    assert verdict_of(lead(last_alone, "score")) == "no such effect"


def test_the_opposite_of_the_paper_does_not_hold() -> None:
    found = cells(a=(PUCT, 100, 0.2), b=(28, 100, 0.6), c=(PUCT, 800, 0.6), d=(28, 800, 0.2))
    denied = [verdict_of(one(found, "score")) for one in (rise, rise_at_ends, more, lead, lead_of_any)]
    assert denied == ["does not hold"] * 5
    assert fall(found, "score") is None  # two numbers of nodes do not rise and fall


def test_wins_are_named_apart_from_the_score() -> None:
    lost, drawn = [0.0] * 100 + [1.0] * 20, [0.5] * 100 + [1.0] * 20
    ends = ("stalemate", "threefold repetition", "fifty-move rule", "insufficient material", "stalemate")
    found = {(PUCT, 9): Cell(PUCT, 9, played(lost)), (28, 9): Cell(28, 9, played(drawn, ends=ends))}
    by = {one.paper.rpartition(", by ")[2]: one.verdict for one in findings(found, 10) if "N_scl 28 is" in one.paper}
    assert by == {"score": "holds", "games won": "no such effect"}
    assert found[28, 9].drawn == {"stalemate": 40, "repetition": 20, "fifty moves": 20, "other": 20}
    assert "stalemate  repetition fifty moves" in " ".join(table(found).splitlines()[0].split("   "))
    assert odds._row(found[28, 9])["draws_fifty_moves"] == 20


def halved(nodes: int, even: float, odd: float, games: int = 120) -> Cell:
    """PUCT with these shares of won games among the even and the odd ones."""
    scores = [[float(number < games / 2 * even), float(number < games / 2 * odd)] for number in range(games // 2)]
    return Cell(PUCT, nodes, played([score for pair in scores for score in pair]))


def falls(*levels: tuple[int, float, float], games: int = 120) -> str:
    return verdict_of(fall({(PUCT, nodes): halved(nodes, even, odd, games) for nodes, even, odd in levels}, "score"))


def test_puct_rises_and_then_falls() -> None:
    assert falls((100, 0.2, 0.2), (800, 0.8, 0.8), (20_000, 0.2, 0.2)) == "holds"
    assert falls((100, 0.8, 0.8), (800, 0.8, 0.8), (20_000, 0.2, 0.2)) == "no such effect"  # it falls, without a rise
    assert falls((100, 0.2, 0.2), (800, 0.8, 0.8), (20_000, 0.8, 0.8)) == "no such effect"
    assert falls((100, 0.2, 0.2), (800, 0.8, 0.8), (20_000, 0.2, 0.2), games=48) == "open"


def test_the_best_of_puct_is_chosen_by_other_games_than_it_is_tested_by() -> None:
    assert falls((100, 0.5, 0.2), (400, 0.2, 0.8), (800, 0.9, 0.3), (20_000, 0.5, 0.5)) == "does not hold"
