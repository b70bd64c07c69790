"""The experiments of search-contempt's self-play: settings, shared games, tables, repeats, the tuned match."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.ratio import MeasuredRatio, decisive_ratio
from hauteur.matches.results import MatchGame, Tally
from hauteur.players.settings import parse_player, player_text
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.matches import MatchSpec, match_of
from hauteur_experiments.registry import find
from hauteur_experiments.search_contempt import match, repeats, selfplay
from hauteur_experiments.search_contempt.ratio_figures import (
    Beside,
    ratio_figure,
    ratio_row,
    ratio_text,
    results_figure,
)
from hauteur_experiments.search_contempt.ratio_fit import TunedRatio
from hauteur_experiments.search_contempt.settings import (
    HYBRID,
    N_SCL_SETS,
    TAU_1,
    TAU_2,
    TAU_SETS,
    contempt,
    player,
    warmer,
)
from hauteur_experiments.shared_games import find_match, play_shared

games_of_moves = st.lists(st.lists(st.sampled_from("ab"), max_size=12), min_size=2, max_size=12)


def setting(folder: Path, **changes: object) -> ExperimentSetting:
    """Chess with equal priors at very few visits."""
    values: dict[str, object] = {"scale": 0.02, "seeds": 1, "threads": 1, "visits": 4, "nets": (Path("uniform"),)}
    return ExperimentSetting(folder, show=lambda line: None, **{**values, **changes})  # type: ignore[arg-type]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_papers_ratios() -> None:
    assert [round(decisive_ratio(one.paper) or 0, 2) for one in N_SCL_SETS] == [1.38, 0.79, 0.32, 0.09]
    assert [round(decisive_ratio(one.paper) or 0, 2) for one in TAU_SETS] == [0.06, 1.38]
    assert all(one.paper.games == 100 for one in (*N_SCL_SETS, *TAU_SETS))


def test_settings_are_those_of_the_author(tmp_path: Path) -> None:
    at = setting(tmp_path, visits=None)
    hybrid, cold, warm = (player(at, options) for options in (contempt(5), TAU_1, TAU_2))
    assert {one.visits for one in (hybrid, cold, warm)} == {1000}
    assert hybrid.search.search_contempt is not None
    assert hybrid.search.search_contempt.n_scl == 5
    assert player(at, HYBRID).search.search_contempt is None
    assert hybrid.search.dirichlet is None
    assert (hybrid.temperature.initial, hybrid.temperature.endgame, hybrid.temperature.decay_moves) == (0.7, 0.1, 5)
    assert "search.root_cpuct.init=2.0" in player_text(cold)
    assert (warm.temperature.initial, warm.temperature.visit_offset, warm.temperature.decay_delay_moves) == (
        0.9,
        -0.8,
        20,
    )
    assert warm.search == cold.search


def test_a_warmer_player_differs_in_temperature_alone(tmp_path: Path) -> None:
    before = player(setting(tmp_path), TAU_2)
    after = warmer(before, 1.5)
    assert after.temperature.initial == pytest.approx(1.35)
    assert after.temperature.endgame == pytest.approx(0.9)
    assert after.model_copy(update={"temperature": before.temperature}) == before


def test_figures_2_3_and_4_share_their_games(tmp_path: Path) -> None:
    for name in ("contempt-wdl", "temperature-wdl"):
        make_experiment(find(name), setting(tmp_path / name))
    found = rows(tmp_path / "contempt-wdl/result.csv")
    assert [row["setting"] for row in found] == ["N_scl 5", "N_scl 10", "N_scl 32", "PUCT"]
    assert all(int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == 2 for row in found)
    assert (tmp_path / "temperature-wdl/temperature-wdl.csv").exists()
    assert (tmp_path / "temperature-wdl/temperature-wdl-ratio.csv").exists()

    lines: list[str] = []
    make_experiment(find("repeats"), replace(setting(tmp_path / "repeats"), show=lines.append))
    assert not list((tmp_path / "repeats").glob("*/games.jsonl"))
    assert sum(": with the games of " in line for line in lines) == 6
    shares = rows(tmp_path / "repeats/result.csv")
    assert [row["move"] for row in shares] == [str(move) for move in range(41)]
    assert {shares[0][one.title] for one in N_SCL_SETS} == {"1.0"}


def test_an_experiment_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    at = setting(tmp_path / "a")
    make_experiment(find("temperature-wdl"), at)
    before = (tmp_path / "a/result.csv").read_bytes()
    games = tmp_path / "a/tau2/games.jsonl"
    games.write_text(games.read_text().splitlines(keepends=True)[0] + '{"index"')
    make_experiment(find("temperature-wdl"), at)
    assert (tmp_path / "a/result.csv").read_bytes() == before
    assert len(games.read_text().splitlines()) == 2


def short_match(name: str, **changes: object) -> MatchSpec:
    one = parse_player("net=uniform visits=4 temperature=1")
    values: dict[str, object] = {"games": 4, "game": "tictactoe", "colours": "first", **changes}
    return MatchSpec(name, one, one, **values)  # type: ignore[arg-type]


def test_more_games_of_a_shared_match_are_played_where_it_is(tmp_path: Path) -> None:
    first = play_shared(setting(tmp_path / "x"), [short_match("one")])["one"]
    more = play_shared(setting(tmp_path / "y"), [short_match("two", games=6)])["two"]
    assert more.spec.name == "two"
    assert [game.moves for game in more.games[:4]] == [game.moves for game in first.games]
    assert len((tmp_path / "x/one/games.jsonl").read_text().splitlines()) == 6
    assert not (tmp_path / "y").exists()


def test_other_settings_and_other_files_are_not_shared(tmp_path: Path) -> None:
    play_shared(setting(tmp_path / "x"), [short_match("one")])
    (tmp_path / "x" / "odd").mkdir()
    (tmp_path / "x" / "odd" / "match.json").write_text("[1]")
    (tmp_path / "x" / "broken").mkdir()
    (tmp_path / "x" / "broken" / "match.json").write_text("{")
    play_shared(setting(tmp_path / "y"), [short_match("one", seed=2)])
    assert (tmp_path / "y/one/games.jsonl").exists()
    wanted = match_of(setting(tmp_path / "y"), short_match("one", seed=2)).stored_settings()
    assert find_match(tmp_path / "z", wanted, own="one") == tmp_path / "y/one"


def test_a_match_in_the_own_folder_with_other_settings_is_refused(tmp_path: Path) -> None:
    play_shared(setting(tmp_path / "x"), [short_match("one")])
    with pytest.raises(ValueError, match="holds a match with other settings: seed was 1 and is now 3"):
        play_shared(setting(tmp_path / "x"), [short_match("one", seed=3)])


def beside(counts: list[tuple[int, int, int]]) -> list[Beside]:
    return [Beside(f"set {number}", MatchScore(*count), MatchScore(33, 42, 25)) for number, count in enumerate(counts)]


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ([(33, 42, 25), (19, 56, 25), (14, 76, 10), (3, 92, 5)], "holds"),
        ([(3, 92, 5), (14, 76, 10), (19, 56, 25), (33, 42, 25)], "does not hold"),
        ([(33, 42, 25), (30, 42, 28), (33, 42, 25), (35, 44, 21)], "no such effect"),
        ([(8, 10, 7), (6, 12, 7), (6, 13, 6), (5, 14, 6)], "open"),
    ],
)
def test_figure_2_holds_where_the_ratio_surely_falls(counts: list[tuple[int, int, int]], verdict: str) -> None:
    found = beside(counts)
    papers = [row._replace(paper=one.paper) for row, one in zip(found, N_SCL_SETS, strict=True)]
    finding = selfplay.contempt_findings(papers, 1000)[0]
    assert finding.verdict == verdict
    assert "33/42/25, 1.38 [0.93, 2.05]" in finding.paper


@pytest.mark.parametrize(
    ("cold", "warm", "verdict"),
    [
        ((4, 94, 2), (32, 42, 26), "holds"),
        ((30, 40, 30), (32, 42, 26), "open"),
        ((40, 20, 40), (5, 90, 5), "does not hold"),
    ],
)
def test_figure_3_holds_where_warmth_makes_decisive(
    cold: tuple[int, int, int], warm: tuple[int, int, int], verdict: str
) -> None:
    assert selfplay.temperature_findings(beside([cold, warm]))[0].verdict == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(4, "holds"), (1, "open"), (0.25, "does not hold")])
def test_every_step_of_figure_2_has_a_verdict_of_its_own(factor: float, verdict: str) -> None:
    draws = [round(1000 / (1 + 0.2 * factor ** (3 - place))) for place in range(4)]
    found = beside([(1000 - drawn, drawn, 0) for drawn in draws])
    assert selfplay.contempt_findings(found, 1000)[1].verdict == verdict


def test_few_games_of_a_setting_decide_nothing() -> None:
    found = beside([(33, 42, 24), (19, 56, 24), (14, 76, 9), (3, 92, 4)])
    assert {one.verdict for one in selfplay.contempt_findings(found, 1000)} == {"open"}
    assert "too few: 100 games of a setting or more may decide" in selfplay.contempt_findings(found, 1000)[0].measured


def test_ratios_as_text_row_and_figures() -> None:
    found = beside([(33, 42, 25), (5, 0, 5), (0, 10, 0)])
    assert ratio_text(found[0].here) == "33/42/25, 1.38 [0.93, 2.05]"
    assert ratio_text(found[1].here).startswith("5/0/5, without draws")
    assert ratio_row(found[1])["ratio"] is None
    assert ratio_row(found[1])["ratio_high"] is None
    figure = ratio_figure("k", "t", "x", found, "N_scl")
    assert [value is None for value in figure.lines[1].values] == [False, True, True]
    bars = results_figure("k", "t", "x", found)
    assert list(bars.x_names[:2]) == ["set 0, paper", "set 0, here"]
    assert sum(area.values[1] or 0 for area in bars.areas) == pytest.approx(1)
    slab = bars.pile()[0]
    assert slab.above[:5] == [0, 0.33, 0.33, 0, 0]
    assert slab.xs[:2] == [0.65, 0.65]


@given(games_of_moves, st.randoms())
def test_repeats_fall_with_the_move_whatever_the_order(games: list[list[str]], random: Random) -> None:
    shares = repeats.repeat_shares(games, 8)
    assert shares[0] == 1
    assert all(0 <= later <= earlier for earlier, later in pairwise(shares))
    assert all(round(share * len(games)) != 1 for share in shares)
    pairs = [repeats.same_pairs(games, move).chance for move in range(9)]
    assert all((pair > 0) == (share > 0) and pair <= share for pair, share in zip(pairs, shares, strict=True))
    random.shuffle(games)
    assert repeats.repeat_shares(games, 8) == shares
    assert set(repeats.repeat_shares(games * 2, 8)) == {1.0}


def test_repeats_by_hand() -> None:
    games = [["e4", "e5", "f4"], ["e4", "e5", "f4"], ["e4", "e5", "d4"], ["d4"]]
    assert repeats.repeat_shares(games, 3) == [1.0, 0.75, 0.5, 0.5]
    assert repeats.same_pairs(games, 1).chance == pytest.approx(3 / 6)
    assert repeats.same_pairs(games, 2).chance == pytest.approx(1 / 6)
    with pytest.raises(ValueError, match="two games or more, got 1"):
        repeats.same_pairs(games[:1], 1)


def test_repeats_are_counted_in_sets_of_the_papers_number() -> None:
    games = [["a"]] * 2 + [[f"{game}"] for game in range(98)] + [[f"other {game}"] for game in range(100)]
    (mean,) = repeats.shares_by_move(games, 1)[1:]
    assert list(mean.samples) == [0.02, 0.0]
    assert list(repeats.shares_by_move(games[:50], 1)[1].samples) == [0.04]


def lines_of(same: dict[str, int], games: int = 2000) -> dict[str, list[list[str]]]:
    """Games a setting, of which so many, evenly spread, are the same for 60 plies; all others differ at once."""
    return {
        title: [[f"{0 if game * count % games < count else game}"] * 60 + [f"end {game}"] for game in range(games)]
        for title, count in same.items()
    }


SAME = {"tau_1": 400, "tau_2": 0, "N_scl 5": 0, "N_scl 10": 0, "N_scl 32": 0, "PUCT": 0}


def verdicts_of(games: int = 2000, **changed: int) -> list[str]:
    """Of the three statements; changed: games of a setting that are the same, with _ in the place of a blank."""
    same = SAME | {name.replace("N_scl_", "N_scl "): count for name, count in changed.items()}
    return [one.verdict for one in repeats.findings(lines_of(same, games))]


def test_the_papers_statements_on_repeats() -> None:
    # A fifth of the games of tau_1 repeats; where those of PUCT do not, no rate is known to be no more than its own.
    assert verdicts_of() == ["holds", "does not hold", "open"]
    assert verdicts_of(tau_1=0) == ["open", "holds", "open"]
    assert verdicts_of(tau_1=0, tau_2=400) == ["does not hold", "does not hold", "open"]
    assert verdicts_of(tau_1=100)[1] == "open"  # as many as the statement allows


def test_more_repeats_with_search_contempt_are_seen() -> None:
    assert verdicts_of(N_scl_5=800, PUCT=400)[2] == "does not hold"
    assert verdicts_of(N_scl_5=480, PUCT=400)[2] == "open"  # 1.44 times as many pairs
    assert verdicts_of(N_scl_5=400, PUCT=400)[2] == "holds"


def test_few_games_say_nothing_on_repeats() -> None:
    assert verdicts_of(games=90, tau_1=30) == ["open", "open", "open"]


def fake_games(ratio: Callable[[str], float]) -> Callable[..., MatchScore]:
    def measure(at: ExperimentSetting, name: str, settings: object, games: int) -> MatchScore:
        decisive = round(games * ratio(name) / (1 + ratio(name)))
        return MatchScore(decisive // 2, games - decisive, decisive - decisive // 2)

    return measure


def test_n_scl_is_tuned_to_the_ratio_of_tau_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ratio(name: str) -> float:
        return 1.0 if name == "tau2" else 0.4 if name == "puct" else 5 / float(name[1:])

    monkeypatch.setattr(match, "_measure", fake_games(ratio))
    at = setting(tmp_path, scale=4.0, visits=200)
    sides = match.tuned_sides(at)
    assert sides.n_scl.reached == "found"
    assert sides.n_scl.x == 5
    assert sides.factor is None
    assert sides.name == "n5-tau2"
    assert "PUCT with tau_2 has (w + l)/d 1.00" in match.tuning_texts(sides)[0]


def test_n_scl_is_tuned_by_games_where_the_line_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ratio(name: str) -> float:  # level up to 12, then steep: a line through 5, 10 and 32 is wrong between
        return 5.0 if name == "tau2" else 20 * min(1.0, 12 / float(name[1:])) ** 3

    monkeypatch.setattr(match, "_measure", fake_games(ratio))
    tuned = match.tuned_sides(setting(tmp_path, scale=5.0, visits=1000)).n_scl
    assert (tuned.reached, tuned.games <= 3000) == ("found", True)
    assert 5 / 1.2 < ratio(f"n{tuned.x:g}") < 5 * 1.2


def test_where_no_n_scl_has_the_ratio_tau_2_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ratio(name: str) -> float:
        if name.startswith("tau2"):
            return 0.2 * float(name.partition("-x")[2] or 1) ** 2
        return 0.8 if name == "puct" else 0.8 * (200 / float(name[1:])) ** 0.3

    monkeypatch.setattr(match, "_measure", fake_games(ratio))
    sides = match.tuned_sides(setting(tmp_path, scale=4.0, visits=200))
    assert (sides.n_scl.reached, sides.n_scl.x) == ("high", 200)
    assert sides.factor is not None
    assert sides.factor.x == pytest.approx(2.0, rel=0.1)
    assert len(match.tuning_texts(sides)) == 3


def test_a_tau_2_without_draws_cannot_be_tuned_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "_measure", lambda *_: MatchScore(2, 0, 1))
    with pytest.raises(ValueError, match="no ratio"):
        match.tuned_sides(setting(tmp_path))


def test_search_contempt_that_never_acts_is_puct(tmp_path: Path) -> None:
    at = setting(tmp_path, visits=50)
    assert match.contempt_player(at, 50.0) == player(at, HYBRID)
    assert match.contempt_player(at, 49.0) == player(at, contempt(49))


def test_the_match_is_told_from_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = TunedRatio(4.0, (2.0, 8.0), 1.1, "found", (MeasuredRatio(5.0, MatchScore(3, 4, 3)),))
    sides = match.Sides(tuned, None, 1.1)
    monkeypatch.setattr(match, "tuned_sides", lambda _: sides)
    make_experiment(find("contempt-vs-temperature"), setting(tmp_path / "m"))
    ours, theirs = rows(tmp_path / "m/result.csv")
    assert (ours["wins"], ours["losses"]) == (theirs["losses"], theirs["wins"])
    assert (ours["paper_wins"], ours["paper_draws"], ours["paper_losses"]) == ("37", "46", "17")
    assert float(ours["paper_elo"]) == pytest.approx(70.43, abs=0.01)
    assert (tmp_path / "m/n4-tau2/games.jsonl").exists()
    assert {path.name for path in (tmp_path / "m").glob("fresh-*")} == {"fresh-n4-tau2-contempt", "fresh-n4-tau2-puct"}
    facts = json.loads((tmp_path / "m/result.json").read_text())["facts"]
    assert (facts["n_scl"]["x"], facts["games"], facts["factor"]) == (4.0, 4, None)


@pytest.mark.parametrize(("score", "verdict"), [(1.0, "holds"), (0.0, "does not hold"), (0.5, "no such effect")])
def test_the_verdict_of_the_match(score: float, verdict: str) -> None:
    tally = Tally(paired=True)
    for index in range(100):
        tally.add(
            MatchGame(index=index, a="first" if index % 2 == 0 else "second", score=score, end="checkmate", plies=9)
        )
    tuned = TunedRatio(5.0, (2.0, 8.0), 1.1, "found", ())
    assert match.match_finding(tally, match.Sides(tuned, None, 1.1)).verdict == verdict


@pytest.mark.parametrize(
    ("contempt", "puct", "verdict"),
    [
        (MatchScore(400, 170, 430), MatchScore(420, 160, 420), "holds"),
        (MatchScore(300, 400, 300), MatchScore(420, 160, 420), "does not hold"),
        (MatchScore(420, 160, 420), MatchScore(300, 400, 300), "does not hold"),
        (MatchScore(380, 210, 410), MatchScore(420, 160, 420), "open"),
        (MatchScore(20, 8, 22), MatchScore(20, 8, 22), "open"),
    ],
)
def test_equal_ratios_of_the_two_sides(contempt: MatchScore, puct: MatchScore, verdict: str) -> None:
    assert match.equal_finding(contempt, puct).verdict == verdict
