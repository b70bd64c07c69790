"""The views of a run's nets on a few fixed positions, generation by generation: chances and first moves.

A net is asked once; its answers are kept in views.json in the folder of the run, by which the pages of later
generations find them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from hauteur import _core
from hauteur.games.pictures import board_svg
from hauteur.learning.run_folder import RunFolder
from hauteur.plots import Figure, Series, lines
from hauteur.plots.page import figures_html
from hauteur.system.errors import explain
from hauteur.system.files import read_json, write_json
from hauteur.system.seeds import stream

MOST_GENERATIONS = 40
"""Nets that a page shows, from the first to the last."""

MOVES = 5
"""Moves whose priors are drawn: those that the last net likes best."""

RANDOM_PLIES = (4, 10)
"""Plies of the positions besides the start in games that have none in LINES."""

LINES: dict[str, tuple[str, ...]] = {
    "tictactoe": ("b2", "a1 b2"),
    "connect4": ("4", "4 4 4 4 4"),
    "chess": ("e2e4", "d2d4 d7d5 c2c4", "e2e4 e7e5 g1f3 b8c6 f1c4"),
}
"""Moves from the start to the positions that are shown of a game, besides its start."""


@dataclass(frozen=True)
class ViewedPosition:
    """A position that nets are asked about; name: the moves that lead to it."""

    name: str
    state: _core.State


Answer = dict[str, tuple[dict[int, float], tuple[float, float, float]]]
"""By the name of a position: the net's priors of the legal actions, and the mover's chances of win, draw, loss."""

_KEPT: TypeAdapter[dict[int, Answer]] = TypeAdapter(dict[int, Answer])


def viewed_positions(game: _core.Game) -> list[ViewedPosition]:
    """Return the start and a few positions behind it, the same in every run of the game."""
    start = game.new_initial_state()
    found = [ViewedPosition("start", start)]
    for line in LINES.get(game.spec, ()):
        found.append(ViewedPosition(line, _after(start, line.split())))
    if game.spec not in LINES:
        for plies in RANDOM_PLIES:
            found += _random_position(start, plies)
    return [position for position in found if position.state.outcome() is None]


def views_html(folder: RunFolder, game: _core.Game) -> str:
    """Return boards and figures of the positions; one line where the nets cannot be asked here."""
    positions = viewed_positions(game)
    try:
        views = read_views(folder, game, positions)
    except (ValueError, OSError, ImportError) as error:
        return f"<p>{escape(f'The nets are not asked: {explain(error)}')}</p>"
    return "".join(_position_html(position, views) for position in positions) if views else "<p>No nets yet.</p>"


def read_views(folder: RunFolder, game: _core.Game, positions: Sequence[ViewedPosition]) -> dict[int, Answer]:
    """Return the answers of the run's nets by generation, asking those that were not asked before.

    Raise ValueError or OSError for a net that cannot be read, ImportError where torch is missing.
    """
    kept_file = folder.path / "views.json"
    known = _kept(kept_file, {position.name for position in positions})
    wanted = _generations(folder)
    missing = [generation for generation in wanted if generation not in known]
    for generation in missing:
        known[generation] = _ask(folder, game, positions, generation)
    if missing and os.access(folder.path, os.W_OK):
        write_json(kept_file, {str(generation): known[generation] for generation in sorted(known)})
    return {generation: known[generation] for generation in wanted}


def _kept(path: Any, names: set[str]) -> dict[int, Answer]:
    """Return the answers of earlier pages; none where the file is not there, damaged, or of other positions."""
    try:
        found = _KEPT.validate_python(read_json(path))
    except (FileNotFoundError, ValidationError, ValueError):
        return {}
    return {generation: answer for generation, answer in found.items() if answer.keys() == names}


def _generations(folder: RunFolder) -> list[int]:
    """Return the generations whose nets are shown: steps of one size, and the last; so that most are known already."""
    names = (re.fullmatch(r"gen-([0-9]+)", path.stem) for path in (folder.path / "nets").glob("gen-*.safetensors"))
    there = sorted(int(match[1]) for match in names if match)
    step = -(-len(there) // MOST_GENERATIONS)
    return [generation for generation in there if generation % step == 0 or generation == there[-1]] if there else []


def _ask(folder: RunFolder, game: _core.Game, positions: Sequence[ViewedPosition], generation: int) -> Answer:
    from hauteur.networks.evaluators.factory import make_evaluator

    features = np.stack([position.state.features() for position in positions])
    path = folder.net(generation)
    with make_evaluator(game, path, backend="torch", precision="float32", threads=1, device="cpu") as evaluator:
        logits, wdl = evaluator.submit(features).result()
    found: Answer = {}
    for position, row, chances in zip(positions, logits, wdl, strict=True):
        legal = position.state.legal_actions()
        weights = np.exp(row[legal].astype(np.float64) - row[legal].max())
        priors = {int(a): round(float(p), 5) for a, p in zip(legal, weights / weights.sum(), strict=True)}
        win, draw, loss = (round(float(share), 5) for share in chances)
        found[position.name] = (priors, (win, draw, loss))
    return found


def _position_html(position: ViewedPosition, views: Mapping[int, Answer]) -> str:
    """Return a position with the last net's move, the chances and the priors by generation."""
    state, generations = position.state, sorted(views)
    answers = [views[generation][position.name] for generation in generations]
    priors = answers[-1][0]
    liked = sorted(priors, key=lambda action: -priors[action])[:MOVES]
    xs = [float(generation) for generation in generations]
    areas = tuple(
        Series(name, xs, [wdl[part] for _, wdl in answers], name) for part, name in enumerate(("win", "draw", "loss"))
    )
    key = re.sub(r"\W+", "-", position.name)
    chances = Figure(
        f"chances-{key}", "Chances", "Of the player to move, by the net alone.", "share", areas=areas, percent=True
    )
    moves = lines(
        f"priors-{key}",
        "First moves",
        "The net's priors of the moves that the last net likes best.",
        "prior",
        xs=xs,
        rows={state.action_to_text(action): [found.get(action) for found, _ in answers] for action in liked},
        percent=True,
    )
    figures = [figure for figure in (chances, moves) if figure is not None]
    board = f'<div class="view-board">{board_svg(state, arrow=liked[0] if liked else None)}</div>'
    title = "The start" if position.name == "start" else f"After {position.name}"
    return f"<h3>{escape(title)}</h3>{board}{figures_html(figures)}"


def _after(start: _core.State, moves: Sequence[str]) -> _core.State:
    state = start.copy()
    for move in moves:
        state.apply(state.parse(move))
    return state


def _random_position(start: _core.State, plies: int) -> Iterator[ViewedPosition]:
    """Yield the position after uniformly random plies, always the same; nothing where the game ends before."""
    state, random, texts = start.copy(), stream(0, "viewed position", plies), list[str]()
    for _ in range(plies):
        if state.outcome() is not None:
            return
        action = int(random.choice(state.legal_actions()))
        texts.append(state.action_to_text(action))
        state.apply(action)
    yield ViewedPosition(" ".join(texts), state)
