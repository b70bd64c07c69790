"""Runs whose files were damaged, removed or exchanged: played again to the same nets, or refused with what to do."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from run_toys import Silent, assert_same_run, tiny

from hauteur.cli import main
from hauteur.games import registry
from hauteur.games.tutorial import MisereTicTacToe
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe, changed_recipe


class Stopped(Exception):  # noqa: N818
    """A run was stopped."""


class StopsAfterTwo(Silent):
    """Stops the run when its second generation has ended."""

    def show(self, line: str) -> None:
        super().show(line)
        if len(self.lines) == 2:
            raise Stopped


def exact(**sections: dict[str, Any]) -> Recipe:
    return tiny(run={"generations": 3, "exact": True}, gate={"by": "off"}, **sections)


def learn_half(folder: Path, **sections: dict[str, Any]) -> None:
    """The first two of three generations."""
    with pytest.raises(Stopped):
        learn(exact(**sections), folder=folder, display=StopsAfterTwo())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    learn(exact(), folder=folder, display=Silent())
    return folder


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "half"
    learn_half(folder)
    return folder


def truncated(games: Path) -> None:
    shard = games / "gen-00001-0001.parquet"
    shard.write_bytes(shard.read_bytes()[:100])


def flipped(games: Path) -> None:
    shard = games / "gen-00002-0000.parquet"
    content = bytearray(shard.read_bytes())
    content[len(content) // 3] ^= 4
    shard.write_bytes(content)


def missing(games: Path) -> None:
    for number in (0, 2):
        (games / f"gen-00002-{number:04d}.parquet").unlink()
    (games / "gen-00001-0000.parquet").unlink()


def of_another_generation(games: Path) -> None:
    shutil.copy(games / "gen-00001-0001.parquet", games / "gen-00002-0001.parquet")


def exchanged(games: Path) -> None:
    first, second, kept = (games / f"gen-00002-{name}.parquet" for name in ("0000", "0001", "kept"))
    first.rename(kept)
    second.rename(first)
    kept.rename(second)


@pytest.mark.parametrize("damage", [truncated, flipped, missing, of_another_generation, exchanged])
def test_games_of_a_finished_generation_are_played_again(
    undisturbed: Path, half: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "run"
    display = Silent()
    shutil.copytree(half, folder)
    damage(folder / "games")
    learn(exact(), folder=folder, display=display)
    assert [text for text in display.warnings if "its games are played again" in text]
    assert not [text for text in display.warnings if "learned from" in text]
    assert_same_run(folder, undisturbed)
    net = "nets/gen-00003.safetensors"
    assert (folder / net).read_bytes() == (undisturbed / net).read_bytes()
    games = [[json.loads(line)["games"] for line in (one / "metrics.jsonl").open()] for one in (folder, undisturbed)]
    assert games[0] == games[1]


def test_games_that_come_out_otherwise_stop_an_exact_run(half: Path, tmp_path: Path) -> None:
    """Here because the net that plays them is another one."""
    folder = tmp_path / "run"
    shutil.copytree(half, folder)
    missing(folder / "games")
    shutil.copy(folder / "nets/gen-00002.safetensors", folder / "nets/gen-00000.safetensors")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"run: games of generation 1 .*not those that the nets have learned from"):
            learn(exact(), folder=folder, display=Silent())


def test_games_of_other_rules_are_named_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were played again by the new rules, so that the run was lost also for the old ones."""

    class Shorter(MisereTicTacToe):
        """Without the first square."""

        def outcome(self) -> int | None:
            return 0 if self.stones[:, 1:].sum() == 8 else super().outcome()

        def legal_actions(self) -> list[int]:
            return [action for action in super().legal_actions() if action > 0]

    folder = tmp_path / "run"
    recipe = changed_recipe(exact(), ["game=misere"])
    monkeypatch.setattr(registry, "_registered", {"misere": MisereTicTacToe})
    with pytest.raises(Stopped):
        learn(recipe, folder=folder, display=StopsAfterTwo())
    before = {path: path.read_bytes() for path in (folder / "games").iterdir()}
    monkeypatch.setattr(registry, "_registered", {"misere": Shorter})
    with pytest.raises(ValueError, match=r"so misere has other rules now: with the old ones the run goes on") as error:
        learn(recipe, folder=folder, display=Silent())
    assert "action 0 is not legal" in str(error.value)
    assert {path: path.read_bytes() for path in (folder / "games").iterdir()} == before
    monkeypatch.setattr(registry, "_registered", {"misere": MisereTicTacToe})
    display = Silent()
    learn(recipe, folder=folder, display=display)
    assert not display.warnings


class WonByThree(MisereTicTacToe):
    """As on paper: three in a row win."""

    def outcome(self) -> int | None:
        found = super().outcome()
        return None if found is None else -found


class Longer(MisereTicTacToe):
    """A full board is not the end: whoever cannot move passes once."""

    max_plies = 10
    num_actions = 10
    passed = False

    def symmetries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.arange(9)[None], np.arange(10)[None]

    def legal_actions(self) -> list[int]:
        if self.outcome() is not None:
            return []
        return super().legal_actions() or [9]

    def outcome(self) -> int | None:
        found = super().outcome()
        return None if found == 0 and not self.passed else found

    def apply(self, action: int) -> None:
        if action == 9:
            self.passed = True
            self.to_move = 1 - self.to_move
        else:
            super().apply(action)

    def copy(self) -> Self:
        twin = super().copy()
        twin.passed = self.passed
        return twin


class EndsInDraws(Longer):
    """The same, but for the pass: the moves of a recorded game are all legal, and the end comes where it came."""

    def outcome(self) -> int | None:
        return MisereTicTacToe.outcome(self)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (MisereTicTacToe, WonByThree, r"its result is \d-\d, but the last position is \d-\d \(game over\)"),
        (EndsInDraws, Longer, r"was over after 9 plies, where the game goes on"),
    ],
)
def test_rules_that_allow_every_recorded_move_are_other_rules_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: type, after: type, said: str
) -> None:
    """A run went on with games of two kinds of rules."""
    folder = tmp_path / "run"
    recipe = changed_recipe(exact(), ["game=misere"])
    monkeypatch.setattr(registry, "_registered", {"misere": before})
    with pytest.raises(Stopped):
        learn(recipe, folder=folder, display=StopsAfterTwo())
    monkeypatch.setattr(registry, "_registered", {"misere": after})
    with pytest.raises(ValueError, match=said + r"; the file is as it was written, so misere has other rules now"):
        learn(recipe, folder=folder, display=Silent())


def test_a_damaged_checkpoint_says_what_to_do(half: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(half, folder)
    checkpoint = folder / "checkpoint/checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors: not a whole .*; put it back from a copy, or begin"):
        learn(exact(), folder=folder, display=Silent())


@pytest.mark.parametrize("damaged", [True, False])
def test_games_that_cannot_be_played_again_are_named(half: Path, tmp_path: Path, damaged: bool) -> None:
    folder = tmp_path / "run"
    shutil.copytree(half, folder)
    (folder / "games/gen-00002-0000.parquet").unlink()
    net = folder / "nets/gen-00001.safetensors"
    if damaged:
        net.write_bytes(b"nothing")
    else:
        net.unlink()
    with pytest.raises((ValueError, OSError), match=r"gen-00001\.safetensors") as error:
        learn(exact(), folder=folder, display=Silent())
    assert len(str(error.value).splitlines()) == 1
    assert net.exists() is damaged


def test_a_run_without_its_checkpoint_is_refused(
    half: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(half, folder)
    (folder / "checkpoint/checkpoint.safetensors").unlink()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=r"run has nets of 2 generations and no checkpoint, so it cannot go on: put"):
        learn(exact(), folder=folder, display=Silent())
    assert main.main(["train", str(folder / "config.toml"), "--run", str(folder)]) == main.EXIT_BAD_INPUT
    assert "has nets of 2 generations and no checkpoint" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    for net in (folder / "nets").glob("*"):
        net.unlink()
    with pytest.raises(ValueError, match=r"run has metrics of generations and no checkpoint"):
        learn(exact(), folder=folder, display=Silent())
