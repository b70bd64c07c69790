"""Swapped colours: the net is shown the plane of the other colour, whoever asks it, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import numpy as np
import pytest
from forests import make_forest, search
from numpy.typing import NDArray

from hauteur import _core
from hauteur.mcts.params import SearchParams

pytestmark = pytest.mark.quick

PLANE = 108
WHITE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 3 9"
BLACK = chess.Board(WHITE).mirror().fen()
SWAPPED = SearchParams(swap_colors=True)
Features = NDArray[np.float32]


def start_of(fen: str) -> _core.State:
    return _core.Game(f"chess(fen={fen})").new_initial_state()


def net(features: Features) -> tuple[Features, Features]:
    """Answers that depend on every number of a row, and on the colour's plane with it."""
    rows = features.reshape(len(features), -1)
    weights = np.sin(np.arange(rows.shape[1], dtype=np.float64))
    sums = rows.astype(np.float64) @ weights + rows[:, PLANE * 64] * 0.7
    logits = np.sin(np.outer(sums, 1 + np.arange(1858) % 97)).astype(np.float32)
    win = 0.5 + 0.4 * np.sin(3 * sums)
    return logits, np.stack([win, 0 * win, 1 - win], axis=1).astype(np.float32)


def core_search(fen: str, params: SearchParams, visits: int = 300) -> tuple[list[Features], int]:
    """All rows that the core sends to the net, and the digest of its tree."""
    forest = make_forest(start_of(fen).game, params)
    rows: list[Features] = []

    def recording(features: Features) -> tuple[Features, Features]:
        rows.append(features)
        return net(features)

    search(forest, recording, visits=visits, rows=4)
    return rows, forest.digest(0)


def packed_rows(fen: str, params: SearchParams) -> Features:
    """The first row of a search in its packed form, unpacked."""
    start = start_of(fen)
    forest = _core.Forest(start.game, params)
    forest.add(start)
    masks = np.zeros((1, 112), np.uint64)
    values = np.zeros((1, 112), np.float32)
    forest.gather_packed(masks, values)
    bits = (masks[0, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return (bits * values[0, :, None]).astype(np.float32).reshape(112, 8, 8)


@pytest.mark.parametrize("fen", [WHITE, BLACK, chess.STARTING_FEN])
def test_only_the_plane_of_the_colour_changes(fen: str) -> None:
    features = start_of(fen).features()
    shown = core_search(fen, SWAPPED, visits=1)[0][0][0]
    assert np.flatnonzero((shown != features).any(axis=(1, 2))).tolist() == [PLANE]
    assert np.unique(shown[PLANE]).tolist() == [float(" w " in fen)]
    assert np.array_equal(packed_rows(fen, SWAPPED), shown)
    assert np.array_equal(packed_rows(fen, SearchParams()), features)


@pytest.mark.parametrize("params", [{}, {"solver": {}, "search_contempt": {"n_scl": 5}}, {"cache_key": "position"}])
def test_a_twin_in_the_other_colour_has_equal_rows_and_an_equal_tree(params: dict[str, Any]) -> None:
    plain = core_search(WHITE, SearchParams(**params))
    twin = core_search(BLACK, SearchParams(**params, swap_colors=True))
    assert plain[1] == twin[1]
    assert len(plain[0]) == len(twin[0]) > 50
    assert all(np.array_equal(one, other) for one, other in zip(plain[0], twin[0], strict=True))
    assert core_search(BLACK, SearchParams(**params))[1] != plain[1], "a net that sees the colour answers otherwise"


@pytest.mark.parametrize("make", [lambda: _core.Game("connect4"), lambda: _core.Game("minichess")])
def test_games_whose_features_do_not_tell_the_colour_refuse_it(make: Callable[[], _core.Game]) -> None:
    game = make()
    assert game.colour_plane is None
    with pytest.raises(ValueError, match=f"SearchParams.swap_colors is not for {game.spec}: "):
        _core.Forest(game, SWAPPED)
