"""What a rating on the ladder says: text, JSON, and the games as PGN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hauteur import __version__
from hauteur.matches.rungs.climb import Climb, RungGame
from hauteur.matches.rungs.plain_pgn import plain_pgn, sha256_of_text
from hauteur.matches.rungs.table import openings_path
from hauteur.system.files import sha256_of, write_bytes
from hauteur.system.formatting import finite

SCALE = "{anchor} is {elo:.0f} on this scale, which is hauteur's own: not FIDE, not lichess"
"""What the numbers are."""


def games_pgn(climb: Climb) -> str:
    """Return the games that count as PGN without times, in the order of their numbers."""
    played = [(game, (climb.name, game.rung)) for game in climb.counted()]
    return plain_pgn(climb.game, played, "hauteur ladder")


def ladder_result(climb: Climb) -> dict[str, Any]:
    """Return the rating as JSON has it; None for an interval without end."""
    found = climb.estimate()
    records = climb.records()
    low, high = found.interval
    return {
        "name": climb.name,
        **climb.facts,
        "elo": finite(found.elo),
        "elo_interval_95": [finite(low), finite(high)],
        "error_of_games_95": finite(found.error_of_games),
        "error_of_rungs_95": finite(found.error_of_rungs),
        "scale": scale_of(climb),
        "notes": notes_of(climb),
        "games": len(climb.counted()),
        "rungs": [
            {
                "name": rung.name,
                "player": rung.player,
                "elo": rung.elo,
                "wins": records[rung.name].wins,
                "draws": records[rung.name].draws,
                "losses": records[rung.name].losses,
            }
            for rung in climb.table.rung
            if rung.name in records
        ],
        "ends": dict(climb.ends),
        "sha256": sha256_of_text(games_pgn(climb)),
        "seed": climb.settings.seed,
        "stockfish": climb.version,
        "openings_sha256": sha256_of(openings_path(climb.table.game)),
        "cpu_seconds": round(climb.cpu_seconds, 1),
        "hauteur": __version__,
    }


def scale_of(climb: Climb) -> str:
    """Return in a line what the scale is and is not."""
    return SCALE.format(anchor=climb.table.anchor, elo=climb.table.anchor_elo)


def notes_of(climb: Climb) -> list[str]:
    """Return what a reader must know of this rating, a line each."""
    notes = []
    if climb.version != climb.table.stockfish:
        notes.append(f"the rungs were measured with {climb.table.stockfish}, here they are {climb.version}")
    rungs = climb.table.rung
    elo = climb.estimate().elo
    if elo > rungs[-1].rating:
        notes.append(f"stronger than the highest rung, {rungs[-1].name} at {rungs[-1].rating:.0f}: less certain")
    if elo < rungs[0].rating:
        notes.append(f"weaker than the lowest rung, {rungs[0].name} at {rungs[0].rating:.0f}: less certain")
    if not climb.over:
        notes.append(f"interrupted: the error is not within {climb.settings.within:g} Elo yet")
    elif climb.estimate().error > climb.settings.within:
        notes.append(_why_not_within(climb))
    games = len(climb.counted())
    if own := climb.failures():
        notes.append(f"{_failed(own, games)} by the player, {_reasons(own)}")
    if others := climb.failures(score=1.0):
        notes.append(f"{_failed(others, games)} by a rung, {_reasons(others)}")
    engine = climb.settings.player.engine
    if engine is not None and (engine.movetime or engine.tc):
        notes.append("the player is limited by time: its games depend on the machine and its load")
    return notes


def _why_not_within(climb: Climb) -> str:
    """Return why a rating that is over has a wider interval than was asked for."""
    within = climb.settings.within
    of_rungs = climb.estimate().error_of_rungs
    if of_rungs >= within:
        return f"the rungs there are known within ±{of_rungs:.0f} Elo, so no number of games brings ±{within:g}"
    return f"--max-games reached before the error was within {within:g} Elo"


def _failed(failed: Sequence[RungGame], games: int) -> str:
    verb = "was" if len(failed) == 1 else "were"
    return f"{len(failed)} of {games:,} games {verb} lost off the board"


def _reasons(failed: Sequence[RungGame]) -> str:
    """Return the reasons of the ends with their numbers, and the last note of a game."""
    counts = Counter(game.end for game in failed)
    reasons = ", ".join(f"{end} {count}" for end, count in counts.most_common())
    notes = [note for game in failed for note in list(game.notes.values())[-1:]]
    return f"{reasons} ({notes[-1]})" if notes else reasons


def ladder_text(climb: Climb) -> str:
    """Return the rating as text: results by rung, Elo with interval, what it was made with."""
    found = climb.estimate()
    records = climb.records()
    engine = climb.facts.get("player_engine")
    lines = [
        f"{climb.name} ({engine})" if engine else climb.name,
        "",
        "   Elo    won  drawn   lost   score  rung",
    ]
    for rung in reversed(climb.table.rung):
        if rung.name in records:
            one = records[rung.name]
            counts = f"{one.wins:6} {one.draws:6} {one.losses:6}  {one.score:6.1%}"
            lines.append(f"{rung.rating:6.0f} {counts}  {rung.name}")
    low, high = found.interval
    errors = f"95 %; games ±{found.error_of_games:.0f}, rungs ±{found.error_of_rungs:.0f}"
    games = len(climb.counted())
    lines.append("")
    lines.append(f"Elo {found.elo:.0f} [{low:.0f}, {high:.0f}] ({errors}), {games:,} games")
    lines.append(scale_of(climb))
    lines += notes_of(climb)
    ends = ", ".join(f"{end} {count}" for end, count in climb.ends.most_common())
    lines.append(f"ends: {ends or 'none'}")
    made = []
    if climb.cpu_seconds:
        made.append(f"{climb.cpu_seconds / 60:.1f} CPU minutes")
    if climb.version:
        made.append(climb.version)
    made.append(f"seed {climb.settings.seed}")
    made.append(f"sha256 of the games {sha256_of_text(games_pgn(climb))}")
    lines.append("; ".join(made))
    return "\n".join(lines)


def keep_result(climb: Climb) -> None:
    """Write result.json and games.pgn into the folder, if there is one."""
    if climb.folder is not None and climb.folder.settings_file.exists():
        write_bytes(climb.folder.pgn_file, games_pgn(climb).encode())
        climb.folder.write_result(ladder_result(climb) | {"complete": climb.over})
