"""Words that are nearly right: the message names the one that was probably meant."""

import pytest

from hauteur.cli.main import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plya", "chess"], "there is no command 'plya' (did you mean play?)"),
        (["net", "gte"], "there is no command 'net gte' (did you mean get?)"),
        (["perft", "conect4", "2"], "no game 'conect4' (did you mean connect4?)"),
        (["analyse", "connect4", "--net", "conect4"], "there is no net 'conect4' (did you mean connect4?)"),
        (["analyse", "chess", "--net", "maia-190"], "there is no net 'maia-190' (did you mean maia-1900?)"),
        (["match", "visit=3", "random", "--game", "connect4"], "visit is not a setting (did you mean visits?)"),
        (
            ["match", "ScLimit=3", "random", "--game", "connect4"],
            "ScLimit is lc0's name of search-contempt.n-scl: write search-contempt.n-scl=...",
        ),
        (["match", "TempDecayMoves=3", "random"], "TempDecayMoves is lc0's name of temperature.decay-moves"),
        (["xyzzy"], "there is no command 'xyzzy'; there are"),
    ],
)
def test_the_word_that_was_meant_is_named(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
