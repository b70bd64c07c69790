"""Games that several experiments use are played once: one goes on with the match of another that has its settings.

Siblings are the folders beside the experiment's own, as `runs/experiments` has them: `repeats` finds the games of
`contempt-wdl` there. What counts is what match.json says, not the name of a folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hauteur.studies.papers.experiment import ExperimentSetting
from hauteur.studies.papers.matches import MatchSpec, PlayedMatch, contest_match, play_contests


def play_shared(setting: ExperimentSetting, contests: Iterable[MatchSpec]) -> dict[str, PlayedMatch]:
    """As `play_contests`; a contest that a sibling has begun is gone on with in the sibling's folder."""
    return {contest.name: _play(setting, contest) for contest in contests}


def _play(setting: ExperimentSetting, contest: MatchSpec) -> PlayedMatch:
    begun = find_match(setting.folder, contest_match(setting, contest).stored_settings(), own=contest.name)
    if begun is None or begun == setting.folder / contest.name:
        return play_contests(setting, [contest])[contest.name]
    setting.show(f"{contest.name}: with the games of {begun}")
    there = replace(contest, name=begun.name)
    played = play_contests(replace(setting, folder=begun.parent), [there])[begun.name]
    return replace(played, contest=contest)


def find_match(folder: Path, settings: dict[str, Any], *, own: str) -> Path | None:
    """The folder of a match with these settings: `own` in the folder, else any one in the folder or its siblings."""
    if (folder / own / "match.json").exists():
        return folder / own
    wanted = json.loads(json.dumps(settings))
    matches = sorted(folder.absolute().parent.glob("*/*/match.json"))
    return next((path.parent for path in matches if _settings_of(path) == wanted), None)


def _settings_of(path: Path) -> Any:
    """What a match.json says of the match; None for a file that is none of a match."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    return stored.get("settings") if isinstance(stored, dict) else None
