"""The games of a learning run as a table: one row a game, read with pandas, or with pyarrow where pandas is missing."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

import hauteur as ht

COLUMNS = ["generation", "outcome", "actions", "root_q"]  # docs/reference/networks.md and the schema have all others


def some_run(folder: Path):
    """Learn tic-tac-toe for two short generations, to have games to read."""
    recipe = ht.Recipe(
        game="tictactoe",
        network=ht.ResNet(filters=8, blocks=1),
        selfplay={"games": 40, "visits": 16},
        train={"batch_size": 64, "warmup_steps": 5, "learning_rate": 5e-3},
        gate={"games": 10},
        run={"generations": 2},
    )
    return ht.learn(recipe, out=folder, on_generation=print)


def with_pandas(table) -> None:
    """Group the games by generation."""
    games = table.to_pandas()
    games["plies"] = games["actions"].map(len)
    games["first_q"] = games["root_q"].map(lambda values: float(values[0]))  # Q of the first position, -1 to 1
    print(games.groupby("generation").agg({"outcome": "mean", "plies": "mean", "first_q": "mean"}).round(3))


def with_pyarrow(table) -> None:
    """The same means without pandas."""
    import pyarrow.compute as pc

    table = table.append_column("plies", pc.list_value_length(table["actions"]))
    table = table.append_column("first_q", pc.list_element(table["root_q"], 0))
    means = table.group_by("generation").aggregate([("outcome", "mean"), ("plies", "mean"), ("first_q", "mean")])
    for row in means.sort_by("generation").to_pylist():
        print({name: round(value, 3) for name, value in row.items()})


def main() -> None:
    """Learn a little, then read."""
    with TemporaryDirectory() as folder:
        run = some_run(Path(folder) / "run")
        table = pq.read_table(sorted((run.folder / "games").glob("*.parquet")), columns=COLUMNS)
    try:
        import pandas  # noqa: F401
    except ImportError:
        with_pyarrow(table)
    else:
        with_pandas(table)


if __name__ == "__main__":
    main()
