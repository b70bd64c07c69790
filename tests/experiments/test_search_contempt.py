"""The experiments of search-contempt: settings, tables, verdicts on given results, small ones to the end."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from experiment_toys import played, setting, spread
from hypothesis import given
from hypothesis import strategies as st

import hauteur as ht
from hauteur.games.odds import ODDS_STARTS, parse_odds
from hauteur.matches.openings import read_opening
from hauteur.matches.results import MatchGame
from hauteur.mcts.lc0_options import search_params, temperature
from hauteur.mcts.params import OpponentNet
from hauteur.players.settings import PlayerSettings
from hauteur_experiments.experiment import Finding, make_experiment
from hauteur_experiments.grid import Match, Played
from hauteur_experiments.measured import Record, rate_of, rate_ratio
from hauteur_experiments.ratio import TunedRatio, decisive_ratio
from hauteur_experiments.registry import find
from hauteur_experiments.search_contempt import (
    nature,
    odds,
    odds_models,
    positions,
    same_constants,
    selfplay,
    table_2,
)
from hauteur_experiments.search_contempt.odds import PUCT, Cell
from hauteur_experiments.search_contempt.settings import (
    HYBRID,
    N_SCL_SETS,
    TAU_1,
    TAU_2,
    TAU_SETS,
    SelfPlay,
    contempt,
    player,
)
from hauteur_experiments.setting import position_lines
from hauteur_experiments.verdict import Look

UNIFORM = (Path("uniform"),)
TRAINING = {
    "CPuct": 1.2,
    "RootHasOwnCpuctParams": True,
    "CPuctAtRoot": 2.0,
    "FpuStrategy": "reduction",
    "FpuValue": 0.49,
    "FpuStrategyAtRoot": "absolute",
    "FpuValueAtRoot": 1.0,
    "PolicyTemperature": 1.45,
    "DirichletNoiseEpsilon": 0.1,
    "DirichletNoiseAlpha": 0.12,
    "TempCutoffMove": 40,
}
COOL = {"Temperature": 0.7, "TempEndgame": 0.1, "TempDecayMoves": 5}
WARM = {
    "Temperature": 0.9,
    "TempEndgame": 0.6,
    "TempDecayMoves": 60,
    "TempDecayDelayMoves": 20,
    "TempVisitOffset": -0.8,
}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (HYBRID, COOL),
        (contempt(5), {**COOL, "ScLimit": 5}),
        (TAU_1, {**TRAINING, **COOL}),
        (TAU_2, {**TRAINING, **WARM}),
        (contempt(28), {**COOL, "ScLimit": 28}),
    ],
)
def test_settings_are_those_that_the_author_gave_to_lc0(words: str, options: dict[str, float]) -> None:
    """The folder of a match knows players by these settings, so that one that was begun before goes on."""
    expected = PlayerSettings(visits=9, search=search_params(options), temperature=temperature(options))
    assert ht.Player.from_text(f"visits=9 {words}").model_dump() == expected.model_dump()


def test_the_papers_ratios() -> None:
    assert [round(decisive_ratio(one.paper) or 0, 2) for one in N_SCL_SETS] == [1.38, 0.79, 0.32, 0.09]
    assert [round(decisive_ratio(one.paper) or 0, 2) for one in TAU_SETS] == [0.06, 1.38]


def test_figures_2_3_and_4_share_their_games(tmp_path: Path) -> None:
    small = {"nets": UNIFORM, "scale": 0.02}
    for name in ("contempt-wdl", "temperature-wdl"):
        result = make_experiment(find(name), setting(tmp_path / name, **small))
        assert all(row["wins"] + row["draws"] + row["losses"] == 2 for row in result.rows)
        assert {one.scope for one in result.findings} == {"3 visits, not 1,000"}
    lines: list[str] = []
    shares = make_experiment(find("repeats"), setting(tmp_path / "repeats", show=lines.append, **small)).rows
    assert not list((tmp_path / "repeats").glob("*/games.jsonl"))
    assert sum(": with the games of " in line for line in lines) == 6
    assert {shares[0][one.title] for one in N_SCL_SETS} == {1.0}


def test_even_endings_are_openings(tmp_path: Path) -> None:
    lines = position_lines("endings")
    assert len(set(lines)) == len(lines) > 200
    assert {sum(sign.isalpha() for sign in line.split()[0]) for line in lines} == set(range(8, 13))
    assert all(read_opening(line, ht.load_game("chess")).fen for line in [*lines, *position_lines("mates")])
    at = setting(tmp_path, nets=UNIFORM, scale=0.02, positions="endings")
    result = make_experiment(find("contempt-wdl"), at)
    assert {one.scope for one in result.findings} == {"3 visits, not 1,000; from endings, not the start"}
    first = json.loads((tmp_path / "n5" / "games.jsonl").read_text().splitlines()[0])
    assert first["fen"].split()[0] in {line.split()[0] for line in lines}
    with pytest.raises(ValueError, match="no such file, and the sets are endings, mates"):
        position_lines("middlegames")


def beside(sets: tuple[SelfPlay, ...], counts: list[tuple[int, int, int]]) -> list[selfplay.Beside]:
    return [selfplay.Beside(one.title, Record(*here), one.paper) for one, here in zip(sets, counts, strict=True)]


@pytest.mark.parametrize(
    ("counts", "slope", "steps"),
    [
        ([(33, 42, 25), (19, 56, 25), (14, 76, 10), (3, 92, 5)], "holds", "open"),
        ([(3, 92, 5), (14, 76, 10), (19, 56, 25), (33, 42, 25)], "does not hold", "does not hold"),
        ([(33, 42, 25), (30, 42, 28), (33, 42, 25), (35, 44, 21)], "no such effect", "open"),
        ([(8, 10, 7), (6, 12, 7), (6, 13, 6), (5, 14, 6)], "open", "open"),
    ],
)
def test_figure_2_holds_where_the_ratio_surely_falls(counts: Any, slope: str, steps: str) -> None:
    found = selfplay.contempt_findings(beside(N_SCL_SETS, counts), 1000)
    assert [one.verdict for one in found] == [slope, steps]


def test_figure_3_holds_where_warmth_makes_decisive() -> None:
    for cold, warm, verdict in (
        ((4, 94, 2), (32, 42, 26), "holds"),
        ((30, 40, 30), (32, 42, 26), "no such effect"),
        ((40, 20, 40), (5, 90, 5), "does not hold"),
    ):
        assert selfplay.temperature_findings(beside(TAU_SETS, [cold, warm]), 1000)[0].verdict == verdict


# -- table 2 -----------------------------------------------------------------------------------------------------------


def test_both_sides_are_tuned_and_the_match_is_reported_from_both(tmp_path: Path) -> None:
    small = {"nets": UNIFORM, "game": "connect4(columns=4,rows=4)", "scale": 0.12, "visits": 12}
    result = make_experiment(find("contempt-vs-temperature"), setting(tmp_path / "m", **small))
    ours, theirs = result.rows
    assert (ours["wins"], ours["losses"]) == (theirs["losses"], theirs["wins"])
    assert (ours["paper_wins"], ours["paper_draws"], ours["paper_losses"]) == (37, 46, 17)
    assert {one.key for one in result.findings} == {"stronger", "equal"}
    assert len(list((tmp_path / "m").glob("fresh-*/games.jsonl"))) == 2


def test_verdicts_of_the_match_and_of_equal_ratios() -> None:
    sides = table_2.Sides(TunedRatio(5.0, (2.0, 8.0), 1.1, "found", ()), None, 1.1)
    puct = Record(420, 160, 420)
    for score, verdict in ((1.0, "holds"), (0.0, "does not hold"), (0.5, "no such effect")):
        tally = played([score] * 100, paired=True).tally
        assert table_2.match_finding(tally, sides, Record(400, 170, 430), puct).verdict == verdict
        unequal = table_2.match_finding(tally, sides, Record(300, 400, 300), puct)
        assert (unequal.verdict, unequal.scope.endswith("; its premise is not shown")) == ("open", True)
    for games, verdict in (((400, 170, 430), "holds"), ((300, 400, 300), "does not hold"), ((380, 210, 410), "open")):
        assert table_2.equal_finding(Record(*games), puct).verdict == verdict
    assert table_2.equal_finding(Record(20, 8, 22), Record(20, 8, 22)).verdict == "open"


def test_the_control_of_table_2_differs_in_its_temperatures_alone(tmp_path: Path) -> None:
    at = setting(tmp_path, nets=UNIFORM, scale=0.02)
    lead, fresh_alone, fresh_contempt, constants = same_constants.matches(at)
    a, b = (ht.Player.from_text(words) for words in (lead.a, lead.b))
    assert a.search.model_copy(update={"search_contempt": None}) == b.search
    assert a.temperature != b.temperature
    assert fresh_alone.a == fresh_alone.b == lead.b == constants.a
    assert fresh_contempt.a == fresh_contempt.b == lead.a
    bundle = ht.Player.from_text(constants.b)
    assert bundle.temperature == b.temperature
    assert bundle.search != b.search
    paper = table_2.tau_words(1.0)
    assert constants.b == player(at, paper)


def test_the_control_of_table_2_to_the_end_and_its_verdicts(tmp_path: Path) -> None:
    result = make_experiment(find("contempt-vs-temperature-alone"), setting(tmp_path, nets=UNIFORM, scale=0.01))
    assert [one.key for one in result.findings] == ["alone", "alike", "constants"]
    assert {one.verdict for one in result.findings} == {"open"}  # two games decide nothing
    assert [row["match"] for row in result.rows] == [same_constants.ALONE, same_constants.CONSTANTS]
    for score, verdict in ((1.0, "holds"), (0.0, "does not hold")):
        match = played([score] * 400, paired=True)
        found = same_constants.findings({same_constants.ALONE: match, same_constants.CONSTANTS: match})
        assert [(one.key, one.verdict) for one in found] == [("alone", verdict), ("constants", verdict)]


# -- repeats -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=12), min_size=2, max_size=12), st.randoms())
def test_repeats_fall_with_the_move_whatever_the_order(games: list[list[str]], random: Random) -> None:
    shares = selfplay.repeat_shares(games, 8)
    assert shares[0] == 1
    assert all(0 <= later <= earlier for earlier, later in pairwise(shares))
    pairs = [selfplay.same_pairs(games, move).chance for move in range(9)]
    assert all((pair > 0) == (share > 0) and pair <= share for pair, share in zip(pairs, shares, strict=True))
    random.shuffle(games)
    assert selfplay.repeat_shares(games, 8) == shares


def verdicts_of(**changed: int) -> list[str]:
    """Of the three statements; changed: games of 2,000 that are the same, with _ in the place of a blank."""
    same = {"tau_1": 400, "tau_2": 0, "N_scl 5": 0, "N_scl 10": 0, "N_scl 32": 0, "PUCT": 0}
    same |= {name.replace("N_scl_", "N_scl "): count for name, count in changed.items()}
    lines = {
        title: [[f"{0 if game * count % 2000 < count else game}"] * 60 + [f"end {game}"] for game in range(2000)]
        for title, count in same.items()
    }
    return [one.verdict for one in selfplay.repeat_findings(lines)]


def test_the_papers_statements_on_repeats() -> None:
    assert verdicts_of() == ["holds", "does not hold", "open"]
    assert verdicts_of(tau_1=0, tau_2=400) == ["does not hold", "does not hold", "open"]
    assert verdicts_of(tau_1=0, N_scl_5=800, PUCT=400)[1:] == ["does not hold", "does not hold"]
    assert verdicts_of(N_scl_5=400, PUCT=400)[2] == "holds"


# -- odds --------------------------------------------------------------------------------------------------------------


def verdict_of(finding: Finding | None) -> str:
    assert finding is not None
    return finding.verdict


def cells(*shares: tuple[int, int, float]) -> dict[tuple[int, int], Cell]:
    """Cells of (N_scl, nodes, share of 100 games that the giver wins)."""
    return {
        (n_scl, nodes): Cell(n_scl, nodes, played([1.0] * round(100 * share) + [0.0] * round(100 - 100 * share)))
        for n_scl, nodes, share in shares
    }


def test_nodes_and_n_scl_of_the_table(tmp_path: Path) -> None:
    assert [odds.node_counts(most) for most in (None, 1600, 7)] == [[100, 800, 20_000], [100, 400, 1600], [7]]
    for visits, expected in ((1, [28, 1, 3]), (10, [28, 10, 3]), (30, [28, 30, 10, 90])):
        assert odds.n_scls(ht.Player.from_text(f"visits={visits}")) == expected
    at = setting(tmp_path, nets=UNIFORM, visits=None)
    lines = odds.odds_lines("chess", ODDS_STARTS["queen d1"])
    assert odds.start(at) == ("chess", ODDS_STARTS["queen d1"])
    assert all(read_opening(line, ht.load_game("chess")).fen == line for line in lines)
    assert all("Q" not in line.split()[0] and line.split()[1] == "w" for line in lines)
    assert "net=uniform" in odds.odds_taker(at)
    assert odds.odds_taker(setting(tmp_path, nets=UNIFORM, opponent="random")) == "random"


def test_arms_with_models_of_the_taker() -> None:
    arms = odds_models.arms("net=maia-1100 visits=1 temperature=0.5 policy_temperature=1.5")
    players = {arm: ht.Player.from_text(f"net=maia-1900 {words}") for arm, words in arms.items()}
    assert players["puct"].opponent_net is None
    assert players["right-share"].opponent_net == "maia-1100"
    assert players["right-share"].search.opponent_net == OpponentNet(temperature=0.75, share=0.5)
    assert players["wrong"].opponent_net == "maia-1900"
    assert "opponent_net=maia-1100" in odds_models.arms("net=maia-1900 visits=1")["wrong"]
    assert "n_scl=30" in odds_models.arms("net=maia-1900 visits=30")["right-n30"]
    with pytest.raises(ValueError, match="--opponent must be a net"):
        odds_models.arms("random")


def test_findings_on_models(tmp_path: Path) -> None:
    only = tuple(f"{arm}-4" for arm in ("puct", "n1", "right", "wrong"))
    small: dict[str, Any] = {"opponent": "net=uniform visits=1", "scale": 0.02, "visits": 4, "only": only}
    arms = {arm: words.replace("maia-1100", "uniform") for arm, words in odds_models.arms("net=uniform").items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(odds_models, "arms", lambda _: arms)
        result = make_experiment(find("odds-models"), setting(tmp_path, nets=UNIFORM, **small))
    assert [row["arm"] for row in result.rows] == ["puct", "n1", "right", "wrong"]
    assert [finding.key for finding in result.findings] == ["model", "model-beyond", "wrong-model"] * 2
    assert all(finding.verdict == "open" for finding in result.findings)


@pytest.mark.parametrize("name", list(ODDS_STARTS))
def test_who_gives_is_who_lacks_pieces(name: str, tmp_path: Path) -> None:
    at = setting(tmp_path, game=f"chess(fen={ODDS_STARTS[name]})")
    assert odds.giver_is_first(at) == (parse_odds(name).giver == 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "minichess"}, "needs the position of the odds"),
        ({"game": "nogo(size=5)"}, "needs the position of the odds"),
        ({"game": "minichess(fen=rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1)"}, "no odds: both sides have the same material"),
        ({"side": "first"}, "--side is for games without pieces"),
        ({"opponent": "nil=3"}, "--opponent: "),
    ],
)
def test_odds_that_are_none_are_refused(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        odds.matches(setting(tmp_path, **changes))


def test_small_tables_of_odds(tmp_path: Path) -> None:
    small = {"nets": UNIFORM, "opponent": "random", "scale": 0.02}
    result = make_experiment(
        find("contempt-odds"),
        setting(tmp_path / "o", game="minichess(fen=rnbqk/ppppp/5/PPPPP/RNB1K w - - 0 1)", **small),
    )
    assert [row["search"] for row in result.rows] == ["puct", "n28"]
    assert all(row["games"] == 4 and row["low_95"] <= row["score"] <= row["high_95"] for row in result.rows)
    at = setting(tmp_path / "c", game="connect4(columns=4,rows=4)", side="second", only=("n28-3",), **small)
    assert [row["search"] for row in make_experiment(find("contempt-odds"), at).rows] == ["n28"]
    games = [json.loads(line) for line in (tmp_path / "c/n28-3/games.jsonl").read_text().splitlines()]
    assert {game["a"] for game in games} == {"second"}


def test_figures_like_the_papers_hold_and_their_opposite_does_not() -> None:
    paper = ((PUCT, 100, 0.23), (28, 100, 0.37), (PUCT, 800, 0.55), (28, 800, 0.57))
    found = cells(*paper, (PUCT, 20_000, 0.10), (28, 20_000, 0.95))
    by_key = {one.key: one.verdict for one in odds.findings(found, 10) if one.measured.startswith("by score")}
    names = ("rise", "rise-at-ends", "more", "fall", "lead-of-any")
    assert [by_key[name] for name in names] == ["holds"] * 5
    assert by_key["lead"] == "no such effect"  # 2 points at 800 nodes, not half of 23
    worse = cells((PUCT, 100, 0.2), (28, 100, 0.6), (PUCT, 800, 0.6), (28, 800, 0.2))
    assert {one.verdict for one in odds.findings(worse, 10)} == {"does not hold"}
    own = cells((10, 400, 0.6), (28, 400, 0.4), (3, 400, 0.4), (12, 400, 0.7))
    assert verdict_of(odds.fits(own, 10, "score")) == "holds"  # 12 is not compared with 10


def test_games_that_are_pucts_say_nothing_of_search_contempt() -> None:
    """N_scl 28 at 100 nodes: at most half of the games may be those of PUCT, or the claim is open."""
    found = cells((PUCT, 100, 0.5), (28, 100, 0.0), (PUCT, 800, 0.5), (28, 800, 0.1))
    assert verdict_of(odds.lead(found, "games won")) == "does not hold"
    same = [game.model_copy(update={"score": 0.0}) for game in found[PUCT, 100].played.games]
    mine = found[28, 100].played
    mine.games[:49] = same[:49]
    assert odds.alike(found, 28, 100) == 0.49
    assert verdict_of(odds.lead(found, "games won")) == "does not hold"
    mine.games[:62] = same[:62]
    finding = odds.lead(found, "games won")
    assert finding is not None
    scope = "hardly acts here: 62 % of its games at 100 nodes are PUCT's move for move"
    assert (finding.verdict, finding.scope) == ("open", scope)
    assert finding.at(Look(1.0)).verdict == "open"


def test_openings_that_repeat_are_the_units_and_wins_are_named_apart() -> None:
    before = [0.0, 0, 1, 1] * 60
    after = [0.0, 1, 1, 1] * 60
    found = {(n, 9): Cell(n, 9, played(scores, openings=60)) for n, scores in ((PUCT, before), (1, after))}
    finding = odds.lead_of_any(found, "score")
    assert finding is not None
    assert (finding.units, "25 [13.7, 36.3]" in finding.measured) == ("60 openings", True)
    ends = ("stalemate", "threefold repetition", "fifty-move rule", "insufficient material", "stalemate")
    drawn = Cell(28, 9, played([0.5] * 100 + [1.0] * 20, ends=ends))
    found = {(PUCT, 9): Cell(PUCT, 9, played([0.0] * 100 + [1.0] * 20)), (28, 9): drawn}
    assert [verdict_of(odds.lead(found, by)) for by in odds.BY] == ["holds", "no such effect"]
    assert drawn.drawn == {"stalemate": 40, "repetition": 20, "fifty moves": 20, "other": 20}


# -- nature ----


def test_material_is_unequal_from_two_pawns_on() -> None:
    board = ht.load_game("chess")
    for fen, balance in (
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 5),
        ("4k2r/pp6/8/8/8/8/8/R3K3 w - - 0 1", -2),
        ("q3k3/8/8/8/8/8/8/R3KBN1 w - - 0 1", 2),
    ):
        assert nature.balance_of(ht.load_game(f"chess(fen={fen})").new_initial_state()) == balance
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 20  # 40 moves of each side, all pieces on the board
    equal = MatchGame(index=0, a="first", score=0.5, end="x", plies=80, moves=shuffle.strip())
    takes = "e2e4 d7d5 e4d5 e7e6 d5e6 b8c6 "  # White is two pawns up from the third move on
    ahead = equal.model_copy(update={"moves": takes + "g1f3 g8f6 f3g1 f6g8 " * 20})
    short = equal.model_copy(update={"moves": "e2e4 e7e5"})
    match = Match("x", "net=uniform", "net=uniform", 3, game=board.spec)
    share = nature.unequal_share(Played(match, ht.Tally(paired=False), [equal, ahead, short]))
    assert list(share.samples) == [0.0, 100.0]  # a game that ended before move 10 has no such position


# -- positions ---------------------------------------------------------------------------------------------------------

GAMES = [
    MatchGame(index=0, a="first", score=0, end="checkmate", plies=4, moves="f2f3 e7e5 g2g4 d8h4"),
    MatchGame(index=1, a="first", score=0.5, end="x", plies=5, opening="e2e4", moves="e7e5 g1f3 b8c6 f1b5"),
    MatchGame(index=2, a="first", score=0.5, end="x", plies=3, moves="e2e4 e7e5 g1f3"),
]


def position(**changes: object) -> positions.MeasuredPosition:
    values = {"game": 0, "ply": 1, "fen": "f", "before": "b", "move": "m", "white_to_move": True, "best": "a1a2"}
    return positions.MeasuredPosition(**{**values, "low": 0.0, "high": 0.0, "gap": None, "change": False, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({"low": 0.1, "high": 0.29}, set()),
        ({"low": 0.1, "high": 0.5}, {"shifted", "misjudged", "mistake"}),
        ({"low": 0.5, "high": -0.5}, {"shifted", "misjudged", "gravely misjudged", "trap"}),
        ({"low": -0.5, "high": 0.4, "gap": 0.3, "change": True}, set(positions.KINDS) - {"trap"}),
        ({"low": -0.2, "high": 0.4, "gap": 0.2, "change": True}, {"shifted", "misjudged", "mistake"}),
    ],
)
def test_what_counts_as_what(changes: dict[str, object], kinds: set[str]) -> None:
    assert {name for name, kind in positions.KINDS.items() if kind(position(**changes))} == kinds


def test_judgements_are_kept_and_go_on_after_half_a_line(tmp_path: Path) -> None:
    at = [setting(tmp_path / folder, nets=UNIFORM, scale=0.012) for folder in "ab"]
    for one in at:
        one.folder.mkdir()
    whole = positions.analysed(at[0], "n5", GAMES)
    assert len(whole) == 6
    assert all(-1 <= one.low <= 1 and -1 <= one.high <= 1 for one in whole)
    lines = (tmp_path / "a" / "n5.positions.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "b" / "n5.positions.jsonl").write_text("".join(lines[:2]) + lines[2][:30])
    assert positions.analysed(at[1], "n5", GAMES) == whole
    (tmp_path / "x.jsonl").write_text('{"game": 1}\n')
    with pytest.raises(ValueError, match=r"x.jsonl: a line is no analysed position; delete the file"):
        positions.read_measured(tmp_path / "x.jsonl")


def test_minichess_to_the_end_and_a_game_without_fen(tmp_path: Path) -> None:
    small = {"nets": UNIFORM, "scale": 0.02}
    result = make_experiment(find("contempt-positions"), setting(tmp_path / "m", game="minichess", **small))
    assert len(result.rows) == 3 * len(positions.KINDS)
    assert all(row["low_95"] <= row["per_1000"] <= row["high_95"] for row in result.rows)
    assert all(finding.scope.startswith("minichess, not chess; 3 visits, not 1,000") for finding in result.findings)
    kinds = [(finding.quantities.split(" [")[0].rpartition(" ")[0], finding.scope) for finding in result.findings]
    plain = [what for what, scope in kinds if scope == "minichess, not chess; 3 visits, not 1,000"]
    assert set(plain) == {"times as many misjudged positions, N_scl 5"}  # what decides where the source has no measure
    with pytest.raises(ValueError, match=r"needs a game with FEN \(.*minichess.*\), got connect4"):
        make_experiment(find("contempt-positions"), setting(tmp_path / "c", game="connect4", **small))


@pytest.mark.parametrize(
    ("often", "seldom", "more", "twenty"),
    [(120, 20, "holds", "does not hold"), (2, 100, "does not hold", "does not hold"), (3800, 20, "holds", "holds")],
)
def test_verdicts_on_positions(often: int, seldom: int, more: str, twenty: str) -> None:
    found = {
        name: [position(game=i % 200, high=0.9 * (i < count), gap=0.5, change=True) for i in range(4000)]
        for name, count in {"n5": often, "n32": often, "puct": seldom}.items()
    }
    assert [finding.verdict for finding in positions.findings(found)] == [more] * 6 + [twenty] * 6


def test_a_rate_is_surer_where_its_games_differ_less() -> None:
    alike = [(game, number < 2) for game in range(50) for number in range(10)]
    clustered = [(game, game < 10) for game in range(50) for _ in range(10)]
    widths = []
    for flags in (alike, clustered):
        rate = rate_of(flags)
        assert (rate.value, rate.units) == (0.2, 50)
        low, high = rate.interval(0.95)
        widths.append(high - low)
        assert rate_ratio(flags, flags).value == 1
    assert widths[1] > 2 * widths[0]
    assert rate_of([(game, False) for game in range(50)]).interval(0.95) == pytest.approx((0.0, 0.0711), abs=1e-4)
    random = np.random.default_rng(3)
    covered = 0
    for _ in range(200):  # 60 games of 10 positions whose rates differ, two and one of ten
        chances = [random.beta(4 * share, 4 - 4 * share, 60) for share in (0.2, 0.1)]
        sides = [[(n, bool(hit)) for n, one in enumerate(some) for hit in random.random(10) < one] for some in chances]
        low, high = rate_ratio(*sides).interval(0.95)
        covered += low <= 2 <= high
    assert covered >= 180
    assert spread(0.6).tally.record.score == pytest.approx(0.6, abs=0.01)
