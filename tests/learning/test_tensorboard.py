"""TensorBoard events: every number once, at its generation, also after runs that were cut off."""

from pathlib import Path
from typing import Any

import pytest
from report_toys import folder_with, line

from hauteur.learning.report import tensorboard
from hauteur.learning.report.tensorboard import scalars, write_events
from hauteur.learning.run_folder import RunFolder

pytest.importorskip("tensorboard")


def read(folder: RunFolder) -> dict[str, list[tuple[int, float]]]:
    """Steps and values of every tag, as TensorBoard itself reads them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(folder.tensorboard))
    accumulator.Reload()
    tags = accumulator.Tags()["scalars"]
    return {tag: [(event.step, event.value) for event in accumulator.Scalars(tag)] for tag in tags}


def written(folder: RunFolder, history: list[dict[str, Any]]) -> bytes:
    """The file for this history."""
    folder.write_metrics(history)
    path = write_events(folder)
    assert path is not None
    return path.read_bytes()


def test_every_number_of_every_generation(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "run", [])
    written(folder, [line(1), line(2), line(3, train_large=None)])
    values = read(folder)
    assert values["train/policy_loss"] == [(1, 2.0), (2, 1.0), (3, pytest.approx(2 / 3))]
    assert values["train_large/value_loss"] == [(1, 0.875), (2, 0.875)]
    assert values["gate/promoted"] == [(i, 1.0) for i in (1, 2, 3)]
    assert values["elo"] == [(1, 70.0), (2, 140.0), (3, 210.0)]
    assert values.keys() == {tag for tag, _ in scalars(line(1))}


def test_a_longer_history_appends(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "run", [])
    first = written(folder, [line(1), line(2)])
    inode = (folder.tensorboard / tensorboard.FILE).stat().st_ino
    second = written(folder, [line(1), line(2), line(3)])
    assert second.startswith(first)
    assert len(second) > len(first)
    assert written(folder, [line(1), line(2), line(3)]) == second
    assert (folder.tensorboard / tensorboard.FILE).stat().st_ino == inode


@pytest.mark.parametrize("damage", [lambda data: data[:-7], lambda data: data[:5] + b"x" + data[6:], lambda data: b""])
def test_a_damaged_file_is_made_whole(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    folder = folder_with(tmp_path / "run", [])
    whole = written(folder, [line(1), line(2)])
    path = folder.tensorboard / tensorboard.FILE
    path.write_bytes(damage(whole))
    assert written(folder, [line(1), line(2)]) == whole
    assert [step for step, _ in read(folder)["elo"]] == [1, 2]


def test_without_tensorboard_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    folder = folder_with(tmp_path / "run", [line(1)])
    assert write_events(folder) is None
    assert not folder.tensorboard.exists()
