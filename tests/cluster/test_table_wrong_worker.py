"""A worker whose games are altered on purpose is found and shut out, and none of its games is kept."""

import sys
from pathlib import Path

import pytest
from cluster_tools import checked, checks
from run_killer import Silent

from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import parse_recipe
from hauteur.learning.shards import read_shard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc")


@pytest.mark.parametrize(
    "options",
    [
        ("--units", "60", "--compare", "0.2", "--most", "40"),
        ("--units", "60", "--compare", "0.2", "--most", "40", "--what", "match"),
        pytest.param(("--seeds", "1", "2", "3"), marks=pytest.mark.slow),
        pytest.param(("--share", "0.9", "--units", "900"), marks=pytest.mark.slow),
    ],
)
def test_a_wrong_worker_is_shut_out(options: tuple[str, ...]) -> None:
    """Three local processes of a command, one of which makes games that are legal but not those of its units.

    The user of the command is warned, the right one is shut out, and the games are those of one process.
    """
    printed = checked("cluster_wrong", *options)
    assert "and all its games played again" in printed
    assert " yes    yes  local-" in printed


def test_altered_files_are_valid(tmp_path: Path) -> None:
    """What the test above needs: only the comparison can find such a file."""
    common = checks("cluster_common")
    recipe = parse_recipe(common.recipe_of("tictactoe", run={"generations": 1}), "test")
    learn(recipe, folder=tmp_path / "run", display=Silent())
    path = sorted((tmp_path / "run" / "games").glob("*.parquet"))[0]
    changed = checks("cluster_wrong_worker").altered(path.read_bytes())
    assert changed != path.read_bytes()
    path.write_bytes(changed)
    assert len(read_shard(path, "tictactoe").index) == 4
