"""Lines of engines, and the words that name them: read whatever they hold, and written back the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.mcts.scores import mate_score
from hauteur.players.engines.gtp import parse_response
from hauteur.players.engines.process import EngineClock
from hauteur.players.engines.uci import EngineReport, parse_bestmove, parse_info, parse_option
from hauteur.players.engines.watchdog import left_over
from hauteur.players.move_player import EngineFailure
from hauteur.players.settings import parse_player, player_text

pytestmark = pytest.mark.quick

WORDS = [
    *("info", "depth", "score", "cp", "mate", "multipv", "pv", "string", "lowerbound", "option", "name"),
    *("type", "spin", "min", "max", "var", "default", "combo", "bestmove", "e2e4", "=", "?", "=1", "-"),
    *("1", "-99999999999", "٣", ""),
]
LINES = st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join))


@given(LINES)
def test_no_line_is_too_strange(line: str) -> None:
    found = parse_info(line)
    assert found is None or (0 <= found.depth <= 65_535 and isinstance(found.score, float))
    assert (option := parse_option(line)) is None or option.name
    assert parse_bestmove(line) is None or line.split()[0] == "bestmove"
    assert parse_response([line]) is None or line[:1] in ("=", "?")
    assert parse_response([]) is None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("info depth 12 seldepth 20 multipv 1 score cp 25 nodes 9 pv e2e4", EngineReport(0.25, 12)),
        ("info score cp -5 depth 3", EngineReport(-0.05, 3)),
        ("info depth 5 score mate 3", EngineReport(mate_score(3), 5)),
        ("info depth 5 score mate -2 pv a", EngineReport(mate_score(-2), 5)),
        ("info depth 0 score mate 0", EngineReport(mate_score(0), 0)),
        ("info depth 5 score cp 20 wdl 500 400 100", EngineReport(0.2, 5)),
        ("info depth 5 multipv 2 score cp 20", None),
        ("info depth 5 score cp 20 lowerbound", None),
        ("info depth 5 score cp 20 upperbound nodes 4", None),
        ("info string score cp 20", None),
        ("info depth 5 currmove e2e4", None),
        ("info depth -7 score cp 10", EngineReport(0.1, 0)),
        ("info depth 99999999999 score cp 10", EngineReport(0.1, 0)),
        ("info depth 5 score cp", None),
        ("information depth 5 score cp 3", None),
    ],
)
def test_what_was_found(line: str, found: EngineReport | None) -> None:
    assert parse_info(line) == found


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("uci:stockfish nodes=1000 UCI_Elo=1600 name=SF", None),
        ("uci:stockfish nodes=100 random_moves=0.25", None),
        ("gtp:gnugo --mode gtp random-moves=0.5", "gtp:gnugo 'args=--mode gtp' random_moves=0.5"),
        ("name=SF nodes=1000 uci:stockfish UCI_Elo=1600", "uci:stockfish nodes=1000 UCI_Elo=1600 name=SF"),
        ('gtp:"gnugo --mode gtp"', "'gtp:gnugo --mode gtp'"),
        ("uci:x start-timeout=5 nodes=3", "uci:x nodes=3 start_timeout=5"),
        ("uci:x options.nodes=5 nodes=3", "uci:x nodes=3 options.nodes=5"),
        ("uci:x tc=10+0.1 'Move Overhead=100'", None),
        ("gtp:gnugo --mode gtp --level 3 movetime=2000", "gtp:gnugo 'args=--mode gtp --level 3' movetime=2000"),
        ("uci:lc0 --backend=onednn nodes=5 -v Hash=1", "uci:lc0 'args=--backend=onednn -v' nodes=5 Hash=1"),
        ("nodes=5 uci:python engine.py 2", "uci:python 'args=engine.py 2' nodes=5"),
        ("uci:x nodes=1 options.--x=5", None),
    ],
)
def test_text_of_an_engine(text: str, written: str | None) -> None:
    assert player_text(parse_player(text)) == (written or text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uci:", "'uci:' names no program; write uci:PROGRAM"),
        ("uci:x", "engine: say how long the engine thinks: nodes=, depth=, movetime= .milliseconds. or tc=$"),
        ("uci:x nodes=0", "engine.nodes must be a whole number from 1 to .* or none, got '0'"),
        ("uci:x nodes=many", "engine.nodes must be a whole number from 1 to .* or none, got 'many'"),
        (
            "uci:x tc=fast",
            r"engine.tc: tc is SECONDS\+INCREMENT, such as 10\+0.1, or MINUTES:SECONDS\+INCREMENT, got 'fast'",
        ),
        ("uci:x tc=0", "engine.tc: tc is SECONDS"),
        ("uci:x tc=5 movetime=3", "engine: tc and movetime exclude each other"),
        ('uci:"a \'b" nodes=1', "engine.command: no closing quotation"),
        ("uci:x nodes=1 uci:y", "engine.protocol is given twice"),
        ("uci:x -a nodes=1 args=-b", "engine.args is given twice"),
        ("uci:x nodes=1 random", "random is a player without a network: engine does not apply"),
        ("uci:x nodes=1 =5", "'=5' is neither key=value nor a .toml file"),
        ("uci:x nodes=1 options.=5", "engine.options: an option is NAME=VALUE in printable characters, got ''"),
        ("'uci:x' nodes=1 'A=b\nquit'", "an option is NAME=VALUE in printable characters"),
        ("gtp:x nodes=5", "GTP has no nodes: give it to the program as an argument; allowed: args, movetime, tc"),
        ("gtp:x Strength=5", "GTP has no Strength"),
        ("uci:x nodes=1 random-moves=1.5", "engine.random_moves must be a number from 0 to 1, got '1.5'"),
        ("gtp:x tc=5+1", r"GTP has no time for every move beside the clock: tc=5\+1 does not fit"),
        ("gtp:x movetime=1500", "GTP knows whole seconds: movetime=1500 milliseconds does not fit"),
    ],
)
def test_what_is_wrong_with_an_engine(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        parse_player(text, "player A")
    assert str(error.value).startswith("player A: ")


@given(st.lists(st.floats(0, 20), max_size=20))
def test_a_clock(times: list[float]) -> None:
    clock = EngineClock(60.0, 1.0, 0.5)
    left = 60.0
    for seconds in times:
        if seconds > left + 0.5:
            with pytest.raises(EngineFailure, match="loss on time"):
                clock.spend(seconds)
            return
        clock.spend(seconds)
        left = max(left - seconds, 0) + 1
        assert clock.left == pytest.approx(left)


@given(st.lists(st.integers(2, 40).flatmap(lambda number: st.sampled_from([f"+{number}\n", f"-{number}\n"]))))
def test_what_the_keeper_kills(lines: list[str]) -> None:
    last = {line[1:-1]: line[0] for line in lines}
    noise = ["+1\n", "+0\n", "+-1\n", "+\n", "\n", "kill 3\n", "+x\n"]
    assert left_over(line.encode() for line in noise + lines) == {int(n) for n, sign in last.items() if sign == "+"}
