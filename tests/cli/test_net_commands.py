"""hauteur net info, convert, check and bench evaluator, as a user calls them."""

import json
from pathlib import Path

import pytest
from lc0_toys import random_net

from hauteur import networks
from hauteur.cli import main
from hauteur.cli.commands.bench import announced
from hauteur.mcts.net_search import play_search_text
from hauteur.networks.names import data_path, resolve_net

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small chess net."""
    return random_net(tmp_path_factory.mktemp("nets") / "small.pb.gz", seed=1)


def test_info_as_json(net: Path, capsys: Capture) -> None:
    assert main.main(["net", "info", str(net), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["format"], said["game"], said["encodings"]) == ("lc0", "chess", ["LINEAR16"])
    assert said["architecture"]["filters"] == 8
    assert said["parameters"] == sum(values.size for values in networks.load(net).tensors.values())
    assert said["sha256"] == networks.describe(net).sha256


def test_info_as_table(net: Path, capsys: Capture) -> None:
    assert main.main(["net", "info", str(net)]) == 0
    said = capsys.readouterr().out
    for text in ("lc0 8x1 se relu, convolution policy, wdl value", "112 x 8 x 8", "1858 actions", "LINEAR16"):
        assert text in said
    assert networks.describe(net).sha256 in said


def test_nets_are_converted(net: Path, tmp_path: Path, capsys: Capture) -> None:
    for name in ("a.safetensors", "c.pb.gz"):
        target = tmp_path / name
        assert main.main(["net", "convert", str(net), str(target)]) == 0
        assert target.name in capsys.readouterr().out
        assert main.main(["net", "info", str(target), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["parameters"] == networks.describe(net).parameters
    again = networks.load(tmp_path / "c.pb.gz").tensors
    assert all((again[path] == values).all() for path, values in networks.load(net).tensors.items())


def test_a_converted_net_is_played_with_the_same_search_or_a_note_says_that_it_is_not(
    tmp_path: Path, capsys: Capture
) -> None:
    half = tmp_path / "half.safetensors"
    for shipped in ("gomoku9", str(data_path("gomoku9.safetensors"))):
        assert main.main(["net", "convert", shipped, str(half), "--encoding", "float16", "--force"]) == 0
        assert capsys.readouterr().err == ""
        assert play_search_text(resolve_net(half)) == play_search_text(resolve_net("gomoku9")) != ""
    onnx = tmp_path / "half.onnx"
    assert main.main(["net", "convert", str(half), str(onnx)]) == 0
    said = capsys.readouterr().err
    assert said == (
        f"hauteur: note: {onnx} has no place for the search that {half} is played with; give it to players: "
        f"{play_search_text(resolve_net('gomoku9'))}\n"
    )


def test_convert_overwrites_only_when_told(net: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "there.safetensors"
    target.write_bytes(b"precious")
    assert main.main(["net", "convert", str(net), str(target)]) == main.EXIT_BAD_INPUT
    assert "--force overwrites it" in capsys.readouterr().err
    assert target.read_bytes() == b"precious"
    assert main.main(["net", "convert", str(net), str(target), "--force"]) == 0
    assert networks.describe(target).architecture == networks.describe(net).architecture


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["info", "{folder}/none.pb.gz"], "No such file"),
        (["info", "{folder}/net.txt"], "No such file"),
        (["convert", "{net}", "{folder}/net.txt"], "not a known network file"),
        (["convert", "{net}", "{folder}/none/net.onnx"], "is not there"),
        (["convert", "{net}", "{folder}/none/net.safetensors"], "is not there"),
    ],
)
def test_bad_input_is_one_line(words: list[str], complaint: str, net: Path, tmp_path: Path, capsys: Capture) -> None:
    filled = [word.format(net=net, folder=tmp_path) for word in words]
    assert main.main(["net", *filled]) == main.EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_rounds_are_announced_in_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(announced(3)) == [0, 1, 2]
    said = capsys.readouterr().err
    assert "round 1 of 3" in said
    assert "round 3 of 3, 0:00 left" in said
