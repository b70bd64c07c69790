"""Experiments: written on the public API alone, made, resumed, looked at, planned; the table of claims; own ones."""

import ast
import json
import re
import shlex
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from experiment_toys import setting

import hauteur_experiments
from hauteur.cli import main as cli
from hauteur.cli.main import main
from hauteur_experiments import registry
from hauteur_experiments.claims_figure import elo_lines
from hauteur_experiments.claims_table import (
    BEGIN,
    END,
    FIELDS,
    KEPT_LINES,
    claim_rows,
    pages,
    recorded_lines,
    results,
    with_table,
    write_table,
)
from hauteur_experiments.deciding import GAMES, IN_WORDS, decided, game_of, verdict_of, without_source_visits
from hauteur_experiments.experiment import Experiment, Finding, Result, make_experiment, stated
from hauteur_experiments.grid import Match, check, play
from hauteur_experiments.kept import read_run
from hauteur_experiments.measured import Mean
from hauteur_experiments.plan import RUNS, SUBJECTS, PlannedRun, is_over, make_plan, run_named
from hauteur_experiments.registry import EXPERIMENTS, find
from hauteur_experiments.setting import Setting
from hauteur_experiments.statements import (
    STATEMENTS,
    STATEMENTS_END,
    read_statements,
    sign_of,
    size_of,
    statements,
)
from hauteur_experiments.summary import Counts, counts, summary_table
from hauteur_experiments.verdict import Claim, Inequality

SOURCES = sorted(Path(str(hauteur_experiments.__file__)).parent.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_experiments_use_the_public_api_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert all(alias.name == "hauteur" or not alias.name.startswith("hauteur.") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] != "hauteur"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ht":
            assert not node.attr.startswith("_")


def test_names_and_keys_are_unique() -> None:
    assert len({one.name for one in EXPERIMENTS}) == len(EXPERIMENTS)
    assert all(len(one.title) < 100 for one in EXPERIMENTS)
    assert all(len({claim.key for claim in one.claims}) == len(one.claims) > 0 for one in EXPERIMENTS)


def test_the_command_lists_refuses_and_is_absent_where_it_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main(["experiment", "list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [experiment.name for experiment in EXPERIMENTS]
    for words, line in (
        (["fig9"], "there is no experiment 'fig9'; there are report-fig3"),
        (["report-fig3", "--seeds", "-1"], "seeds must be 0 to 1,000, got -1"),
        (["report-fig3", "--visits", "3"], "report-fig3 takes no --visits"),
        (["cpuct", "--game", "connect4", "--only", "nil"], "--only nil: this experiment has no such match; it has"),
    ):
        assert main(["experiment", *words, "--out", str(tmp_path / "out")]) == 2
        assert line in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr("hauteur.cli.main.offered", lambda group: [])
    assert cli.main(["experiment", "list"]) == 2
    message = capsys.readouterr().err
    assert "hauteur-experiments, which is not installed" in message
    assert message.count("\n") == 1


OWN = """
import hauteur_experiments as he
he.register(he.Experiment("own", "someone", "one row", lambda setting: he.Result([{"n": 1}], [])))
"""


def test_an_experiment_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.py").write_text(OWN)
    words = ["--import", str(tmp_path / "own.py")]
    try:
        assert main(["experiment", "own", "--out", str(tmp_path / "out"), *words]) == 0
        assert (tmp_path / "out/result.csv").read_text() == "n\n1\n"
        with pytest.raises(ValueError, match="there is an experiment 'cpuct' already"):
            registry.register(find("cpuct"))
    finally:
        registry._registered.clear()


# -- making one --------------------------------------------------------------------------------------------------------


def counting(runs: list[Setting]) -> Experiment:
    """An experiment that notes that it was made."""

    def run(at: Setting) -> Result:
        runs.append(at)
        return Result([{"n": at.scaled(10)}], [Finding("hot", "6000 K", "holds")], texts=["hello"])

    claims = stated("someone", "hot | the sun is hot | 5772 K")
    return Experiment("counting", "someone, figure 1", "counts", run, claims)


def test_results_are_written_and_a_folder_belongs_to_its_settings(tmp_path: Path) -> None:
    lines: list[str] = []
    at = Setting(tmp_path / "out", scale=0.5, seeds=2, show=lines.append)
    make_experiment(counting([]), at)
    assert "paper:    someone: the sun is hot (5772 K)\nhere:     6000 K\nverdict:  holds" in lines
    assert (tmp_path / "out/result.csv").read_text() == "n\n5\n"
    facts = json.loads((tmp_path / "out/result.json").read_text())
    assert (facts["experiment"], facts["scale"], facts["findings"][0]["key"]) == ("counting", 0.5, "hot")
    page = (tmp_path / "out/index.html").read_text()
    assert all(part in page for part in ("6000 K", "holds", "hello", facts["processor"], "Numbers"))
    make_experiment(counting([]), at)
    with pytest.raises(ValueError, match=r"an experiment with other settings: scale was 0.5 and is now 1.0; name"):
        make_experiment(counting([]), replace(at, scale=1.0))


def measuring(runs: list[float], effect: float, matters: float = 0.01) -> Experiment:
    """An experiment with 800 games a seed, whose outcomes are evenly spread around the effect."""

    def run(at: Setting) -> Result:
        runs.append(at.scale)
        count = at.scaled(800) * at.seeds
        samples = [effect + (1.0 if number % 2 else -1.0) for number in range(count)]
        side = Inequality("effect", Mean(samples), 0.0, "above", 100, matters=matters)
        return Result([], [Finding.of("effect", Claim((side,)), scope="here")])

    return Experiment("measuring", "someone", "measures", run, stated("someone", "effect | it works | 1"), looks=True)


@pytest.mark.parametrize(
    ("effect", "scales", "verdict"),
    [(1.0, [0.25], "holds"), (0.125, [0.25, 0.375, 0.5, 0.625], "holds"), (0.0, [0.25, 0.375], "no such effect")],
)
def test_looks_end_an_experiment_when_nothing_is_open(
    tmp_path: Path, effect: float, scales: list[float], verdict: str
) -> None:
    runs: list[float] = []
    result = make_experiment(measuring(runs, effect, matters=0.2), setting(tmp_path / "out", visits=None, looks=True))
    assert runs == scales
    scope = "here" if scales[-1] == 1 else "here; stopped at a look"
    assert [(finding.verdict, finding.scope) for finding in result.findings] == [(verdict, scope)]
    assert json.loads((tmp_path / "out/result.json").read_text())["share"] == scales[-1]


def test_more_after_a_verdict_needs_more(tmp_path: Path) -> None:
    effect = 2.4 / 1600**0.5
    fresh = setting(tmp_path / "fresh", visits=None, seeds=2)
    assert make_experiment(measuring([], effect), fresh).findings[0].verdict == "holds"
    once = setting(tmp_path / "a" / "out", visits=None)
    make_experiment(measuring([], effect), once)
    for again in (replace(once, seeds=2), replace(once, seeds=2)):  # the second time it is the same extension
        assert make_experiment(measuring([], effect), again).findings[0].verdict == "open"
        assert json.loads((tmp_path / "a/out/result.json").read_text())["extensions"] == 1
    beside = replace(once, folder=tmp_path / "a" / "larger", scale=4.0, seeds=2)
    make_experiment(measuring([], effect), beside)
    assert json.loads((tmp_path / "a/larger/result.json").read_text())["extensions"] == 2
    with pytest.raises(ValueError, match="--looks is for a first run"):
        make_experiment(measuring([], effect), replace(beside, looks=True))


# -- the grid ----------------------------------------------------------------------------------------------------------


def duel(name: str = "duel", **changes: object) -> Match:
    words = "net=uniform visits=8 temperature=1"
    return Match(name, words, words, **{"games": 6, "game": "tictactoe", **changes})  # type: ignore[arg-type]


def lines_of(at: Setting, match: Match, *, shared: bool = False) -> list[tuple[int, str, float]]:
    found = play(at, [match], shared=shared)[match.name]
    assert found.tally.record.games == len(found.games)
    return [(game.index, game.moves, game.score) for game in found.games]


def test_a_match_that_was_cut_short_goes_on_and_seeds_count_together(tmp_path: Path) -> None:
    whole = lines_of(setting(tmp_path / "whole"), duel())
    lines_of(setting(tmp_path / "cut"), duel())
    file = tmp_path / "cut" / "duel" / "games.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]) + '{"index": 5, "a')
    assert lines_of(setting(tmp_path / "cut"), duel()) == whole
    two = lines_of(setting(tmp_path / "whole", seeds=2), duel())
    assert two[:6] == whole
    assert [index for index, *_ in two] == list(range(12))
    assert two[6:] != [(index + 6, moves, score) for index, moves, score in whole]


def test_games_are_shared_between_folders_where_all_settings_are_the_same(tmp_path: Path) -> None:
    first = lines_of(setting(tmp_path / "x"), duel())
    assert lines_of(setting(tmp_path / "y"), duel(games=8), shared=True)[:6] == first
    assert not (tmp_path / "y").exists()
    lines_of(setting(tmp_path / "z"), duel(seed=2), shared=True)
    assert (tmp_path / "z/duel/games.jsonl").exists()
    with pytest.raises(ValueError, match="holds a match with other settings: seed was 1 and is now 3"):
        lines_of(setting(tmp_path / "x"), duel(seed=3), shared=True)


def test_only_some_matches_are_played_and_openings_are_kept(tmp_path: Path) -> None:
    matches = [duel("a", openings=("b2 a1", "c1")), duel("b"), duel("c")]
    assert list(play(setting(tmp_path, only=("a",)), matches)) == ["a"]
    assert (tmp_path / "a.openings.epd").read_text() == "b2 a1\nc1\n"
    assert list(play(setting(tmp_path, only=("b",)), matches)) == ["a", "b"]  # a is over


def test_players_that_do_not_fit_are_found_before_anything_is_written(tmp_path: Path) -> None:
    check([duel(), Match("r", "rave:10", "random", 6, game="nogo(size=3)")])
    with pytest.raises(ValueError, match="maia-9999"):
        check([Match("m", "net=uniform", "net=maia-9999", 2)])
    with pytest.raises(ValueError, match="tictactoe"):
        check([Match("m", "net=uniform", "net=tictactoe", 2, game="connect4")])


# -- the plan ----------------------------------------------------------------------------------------------------------

SMALL = PlannedRun.from_text("cpuct small | 4 games | --scale 0.006 --seeds 1 --visits 2 --game connect4")
OTHER = PlannedRun.from_text("fpu small | 4 games | --scale 0.004 --seeds 1 --visits 2 --game connect4")


def test_every_run_decides_claims_and_takes_its_options(tmp_path: Path) -> None:
    assert len({run.name for run in RUNS}) == len(RUNS)
    shown = {name for names in SUBJECTS.values() for name in names} | {"rules-by-game", "rules-by-exact-play"}
    assert shown == {one.name for one in EXPERIMENTS}
    base = setting(tmp_path, visits=None, nets=(Path("uniform"), Path("uniform")))
    for run in RUNS:
        assert run.claims
        given = run.setting(base)
        uses = find(run.experiment).uses
        names = ("visits", "game", "opponent", "only")
        assert all(getattr(given, name) in (None, ()) for name in names if name not in uses)
        assert run.command(base).startswith(f"hauteur experiment {run.experiment}")
    assert {claim.key for run in RUNS if run.experiment == "solver" for claim in run.claims} == {
        claim.key for claim in find("solver").claims
    }
    with pytest.raises(ValueError, match="the plan has no run 'nil'"):
        run_named("nil")


def test_a_plan_from_beginning_to_end_and_again(tmp_path: Path) -> None:
    lines: list[str] = []
    base = setting(tmp_path, visits=None, show=lines.append)
    damaged = replace(SMALL, name="damaged")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/experiment.json").write_text("{")
    assert make_plan([SMALL, OTHER, damaged, replace(SMALL, name="far", net=1)], base, 1.0, lambda: None) == [
        "damaged",
        "far",
    ]
    assert any("failed: it needs 2 nets for chess, got 0" in line for line in lines)
    assert all(is_over(run, base) for run in (SMALL, OTHER))
    before = len(lines)
    assert make_plan([SMALL, OTHER], base, 1.0, lambda: None) == make_plan([damaged], base, 0.0, lambda: None) == []
    assert len(lines) == before


def test_the_table_of_claims(tmp_path: Path) -> None:
    base = setting(tmp_path, visits=None)
    (claim,) = find("temperature-wdl").claims
    finding: dict[str, object] = {"key": claim.key, "quantities": "5 [4, 6] | x", "scope": "", "units": "400 games"}
    finding |= {"test": "sign", "decides": "5 [4, 6]", "times": 0.256}
    (tmp_path / "temperature-wdl-chess").mkdir()
    values = {"findings": [{**finding, "verdict": "holds", "missing": None}, {**finding, "key": "other"}]}
    stored = {"settings": {"experiment": "temperature-wdl"}, "begun": {"command": ["hauteur", "experiment", "plan"]}}
    (tmp_path / "temperature-wdl-chess/experiment.json").write_text(json.dumps(stored))
    (tmp_path / "temperature-wdl-chess/result.json").write_text(json.dumps(values))
    (missing,) = claim_rows("Search-contempt", claim, [], base)
    assert missing["verdict"] == "**open**: not run; needs 400 games a set, 1,000 visits"
    (made,) = claim_rows("Search-contempt", claim, results(base)["temperature-wdl"], base)
    assert (made["measured"], made["games"], made["verdict"]) == ("5 [4, 6] | x", "400 games", "**holds**")
    assert (made["test"], made["decides"], made["times"]) == ("sign", "5 [4, 6]", "0.26")
    assert made["run"] == "temperature-wdl-chess"
    assert made["command"] == "`hauteur experiment temperature-wdl --scale 2 --visits 200 --precision bfloat16`"

    page = tmp_path / "page.md"
    file = tmp_path / "claims.csv"
    page.write_text(f"# Front\n\n{BEGIN}\nold\n{END}\n\nthe end\n")
    write_table(page, base)
    text = page.read_text()
    assert (text.partition(BEGIN)[0], text.partition(END)[2]) == ("# Front\n\n", "\n\nthe end\n")
    assert "\nold\n" not in text
    assert "\n1 comparisons of all runs, each rule in each game among them: 1 holds, 0 does not hold, " in text
    recorded = recorded_lines(file)
    assert with_table(text, recorded, "page") == text
    (tmp_path / "temperature-wdl-chess/result.json").unlink()
    by_hand = {"subject": "Learning", "claim": "by hand", "measured": "6", "verdict": "**open**"}
    file.write_text(f"{file.read_text()}{','.join(by_hand.get(name, '') for name in FIELDS)}\n")
    write_table(page, base)  # in a folder without that run; its lines and those recorded by hand are kept
    assert [line for line in recorded_lines(file) if line["claim"] != "by hand"] == recorded
    assert [line["measured"] for line in recorded_lines(file) if line["claim"] == "by hand"] == ["6"]
    assert game_of(made) == "chess"
    assert "In the source's own game 1 hold, 0 do not, " in counts(recorded).text
    front = tmp_path / "README.md"
    front.write_text(f"{STATEMENTS}\n{STATEMENTS_END}\n")
    write_table(page, base)
    cells = "| 5 [4, 6] | yes | 0.26 x | chess; 200 visits | 400 games | temperature-wdl-chess |"
    assert f"| 0.06 with tau_1, 1.38 with tau_2 {cells}" in front.read_text()
    (one,) = [row for row in read_statements(tmp_path / "statements.json") if row["run"]]
    assert (one["ours"], one["sign"]) == ({"what": "", "value": 5.0, "low": 4.0, "high": 6.0, "unit": ""}, "yes")
    assert (tmp_path / "claims.png").stat().st_size > 0
    page.write_text("# Other")
    with pytest.raises(ValueError, match="which this page lacks"):
        write_table(page, base)


def row_of(name: str, decides: str, verdict: str = "**open**", **cells: str) -> dict[str, str]:
    """A line of the table of claims."""
    line = dict.fromkeys(FIELDS, "") | {"subject": "The MCTS experiments", "figure": "-5 Elo, 9 games", "test": "sign"}
    line |= {"claim": f"someone: {name}", "measured": decides, "decides": decides, "verdict": verdict}
    return line | {"games": "400 games", "command": "`hauteur experiment fpu`", **cells}


def test_the_figure_has_the_claims_in_elo() -> None:
    lines = elo_lines(
        [
            row_of("a", "3 [-1, inf] Elo"),
            row_of("b", "beyond the control -1,200 [-1,300, -4] Elo"),
            row_of("c", ""),
            row_of("d", "3 [-1, 7] Elo", claim="this laboratory: d"),
            row_of("e", "3 [-1, 7] points", figure="3 points"),
        ]
    )
    assert [(line.claim, line.source, dict(line.measured)) for line in lines] == [
        ("a", -5.0, {"chess": (3.0, -1.0, 1000.0)}),
        ("b", -5.0, {"chess": (-1200.0, -1000.0, -4.0)}),
        ("c", -5.0, {}),
    ]


def test_the_run_that_is_nearest_to_the_source_decides() -> None:
    """By the number of differences, then by size, whatever the order of the lines and whatever the runs say."""
    rows = [
        row_of("a", "1 [0, 2] Elo", "**holds** (other visits; this program's constants)"),
        row_of("a", "2 [1, 3] Elo", "**holds** (other visits; stopped at a look)"),
        row_of("a", "9 [8, 10] Elo", "**holds**", games="60 games"),  # too few to decide
        row_of("a", "3 [1, 5] Elo", "**open** (other visits): about 9 games would close it", games="900 games"),
    ]
    assert {decided(order).row["decides"] for order in permutations(rows)} == {"3 [1, 5] Elo"}
    assert decided(rows).verdict == "open"
    assert decided(rows[:2]).row["decides"] == "2 [1, 3] Elo"
    contrary = row_of("a", "-2 [-3, -1] Elo", "**does not hold** (other visits; another net; another book)")
    assert decided([*rows, contrary]).verdict == "mixed"
    assert decided([*rows, contrary]).row["decides"] == "3 [1, 5] Elo"
    assert decided([contrary, row_of("a", "0 [0, 0] Elo", "**no such effect**")]).verdict == "no such effect"
    with pytest.raises(ValueError, match="no line decides"):
        decided([])


def test_statements_are_counted_once_and_those_of_others_apart() -> None:
    rows = [
        row_of("a", "1 [0, 2] Elo", "**holds** (other visits)"),
        row_of("a", "1 [0, 2] Elo", "**holds**"),
        row_of("b", "1 [0, 2] Elo", "**does not hold** (other visits)"),
        row_of("c", "1 [0, 2] Elo", "**no such effect** (1,000 nodes, not 20)"),
        row_of("d", "1 [0, 2] Elo", "**holds**"),
        row_of("d", "1 [0, 2] Elo", "**no such effect**"),
        row_of("e", "1 [0, 2] Elo", "**holds** (minichess)", command="`hauteur experiment fpu --game minichess`"),
        row_of("f", "1 [0, 2] Elo"),
        row_of("g", ""),
        row_of("h", "1 [0, 2] Elo", "**holds**", claim="this laboratory: h"),
        row_of("i", "1 [0, 2] Elo", "**holds**", subject="Learning"),
        row_of("j", "1 [0, 2] Elo", "**holds** (visits not stated by the source)"),
        row_of("two-fold", "1 [0, 2] Elo", "**holds**", claim=IN_WORDS[1]),
    ]
    assert counts(rows) == Counts(
        statements=9,
        holds=3,
        denied=1,
        none=1,
        mixed=1,
        at_visits=1,
        unstated_visits=2,
        elsewhere=1,
        open=1,
        not_run=1,
    )


def test_statements_without_visits_are_in_the_table(root: Path) -> None:
    lines = recorded_lines(root / "docs/experiments/claims.csv")
    assert set(IN_WORDS) <= {line["claim"] for line in lines}
    unstated = {line["claim"] for line in lines if without_source_visits(line)} - set(IN_WORDS)
    assert {claim.partition(": ")[2] for claim in unstated} == {
        "certainty-prop, version 2",
        "FPU 0",
        "FPU 1.1",
        "FPU -parent_v",
    }


def test_table_and_figure_show_the_same_run(root: Path) -> None:
    """Of every claim in Elo, in every game, the figure's numbers are those of the cell of the paper's table."""
    lines = recorded_lines(root / "docs/experiments/claims.csv")
    shown = dict(re.findall(r"^\| (.*?) \| \w* \| .*? \| .*? \|(.*)\|$", summary_table(lines), re.MULTILINE))
    by_title = {claim.partition(": ")[2]: cells.split("|") for claim, cells in shown.items()}
    compared = 0
    for line in elo_lines(lines):
        if line.claim not in by_title:
            continue
        for game, (value, *_) in line.measured.items():
            cell = by_title[line.claim][list(GAMES).index(game)]
            number = re.search(r"(\S+) \[", cell)
            assert number is not None, (line.claim, game, cell)
            assert float(number[1].replace(",", "")) == value, (line.claim, game)
            compared += 1
    assert compared >= 15


def test_page_one_has_the_counts_of_the_table(root: Path) -> None:
    """And so have the front page of the experiments and the paper, which are made of the table."""
    found = counts(recorded_lines(root / "docs/experiments/claims.csv"))
    text = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    numbers = f"{found.holds} hold, {found.denied} do not, {found.none} show no effect that matters"
    assert f"The {found.statements} statements of" in text
    assert f"in the source's own game {numbers}, of {found.mixed} the runs disagree; " in text
    assert f"{found.at_visits} of the {found.decided} decided ones are so at the source's visits" in text
    for page in ("docs/experiments/README.md", "docs/paper/README.md"):
        assert found.text in " ".join((root / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("test", "figure", "decides", "verdict", "sign", "size"),
    [
        ("sign", "+5 Elo", "9 [2, 16] Elo", "holds", "yes", "-"),
        ("sign", "+5 Elo", "9 [-2, 16] Elo", "open", "open", "-"),
        ("sign", "+5 Elo", "-9 [-12, -6] Elo", "no such effect", "none", "-"),
        ("size", "+5 Elo, 9 games", "98 [60, 137] Elo", "does not hold", "yes", "no"),
        ("size", "-5 Elo, 9 games", "98 [60, 137] Elo", "does not hold", "no", "no"),
        ("size", "-5 Elo, 9 games", "2 [-6, 13] Elo", "holds", "open", "yes"),
        ("size", "+0 Elo, 9 games", "-22 [-43, -2] Elo", "open", "-", "open"),
        ("size", "above 2.5", "12 [8, 18]", "holds", "-", "yes"),
    ],
)
def test_sign_and_size_are_kept_apart(test: str, figure: str, decides: str, verdict: str, sign: str, size: str) -> None:
    row = row_of("a", decides, f"**{verdict}**", test=test, figure=figure)
    (found,) = statements([row])
    assert (found["sign"], found["size"]["holds"]) == (sign, size)
    assert sign_of(row, found["ours"]) == sign
    assert size_of(row)["holds"] == size


def said_by(path: Path) -> list[str]:
    """The quantities of the findings of a kept run, and the Elo of its matches, as texts."""
    run = read_run(path)
    texts = [str(finding.get("quantities")) for finding in run.result["findings"]]
    for decide in KEPT_LINES.get(path.stem, {}).values():
        texts += [finding.quantities for finding in decide(run.result)]
    for match in run.matches.values():
        elo = match["results"]["elo"]
        ends = match["results"]["elo_interval_95"]
        if elo is not None and None not in ends:
            low, high = ends
            texts.append(f"{elo:.3g} [{low:.3g}, {high:.3g}]")
    return texts


def test_every_statement_has_one_row_and_every_row_says_what_its_run_said(root: Path) -> None:
    """Of each of the 79 the page has one run; where it is kept, the number is the one of a finding in its result."""
    folder = root / "docs/experiments"
    rows = read_statements(folder / "statements.json")
    assert [row["kind"] for row in rows].count("source") == 79
    assert counts(recorded_lines(folder / "claims.csv")).statements == 79
    compared = 0
    for row in rows:
        assert bool(row["not_run"]) != bool(row["command"])
        assert row["not_run"] or row["sign"] != "-" or row["size"]["holds"] != "-"
        kept = folder / f"results/{row['run']}.json"
        if row["kind"] == "source" and row["run"] and kept.exists() and row["ours"] is not None:
            ends = [f"{row['ours'][end]:g}" for end in ("value", "low", "high")]
            shown = f"{ends[0]} [{ends[1]}, {ends[2]}]"
            assert any(shown in text for text in said_by(kept)), (row["statement"], shown)
            compared += 1
    assert compared >= 50


def test_the_commands_of_the_statements_parse(root: Path) -> None:
    """Each command of a row names an experiment and options of today."""
    app = cli.make_app()
    commands = {row["command"] for row in read_statements(root / "docs/experiments/statements.json")}
    parsed = 0
    for command in commands:
        words = shlex.split(command.partition("`")[0])  # what follows is the commit of a command that is gone
        if words[:1] == ["hauteur"] and "`" not in command:
            find(words[2])
            app.parse_args(cli.without_imports(words[1:]), print_error=False, exit_on_error=False)
            parsed += 1
    assert parsed >= 35


def test_no_page_says_that_an_absurd_number_is_needed(root: Path) -> None:
    for name in ("README.md", "claims.md", "other-papers.md", "statements.json"):
        text = (root / "docs/experiments" / name).read_text(encoding="utf-8")
        assert "would close it" not in text
        assert "10,000,000" not in text


def test_every_line_that_decides_has_its_number_and_its_test(root: Path) -> None:
    for row in recorded_lines(root / "docs/experiments/claims.csv"):
        if row["measured"] and verdict_of(row) != "open":
            assert row["test"] in ("sign", "size"), row["claim"]
            assert "[" in row["decides"], row["claim"]


def test_runs_that_the_table_names_are_kept(root: Path) -> None:
    files = (root / "docs/experiments/results").iterdir()
    kept = {path.name.removesuffix(".json").removesuffix(".tar.xz") for path in files}
    named = {row["run"] for row in recorded_lines(root / "docs/experiments/claims.csv")} - {""}
    assert named <= kept


def test_numbers_of_the_table_are_those_of_its_text(root: Path) -> None:
    for row in recorded_lines(root / "docs/experiments/claims.csv"):
        numbers = json.loads(row["numbers"]) if row["numbers"] else []
        assert len(numbers) == row["measured"].count(" ["), row["claim"]
        for number in numbers:
            assert number["low"] is None or number["high"] is None or number["low"] <= number["high"]


def test_runs_of_other_sizes_are_in_the_table(tmp_path: Path) -> None:
    base = setting(tmp_path, visits=None)
    folder = tmp_path / "warm"
    folder.mkdir()
    begun = ["/bin/hauteur", "experiment", "temperature-wdl", "--out", "x y", "--threads", "1", "--net", "maia-1900"]
    stored = {"settings": {"experiment": "temperature-wdl"}, "begun": {"command": begun}}
    (folder / "experiment.json").write_text(json.dumps(stored))
    finding = {"key": "temperature", "quantities": "5 [4, 6]", "scope": "", "units": "9 games", "verdict": "holds"}
    (folder / "result.json").write_text(json.dumps({"findings": [{**finding, "missing": None}]}))
    page = tmp_path / "claims.md"
    write_table(page, base)
    (line,) = [line for line in recorded_lines(page.with_name("claims.csv")) if line["measured"]]
    assert (line["games"], line["command"]) == ("9 games", "`hauteur experiment temperature-wdl --net maia-1900`")


def test_the_pages_of_the_repository_are_made_of_its_claims(root: Path) -> None:
    lines = recorded_lines(root / "docs/experiments/claims.csv")
    page = (root / "docs/experiments/claims.md").read_text(encoding="utf-8")
    assert with_table(page, lines, "claims.md") == page
    made = pages(root / "docs/experiments", lines)
    assert {path.name for path in made} == {"README.md", "other-papers.md", "statements.json"}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, path.name
