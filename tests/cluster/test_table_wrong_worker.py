"""A worker whose games are altered on purpose is found and shut out, and none of its games is kept."""

import sys
from pathlib import Path

import cluster_wrong_worker
import pytest
from cluster_tools import checks
from run_killer import Silent

from hauteur.cluster.local import LocalFleet
from hauteur.cluster.scheduler import Scheduler
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import parse_recipe


@pytest.mark.parametrize(
    ("share", "games", "most"), [(0.2, 60, 40), pytest.param(0.01, 400, 200, marks=pytest.mark.slow)]
)
def test_a_wrong_worker_is_shut_out(tmp_path: Path, share: float, games: int, most: int) -> None:
    """Three local processes, one of which counts a visit too much in each unit: its files are valid.

    share: of the units that are compared; most: units of the wrong worker until it is found.
    """
    common = checks("cluster_common")
    selfplay = {"games": games, "visits": 4, "shard_games": 1, "parallel_games": 16, "batch_size": 16}
    recipe = parse_recipe(
        common.recipe_of("tictactoe", selfplay=selfplay, gate={"by": "off"}, run={"generations": 1}), "test"
    )
    learn(recipe, folder=tmp_path / "alone", display=Silent())
    notes: list[str] = []
    command = (sys.executable, cluster_wrong_worker.__file__, str(tmp_path))
    scheduler = Scheduler(LocalFleet(3, threads=1, command=command), compare_share=share, on_note=notes.append)
    try:
        common.wait_for(lambda: len(scheduler.workers) == 3, 120, "all workers")
        learn(recipe, folder=tmp_path / "run", display=Silent(), scheduler=scheduler)
    finally:
        scheduler.close()
    altered = (tmp_path / "altered").read_text().splitlines()
    assert 1 <= len(altered) <= most
    assert len([note for note in notes if "shut out" in note]) == 1
    assert scheduler.counts.compared >= 1
    assert common.run_hashes(tmp_path / "run") == common.run_hashes(tmp_path / "alone")


def test_altered_files_are_valid(tmp_path: Path) -> None:
    """What the test above needs: only the comparison can find such a file."""
    common = checks("cluster_common")
    recipe = parse_recipe(common.recipe_of("tictactoe", run={"generations": 1}), "test")
    learn(recipe, folder=tmp_path / "run", display=Silent())
    path = sorted((tmp_path / "run" / "games").glob("*.parquet"))[0]
    changed = cluster_wrong_worker.altered(path.read_bytes())
    assert changed != path.read_bytes()
    path.write_bytes(changed)
    from hauteur.learning.shards import read_shard

    assert len(read_shard(path, "tictactoe").index) == 4


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc")
