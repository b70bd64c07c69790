"""Sharing of games between experiments: one resumes a match of another with the same settings.

Siblings are the folders beside the experiment's own, as in `runs/experiments`: `repeats` finds the games of
`contempt-wdl` there. Matches are identified by match.json, not by folder name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.matches import MatchSpec, PlayedMatch, match_of, play_matches


def play_shared(setting: ExperimentSetting, specs: Iterable[MatchSpec]) -> dict[str, PlayedMatch]:
    """As `play_matches`; a match that a sibling has begun is gone on with in the sibling's folder."""
    return {spec.name: _play(setting, spec) for spec in specs}


def _play(setting: ExperimentSetting, spec: MatchSpec) -> PlayedMatch:
    begun = find_match(setting.folder, match_of(setting, spec).stored_settings(), own=spec.name)
    if begun is None or begun == setting.folder / spec.name:
        return play_matches(setting, [spec])[spec.name]
    setting.show(f"{spec.name}: with the games of {begun}")
    there = replace(spec, name=begun.name)
    played = play_matches(replace(setting, folder=begun.parent), [there])[begun.name]
    return replace(played, spec=spec)


def find_match(folder: Path, settings: dict[str, Any], *, own: str) -> Path | None:
    """The folder of a match with these settings: `own` in the folder, else any one in the folder or its siblings."""
    if (folder / own / "match.json").exists():
        return folder / own
    wanted = json.loads(json.dumps(settings))
    matches = sorted(folder.absolute().parent.glob("*/*/match.json"))
    return next((path.parent for path in matches if _settings_of(path) == wanted), None)


def _settings_of(path: Path) -> Any:
    """Return the settings in a match.json; None for any other file."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    return stored.get("settings") if isinstance(stored, dict) else None
