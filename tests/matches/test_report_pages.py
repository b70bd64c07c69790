"""Pages of matches, tournaments, tunings and rating lists: written at the end and when interrupted, made again."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from report_toys import games_on

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.report.pages import POINTS, report_of, sample_of, write_page
from hauteur.matches.report.stored import StoredMatch, StoredTournament
from hauteur.matches.results import MatchGame
from hauteur.matches.settings import MatchSettings
from hauteur.players.settings import parse_player
from hauteur.system.jsonl import lines_of
from hauteur.system.lock import locked

pytestmark = pytest.mark.quick

NET = "net=uniform visits=8"


def played(tmp_path: Path, *words: str) -> Path:
    """Run a command of games of tic-tac-toe into a folder, which is returned."""
    out = tmp_path / "out"
    assert main.main([*words, "--game", "tictactoe", "--out", str(out)]) in (0, 1, 3)
    return out


def test_the_page_of_a_match_has_result_figures_games_and_origin(tmp_path: Path) -> None:
    """All that was asked of it, and nothing from elsewhere."""
    out = played(tmp_path, "match", f"{NET} name=<b>A</b>", "random", "--games", "10")
    page = (out / "report.html").read_text()
    for part in ("Score over the games", "Pairs in which A made", "All games", "Settings", "commit", "command"):
        assert part in page
    assert "&lt;b&gt;A&lt;/b&gt;" in page
    assert "<b>A</b>" not in page
    assert len(games_on(page)) == 10
    result = json.loads((out / "result.json").read_text())["results"]
    assert f"{result['wins']:,} / {result['draws']:,} / {result['losses']:,}" in page
    before = page
    assert main.main(["report", str(out)]) == 0
    assert (out / "report.html").read_text() == before


def test_an_interrupted_match_has_its_page_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the games that are finished."""
    real = Match._kept

    def stopped(self: Match, games: Iterator[MatchGame]) -> Generator[tuple[int, MatchGame]]:
        for number, found in enumerate(real(self, games), 1):
            yield found
            if number == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(Match, "_kept", stopped)
    command = ["match", NET, "random", "--games", "20", "--game", "tictactoe", "--out", str(tmp_path / "out")]
    assert main.main(command) == main.EXIT_INTERRUPTED
    page = (tmp_path / "out" / "report.html").read_text()
    assert "not finished, 3 of 20 games" in page
    assert "the same command goes on" in capsys.readouterr().err


def test_a_sequential_test_shows_its_likelihood_ratio(tmp_path: Path) -> None:
    """With both bounds and the verdict."""
    out = played(tmp_path, "sprt", "net=rollout visits=30", "random", "--elo1", "100", "--max-games", "40")
    page = (out / "report.html").read_text()
    assert "Sequential test" in page
    assert "elo1 = 100 is accepted" in page


def test_the_page_of_a_tournament_has_ratings_crosstable_and_games_of_all_pairings(tmp_path: Path) -> None:
    out = played(tmp_path, "tournament", "random", f"{NET} name=B", "mcts:20", "--games", "4")
    page = (out / "report.html").read_text()
    titles = " ".join(str(game["title"]) for game in games_on(page))
    assert all(name in titles for name in ("random", "B", "mcts:20"))
    assert page.count("/4</td>") == 6
    assert main.main(["report", str(out), "--output", str(tmp_path / "other.html")]) == 0
    assert (tmp_path / "other.html").exists()


def test_a_folder_of_something_else_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And so is one without a finished game."""
    with pytest.raises(ValueError, match="no match, tournament or tuning"):
        write_page(tmp_path)
    out = played(tmp_path, "match", "random", "random", "--games", "2")
    (out / "games.jsonl").write_text("")
    assert main.main(["report", str(out)]) == main.EXIT_BAD_INPUT
    assert "no game of the match is finished yet" in capsys.readouterr().err
    (out / "match.json").write_text("{}")
    assert main.main(["report", str(out)]) == main.EXIT_BAD_INPUT
    assert main.main(["report", str(out), "--png", str(tmp_path)]) == main.EXIT_BAD_INPUT


def test_a_long_match_has_a_page_of_bounded_size(tmp_path: Path) -> None:
    """The sample has whole pairs from the beginning to the end, figures have few places, the table is cut."""
    out = played(tmp_path, "match", "random", "random", "--games", "2")
    first = next(MatchFolder(out).games())
    changes = ({"index": index, "a": ("first", "second")[index % 2]} for index in range(3000))
    (out / "games.jsonl").write_bytes(lines_of(first.model_copy(update=change) for change in changes))
    match = StoredMatch(out)
    sample = sample_of(match.games)
    assert [game.index for game in sample[:2]] == [0, 1]
    assert [game.index for game in sample[-2:]] == [2998, 2999]
    assert all(a.index + 1 == b.index for a, b in zip(sample[::2], sample[1::2], strict=True))
    page = report_of(match, whole=True).html()
    assert len(page) < 400_000
    assert page.count("<circle") < POINTS + 50
    assert "more games are in games.jsonl" in page


def test_an_interrupted_tuning_keeps_its_iterations_and_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the same command goes on to the end."""
    from hauteur.matches import tuning as strength

    real = strength._play_iteration
    calls = list[int]()

    def stopped(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(strength, "_play_iteration", stopped)
    words = ["--parameter", "cpuct.init=0.5:3", "--iterations", "2", "--games", "4", "--verification", "4"]
    command = ["tune", "strength", NET, *words, "--game", "tictactoe", "--out", str(tmp_path / "out")]
    assert main.main(command) == main.EXIT_INTERRUPTED
    page = (tmp_path / "out" / "report.html").read_text()
    assert "not finished" in page
    assert "iteration-0001" in page
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert (len(result["iterations"]), result["complete"]) == (1, False)
    assert main.main(command) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(part in page for part in ("<p>finished", "iteration-0002", "tuned against given"))


def test_a_match_is_read_on_while_it_is_played(tmp_path: Path) -> None:
    """Each game once, in any order, also a line that is not whole yet; another match in the folder begins again."""
    out = played(tmp_path, "sprt", "net=rollout visits=10", "random", "--elo1", "200", "--max-games", "30")
    lines = (out / "games.jsonl").read_bytes().splitlines(keepends=True)
    whole = StoredMatch(out)
    (out / "games.jsonl").write_bytes(b"")
    match = StoredMatch(out)
    assert (match.games, match.tally.finished) == ([], 0)
    halves = [part for line in lines for part in (line[:20], line[20:])]
    with (out / "games.jsonl").open("ab", buffering=0) as file:
        for number, half in enumerate(halves):
            file.write(half)
            match.refresh()
            assert len(match.games) == (number + 1) // 2
    assert match.games == whole.games
    assert match.tally.to_json() == whole.tally.to_json()
    assert match.tally.test is not None
    assert whole.tally.test is not None
    assert match.tally.test.llrs == whole.tally.test.llrs
    assert match.whole(1) == next(game for game in match.folder.games() if game.index == 1)
    with pytest.raises(ValueError, match="game 501 is not finished"):
        match.whole(500)
    with locked(out, "playing"):
        assert match.state == "running"
        assert " of 30 games" in match.state_text
    (out / "games.jsonl").write_bytes(lines[0])
    match.refresh()
    assert len(match.games) == 1


def test_a_match_says_from_its_beginning_how_many_games_it_will_have(tmp_path: Path) -> None:
    """And a sequential test what its bounds are: those who watch need not wait for the first result."""
    settings = MatchSettings(a=parse_player("random"), b=parse_player("random"), game="tictactoe", games=6)
    match = Match(load_game("tictactoe"), settings, folder=MatchFolder(tmp_path), sprt=Sprt(0, 50))
    with closing(match.play()) as games:
        next(games)
        stored = StoredMatch(tmp_path)
        assert (stored.state, stored.games_wanted, len(stored.games)) == ("running", 6, 1)
        assert stored.tally.test is not None
        assert stored.tally.test.sprt == Sprt(0, 50)
    assert stored.state == "not finished"


def test_a_tournament_and_its_pairings_are_read_on(tmp_path: Path) -> None:
    """Unfinished matches run where the tournament does, with the share and the time that are left."""
    out = played(tmp_path, "tournament", "random", "mcts:5", "mcts:9", "--games", "4")
    last = (out / "2-3" / "games.jsonl").read_bytes()
    (out / "2-3" / "games.jsonl").write_bytes(b"")
    (out / "2-3" / "result.json").unlink()
    stored = StoredTournament(out)
    assert (stored.games_done, stored.share_done, stored.state_text[:12]) == (8, 8 / 12, "not finished")
    assert [match.tally.finished for match in stored.matches] == [4, 4, 0]
    with locked(out, "playing"):
        assert re.fullmatch(r"running, 8 of 12 games, 0:0\d, about 0:0\d left", stored.state_text)
        assert [match.state for match in stored.matches] == ["finished", "finished", "running"]
    (out / "2-3" / "games.jsonl").write_bytes(last)
    stored.refresh()
    assert (stored.games_done, stored.share_done) == (12, 1.0)
    assert stored.state_text.startswith("finished, 12 games")
    assert stored.ratings().ratings == StoredTournament(out).ratings().ratings
    assert sum("games.jsonl" in folder.stamps() for folder in (stored.folder, *(m.folder for m in stored.matches))) == 4
