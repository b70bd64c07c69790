"""Lines of units.jsonl."""

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.records import MOST_TEXT, UnitEntry


def test_long_texts_of_a_worker_are_cut() -> None:
    facts = WorkerFacts("h" * 900, "d" * 900, "0.1.0", 1, 1)
    entry = UnitEntry.of_unit("w" * 900, facts, 1.23456, kind="match", session=0.0)
    assert {len(entry.worker), len(entry.host), len(entry.device_class)} == {MOST_TEXT}
    assert entry.seconds == 1.235
