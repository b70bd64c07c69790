"""progress.json: what a running process says of its step, when it is written, and that it is gone at the end."""

import json
from pathlib import Path

import pytest
from run_toys import Silent, tiny

from hauteur.learning.display import RunProgress, progress_of_step, read_progress
from hauteur.learning.loop import learn
from hauteur.learning.run_folder import RunFolder

pytestmark = pytest.mark.quick


def test_written_at_most_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    shown = list[int]()
    path = tmp_path / "progress.json"
    monkeypatch.setattr("hauteur.system.host.time.time", lambda: clock[0])
    written = list[int]()
    begun = RunProgress(generation=3, generations=10, step="self-play", total=50, begun=1000.0, written=1000.0)
    with progress_of_step(path, begun, shown.append) as count:
        for done in range(5, 46):
            count(done)
            written.append(json.loads(path.read_text())["done"])
            clock[0] += 0.25
    assert shown == list(range(5, 46))
    assert list(dict.fromkeys(written)) == [0, *range(9, 46, 4)]
    found = read_progress(path)
    assert str(found) == "generation 3 of 10: self-play, 45 of 50"
    assert found is not None
    assert found.first == 5
    assert found.seconds_left(found.written) == pytest.approx(5 * 0.25)
    assert found.seconds_left(found.written + 100) == 0


def test_read_progress(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    assert read_progress(path) is None
    path.write_text('{"generation": -1}')
    with pytest.raises(ValueError, match=r"progress\.json: .*generation"):
        read_progress(path)


def test_removed_however_the_work_ends(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    path = folder.progress

    def work() -> None:
        with folder.learning():
            path.write_text("{}")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not path.exists()


class Watching(Silent):
    """Reads the file between the steps."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.seen = list[str]()

    def finished(self, line: object, generations: int) -> None:
        self.seen.append(str(read_progress(self.path)))


def test_a_run_tells_its_steps_and_clears_up(tmp_path: Path) -> None:
    path = tmp_path / "run" / "progress.json"
    display = Watching(path)
    learn(tiny(), folder=tmp_path / "run", display=display)
    assert [text.partition(",")[0] for text in display.seen] == [
        "generation 1 of 2: gate",
        "generation 2 of 2: gate",
    ]
    assert not path.exists()
