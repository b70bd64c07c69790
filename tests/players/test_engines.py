"""Programs as players: whatever an engine does, the match ends with the right table, and no process is left."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hauteur import _core
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match
from hauteur.matches.openings import Opening, read_opening
from hauteur.matches.play import play_match
from hauteur.matches.results import MatchGame, table
from hauteur.matches.settings import MatchSettings
from hauteur.players.build import Resources
from hauteur.players.engines.player import RANDOM_MOVE, random_move
from hauteur.players.engines.process import BAD_OUTPUT, CRASHED, ILLEGAL_MOVE, START_FAILED, TIMEOUT, EngineConnection
from hauteur.players.move_player import EngineFailure, MoveRequest
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake engine uses signals and process groups")

CHESS = _core.Game("chess")
NOGO = _core.Game("nogo(size=5)")
HERE = Path(__file__).parent.parent / "support"
PATIENT = "start-timeout=60"
"""For engines that should start, on a machine with other work."""


def uci(fault: str = "good", more: str = "nodes=1", *, patience: str = PATIENT) -> str:
    """The words of the fake engine; a fault shows in games that begin with e2e4."""
    program = shlex.quote(f"uci:{sys.executable}")
    arguments = shlex.quote(f"args={HERE / 'fake_engine.py'} {fault} e2e4")
    return f"{program} {arguments} {patience} {more}"


def gtp(fault: str = "good", more: str = "") -> str:
    """The words of the fake GTP engine."""
    return f"{shlex.quote(f'gtp:{sys.executable}')} 'args={HERE / 'fake_gtp_engine.py'} {fault}' {PATIENT} {more}"


@pytest.fixture(autouse=True)
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which fake engines leave their numbers; none of them may be left when a test is over."""
    folder = tmp_path / "pids"
    folder.mkdir()
    monkeypatch.setenv("FAKE_ENGINE_PIDS", str(folder))
    yield folder
    assert left(folder) == []


def left(folder: Path) -> list[int]:
    """Processes that are still there; those that the system is about to bury are given as long as it takes."""
    for _ in range(3000):
        alive = [int(path.name) for path in folder.iterdir() if is_running(int(path.name))]
        if not alive:
            return []
        time.sleep(0.1)
    return alive


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "\nState:\tZ" in status.read_text())  # Z: ended, and not yet buried


def match_of(
    a: str,
    b: str = "random",
    *,
    folder: Path | None = None,
    games: int = 4,
    plies: int = 10,
    lines: Sequence[str] = ("e2e4", "d2d4"),
) -> Match:
    """Pairs of games from e2e4 and d2d4, or from other lines."""
    settings = MatchSettings.model_validate(
        {
            "game": "chess",
            "a": parse_player(a),
            "b": parse_player(b),
            "games": games,
            "random_plies": 0,
            "order": "file",
            "seed": 3,
            "max_plies": plies,
        }
    )
    openings: list[Opening] = [read_opening(move, CHESS) for move in lines]
    resources = Resources(parallel=4, threads=2)
    store = None if folder is None else MatchFolder(folder)
    return Match(CHESS, settings, openings, resources=resources, folder=store)


def nogo_match(a: str, *, games: int = 4, folder: Path | None = None) -> Match:
    settings = MatchSettings(
        game=NOGO.spec, a=parse_player(a), b=parse_player("random"), games=games, random_plies=2, seed=5
    )
    store = None if folder is None else MatchFolder(folder)
    return Match(NOGO, settings, resources=Resources(parallel=3, threads=2), folder=store)


def played(match: Match) -> list[MatchGame]:
    return sorted(match.play(), key=lambda game: game.index)


def test_an_engine_plays_as_it_is_asked() -> None:
    match = match_of(uci(more="nodes=100"))
    games = played(match)
    assert [game.end for game in games] == ["ply limit"] * 4
    assert match.names[0].endswith("nodes=100")
    for game in games:
        state = CHESS.new_initial_state()
        for ply, text in enumerate(f"{game.opening} {game.moves}".split()):
            moves = sorted(state.action_to_text(int(action)) for action in state.legal_actions())
            if ply > 0 and ply % 2 == (0 if game.a == "first" else 1):
                assert text == moves[0]
            state.apply(state.parse(text))
    assert games == played(match_of(uci(more="depth=5 movetime=10 Hash=32 'style=Wild and free' 'Clear Hash=on'")))


CASTLES_AT_ONCE = "1k6/8/8/8/8/p7/P7/RK6 w A - 0 1"
"""The first move by name is castling, as the king that takes his rook."""


def test_a_program_castles_as_in_chess960_only_where_a_game_begins_so() -> None:
    """Told nothing it would castle in another way, or lose its place in the game by the other side's castling."""
    lines = (CASTLES_AT_ONCE, "e2e4", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", CASTLES_AT_ONCE)
    games = played(match_of(uci("-960 good"), uci("-960 good"), games=8, plies=6, lines=lines))
    assert [game.moves.split()[0] for game in games if "RK6" in (game.fen or "")] == ["b1a1"] * 4
    assert {game.end for game in games} == {"ply limit"}


def test_a_program_without_chess960_does_not_play_it() -> None:
    for game in played(match_of(uci(), games=2, lines=[CASTLES_AT_ONCE])):
        assert game.end == START_FAILED
        (note,) = game.notes.values()
        assert "Fake 1.0 has no option UCI_Chess960" in note


CRASH = "exit status 3; its last words: 'out of ideas'"
LIMITS = "more than 16,777,216 bytes or 100,000 lines for one answer"
FAULTS = {
    "crash": (CRASHED, CRASH),
    "killed": (CRASHED, "ended by SIGKILL"),
    "leaves": (CRASHED, "exit status 0"),
    "closes": (CRASHED, "it has closed its output"),
    "hang": (TIMEOUT, "no move within 1 s"),
    "late": (TIMEOUT, "no move within 1 s"),
    "illegal": (ILLEGAL_MOVE, "bestmove e2e5"),
    "zero": (ILLEGAL_MOVE, "bestmove 0000 where there are legal moves"),
    "san": (BAD_OUTPUT, "bestmove 'Nf3' is not a move in UCI's notation"),
    "no-move": (BAD_OUTPUT, "'bestmove' has no move"),
    "flood-lines": (BAD_OUTPUT, LIMITS),
    "flood-empty": (BAD_OUTPUT, LIMITS),
    "flood-line": (BAD_OUTPUT, "a line of more than 65,536 bytes"),
    "flood-errors": (BAD_OUTPUT, LIMITS),
    "bytes": (BAD_OUTPUT, "bestmove '\ufffd\ufffd?' is not a move in UCI's notation"),
}


@pytest.fixture(scope="module")
def good_games() -> list[MatchGame]:
    """The games of an engine without faults."""
    return played(match_of(uci()))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_engine_loses_that_game_alone(fault: str, good_games: list[MatchGame]) -> None:
    reason, detail = FAULTS[fault]
    match = match_of(uci(fault, "nodes=1 move-timeout=1" if reason == TIMEOUT else "nodes=1"))
    games = played(match)
    assert games[2:] == good_games[2:]
    for game, good in zip(games[:2], good_games, strict=False):
        assert (game.score, game.end) == (0, reason)
        assert good.moves.startswith(game.moves)
        assert game.notes == {game.plies: detail}
    assert (match.tally.record.losses, match.tally.record.draws) == (2, 2)
    assert f"ends: {reason} 2, ply limit 2" in table(match.tally, match.work, match.names)


def test_a_match_goes_on(tmp_path: Path, good_games: list[MatchGame]) -> None:
    games = match_of(uci("crash"), folder=tmp_path / "match").play()
    first = next(games)
    games.close()
    assert left(tmp_path / "pids") == []
    rest = played(match_of(uci("crash"), folder=tmp_path / "match"))
    assert first.index not in {game.index for game in rest}
    stored = sorted(MatchFolder(tmp_path / "match").games(), key=lambda game: game.index)
    assert [(game.score, game.end) for game in stored[:2]] == [(0, CRASHED)] * 2
    assert stored[2:] == good_games[2:]
    with pytest.raises(ValueError, match=r"a was .* nodes=1 .* and is now .* nodes=2 "):
        played(match_of(uci("crash", "nodes=2"), folder=tmp_path / "match"))


INTERRUPTED = """
import sys
sys.path[:0] = sys.argv[1:]
from test_engines import match_of, uci
for game in match_of(uci("stubborn", "nodes=1"), games=100_000, plies=300).play():
    print("played", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_hauteur_is_ended(number: int, pids: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(HERE), str(Path(__file__).parent)]
    match = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert match.stdout is not None
    assert match.stdout.readline() == b"played\n"
    assert any(is_running(int(path.name)) for path in pids.iterdir())
    match.send_signal(number)
    match.communicate()
    assert match.returncode != 0
    assert left(pids) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uci:no-such-engine nodes=1", "player A: uci:no-such-engine: no program 'no-such-engine': not on the path"),
        ("uci:/path/of/engine nodes=1", "no program '/path/of/engine': there is no such program"),
        (f"uci:{__file__} nodes=1", "it may not be executed"),
        (
            uci(more="nodes=1 Hsh=3"),
            r"Fake 1.0 has no option 'Hsh' \(did you mean Hash\?\); it has: Hash, Style, Loud, Cle",
        ),
        (uci(more="nodes=1 Hash=65"), "Fake 1.0: option Hash must be a whole number from 1 to 64, got '65'"),
        (uci(more="nodes=1 Hash=big"), "Hash must be a whole number from 1 to 64, got 'big'"),
        (uci(more="nodes=1 Loud=yes"), "Loud must be true or false, got 'yes'"),
        (uci(more="nodes=1 Style=odd"), "Style must be one of calm, wild and free; got 'odd'"),
    ],
)
def test_mistakes_are_told_before_the_match(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        played(match_of(text))
    assert "\n" not in str(error.value)


GTP_FAULTS = {
    "resign": ("resignation", None),
    "pass": (ILLEGAL_MOVE, "genmove was answered by PASS"),
    "illegal": (ILLEGAL_MOVE, "genmove was answered by "),
    "no-point": (BAD_OUTPUT, "genmove was answered by '99I', which is no point"),
    "error": (BAD_OUTPUT, "genmove was refused: 'I do not know'"),
    "crash": (CRASHED, "exit status 4"),
    "wrong-id": (BAD_OUTPUT, "'=99 B2' does not answer '"),
    "no-id": (BAD_OUTPUT, "'= B2' does not answer '"),
    "garbage": (TIMEOUT, "no move within 1 s"),
    "unended": (TIMEOUT, "no move within 1 s"),
}


@pytest.mark.parametrize("fault", GTP_FAULTS)
def test_gtp_engines_that_lose(fault: str) -> None:
    reason, detail = GTP_FAULTS[fault]
    games = played(nogo_match(gtp(fault, "move-timeout=1" if reason == TIMEOUT else "")))
    assert {(game.score, game.end) for game in games} == {(0, reason)}
    for game in games:
        notes = list(game.notes.values())
        assert notes == [] if detail is None else notes[0].startswith(detail)


@pytest.mark.parametrize("fault", ["counts", "counts-wrong", "counts-oddly", "counts-and-crashes"])
def test_a_program_that_names_another_winner_is_noted(fault: str) -> None:
    games = played(nogo_match(gtp(fault, "name=Fake")))
    assert {game.end for game in games} == {"no legal move"}, "the rules of the game decide"
    for game in games:
        notes = list(game.notes.values())
        if fault == "counts-wrong":
            winner = "B" if (game.score == 1) == (game.a == "first") else "W"
            other = "W" if winner == "B" else "B"
            assert notes == [f"Fake scores {other}+56.5 where the rules say {winner}+1"]
        elif fault == "counts-and-crashes":
            assert notes == ["Fake did not count the finished game: engine crashed: exit status 5"]
        else:
            assert notes == []


def test_a_gtp_engine_of_another_game_is_refused() -> None:
    """No command of GTP names a game: a program shows which one it plays by what it takes for a move."""
    with pytest.raises(ValueError, match=r"Fake Go 2 does not play this game: play b 1 was refused: ") as error:
        play_match(gtp(), "random", "connect4", games=2)
    assert "\n" not in str(error.value)


def test_a_gtp_engine_of_a_game_without_points_needs_no_boardsize() -> None:
    """It was refused, though it is never given this command."""
    match = play_match(gtp("columns"), "random", "connect4", games=2)
    assert {game.end for game in match.games} <= {"four in a row", "full board"}


def test_a_gtp_engine_may_refuse_a_pass_that_is_forced() -> None:
    """Programs of Othello such as GRhino make it by themselves."""
    game = _core.Game("othello(size=6)")
    settings = MatchSettings(
        game=game.spec, a=parse_player(gtp("passes")), b=parse_player("random"), games=8, random_plies=2, seed=1
    )
    games = played(Match(game, settings, resources=Resources(parallel=2, threads=1)))
    assert {found.end for found in games} == {"more discs"}
    passes = [found for found in games if " pass " in found.moves]
    assert len(passes) > 1


def test_a_gtp_engine_plays_as_it_is_asked(tmp_path: Path) -> None:
    games = played(nogo_match(gtp(), folder=tmp_path / "match"))
    assert {game.end for game in games} == {"no legal move"}
    assert games == played(nogo_match(gtp(more="movetime=5000")))
    assert games == played(nogo_match(gtp(more="tc=2:00")))
    match = nogo_match(gtp(), folder=tmp_path / "match")
    assert match.stored_settings()["a_engine"] == "Fake Go 2"
    for game in games:
        state = NOGO.new_initial_state()
        for ply, text in enumerate(f"{game.opening} {game.moves}".split()):
            if ply >= 2 and ply % 2 == (0 if game.a == "first" else 1):
                assert state.parse(text) == int(state.legal_actions()[0])
            state.apply(state.parse(text))


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("start-crash", "engine crashed: exit status 3; its last words: 'out of ideas'"),
        ("start-hang", "engine timeout: no uciok within 0.5 s"),
        ("start-flood", "bad output: more than 16,777,216 bytes or 100,000 lines for one answer"),
    ],
)
def test_an_engine_that_does_not_start_begins_no_match(fault: str, detail: str, tmp_path: Path, pids: Path) -> None:
    patience = "start-timeout=0.5" if fault == "start-hang" else PATIENT
    with pytest.raises(ValueError, match=rf"the program does not start: {re.escape(detail)}$"):
        played(match_of(uci(fault, patience=patience), folder=tmp_path / "match"))
    # Started once, not again; a busy machine may end it before it has written its number.
    assert len(list(pids.iterdir())) in ((0, 1) if fault == "start-hang" else (1,))
    assert not (tmp_path / "match").exists()


def test_an_engine_that_no_longer_starts_ends_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(*_: object, **__: object) -> None:
        raise EngineFailure(START_FAILED, "no such file")

    match = tmp_path / "match"
    with monkeypatch.context() as patch:
        patch.setattr(EngineConnection, "begin", gone)
        with pytest.raises(ValueError, match=r"does not start: no such file \(3 attempts\)$"):
            played(match_of(uci(), folder=match))
    assert list(MatchFolder(match).games()) == []
    assert {game.end for game in played(match_of(uci(), folder=match))} == {"ply limit"}


def request_of(seed: int) -> MoveRequest:
    """A request at the start of a game."""
    state = CHESS.new_initial_state()
    return MoveRequest(0, state, state.notation(), (), seed)


def test_a_share_of_the_moves_is_drawn() -> None:
    drawn = [random_move(request_of(seed), 0.25) for seed in range(2000)]
    assert drawn == [random_move(request_of(seed), 0.25) for seed in range(2000)]
    found = [move.action for move in drawn if move is not None]
    assert len(found) / 2000 == pytest.approx(0.25, abs=0.03)
    assert len(set(found)) == 20
    assert all(random_move(request_of(seed), 0.0) is None for seed in range(100))
    assert all(random_move(request_of(seed), 1.0) is not None for seed in range(100))


def test_a_handicapped_program_plays_the_same_games_again() -> None:
    def games() -> list[MatchGame]:
        match = play_match(uci(more="nodes=1 random_moves=0.5"), "random", "chess", games=4, seed=5, max_plies=40)
        return list(match.games)

    first = games()
    assert first == games()
    notes = [note for game in first for note in game.notes.values()]
    assert set(notes) == {RANDOM_MOVE}
    assert 20 < len(notes) < 55
