"""Tournaments: pairings are matches, resume, players added later, tables; and rating lists from folders and PGN."""

import json
import re
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from hauteur import _core
from hauteur.cli import main
from hauteur.matches.folder import MatchFolder, TournamentFolder, match_folders
from hauteur.matches.match import Match
from hauteur.matches.play import progress_text
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import MatchScore, Sprt
from hauteur.matches.ratings.rating_list import Encounter, crosstable, rating_table, ratings_json, read_results
from hauteur.matches.results import MatchGame
from hauteur.matches.tournament import Tournament, TournamentSettings
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player

GAME = _core.Game("connect4")
PLAYERS = ("net=uniform visits=12 name=twelve", "net=uniform visits=4 temperature=1 name=four", "mcts:8", "random")


def tournament_in(folder: Path | None, players: tuple[str, ...] = PLAYERS[:3], **more: object) -> Tournament:
    settings = TournamentSettings.model_validate(
        {"game": "connect4", "players": [parse_player(text) for text in players], "games": 4, **more}
    )
    resources = Resources(parallel=5, threads=1)
    return Tournament(GAME, settings, resources=resources, folder=None if folder is None else TournamentFolder(folder))


def played(tournament: Tournament, games: int | None = None) -> list[tuple[int, MatchGame]]:
    with closing(tournament.play_all()) as iterator:
        return sorted(islice(iterator, games), key=lambda pair: (pair[0], pair[1].index))


def numbers(tournament: Tournament) -> list[dict[str, object]]:
    return [match.tally.to_json() for match in tournament.matches]


def test_every_pairing_is_the_match_that_it_would_be_alone() -> None:
    tournament = tournament_in(None)
    games = played(tournament)
    assert [(number, game.index) for number, game in games] == [(k, n) for k in range(3) for n in range(4)]
    for number, settings in enumerate(tournament.settings.match(a, b) for a, b in tournament.settings.pairings):
        alone = Match(GAME, settings, resources=Resources(parallel=3, threads=1))
        with closing(alone.play()) as iterator:
            assert sorted(iterator, key=lambda game: game.index) == [game for k, game in games if k == number]


@pytest.fixture(scope="module")
def whole() -> Tournament:
    """A tournament that was played without interruption."""
    tournament = tournament_in(None)
    played(tournament)
    return tournament


@pytest.mark.parametrize("before", [0, 1, 7, 12])
def test_an_interrupted_tournament_comes_to_the_same_results(whole: Tournament, tmp_path: Path, before: int) -> None:
    played(tournament_in(tmp_path), before)
    again = tournament_in(tmp_path)
    assert len(played(again)) == 12 - before
    assert numbers(again) == numbers(whole)
    assert again.ratings().ratings == whole.ratings().ratings
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["complete"]
    assert [pairing["results"]["games"] for pairing in result["pairings"]] == [4, 4, 4]


def test_players_are_added_at_the_end(tmp_path: Path) -> None:
    before = played(tournament_in(tmp_path))
    more = tournament_in(tmp_path, PLAYERS)
    new = played(more)
    assert len(new) == 12
    assert {more.settings.pairings[number] for number, _ in new} == {(0, 3), (1, 3), (2, 3)}
    kept = [
        game
        for folder in ("1-2", "1-3", "2-3")
        for game in sorted(MatchFolder(tmp_path / folder).games(), key=lambda g: g.index)
    ]
    assert kept == [game for _, game in before]
    with pytest.raises(ValueError, match=r"holds a match with other settings: .*b was"):
        played(tournament_in(tmp_path, (PLAYERS[0], PLAYERS[2], PLAYERS[1])))


def test_players_need_different_names() -> None:
    assert tournament_in(None, kind="gauntlet").settings.pairings == [(0, 1), (0, 2)]
    with pytest.raises(ValueError, match="two players are called 'random': give them names with name="):
        tournament_in(None, ("random", "random"))
    with pytest.raises(ValueError, match="two players have the name 'x'"):
        tournament_in(None, ("random name=x", "mcts:3 name=x"))


def test_the_command_prints_list_and_crosstable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", *PLAYERS, "--game", "nogo(size=3)", "--games", "4", "--threads", "1", "--out", str(tmp_path)]
    assert main.main(words) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ("twelve", "four", "mcts:8", "random", "points", "24 games"))
    assert (tmp_path / "games.sgf").read_text().count("(;FF[4]") == 24
    assert main.main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {rating["name"] for rating in result["ratings"]} == {"twelve", "four", "mcts:8", "random"}
    assert main.main(["rate", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[:5] == text.splitlines()[:5]
    assert main.main(["tournament", "random"]) == main.EXIT_BAD_INPUT
    assert "two or more players, got 1" in capsys.readouterr().err


def test_progress_says_games_results_and_time_left() -> None:
    cup = tournament_in(None)
    match = Match(GAME, cup.settings.match(0, 1), sprt=Sprt(0, 20))
    assert progress_text(match).startswith(f"0/{match.games_wanted} games  LLR")
    games = cup.play_all()
    next(games)
    assert re.match(r"1/\d+ games  .+  [\d,]+ evaluations/s  0:\d\d left", progress_text(cup))
    games.close()


def test_the_crosstable_has_both_views() -> None:
    lines = crosstable(["a", "b", "c"], {("a", "b"): MatchScore(3, 1, 0), ("c", "a"): MatchScore(2, 0, 0)}).splitlines()
    assert lines[1].split() == ["1", "3.5/4", "0/2", "3.5/6", "a"]
    assert lines[2].split() == ["2", "0.5/4", "-", "0.5/4", "b"]
    assert lines[3].split() == ["3", "2/2", "-", "2/2", "c"]


def test_results_are_read_from_folders_and_pgn_alike(tmp_path: Path) -> None:
    words = ["match", "random name=one", "mcts:2 name=two", "--games", "6", "--max-plies", "12", "--threads", "1"]
    assert main.main([*words, "--out", str(tmp_path / "m")]) == 0
    by_folder, by_pgn = (read_results(tmp_path / "m" / name) for name in ("", "games.pgn"))
    lists = [rating_list(source.encounters) for source in (by_folder, by_pgn)]
    assert lists[0].ratings == lists[1].ratings
    assert sum(encounter.record.games for encounter in by_folder.encounters) == 6


@pytest.mark.parametrize("names", [None, ["a"], "ab", [1, 2]])
def test_a_match_without_names_is_refused_in_one_line(tmp_path: Path, names: object) -> None:
    played(tournament_in(tmp_path, PLAYERS[:2]))
    folder = MatchFolder(tmp_path / "1-2")
    stored = json.loads(folder.settings_file.read_text())
    assert folder.names() == ("twelve", "four")
    folder.settings_file.write_text(json.dumps(stored | {"names": names}))
    with pytest.raises(ValueError, match=r"match\.json: has no names of two players"):
        read_results(tmp_path)


def test_matches_of_tournaments_in_a_folder_are_all_found(tmp_path: Path) -> None:
    names = ["cup/1-2", "cup/1-3", "single"]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "match.json").write_text("{}")
    assert [found.path for found in match_folders(tmp_path)] == [tmp_path / name for name in names]


def test_a_folder_is_of_a_match_or_of_a_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "tournament.json").write_text("{}")
    (tmp_path / "single").mkdir()
    (tmp_path / "single" / "games.jsonl").write_text("")
    words = ["random", "mcts:2", "--game", "tictactoe", "--games", "2", "--threads", "1", "--out"]
    assert main.main(["match", *words, str(tmp_path / "cup")]) == main.EXIT_BAD_INPUT
    assert "holds a tournament; name another folder" in capsys.readouterr().err
    assert main.main(["tournament", *words, str(tmp_path / "single")]) == main.EXIT_BAD_INPUT
    assert "holds a match; name another folder" in capsys.readouterr().err


def test_games_of_namesakes_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.pgn"
    game = '[White "{}"]\n[Black "{}"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
    file.write_text(game.format("A", "A"))
    assert main.main(["rate", str(file)]) == main.EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert "not counted: 1 game in which both players have the same name" in said
    assert "no game has a result and the names of two players" in said
    file.write_text(game.format("A", "A") + game.format("B", "C"))
    assert main.main(["rate", str(file), "--json"]) == 0
    rated = json.loads(capsys.readouterr().out)["ratings"]
    assert [row["name"] for row in rated] == ["B", "C"], "A stood there at 0, known to a hair"


def test_games_of_nobody_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The unknown are not one player with the games of all of them."""
    file = tmp_path / "games.pgn"
    games = ['[White "A"]\n[Black "B "]', '[White "?"]\n[Black "A"]', '[White "?"]\n[Black "?"]', '[White "A"]']
    file.write_text("".join(f'{tags}\n[Result "1-0"]\n\n1. e4 1-0\n\n' for tags in games))
    assert main.main(["rate", str(file), "--json"]) == 0
    shown = capsys.readouterr()
    assert "3 games without the name of a player are left out" in shown.err
    rated = json.loads(shown.out)["ratings"]
    assert [(row["name"], row["games"]) for row in rated] == [("A", 1), ("B", 1)]
    file.write_text(f'{games[2]}\n[Result "1-0"]\n\n1. e4 1-0\n')
    assert main.main(["rate", str(file)]) == main.EXIT_BAD_INPUT
    assert "no game has a result and the names of two players" in capsys.readouterr().err


PGN = """[White "A"]
[Black "B=2"]
[Result "1-0"]

1. e4 e5 1-0

[White "B=2"]
[Black "A"]
[Result "1/2-1/2"]

1/2-1/2

[White "A"]
[Black "B=2"]
[Result "*"]

1. d4 *
"""


def test_the_command_rates_with_anchors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.pgn"
    file.write_text(PGN)
    assert main.main(["rate", str(file), "--anchor", "B=2=1500", "--json"]) == 0
    captured = capsys.readouterr()
    assert "1 game without a result is left out" in captured.err
    result = json.loads(captured.out)
    assert [(rating["name"], rating["anchored"]) for rating in result["ratings"]] == [("A", False), ("B=2", True)]
    assert result["ratings"][1]["elo"] == 1500
    assert result["ratings"][0]["elo"] > 1500
    assert result["differences"][0]["elo"] == pytest.approx(result["ratings"][0]["elo"] - 1500)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name at least one folder"),
        (["absent"], "absent: No such file or directory"),
        (["."], "it has no match.json"),
        (["x.pgn", "--anchor", "A"], "--anchor is NAME=ELO, got 'A'"),
        (["x.pgn", "--anchor", "A=x"], "--anchor is NAME=ELO, got 'A=x'"),
        (["x.pgn", "--anchor", "C=1"], "the anchor 'C' has no games; players are A, B=2"),
        (["empty.pgn"], "empty.pgn: has no games"),
        (["x.txt"], "expected the folder of a match"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("x.pgn", PGN), ("empty.pgn", ""), ("x.txt", "")):
        (tmp_path / name).write_text(text)
    assert main.main(["rate", *words]) == main.EXIT_BAD_INPUT
    err = capsys.readouterr().err
    assert message in err
    assert err.splitlines()[-1].startswith("hauteur: ")


def test_groups_are_told_apart() -> None:
    found = rating_list([Encounter("a", "b", MatchScore(3, 1, 0)), Encounter("c", "d", MatchScore(1, 1, 1))])
    text = rating_table(found)
    assert "2 groups of players without a game between them" in text
    assert text.count("  player\n") == 2
    assert [(d["a"], d["b"]) for d in ratings_json(found)["differences"]] == [("a", "b"), ("c", "d")]
