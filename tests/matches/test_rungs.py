"""The ladder: the shipped table, the choice of rungs, the rating, and games that the seed alone decides."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice, pairwise
from pathlib import Path

import pytest

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.matches.openings import read_openings
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.rating_list import Encounter
from hauteur.matches.results import MatchGame
from hauteur.matches.rungs import climb as climbing
from hauteur.matches.rungs.climb import Climb, ClimbFolder, ClimbSettings, RungGame
from hauteur.matches.rungs.report import games_pgn, ladder_result, ladder_text, notes_of
from hauteur.matches.rungs.table import RatedRung, RungTable, check_nets, openings_path, rung_table
from hauteur.players.engines.player import GAMES_FOLDER
from hauteur.players.settings import parse_player
from hauteur.system.files import sha256_of

ELOS = {"random": 500.0, "material": 800.0, "uniform-20": 1000.0, "uniform-60": 1200.0}
PLAYERS = {
    "random": "random",
    "material": "material",
    "uniform-20": "net=uniform visits=20",
    "uniform-60": "net=uniform visits=60",
}


def toy_table(**changes: object) -> RungTable:
    """A ladder that needs neither a net nor a program."""
    rungs = tuple(
        RatedRung(name=name, player=PLAYERS[name], elo=elo, low=elo - 19.6, high=elo + 19.6)
        for name, elo in ELOS.items()
    )
    values = {
        "game": "chess",
        "anchor": "material",
        "anchor_elo": 800.0,
        "max_plies": 30,
        "seed": 1,
        "stockfish": "",
        "openings_sha256": "",
        "nets": {},
        "rung": rungs,
    }
    return RungTable.model_validate({**values, **changes})


def toy_climb(player: str = "random name=me", folder: Path | None = None, **settings: object) -> Climb:
    """A rating on the toy ladder."""
    values = {"player": parse_player(player), "seed": 3, "within": 90.0, "max_games": 8, **settings}
    kept = None if folder is None else ClimbFolder(folder)
    return Climb(toy_table(), ClimbSettings.model_validate(values), kept)


def played(climb: Climb) -> Climb:
    """The rating after its games."""
    for _ in climb.play():
        pass
    return climb


def game_of(index: int, rung: str, score: float) -> RungGame:
    """A game that needs no board."""
    return RungGame(index=index, a="first" if index % 2 == 0 else "second", score=score, end="", plies=1, rung=rung)


def add(climb: Climb, rung: str, *scores: float) -> None:
    """Count games against a rung."""
    for score in scores:
        climb.games[len(climb.games)] = game_of(len(climb.games), rung, score)


def test_the_shipped_table_is_a_ladder() -> None:
    """Some twenty rungs, ordered, whose ratings are those of one fit of the games that the table has."""
    table = rung_table()
    assert len(table.rung) >= 18
    assert table.rung[0].rating < 700
    assert table.rung[-1].rating > 2300
    assert all(a.rating < b.rating < a.rating + 250 for a, b in pairwise(table.rung))
    assert table.named(table.anchor).rating == table.anchor_elo
    records = [(pair.a, pair.b, MatchScore(pair.wins, pair.draws, pair.losses)) for pair in table.pair]
    found = rating_list([Encounter(*one) for one in records], anchors={table.anchor: table.anchor_elo})
    for rating in found.ratings:
        rung = table.named(rating.name)
        assert rung.rating == pytest.approx(rating.elo, abs=0.06)
        assert (rung.low, rung.high) == pytest.approx(rating.interval(), abs=0.06)
        assert rung.games == rating.record.games
    assert all(len(pair.sha256) == 64 for pair in table.pair)


def test_the_reference_has_the_rungs_of_the_table(root: Path) -> None:
    page = (root / "docs" / "reference" / "ratings.md").read_text(encoding="utf-8")
    for rung in rung_table().rung:
        assert f"| {rung.games:,} | `{rung.name}` | `{rung.player}` |" in page
        assert f"| {rung.rating:.0f} | " in page


def test_no_rung_depends_on_time() -> None:
    table = rung_table()
    for rung in table.rung:
        player = rung.settings()
        assert player.name == rung.name
        if player.engine is not None:
            assert player.engine.nodes
            assert player.engine.movetime is None
            assert player.engine.tc is None
            assert player.engine.start_timeout == player.engine.move_timeout == 3600
            assert player.engine.options["Threads"] == "1"
            assert {*player.engine.options} == {"Threads", "Hash"}, "strength options draw by the clock"
            assert rung.settings("elsewhere/stockfish").engine is not None
            assert rung.settings("elsewhere/stockfish").engine.command == "elsewhere/stockfish"  # type: ignore[union-attr]
        elif player.baseline is None:
            assert player.precision == "float32"
            assert player.net in table.nets


def test_the_openings_are_those_of_the_table() -> None:
    table = rung_table()
    assert sha256_of(openings_path()) == table.openings_sha256
    openings = read_openings(openings_path(), load_game("chess"))
    assert len(openings) == len(set(openings)) >= 500


def test_the_nearest_rungs_play_in_turns() -> None:
    climb = toy_climb()
    assert climb.next_rung().name == "material"
    add(climb, "material", 0.0, 0.0)
    assert climb.next_rung().name == "random"
    add(climb, "random", 0.5, 0.5)
    assert climb.next_rung().name in ("random", "material")
    add(climb, "random", 0.5, 0.5)
    assert climb.next_rung().name == "material"
    strong = toy_climb()
    add(strong, "material", *[1.0] * 8)
    assert {strong.next_rung().name} <= {"uniform-20", "uniform-60"}


def test_half_a_pair_does_not_count() -> None:
    climb = toy_climb()
    add(climb, "material", 1.0, 0.0)
    before = climb.estimate()
    climb.games[3] = game_of(3, "material", 1.0)
    assert climb.pairs == 1
    assert climb.estimate() == before


def test_the_interval_has_the_error_of_the_rungs() -> None:
    climb = toy_climb()
    add(climb, "material", *[1.0, 0.0, 0.5, 0.5] * 25)
    found = climb.estimate()
    assert found.elo == pytest.approx(800, abs=1)
    assert found.of_rungs == pytest.approx(10, abs=0.01)
    low, high = found.interval
    assert high - low == pytest.approx(2 * 1.96 * (found.of_games**2 + 10**2) ** 0.5, rel=1e-4)
    assert (found.error_of_games, found.error_of_rungs) == pytest.approx((1.96 * found.of_games, 19.6), rel=1e-3)


def test_it_ends_by_interval_or_by_number() -> None:
    climb = toy_climb(within=60.0, max_games=1000)
    add(climb, "material", *[1.0, 0.0] * 9)
    lengths = [len(climb.games)]
    while not climb.over:
        add(climb, "material", 1.0, 0.0)
        lengths.append(len(climb.games))
    assert climb.estimate().error_of_games < climb.estimate().error <= 60
    assert lengths[0] == 18
    assert 60 < lengths[-1] < 200
    few = toy_climb(max_games=4)
    add(few, "material", 1.0, 0.0, 1.0)
    assert not few.over
    add(few, "material", 0.0)
    assert few.over


def test_rungs_that_are_known_too_roughly_are_named() -> None:
    climb = toy_climb(within=19.0, max_games=4)
    add(climb, "material", 1.0, 0.0, 1.0, 0.0)
    assert climb.over
    assert "the rungs there are known within ±20 Elo, so no number of games brings ±19" in notes_of(climb)
    few = toy_climb(within=21.0, max_games=4)
    add(few, "material", 1.0, 0.0, 1.0, 0.0)
    assert "--max-games reached before the error was within 21 Elo" in notes_of(few)


def test_the_same_seed_plays_the_same_games_and_another_does_not() -> None:
    one, again, other = (played(toy_climb(seed=seed)) for seed in (3, 3, 4))
    assert len(one.counted()) == 8
    assert games_pgn(one) == games_pgn(again)
    assert ladder_result(one)["sha256"] == hashlib.sha256(games_pgn(one).encode()).hexdigest()
    assert games_pgn(one) != games_pgn(other)


def _busy(stop: multiprocessing.synchronize.Event) -> None:
    while not stop.is_set():
        sum(range(10_000))


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Processes that compute as long as the block runs."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    processes = [context.Process(target=_busy, args=(stop,)) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.join()


def test_load_does_not_change_the_games() -> None:
    quiet = played(toy_climb("material name=me"))
    with busy_processes(2):
        loaded = played(toy_climb("material name=me"))
    assert games_pgn(quiet) == games_pgn(loaded)


def test_an_interrupted_rating_goes_on_to_the_same_games(tmp_path: Path) -> None:
    whole = played(toy_climb(folder=tmp_path / "whole"))
    with closing(toy_climb(folder=tmp_path / "part").play()) as games:
        assert len(list(islice(games, 3))) == 3
    resumed = played(toy_climb(folder=tmp_path / "part"))
    assert games_pgn(resumed) == games_pgn(whole)
    with pytest.raises(ValueError, match="seed was 3 and is now 5"):
        played(toy_climb(folder=tmp_path / "part", seed=5))
    longer = played(toy_climb(folder=tmp_path / "part", max_games=10))
    assert len(longer.counted()) == 10


def test_what_a_rating_says() -> None:
    climb = toy_climb()
    add(climb, "material", 1.0, 0.0, 0.5, 0.5)
    add(climb, "random", 1.0, 1.0, 1.0, 0.5)
    text = ladder_text(climb)
    assert "material is 800 on this scale, which is hauteur's own: not FIDE, not lichess" in text
    assert "     1      2      1   50.0%  material" in text
    result = ladder_result(climb)
    assert result["games"] == 8
    assert [(row["name"], row["wins"], row["draws"], row["losses"]) for row in result["rungs"]] == [
        ("random", 3, 1, 0),
        ("material", 1, 2, 1),
    ]
    json.dumps(result, allow_nan=False)


def test_notes_say_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "LEAST_GAMES", 2)
    climb = Climb(
        toy_table(stockfish="Stockfish 1"),
        ClimbSettings(player=parse_player("uci:x movetime=5"), max_games=20),
        version="Stockfish 2",
    )
    add(climb, "uniform-60", *[1.0] * 20)
    notes = " / ".join(ladder_result(climb)["notes"])
    assert "measured with Stockfish 1, here they are Stockfish 2" in notes
    assert "stronger than the highest rung, uniform-60 at 1200" in notes
    assert "limited by time" in notes
    assert "--max-games reached" in notes


@pytest.mark.skipif(sys.platform == "win32", reason="the fake engine uses signals and process groups")
def test_a_player_that_always_fails_is_not_rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_PIDS", str(tmp_path))
    fake = Path(__file__).parent.parent / "support" / "fake_engine.py"
    faulty = f"{shlex.quote(f'uci:{sys.executable}')} 'args={fake} illegal' nodes=1 start-timeout=60 name=me"
    climb = toy_climb(faulty)
    with pytest.raises(
        ValueError, match=r"me lost each of its 4 games off the board, .* rate: illegal move: "
    ) as error:
        played(climb)
    assert "\n" not in str(error.value)
    assert len(climb.counted()) == 4


def test_a_rating_says_which_games_were_lost_off_the_board() -> None:
    climb = toy_climb()
    add(climb, "material", 1.0, 0.0, 0.5, 1.0)
    assert "off the board" not in ladder_text(climb)
    changes = {"end": "engine crashed", "notes": {3: "exit status 9"}}
    for number in (0, 1):
        climb.games[number] = climb.games[number].model_copy(update=changes)
    notes = ladder_result(climb)["notes"]
    end = "engine crashed 1 (exit status 9)"
    assert f"1 of 4 games was lost off the board by the player, {end}" in notes
    assert f"1 of 4 games was lost off the board by a rung, {end}" in notes


def test_all_nets_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAUTEUR_NETS", str(tmp_path))
    table = toy_table(nets={"maia-1100": "0", "connect4": "0", "maia-1500": "0"})
    with pytest.raises(ValueError, match=r"not downloaded yet: hauteur net get maia-1100 maia-1500$"):
        check_nets(table)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["random", "--ladder", "--game", "go"], "there is no ladder of 'go'; there is one of chess"),
        (["random", "material", "--ladder"], "--ladder rates one player"),
        (["--ladder"], "--ladder rates one player"),
        (["uci:x", "--ladder"], "say how long the engine thinks"),
        (["uci:x nodes=1"], "'uci:x nodes=1' is a player: it is rated with --ladder"),
        (["random", "--ladder", "--max-games", "3"], "max_games"),
        (["random", "--ladder", "--within", "0"], "within"),
        (["random name=random", "--ladder"], "'random' is the name of a rung"),
    ],
)
def test_what_is_not_allowed(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["rate", *words]) == main.EXIT_BAD_INPUT
    assert message in capsys.readouterr().err


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("hauteur.cli.commands.match.rung_table", lambda game: toy_table(game=game))
    folder = tmp_path / "rating"
    words = ["rate", "material name=me", "--ladder", "--max-games", "4", "--seed", "2", "--out", str(folder)]
    assert main.main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["games"] == 4
    assert (result["name"], result["player"]) == ("me", "material")
    assert result["sha256"] == sha256_of(folder / "games.pgn")
    stored = json.loads((folder / "result.json").read_text())
    assert stored["elo"] == result["elo"]
    assert stored["complete"]
    assert main.main(words) == 0
    assert f"seed 2; sha256 of the games {result['sha256']}" in capsys.readouterr().out


def test_a_game_of_the_ladder_is_one_of_a_match() -> None:
    assert issubclass(RungGame, MatchGame)


@pytest.mark.slow
def test_stockfish_and_maia_play_the_same_games_under_load(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shipped ladder; needs Stockfish and the Maia nets."""
    program = shutil.which("stockfish") or shutil.which("stockfish", path=GAMES_FOLDER)
    if program is None:
        pytest.skip("needs Stockfish")
    monkeypatch.setenv("HAUTEUR_NETS", str(shared_data / "nets"))

    def rating() -> Climb:
        player = parse_player("uci:stockfish nodes=300 Threads=1 name=me")
        settings = ClimbSettings(player=player, seed=7, max_games=12)
        return played(Climb(rung_table(), settings, stockfish=program))

    quiet = rating()
    with busy_processes(6):
        loaded = rating()
    assert len(quiet.counted()) == 12
    assert games_pgn(quiet) == games_pgn(loaded)
