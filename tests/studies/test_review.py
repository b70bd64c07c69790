"""Reviews: which moves are marked and which are not, the annotated games, interruption and resumption."""

from __future__ import annotations

import io
import json
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur import _core
from hauteur.cli import main
from hauteur.engine.nets import NetChoice
from hauteur.games.game_line import TaggedGame
from hauteur.games.odds import ODDS_STARTS
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import Wdl, flipped
from hauteur.networks.names import resolve_net
from hauteur.studies.review.games import ReviewedGame, games_of_text
from hauteur.studies.review.review import (
    MoveReport,
    Place,
    PositionFinding,
    expected_score,
    finding_of,
    lost,
    mark_of,
    review_game,
)
from hauteur.studies.review.run import ReviewRun, ReviewStoppedError

FOOLS_MATE = '[White "A"]\n[Black "B"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
QUIET = '[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 Nc6 *\n'
UNFINISHED = '[White "C \\"x\\""]\n[Black "D"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 {note} (2. f4) *\n'
NOGO = "(;GM[1]FF[4]SZ[4]RU[NoGo]PB[Black ] one]RE[B+R];B[aa];W[dd];B[bc];W[cb];B[ca])"

LIMITS = Limits(visits=20)

shares = st.tuples(*[st.floats(0.001, 1.0)] * 3).map(lambda w: tuple(x / sum(w) for x in w))


@given(shares, shares)
def test_marks_follow_the_loss_alone(before: Wdl, after: Wdl) -> None:
    """No mark without a loss, and in a lost position, where less than an inaccuracy is left, none at all."""
    loss = lost(before, after)
    assert loss == pytest.approx(max(0.0, expected_score(before) - expected_score(after)))
    mark = mark_of(loss)
    assert bool(mark) == (loss >= 0.05 - 1e-9)
    assert not mark or expected_score(before) >= 0.05 - 1e-9
    assert flipped(flipped(before)) == before


@pytest.mark.parametrize(
    ("loss", "mark"), [(0.0, ""), (0.049, ""), (0.05, "inaccuracy"), (0.1, "mistake"), (0.15, "blunder")]
)
def test_thresholds_are_those_of_lichess(loss: float, mark: str) -> None:
    """0.05, 0.10 and 0.15 of the expected score: 0.1, 0.2 and 0.3 of the winning chances from -1 to 1."""
    assert mark_of(loss) == mark
    assert mark_of(0.85 - (0.85 - loss)) == mark  # as differences come out


def test_who_has_hardly_anything_left_makes_no_blunder() -> None:
    """At queen odds the first move costs nothing, and losing more than half of the last 7 % has no mark."""
    start = _core.Game(f"chess(fen={ODDS_STARTS['queen d1']})").new_initial_state()
    state = start.copy()
    actions = []
    for text in ("e2e4", "e7e5", "a2a3"):
        actions.append(state.parse(text))
        state.apply(actions[-1])
    other = start.parse("b1c3")
    worth: list[Wdl] = [(0.05, 0.02, 0.93), (0.93, 0.02, 0.05), (0.06, 0.02, 0.92), (0.97, 0.005, 0.025)]
    findings = [PositionFinding(wdl, (other,) if n != 1 else (start.parse("e2e4"),)) for n, wdl in enumerate(worth)]
    findings[1] = PositionFinding(worth[1], (actions[1],))
    behind_best = PositionFinding((0.93, 0.02, 0.05), (actions[1],))
    moves = list(review_game(start, actions, lambda line, _, __: behind_best if other in line else findings[len(line)]))
    assert [move.mark for move in moves] == ["", "", ""]
    assert moves[2].loss == pytest.approx(0.07 - 0.0275)
    assert moves[0].before == worth[0]
    assert moves[1].loss == 0.0  # the search would have played it


def test_queen_odds_with_the_shipped_net() -> None:
    """The giver's first moves are not marked; that the odds taker throws its queen away is, and how it is punished."""
    text = f'[SetUp "1"]\n[FEN "{ODDS_STARTS["queen d1"]}"]\n\n1. e4 e5 2. Nf3 Qg5 3. Nxg5 d6 *'
    (game,) = games = games_of_text(text, "chess", on_bad=print)
    net = resolve_net(None, game.start.game).path
    list(ReviewRun("odds", "", games, NetChoice(net), Limits(visits=50)).run())
    assert [move.mark for move in game.moves][:5] == ["", "", "", "blunder", ""]
    blunder = game.moves[3]
    assert blunder.visits == 200
    assert blunder.punished == pytest.approx(1.0, abs=0.1)


def test_a_game_that_ends_is_worth_its_result_and_known_positions_are_not_searched_again() -> None:
    """The last position is exact, and shows what the move before it allowed; `known` replaces the search."""
    game = _core.Game("connect4")
    start = game.new_initial_state()
    actions = [0, 1, 0, 1, 0, 1, 0]
    searched: list[Place] = []

    def look(line: tuple[int, ...], place: Place, _: tuple[int, ...]) -> PositionFinding:
        assert len(line) == place.ply
        assert place.instead == (list(line) != actions[: len(line)])
        searched.append(place)
        return PositionFinding((1.0, 0.0, 0.0) if place == Place(2, deep=True) else (0.4, 0.2, 0.4), (6,), 1)

    moves = list(review_game(start, actions, look, found={Place(2): PositionFinding((1.0, 0.0, 0.0), (3,))}))
    assert [place.ply for place in searched if place == Place(place.ply)] == [0, 1, 3, 4, 5, 6]
    assert [place for place in searched if place.instead and not place.deep] == [
        Place(ply, instead=True) for ply in (2, 3, 6)
    ]
    assert {place.ply for place in searched if place.deep and not place.instead} == {1, 2, 5, 6}
    assert moves[-1].after == (1.0, 0.0, 0.0)
    assert moves[-1].loss == 0.0
    assert moves[1].after == (0.0, 0.0, 1.0)
    assert moves[1].mark == moves[5].mark == "blunder"


def test_a_move_is_marked_only_if_the_best_one_keeps_its_worth_when_it_is_searched_as_deeply() -> None:
    """A best move that the first search took for better than it is makes no mistake of another one."""
    start = _core.Game("connect4").new_initial_state()

    def looks(worth: Wdl) -> list[str]:
        def look(line: tuple[int, ...], _: Place, __: tuple[int, ...]) -> PositionFinding:
            if not line:
                return PositionFinding((0.6, 0.2, 0.2), (3,))
            return PositionFinding(flipped(worth) if line == (3,) else (0.5, 0.2, 0.3), (3,))

        return [move.mark for move in review_game(start, [0], look)]

    assert looks((0.6, 0.2, 0.2)) == ["blunder"]
    assert looks((0.3, 0.2, 0.5)) == [""]


def test_a_mark_stands_only_where_four_times_the_visits_come_to_one() -> None:
    """The report is that of the deeper searches, and names their best move."""
    start = _core.Game("connect4").new_initial_state()

    def reviewed(after_deeper: Wdl, best: int = 2) -> MoveReport:
        def look(line: tuple[int, ...], place: Place, _: tuple[int, ...]) -> PositionFinding:
            if not line:
                return PositionFinding((0.6, 0.2, 0.2), (best if place.deep else 3,), 400 if place.deep else 100)
            good = flipped((0.6, 0.2, 0.2))
            return PositionFinding(
                good if line != (0,) else flipped(after_deeper if place.deep else (0.2, 0.2, 0.6)), (3,)
            )

        (report,) = review_game(start, [0], look)
        return report

    stands = reviewed((0.3, 0.2, 0.5))
    assert (stands.mark, stands.best_action, stands.visits) == ("blunder", 2, 400)
    assert stands.after == (0.3, 0.2, 0.5)
    milder = reviewed((0.53, 0.2, 0.27))
    assert milder.mark == "inaccuracy"
    assert reviewed((0.6, 0.2, 0.2)).mark == ""
    assert reviewed((0.2, 0.2, 0.6), best=0).mark == ""  # it is the best move after all


def test_a_mistake_is_punished_as_far_as_the_reply_keeps_what_it_gave() -> None:
    """A reply that throws it away again leaves little of it; the last move has no reply."""
    start = _core.Game("connect4").new_initial_state()
    line = (0, 1, 2)
    worth: list[Wdl] = [(0.5, 0.0, 0.5), (0.9, 0.0, 0.1), (0.4, 0.0, 0.6), (0.9, 0.0, 0.1)]

    def look(played: tuple[int, ...], place: Place, _: tuple[int, ...]) -> PositionFinding:
        if place.instead:
            return PositionFinding(flipped(worth[place.ply - 1]), (5,))
        return PositionFinding(worth[len(played)], (5,))

    game = ReviewedGame(1, TaggedGame(line, {}), start)
    for report in review_game(start, line, look):
        game.add(report)
    assert [move.mark for move in game.moves] == ["blunder"] * 3
    assert [round(move.loss, 3) for move in game.moves] == [0.4, 0.3, 0.3]
    assert [None if move.punished is None else round(move.punished, 3) for move in game.moves] == [0.25, 0.0, None]


def run_review(tmp_path: Path, name: str, text: str, *options: str, visits: int = 30, net: str = "uniform") -> int:
    """Run the command on a file with this text, into tmp_path/out."""
    (tmp_path / name).write_text(text)
    common = ["--net", net, "--visits", str(visits), "--out", str(tmp_path / "out")]
    return main.main(["review", str(tmp_path / name), *common, *options])


def test_an_annotated_pgn_has_the_games_and_is_read_by_python_chess(tmp_path: Path) -> None:
    """Moves and tags stay, every move has its chances, the blunder its glyph and a better line."""
    assert run_review(tmp_path, "games.pgn", FOOLS_MATE + "\n" + UNFINISHED) == 0
    text = (tmp_path / "out" / "review.pgn").read_text()
    stream = io.StringIO(text)
    first = chess.pgn.read_game(stream)
    second = chess.pgn.read_game(stream)
    assert first is not None
    assert second is not None
    assert not first.errors
    assert [move.uci() for move in first.mainline_moves()] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    nodes = list(first.mainline())
    assert all("[%eval " in node.comment and " L " in node.comment for node in nodes)
    assert chess.pgn.NAG_BLUNDER in nodes[2].nags
    assert nodes[2].eval() == chess.engine.PovScore(chess.engine.Mate(-1), chess.WHITE)
    assert len(nodes[1].variations) == 2
    assert second.headers["Result"] == "*"
    assert second.headers["White"] == "C 'x'"
    assert "uniform" in first.headers["Annotator"]


def test_an_interrupted_review_goes_on_and_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C leaves the finished moves; the same command searches only the rest."""
    from hauteur.studies.review import run

    assert run_review(tmp_path, "games.pgn", QUIET, "--seed", "3", "--batch-size", "1") == 0
    whole = json.loads((tmp_path / "out" / "result.json").read_text())
    (tmp_path / "other").mkdir()
    real = finding_of
    calls = list[object]()

    def failing(report: object) -> PositionFinding:
        calls.append(report)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(report)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "finding_of", failing)
    options = ("--seed", "3", "--batch-size", "1")
    assert run_review(tmp_path / "other", "games.pgn", QUIET, *options) == main.EXIT_INTERRUPTED
    assert "interrupted after 3 of 5 positions" in capsys.readouterr().err
    part = json.loads((tmp_path / "other" / "out" / "result.json").read_text())
    assert len(part["games"][0]["moves"]) == 1
    assert not part["games"][0]["complete"]
    monkeypatch.setattr(run, "finding_of", real)
    assert run_review(tmp_path / "other", "games.pgn", QUIET, *options) == 0
    assert json.loads((tmp_path / "other" / "out" / "result.json").read_text())["games"] == whole["games"]
    assert run_review(tmp_path / "other", "games.pgn", QUIET, *options, visits=31) == main.EXIT_BAD_INPUT
    assert "holds a review with other settings: visits was 30 and is now 31" in capsys.readouterr().err


def test_games_of_any_kind_are_read_from_lists_of_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line names the game; there is no annotated file for games without a format."""
    text = "connect4  # the game\n4 4 4 5\n\n1 2 1 2 1 2 1\n"
    assert run_review(tmp_path, "games.txt", text, "--json", "--game", "2") == 0
    (second,) = json.loads(capsys.readouterr().out)["games"]
    assert (second["number"], second["game"]) == (2, "connect4")
    assert all(np.isclose(sum(move["before"]), 1.0) for move in second["moves"])
    assert [move["move"] for move in second["moves"]] == ["1", "2", "1", "2", "1", "2", "1"]
    assert second["moves"][-1]["after"] == [1.0, 0.0, 0.0]
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir() if path.suffix in (".pgn", ".sgf", ".html")) == [
        ".html"
    ]


def test_a_text_is_reviewed_like_a_file_and_a_review_can_be_stopped_and_go_on() -> None:
    """Findings are kept; the rest is searched by the next run. Messages name no folder."""
    run, whole = (
        ReviewRun("text", "", games_of_text(FOOLS_MATE, "nogo", on_bad=print), NetChoice("uniform"), LIMITS)
        for _ in range(2)
    )
    run.on_position = lambda _, place, __: run.stop() if place == Place(2) else None
    with pytest.raises(ReviewStoppedError):
        list(run.run())
    assert 0 < len(run.games[0].moves) < 3
    assert run.done == 3
    searched = list[Place]()
    run.on_position = lambda _, place, __: searched.append(place)
    steps = list(run.run())
    assert len(steps) == 4
    assert Place(0) not in searched
    assert run.done == run.positions == 4
    list(whole.run())
    assert [move.text for move in run.games[0].moves] == [move.text for move in whole.games[0].moves]
    with pytest.raises(ValueError, match=r"^--game 3: PGN has the games 1 to 1$"):
        games_of_text(FOOLS_MATE, "chess", number=3, on_bad=print)


def test_forms_of_a_text() -> None:
    """PGN and SGF name their game, moves may, or are of the game that is asked for."""
    for text, spec, found in (
        (NOGO.replace("Black ]", "Black"), "chess", "nogo(size=4)"),
        ("4 4 4", "connect4", "connect4"),
        ("tictactoe\na3 b3", "connect4", "tictactoe"),
    ):
        (game,) = games_of_text(text, spec, on_bad=print)
        assert game.start.game.spec == found
    with pytest.raises(ValueError, match="has no game to review"):
        games_of_text("zz", "connect4", on_bad=lambda bad: None)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.doc", FOOLS_MATE, [], "expected a .pgn (chess), an .sgf"),
        ("a.txt", "# nothing", [], "its first line must name the game"),
        ("a.txt", "sudoku\n4 4", [], "its first line must name the game: "),
        ("a.txt", "connect4\n4 9", [], "has no game to review"),
        ("a.pgn", "", [], "has no game to review"),
        ("a.pgn", FOOLS_MATE, ["--game", "2"], "has the games 1 to 1"),
        ("a.pgn", '[Result "*"]\n\n*\n', [], "has no game to review"),
        ("a.pgn", FOOLS_MATE, ["--visits", "0"], "--visits must be 1 to 1,000,000,000, got 0"),
        ("a.pgn", "1. e4 e5 2. Ke3 *", [], "has no game to review"),
        ("a.sgf", "nonsense", [], "no SGF"),
        ("a.sgf", "(;SZ[99]RU[NoGo];B[aa])", [], "nogo"),
        ("a.pgn", FOOLS_MATE, ["--net", "missing.pb.gz"], "missing.pb.gz"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, options: list[str], message: str
) -> None:
    """The file, what is wrong, exit status 2, and no folder."""
    (tmp_path / name).write_text(text)
    net = [] if "--net" in options else ["--net", "uniform"]
    command = ["review", str(tmp_path / name), *net, "--out", str(tmp_path / "out"), *options]
    assert main.main(command) == main.EXIT_BAD_INPUT
    errors = capsys.readouterr().err.splitlines()
    assert message in errors[-1]
    assert all("warning" in line for line in errors[:-1])
    assert not (tmp_path / "out").exists()


def test_names_of_players_are_short_and_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a file says, neither the terminal nor the page gets control signs or a name without end."""
    name = "\x1b[31mEvil</script>" + "x" * 10_000
    assert run_review(tmp_path, "games.pgn", FOOLS_MATE.replace('"A"', f'"{name}"')) == 0
    shown = capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "\x1b" not in shown
    assert "xxx..." in shown
    assert len(page) < 60_000
    assert "\x1b" not in page
    assert "Evil</script>" not in page
    assert main.main(["report", str(tmp_path / "out")]) == main.EXIT_BAD_INPUT
    assert "which `hauteur review` makes again" in capsys.readouterr().err
