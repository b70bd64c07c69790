"""Links repeat a search to the same tree, and report what differs where they do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.cli import main
from hauteur.engine.nets import NetChoice, open_nets
from hauteur.engine.playing import PlaySettings
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams
from hauteur.mcts.rules import SearchContempt
from hauteur.networks.evaluators.factory import has_cuda
from hauteur.networks.files import SafetensorsFile, safetensors_bytes
from hauteur.networks.names import data_path
from hauteur.studies.links.facts import linked, named_net, nets_by_name
from hauteur.studies.links.link import MOST_CHARACTERS, SearchLink, read_link
from hauteur.studies.links.repeat import UNEXPLAINED, LinkedSearch, differences, repeat
from hauteur.system.hardware import usable_cores

WORDS = ["connect4", "--visits", "120", "--moves", "4 4 5", "--seed", "7", "--batch-size", "8", "--threads", "1"]
RULES = ["--search.search-contempt.n-scl", "3", "--search.solver.lookahead", "1"]


@pytest.fixture(scope="module")
def link() -> str:
    """The link of a search with the net that ships, made in a process of its own."""
    command = [sys.executable, "-m", "hauteur.cli", "analyse", *WORDS, *RULES, "--json", "--link"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return str(found["link"])


def test_another_process_makes_the_same_tree(link: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "--from-link", f"http://127.0.0.1:8270{link}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["equal"], found["differences"], found["link"]) == (True, [], link)
    assert found["visits"] == 120
    assert main.main(["analyse", "--from-link", link]) == 0
    assert capsys.readouterr().out.endswith(f"equal: tree {read_link(link).digest}\n")


def test_a_changed_net_is_named(link: str, tmp_path: Path) -> None:
    """A net of the same name whose weights have changed a little."""
    net = SafetensorsFile(data_path("connect4.safetensors"))
    tensors = {name: values * np.float32(1.01) for name, values in net.tensors().items()}
    other = tmp_path / "connect4.safetensors"
    other.write_bytes(safetensors_bytes(net.architecture, tensors, game=net.game))
    found = repeat(read_link(link), {other.name: [str(other)]})
    assert found.equal is False
    assert len(found.differences) == 1
    assert found.differences[0].startswith("the net connect4.safetensors differs: sha256 ")
    assert found.verdict.startswith("another tree, ")


def test_another_net_gives_another_tree(link: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "--from-link", link, "--net", "uniform"]) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("another tree, ")
    assert "the net uniform differs" in said
    assert "the backend is none instead of " in said


def test_every_difference_is_named(link: str) -> None:
    wanted = read_link(link)
    changes = {"version": "9.9", "core": "x", "runtime": "1", "precision": "float16", "threads": 3}
    own, told = wanted.model_copy(update=changes), wanted.model_copy(update={"runtime": "0"})
    assert [line.partition(" is ")[0] for line in differences(told, own)] == [
        "hauteur",
        "the compiled core",
        "the version of the backend",
        "the precision",
        "the number of threads",
    ]
    assert differences(wanted, wanted) == []
    many = LinkedSearch(wanted.model_copy(update={"threads": 1024}), nets_by_name())
    assert many.nets.threads == 4 * usable_cores()
    same = repeat(wanted.model_copy(update={"core": "x"}), nets_by_name())
    assert same.verdict == f"equal: tree {wanted.digest}, although the compiled core is {wanted.core} instead of x"
    other = repeat(wanted.model_copy(update={"digest": "0" * 16}), nets_by_name())
    assert other.verdict.endswith(UNEXPLAINED)
    unknown = repeat(wanted.model_copy(update={"digest": ""}), nets_by_name())
    assert (unknown.equal, unknown.own.digest) == (None, wanted.digest)


def test_a_backend_or_precision_that_is_not_here_is_named(link: str) -> None:
    """onnxruntime has no bfloat16, and torch computes nets on GPUs alone unless it is asked for."""
    found = repeat(
        read_link(link).model_copy(update={"precision": "bfloat16", "backend": "onnxruntime"}), nets_by_name()
    )
    assert "the precision is float32 instead of bfloat16" in found.differences
    if not has_cuda():
        found = repeat(read_link(link).model_copy(update={"precision": "float16", "backend": "torch"}), nets_by_name())
        assert any(line.startswith("the backend is ") for line in found.differences)


def test_of_nets_with_one_name_the_one_with_the_hash_is_taken(link: str, tmp_path: Path) -> None:
    other = tmp_path / "connect4.safetensors"
    other.write_bytes(b"another file")
    wanted = read_link(link)
    files = nets_by_name([other])
    assert named_net(wanted.net, wanted.sha256, files) == str(data_path("connect4.safetensors"))
    assert named_net(wanted.net, "", files) == str(other)


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1, max_size=12
)
links = st.builds(
    SearchLink,
    game=texts,
    fen=texts,
    moves=st.lists(texts, max_size=4).map(tuple),
    net=texts,
    sha256=st.sampled_from(["", "0a" * 32]),
    search=st.sampled_from(
        [
            SearchParams(),
            SearchParams(search_contempt=SearchContempt(n_scl=-4, ratio_schedule="9:0.5 10:1"), graph=True),
        ]
    ),
    seed=st.integers(0, 2**63 - 1),
    visits=st.integers(1, 2**32 - 1),
    precision=st.sampled_from([None, "bfloat16"]),
    digest=st.sampled_from(["", "0123456789abcdef"]),
)


@given(links)
def test_links_are_read_as_they_were_written(link: SearchLink) -> None:
    assert read_link(link.address) == link
    assert read_link(f"https://host:1{link.address}#x") == link


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "'hello' is no link"),
        ("/analyse", "'/analyse' is no link"),
        ("/analyse?game=chess&color=red", "color is not a setting (did you mean core?); allowed: game, fen"),
        ("/analyse?game=chess&game=go", "game is given twice"),
        ("/analyse?visits=0", "visits: Input should be greater than or equal to 1"),
        ("/analyse?search.cpuct.init=x", "cpuct.init: Input should be a valid number"),
        ("/analyse?search.magic=1", "magic is not a setting"),
        ("/analyse?search=1", "search is not a setting"),
        ("/analyse?digest=12", "digest: String should match pattern"),
        ("/analyse?game=" + "x" * MOST_CHARACTERS, "a link has at most 60,000 characters"),
        ("/analyse?game=nothing", "no game 'nothing'"),
        ("/analyse?game=connect4&net=mine.safetensors", "the net mine.safetensors is not here"),
        ("/analyse?game=connect4&moves=9&net=uniform", "link: move 1: "),
        ("/analyse?game=connect4&net=uniform&moves=1+2+1+2+1+2+1", "the game is over (four in a row)"),
        ("/analyse?game=connect4&net=../connect4.safetensors", "is not here"),
    ],
)
def test_what_is_no_link_is_refused(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "--from-link", text]) == main.EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", [["--time", "1"], ["--time", "1", "--visits", "5"]])
def test_a_search_by_the_clock_has_no_link(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "connect4", "--link", *words]) == main.EXIT_BAD_INPUT
    assert "--link needs a search that visits alone end" in capsys.readouterr().err


def test_moves_with_spaces_have_no_link() -> None:
    game = load_game("connect4")
    with open_nets(game, choice := NetChoice("uniform")).small as small:
        opened = open_nets(game, choice, lambda *_: small)
        with pytest.raises(ValueError, match="without spaces"):
            linked(SearchLink(moves=("a b",)), choice, opened, PlaySettings())
