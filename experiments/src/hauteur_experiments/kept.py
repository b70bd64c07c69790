"""What is kept of a run whose games its command plays again: settings, results, a line of each game, and check sums.

A kept run is one JSON file. It has the score, end, length and opening of every game, so that counts and intervals can
be computed again; the moves are represented by a SHA-256 for each match.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hauteur_experiments.files import read_json, write_whole

PROVENANCE = ("created", "processor", "cores", "commit")
"""What is kept of the provenance of each match; that of the run is kept whole."""

RESULTS = ("complete", "results", "work", "resources", "hauteur", "notes")
"""What is kept of a match's result.json; its settings are those of match.json with the number of games."""


Comparison = Literal["the same", "different", "missing"]


class KeptGame(NamedTuple):
    """A game without its moves."""

    number: int
    """Its number in the match, from 0."""

    first: str
    """The player that moved first: `a` or `b`."""

    score: float
    """Points of player A: 1.0, 0.5 or 0.0."""

    end: str
    """How it ended, such as `checkmate`."""

    plies: int
    """Its length, the opening included."""

    opening: int
    """Number of its opening: equal openings of a run have equal numbers."""


class KeptRun(NamedTuple):
    """A run as its file holds it."""

    experiment: dict[str, Any]
    """Settings and provenance; empty for matches that were played by `hauteur match`."""

    result: dict[str, Any]
    """Findings, figures and facts of the experiment; empty for matches that were played by `hauteur match`."""

    matches: dict[str, dict[str, Any]]
    """Settings and results of each match by its name, without its games."""

    games: dict[str, list[KeptGame]]
    """The games of each match in order, by its name."""

    sha256: dict[str, str]
    """`digest_of` the games of each match, by its name."""


def digest_of(games: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of games in order: openings, moves, results; not of times or judgements.

    games: as `games.jsonl` has them.
    """
    found = hashlib.sha256()
    for game in games:
        keys = ("index", "a", "score", "end", "plies", "fen", "opening", "moves")
        line = json.dumps([game.get(key) for key in keys])
        found.update(f"{line}\n".encode())
    return found.hexdigest()


def match_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of the matches in a folder, by their paths in it, in order; `.` is the folder itself."""
    files = sorted(folder.rglob("games.jsonl"))
    return {file.parent.relative_to(folder).as_posix(): file.parent for file in files}


def read_games(folder: Path) -> list[dict[str, Any]]:
    """Return the games of a match's folder in order; a line that was cut off is left out, of equal numbers the last."""
    games = {}
    for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines():
        if line.endswith("}"):
            game = json.loads(line)
            games[game["index"]] = game
    return [games[index] for index in sorted(games)]


def seconds_of(result: Mapping[str, Any], matches: Iterable[Mapping[str, Any]]) -> float:
    """Return what a run took: its matches and what its nets learned, or its last attempt where that is more.

    result: as in result.json; matches: each with its `work`. An attempt that finds its games played takes seconds.
    """
    played = sum((match.get("work") or {}).get("seconds", 0.0) for match in matches)
    # A net's seconds are those of its run so far, so the last net of a run has them all.
    learned: dict[tuple[object, object], float] = {}
    for row in result.get("rows", ()):
        name = row.get("arm"), row.get("seed")
        learned[name] = max(learned.get(name, 0.0), row.get("cpu_seconds", 0.0))
    return max(float(result.get("seconds_of_last_attempt") or 0.0), float(played + sum(learned.values())))


# -- writing -----------------------------------------------------------------------------------------------------------


def keep_run(folder: Path, path: Path) -> None:
    """Write what is kept of a run's folder.

    ValueError for a folder that has neither the result of an experiment nor the games of a match.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder}: there is no such folder")
    folders = match_folders(folder)
    experiment = _read_if_there(folder / "experiment.json")
    result = _read_if_there(folder / "result.json") if "." not in folders else {}
    # Commands name the program and the folder of results by the paths of the machine, which nobody else has.
    for place in (experiment.get("begun", {}), result):
        if "command" in place:
            place["command"] = [Path(word).name if Path(word).is_absolute() else word for word in place["command"]]
    if not folders and not (experiment and result):
        raise ValueError(
            f"{folder} is not the folder of an experiment or of matches: it has no experiment.json with a result.json, "
            "and no games.jsonl"
        )
    openings: dict[str, int] = {}
    matches = {name: _kept_match(where, openings) for name, where in folders.items()}
    write_whole(path, _text(experiment, result, matches))


def _text(experiment: Mapping[str, Any], result: Mapping[str, Any], matches: Mapping[str, object]) -> str:
    """The file of a kept run: JSON with a line for each match, so that versions of it can be compared."""
    lines = [f"{_compact(name)}: {_compact(match)}" for name, match in matches.items()]
    parts = [
        f'"experiment": {_compact(experiment)}',
        f'"result": {_compact(result)}',
        '"matches": {\n' + ",\n".join(lines) + "\n}",
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _kept_match(folder: Path, openings: dict[str, int]) -> dict[str, Any]:
    """The entry of a match. openings: numbers by text, which new ones are added to."""
    match = _read_if_there(folder / "match.json")
    result = _read_if_there(folder / "result.json")
    games = read_games(folder)
    entry = {"settings": result.get("settings", match.get("settings"))}
    entry |= {key: result[key] for key in RESULTS if key in result}
    for key, source in (("begun", match), ("written", result)):
        facts = source.get(key, {})
        entry[key] = {name: facts[name] for name in PROVENANCE if name in facts}
    entry["sha256"] = digest_of(games)
    entry["games"] = _columns(games, openings)
    return entry


def _columns(games: Sequence[Mapping[str, Any]], openings: dict[str, int]) -> dict[str, Any]:
    """Games as columns; ends are indices into the list of their words."""
    ends = sorted({game["end"] for game in games})
    return {
        "index": [game["index"] for game in games],
        "first": "".join("a" if game["a"] == "first" else "b" for game in games),
        "score": [_whole(game["score"]) for game in games],
        "ends": ends,
        "end": [ends.index(game["end"]) for game in games],
        "plies": [game["plies"] for game in games],
        "opening": [openings.setdefault(_opening(game), len(openings)) for game in games],
    }


def _opening(game: Mapping[str, Any]) -> str:
    return f"{game.get('fen')} {game.get('opening')}"


def _whole(score: float) -> float | int:
    """1 and 0 without a decimal point."""
    return int(score) if score == int(score) else score


def _read_if_there(path: Path) -> dict[str, Any]:
    return read_json(path) if path.exists() else {}


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


# -- reading -----------------------------------------------------------------------------------------------------------


def read_run(path: Path) -> KeptRun:
    """Read a kept run. ValueError, with the file's name, for another file."""
    stored = read_json(path)
    missing = {"experiment", "result", "matches"} - stored.keys()
    if missing:
        raise ValueError(f"{path}: not a kept run: it has no {', '.join(sorted(missing))}")
    games = {}
    digests = {}
    for name, match in stored["matches"].items():
        games[name] = _rows(match.pop("games"))
        digests[name] = match.pop("sha256")
    return KeptRun(stored["experiment"], stored["result"], stored["matches"], games, digests)


def _rows(columns: Mapping[str, Any]) -> list[KeptGame]:
    """The games of their columns."""
    ends = [columns["ends"][number] for number in columns["end"]]
    scores = [float(score) for score in columns["score"]]
    rows = zip(columns["index"], columns["first"], scores, ends, columns["plies"], columns["opening"], strict=True)
    return [KeptGame(*row) for row in rows]


def compare(path: Path, folder: Path) -> dict[str, Comparison]:
    """Return for each match of a kept run whether the games in a folder are the same, moves included."""
    folders = match_folders(folder)
    found: dict[str, Comparison] = {}
    for name, digest in read_run(path).sha256.items():
        if name not in folders:
            found[name] = "missing"
        elif digest_of(read_games(folders[name])) == digest:
            found[name] = "the same"
        else:
            found[name] = "different"
    return found
