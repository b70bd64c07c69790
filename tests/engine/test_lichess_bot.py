"""What lichess-bot expects: the UCI engine as python-chess drives it for lichess-bot, and the homemade engine."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import chess
import chess.engine
import pytest
from chess.engine import Cp, Limit, PlayResult, PovScore

from hauteur.games.odds import ODDS_STARTS

COMMAND = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights", "uniform"]
DEFAULT_OPTIONS = {"Move Overhead": 100, "Threads": 1, "Hash": 64, "UCI_ShowWDL": True}
"""The names that lichess-bot's configuration sets as it comes."""
CHESS960 = "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1"


# As a UCI engine.


@pytest.fixture(scope="module")
def driven() -> Iterator[chess.engine.SimpleEngine]:
    """The engine with lichess-bot's options."""
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=60) as player:
        player.configure(DEFAULT_OPTIONS)
        yield player


def clocks(seconds: float) -> Limit:
    """What lichess-bot sends in a game on the clock."""
    return Limit(white_clock=seconds, black_clock=seconds, white_inc=0.1, black_inc=0.1, clock_id="real time")


def move_of(result: PlayResult) -> chess.Move:
    """The move of a result, which must have one."""
    assert result.move is not None
    return result.move


def test_a_game_on_the_clock_with_pondering(driven: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    opponent = chess.engine.Opponent(name="Somebody", title="GM", rating=2800, is_engine=False)
    driven.send_opponent_information(opponent=opponent, engine_rating=2500)
    for _ in range(5):
        result = driven.play(
            board, clocks(2), info=chess.engine.INFO_ALL, ponder=True, game="game 1", draw_offered=True
        )
        assert result.move is not None
        assert result.move in board.legal_moves
        assert {"score", "pv", "wdl", "nodes", "nps", "depth", "time", "hashfull", "tbhits"} <= result.info.keys()
        assert result.info["score"].turn == board.turn
        assert sum(result.info["wdl"].relative) == 1000
        board.push(result.move)
        reply = result.ponder if len(board.move_stack) % 4 == 1 else next(iter(board.legal_moves))
        board.push(reply or next(iter(board.legal_moves)))


def test_only_some_moves(driven: chess.engine.SimpleEngine) -> None:
    allowed = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    result = driven.play(chess.Board(), Limit(nodes=60), root_moves=allowed, ponder=False)
    assert result.move in allowed


def test_first_move_and_correspondence_limits(driven: chess.engine.SimpleEngine) -> None:
    for limit in (Limit(time=0.05, clock_id="first move"), Limit(time=0.05, clock_id="correspondence", depth=3)):
        assert move_of(driven.play(chess.Board(), limit)) in chess.Board().legal_moves


def test_analysis_with_several_lines(driven: chess.engine.SimpleEngine) -> None:
    found = driven.analyse(chess.Board(), Limit(nodes=100), multipv=3)
    assert len({info["pv"][0] for info in found}) == 3
    with driven.analysis(chess.Board()) as analysis:
        first = analysis.get()
        analysis.stop()
    assert first


def test_chess960_is_managed_by_python_chess(driven: chess.engine.SimpleEngine) -> None:
    board = chess.Board(CHESS960, chess960=True)
    result = driven.play(board, Limit(nodes=30), game="game 960")
    assert move_of(result) in board.legal_moves


def test_a_wrong_option_is_an_error_of_python_chess_and_the_engine_lives(driven: chess.engine.SimpleEngine) -> None:
    with pytest.raises(chess.engine.EngineError):
        driven.configure({"No Such Option": 1})
    assert move_of(driven.play(chess.Board(), Limit(nodes=10))) in chess.Board().legal_moves


# As a homemade engine.


class MinimalEngine:
    """A stand-in for lichess-bot's base class, with what a homemade engine may use of it."""

    def __init__(
        self, commands: list[str], options: dict[str, Any], stderr: int | None, draw_or_resign: Any, game: Any = None
    ) -> None:
        del commands, stderr, game
        self.go_commands = options.pop("go_commands", {}) or {}
        self.draw_or_resign = draw_or_resign
        self.scores: list[PovScore] = []
        self.has_quit = False

    def add_go_commands(self, limit: Limit) -> Limit:
        """Puts the configured limits beside the clock."""
        limit.nodes = self.go_commands.get("nodes")
        return limit

    def offer_draw_or_resign(self, result: PlayResult, board: chess.Board) -> PlayResult:
        """Resigns below a score, if that is wanted."""
        del board
        worst = self.draw_or_resign.get("resign_score")
        result.resigned = worst is not None and self.scores[-1].relative <= Cp(worst)
        return result

    def quit(self) -> None:
        """Notes the end."""
        self.has_quit = True


@pytest.fixture(scope="module")
def homemade(root: Path) -> Iterator[Any]:
    """The module of the example, imported as lichess-bot would, from between stand-ins."""
    library, wrapper = ModuleType("lib"), ModuleType("lib.engine_wrapper")
    wrapper.MinimalEngine = MinimalEngine  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "lib", library)
        patch.setitem(sys.modules, "lib.engine_wrapper", wrapper)
        spec = importlib.util.spec_from_file_location("homemade", root / "examples" / "lichess_bot" / "homemade.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def player_of(homemade: Any, draw_or_resign: dict[str, int] | None = None, **options: Any) -> Any:
    """The engine as lichess-bot makes it, without a net."""
    given = {"WeightsFile": "uniform", "Threads": 1, "Move Overhead": 100, "go_commands": {"nodes": 60}, **options}
    return homemade.Hauteur(["hauteur"], given, None, draw_or_resign or {}, None)


def test_a_homemade_game_keeps_its_tree(homemade: Any) -> None:
    player, board = player_of(homemade, SmartPruningFactor=0), chess.Board()
    for ply in range(6):
        result = player.search(board, clocks(20), True, False, PlayResult(None, None))
        assert result.move in board.legal_moves
        assert not result.draw_offered
        assert not result.resigned
        assert result.info["pv"][0] == result.move
        assert result.info["nodes"] == 60
        assert result.info["score"].turn == board.turn
        assert len(player.scores) == ply + 1
        board.push(result.move)
    player.quit()
    assert player.has_quit


def test_homemade_draws_resignation_and_root_moves(homemade: Any) -> None:
    lost = chess.Board("7k/8/5K2/8/8/8/8/6Q1 b - - 0 1")
    player = player_of(homemade, {"resign_score": -500}, SmartPruningFactor=0)
    result = player.search(lost, Limit(time=5), False, True, PlayResult(None, None))
    assert result.draw_offered, "a draw is welcome to who loses"
    assert result.resigned
    allowed = [chess.Move.from_uci("a2a3")]
    only = player.search(chess.Board(), clocks(5), False, False, allowed)
    assert only.move == allowed[0]
    won = chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")
    mate = player.search(won, Limit(time=5), False, True, PlayResult(None, None))
    assert mate.move.uci() == "a1a8"
    assert mate.info["score"].relative.mate() == 1
    assert not mate.draw_offered
    player.quit()


def test_a_homemade_chess960_game(homemade: Any) -> None:
    player, board = player_of(homemade), chess.Board(CHESS960, chess960=True)
    for _ in range(4):
        board.push(player.search(board, clocks(5), False, False, None).move)
    castling = chess.Board(CHESS960, chess960=True)
    castling.push_uci("c1g1")
    castling.push_uci("c8b8")
    assert player.search(castling, clocks(5), False, False, None).move in castling.legal_moves
    player.quit()


def test_a_homemade_game_at_odds(homemade: Any, caplog: pytest.LogCaptureFixture) -> None:
    board = chess.Board(ODDS_STARTS["queen d1"])
    player = player_of(homemade)
    with caplog.at_level("INFO"):
        for _ in range(2):
            board.push(player.search(board, clocks(20), False, False, None).move)
            board.push(next(iter(board.legal_moves)))
    notes = [record.message for record in caplog.records if "odds" in record.message]
    assert len(notes) == 1
    assert "queen d1" in notes[0]
    assert "ScLimit 40" in notes[0]
    player.quit()
    off = player_of(homemade, OddsMode=False)
    caplog.clear()
    off.search(chess.Board(ODDS_STARTS["queen d1"]), clocks(20), False, False, None)
    assert not caplog.records
    off.quit()


def test_the_file_has_the_names_that_lichess_bot_imports(homemade: Any) -> None:
    assert issubclass(homemade.ExampleEngine, MinimalEngine)


def test_homemade_options_are_checked(homemade: Any) -> None:
    with pytest.raises(ValueError, match="no option 'Treads'"):
        player_of(homemade, Treads=3)
