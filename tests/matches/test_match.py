"""Matches: paired and fixed colours, openings, the same results after any interruption, one evaluator a net."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from learning_toys import ToyEvaluator
from match_toys import CONNECT4, games_of_players, match_in, played, settings_of

from hauteur.cli import main
from hauteur.matches.folder import MatchFolder
from hauteur.matches.ratings.rating_list import read_results
from hauteur.matches.report.stored import StoredMatch
from hauteur.matches.results import MatchGame, Work, table
from hauteur.players.build import Evaluators, Resources
from hauteur.players.search_player import SearchPlayer
from hauteur.studies.puzzles.sources import read_lines

pytestmark = pytest.mark.quick


def by_index(games: list[MatchGame]) -> list[MatchGame]:
    return sorted(games, key=lambda game: game.index)


def test_the_same_opening_twice_with_colours_swapped() -> None:
    games = by_index(played(match_in(None, settings_of(random_plies=3))))
    assert [game.index for game in games] == list(range(12))
    assert [game.a for game in games] == ["first", "second"] * 6
    assert [game.opening for game in games[::2]] == [game.opening for game in games[1::2]]
    assert len({game.opening for game in games}) > 3
    assert all(len(game.opening.split()) == 3 for game in games)


@pytest.mark.parametrize("colours", ["first", "second"])
def test_fixed_colours(colours: str) -> None:
    games = played(match_in(None, settings_of(colours=colours)))
    assert {game.a for game in games} == {colours}
    assert len({game.opening for game in games}) > 8


def test_scores_are_those_of_a() -> None:
    """The search with visits beats the one without; each game's score is that of its last position."""
    match = match_in(None, settings_of(a="visits=200", b="visits=1 temperature=1"))
    for game in played(match):
        state = CONNECT4.new_initial_state()
        for move in f"{game.opening} {game.moves}".split():
            state.apply(state.parse(move))
        outcome = state.outcome()
        assert outcome is not None
        assert game.score == (1 + outcome * (1 if game.a == "first" else -1)) / 2
        assert game.plies == state.ply
        assert game.end == state.end_reason()
    assert match.tally.record.score > 0.8
    assert match.complete


@pytest.mark.parametrize("before", [0, 5, 12])
def test_an_interrupted_match_comes_to_the_same_results(tmp_path: Path, before: int) -> None:
    settings = settings_of()
    whole = match_in(None, settings)
    expected = played(whole)
    first = played(match_in(tmp_path, settings), before)
    second = match_in(tmp_path, settings, Resources(parallel=7, threads=1))
    rest = played(second)
    assert len(first) == before
    assert by_index(first + rest) == by_index(expected)
    assert second.tally.to_json() == whole.tally.to_json()
    assert table(second.tally, Work(), second.names) == table(whole.tally, Work(), whole.names)
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 12
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["complete"]
    assert result["results"] == json.loads(json.dumps(whole.tally.to_json()))
    assert result["settings"]["a"] == "visits=12"


def test_a_complete_match_opens_no_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match = match_in(tmp_path, settings_of())
    played(match)
    monkeypatch.setattr(Evaluators, "get", lambda *_: pytest.fail("a net was opened"))
    again = match_in(tmp_path, settings_of())
    assert played(again) == []
    assert again.tally.to_json() == match.tally.to_json()
    assert again.work.evaluations == match.work.evaluations


def test_more_games_are_added_to_a_finished_match(tmp_path: Path) -> None:
    played(match_in(tmp_path, settings_of(games=4)))
    match = match_in(tmp_path, settings_of(games=12))
    assert len(played(match)) == 8
    whole = match_in(None, settings_of(games=12))
    played(whole)
    assert match.tally.to_json() == whole.tally.to_json()


def test_half_a_line_is_played_again(tmp_path: Path) -> None:
    played(match_in(tmp_path, settings_of()))
    file = tmp_path / "games.jsonl"
    games = list(MatchFolder(tmp_path).games())
    data = file.read_bytes()
    file.write_bytes(data[:-20])
    match = match_in(tmp_path, settings_of())
    assert len(played(match)) == 1
    assert list(MatchFolder(tmp_path).games()) == games


def test_a_changed_game_is_found_wherever_it_is_read(tmp_path: Path) -> None:
    played(match_in(tmp_path, settings_of()))
    file = tmp_path / "games.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    doubled = [*lines[:2], lines[1], *lines[2:]]
    nonsense = [*lines[:2], b"nonsense\n", *lines[2:]]
    score = json.loads(lines[2])["score"]
    edited = [*lines[:2], lines[2].replace(f'"score": {score}'.encode(), b'"score": 0.5'), *lines[3:]]
    assert lines != edited or score == 0.5
    for content in (doubled, nonsense, *([edited] if score != 0.5 else [])):
        file.write_bytes(b"".join(content))
        for read in (
            lambda: played(match_in(tmp_path, settings_of())),
            lambda: StoredMatch(tmp_path),
            lambda: read_results(tmp_path),
            lambda: list(MatchFolder(tmp_path).games()),
            lambda: list(read_lines([str(tmp_path)], CONNECT4, print)),
        ):
            with pytest.raises(
                ValueError, match=r"games\.jsonl, line 3: (its check sum|game \d+ is there already|not a game)"
            ):
                read()
        assert main.main(["report", str(tmp_path)]) == main.EXIT_BAD_INPUT


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"a": "visits=13"}, "a was 'visits=12' and is now 'visits=13'"),
        ({"b": "visits=4 temperature=1 cpuct.init=2"}, "b was 'visits=4 temperature=1.0' and is now"),
        ({"random_plies": 2}, "random_plies was 4 and is now 2"),
        ({"colours": "first"}, "colours was 'swap' and is now 'first'"),
        ({"max_plies": 9}, "max_plies was None and is now 9"),
    ],
)
def test_a_folder_with_other_settings_is_refused(tmp_path: Path, other: dict[str, object], named: str) -> None:
    played(match_in(tmp_path, settings_of()), 1)
    before = (tmp_path / "games.jsonl").read_bytes()
    with pytest.raises(ValueError, match="holds a match with other settings") as error:
        played(match_in(tmp_path, settings_of(**other)))  # type: ignore[arg-type]
    assert named in str(error.value)
    assert (tmp_path / "games.jsonl").read_bytes() == before


def test_a_name_may_change(tmp_path: Path) -> None:
    played(match_in(tmp_path, settings_of()), 3)
    assert len(played(match_in(tmp_path, settings_of(a="visits=12 name=new")))) == 9


def toy_players() -> tuple[SearchPlayer, SearchPlayer]:
    evaluator = ToyEvaluator(CONNECT4)
    a = settings_of().a
    b = settings_of().b
    return (
        SearchPlayer("a", evaluator, a.search, 15, a.temperature),
        SearchPlayer("b", evaluator, b.search, 10, b.temperature),
    )


@pytest.mark.parametrize("resources", [Resources(1), Resources(12, 5), Resources(64, 64)])
def test_games_do_not_depend_on_the_games_beside_them(resources: Resources) -> None:
    expected = games_of_players(toy_players(), settings_of())
    assert games_of_players(toy_players(), settings_of(), resources) == expected
    some = games_of_players(toy_players(), settings_of(), resources, skip={0, 3, 4, 9})
    assert some == [game for game in expected if game.index not in {0, 3, 4, 9}]


BAD = [
    (["visits=1", "net=absent.pb.gz"], "absent.pb.gz"),
    (["visits=1", "visits=1", "--parallel", "0"], "--parallel must be 1 to"),
    (["visits=1", "visits=1", "--openings", "absent.epd"], "absent.epd: No such file"),
    (["visits=1", "visits=1", "--colours", "green"], "green"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_bad_input_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["match", *words, "--game", "connect4"]) == main.EXIT_BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


MATCH_WORDS = ["match", "net=uniform visits=20", "net=uniform visits=2 temperature=1", "--game", "tictactoe"]


def test_the_command_prints_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*MATCH_WORDS, "--games", "10", "--random-plies", "2", "--out", str(tmp_path / "m")]
    assert main.main(words) == 0
    text = capsys.readouterr().out
    assert "A: uniform visits=20\nB: uniform visits=2 temperature=1.0\n" in text
    assert "pairs with 0, 1/2, 1, 3/2, 2 points" in text
    assert main.main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["results"]["games"] == 10
    assert result["complete"]
    assert result == {**json.loads((tmp_path / "m" / "result.json").read_text()), "written": result["written"]}
    assert main.main([*words, "--seed", "5"]) == main.EXIT_BAD_INPUT
    assert "seed was 0 and is now 5" in capsys.readouterr().err


def test_ctrl_c_leaves_a_folder_that_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*MATCH_WORDS, "--games", "10", "--parallel", "2", "--out", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(MatchFolder, "append", interrupted_after(3, MatchFolder.append))
        assert main.main(words) == main.EXIT_INTERRUPTED
    assert "match interrupted after 3 of 10 games; the same command goes on with it" in capsys.readouterr().err
    assert main.main(words) == 0
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 10


def interrupted_after(games: int, append: Callable[[MatchFolder, MatchGame], None]) -> Callable[..., None]:
    """An `append` during which Ctrl-C is pressed after this number of games."""
    left = iter(range(games))

    def interrupted(folder: MatchFolder, game: MatchGame) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        append(folder, game)

    return interrupted


def test_players_that_do_not_fit_leave_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--game", "minichess", "--games", "2", "--out", str(tmp_path / "m")]
    assert main.main(["match", "rave:5", "random", *words]) == main.EXIT_BAD_INPUT
    problem = "rave plays games of at most 256 actions, minichess has 455; mcts:5 plays every game"
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
    assert main.main(["match", "mcts:5", "random", *words]) == 0


def test_a_match_goes_on_with_the_same_large_net_alone(tmp_path: Path) -> None:
    files = [tmp_path / name / "large.safetensors" for name in ("one", "two", "three")]
    for file, content in zip(files, (b"1", b"1", b"2"), strict=True):
        file.parent.mkdir()
        file.write_bytes(content)
    stored = [match_in(None, settings_of(a=f"visits=3 large_net={file}")).stored_settings() for file in files]
    assert stored[0] == stored[1] != stored[2]
    assert stored[0]["a_large_net"].startswith("large.safetensors sha256 ")


def test_one_match_at_a_time_in_a_folder(tmp_path: Path) -> None:
    first = match_in(tmp_path, settings_of()).play()
    next(first)
    with pytest.raises(ValueError, match="another process is playing a match in this folder"):
        played(match_in(tmp_path, settings_of()))
    first.close()
    assert len(played(match_in(tmp_path, settings_of()))) == 11
