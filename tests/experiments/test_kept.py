"""Kept runs: every line of a game but its moves, a check sum of these, comparison with games that are played again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hauteur_experiments.command import compare, keep
from hauteur_experiments.kept import KeptGame, digest_of, keep_run, match_folders, read_games, read_run

START = "8/8/8/8/8/8/8/K1k5 w - - 0 1"


def game(index: int, score: float, **changes: Any) -> dict[str, Any]:
    """A line of games.jsonl."""
    line = {
        "index": index,
        "a": ("first", "second")[index % 2],
        "score": score,
        "end": "checkmate" if score != 0.5 else "stalemate",
        "plies": 10 + index,
        "opening": f"e2e4 {index // 2}",
        "moves": "a b c",
        "milliseconds": [1, 2, 3],
    }
    return {**line, **changes}


def run_folder(folder: Path) -> Path:
    """A run with one match of four games; the file has them out of order, one twice, and a line that was cut off."""
    match = folder / "plain"
    match.mkdir(parents=True)
    (folder / "experiment.json").write_text(json.dumps({"settings": {"experiment": "cpuct"}}))
    (folder / "result.json").write_text(json.dumps({"rows": [{"elo": 3.0}]}))
    (match / "match.json").write_text(
        json.dumps({"settings": {"game": "chess"}, "begun": {"commit": "abc", "host": "x"}})
    )
    result = {"settings": {"game": "chess", "games": 4}, "results": {"wins": 2}, "names": ["a", "b"]}
    (match / "result.json").write_text(json.dumps(result))
    games = [game(2, 0.5, fen=START), game(0, 1.0), game(1, 0.0), game(1, 0.5), game(3, 1.0)]
    lines = [json.dumps(one) for one in games]
    (match / "games.jsonl").write_text("\n".join([*lines, '{"index": 4, "sc']))
    return folder


def test_a_kept_run_has_all_but_the_moves(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run")
    file = tmp_path / "run.json"
    keep_run(folder, file)
    kept = read_run(file)
    assert kept.experiment == {"settings": {"experiment": "cpuct"}}
    assert kept.result == {"rows": [{"elo": 3.0}]}
    match = kept.matches["plain"]
    assert (match["settings"], match["results"]) == ({"game": "chess", "games": 4}, {"wins": 2})
    assert (match["begun"], "names" in match) == ({"commit": "abc"}, False)
    assert kept.games["plain"] == [
        KeptGame(0, "a", 1.0, "checkmate", 10, 0),
        KeptGame(1, "b", 0.5, "stalemate", 11, 0),
        KeptGame(2, "a", 0.5, "stalemate", 12, 1),
        KeptGame(3, "b", 1.0, "checkmate", 13, 2),
    ]
    assert "a b c" not in file.read_text()


def test_commands_are_kept_without_the_paths_of_the_machine(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run")
    file = tmp_path / "run.json"
    words = [str(tmp_path / "venv/bin/hauteur"), "experiment", "--net", "nets/a.safetensors", "--out", str(folder)]
    (folder / "experiment.json").write_text(json.dumps({"settings": {}, "begun": {"command": words}}))
    (folder / "result.json").write_text(json.dumps({"rows": [], "command": words}))
    keep_run(folder, file)
    portable = ["hauteur", "experiment", "--net", "nets/a.safetensors", "--out", "run"]
    assert read_run(file).experiment["begun"]["command"] == portable
    assert read_run(file).result["command"] == portable


def test_the_check_sum_is_of_moves_and_results_and_not_of_times() -> None:
    one = digest_of([game(0, 1.0)])
    assert digest_of([game(0, 1.0, milliseconds=[9, 9, 9], centipawns=[5])]) == one
    changes: list[dict[str, Any]] = [{"moves": "a b d"}, {"opening": ""}, {"fen": START}, {"plies": 9}]
    digests = {digest_of([game(0, 1.0, **change)]) for change in changes}
    digests.add(digest_of([game(0, 0.0)]))
    assert len(digests | {one}) == len(changes) + 2


def test_games_that_were_played_again_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_folder(tmp_path / "run")
    file = tmp_path / "kept.json"
    keep(folder, out=file)
    again = tmp_path / "again"
    shutil.copytree(folder, again)
    assert compare(file, again) == 0
    lines = [json.dumps(one) for one in read_games(again / "plain")]
    (again / "plain" / "games.jsonl").write_text("\n".join(lines).replace("a b c", "a b d"))
    assert compare(file, again) == 1
    assert compare(file, tmp_path / "nowhere") == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown == [f"written: {file}", "the same   plain", "different  plain", "missing    plain"]


def test_folders_and_files_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is not the folder of an experiment or of matches: "):
        keep_run(tmp_path, tmp_path / "kept.json")
    with pytest.raises(ValueError, match="nowhere: there is no such folder"):
        keep_run(tmp_path / "nowhere", tmp_path / "kept.json")
    for name in ("review.json", "result.json"):
        (tmp_path / name).write_text('{"settings": {"net": "chess"}}')
    with pytest.raises(ValueError, match=r"it has no experiment.json with a result.json, and no games.jsonl$"):
        keep_run(tmp_path, tmp_path / "kept.json")
    assert not (tmp_path / "kept.json").exists()
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"other.json: not a kept run: it has no experiment, matches, result"):
        read_run(tmp_path / "other.json")


def test_one_match_is_a_run_too(tmp_path: Path) -> None:
    match = run_folder(tmp_path / "run") / "plain"
    assert list(match_folders(match)) == ["."]
    keep_run(match, tmp_path / "match.json")
    kept = read_run(tmp_path / "match.json")
    assert (kept.result, kept.matches["."]["results"]) == ({}, {"wins": 2})


def test_results_of_every_kept_run_follow_from_its_games(root: Path) -> None:
    files = sorted((root / "docs/experiments/results").glob("*.json"))
    assert files
    for file in files:
        kept = read_run(file)
        for name, match in kept.matches.items():
            games = kept.games[name]
            if match.get("results", {}).get("games") == len(games):
                scores = [one.score for one in games]
                counted = [scores.count(points) for points in (1.0, 0.5, 0.0)]
                assert counted == [match["results"][key] for key in ("wins", "draws", "losses")], (file.name, name)
