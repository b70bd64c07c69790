"""Layouts of games for a device that Python asks: which are tried, which is chosen; all play the same games."""

import time
from contextlib import closing, nullcontext
from dataclasses import dataclass

import numpy as np
import pytest
from selfplay_toys import games_of

import device
from hauteur import _core
from hauteur.matches.arena import Layout
from hauteur.matches.fastest_layout import NEAR, PATIENCE, SIZES, chosen_layout, fastest_layout, layouts_to_try
from hauteur.matches.speed import speed_of_games
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.players.search_player import SearchPlayer

GAME = _core.Game("connect4")


def device_player(latency: float, visits: int = 8) -> SearchPlayer:
    return device.player_with(GAME, device.Device(GAME, latency), visits)


@dataclass
class Limited:
    """A device of fixed latency, and threads that search so many rows a second; counts what was measured."""

    latency: float
    searched: float
    asked: int = 0

    def rows_per_second(self, layout: Layout) -> float:
        self.asked += 1
        return min(layout.batch_size / self.latency, self.searched)


def test_the_smallest_batch_is_chosen_that_comes_near_the_best() -> None:
    layouts = layouts_to_try(2, 10**6)
    assert [layout.batch_size for layout in layouts] == [*SIZES]
    assert {layout.in_flight for layout in layouts} == {4}
    assert all(layout.parallel == 4 * layout.batch_size for layout in layouts)
    machine = Limited(latency=0.004, searched=150_000)
    assert chosen_layout(layouts, machine.rows_per_second).batch_size == 768
    assert machine.asked == SIZES.index(768) + 1 + PATIENCE
    slow = Limited(latency=0.004, searched=10**9)
    assert chosen_layout(layouts, slow.rows_per_second).batch_size == SIZES[-1]
    assert slow.asked == len(SIZES)


def test_few_games_are_given_to_few_threads_too() -> None:
    layouts = layouts_to_try(2, 500)
    assert [(one.batch_size, one.in_flight) for one in layouts] == [(64, 4), (96, 4), (125, 4), (250, 2), (500, 1)]
    assert chosen_layout(layouts, Limited(0.004, 100_000).rows_per_second) == Layout(500, 500, 1)
    assert chosen_layout(layouts, Limited(0.004, 60_000 * NEAR).rows_per_second) == Layout(500, 250, 2)
    assert layouts_to_try(2, 1) == [Layout(1, 1, 1)]


def test_a_stretch_of_games_is_measured_without_their_ends() -> None:
    marks: list[float] = []

    def mark() -> None:
        marks.append(time.perf_counter())

    layout = Layout(64, 16, 3)
    speed = speed_of_games(GAME, device_player(0.001), layout, seconds=0.5, warm_up=0.2, on_begin=mark, on_end=mark)
    assert speed.batches > 0
    assert 0 < speed.rows <= speed.capacity == 16 * speed.batches
    assert speed.fill == speed.rows / speed.capacity
    assert marks[1] - marks[0] >= speed.seconds >= 0.5
    assert speed.rows_per_second == speed.rows / speed.seconds
    assert speed.waiting > 0


def test_a_device_gets_a_layout_that_it_can_be_played_with() -> None:
    found = fastest_layout(GAME, lambda _: nullcontext(device_player(0.001)), cores=1, most_games=24)
    assert found in layouts_to_try(1, 24)


def test_games_are_the_same_in_every_layout() -> None:
    """Batches, threads and borrowed answers do not decide a game."""
    found = []
    for layout in (Layout(4, 4, 1), Layout(16, 5, 3), Layout(64, 64, 2)):
        games = games_of(
            [device_player(0.0005)],
            40,
            parallel=layout.parallel,
            batch_size=layout.batch_size,
            in_flight=layout.in_flight,
        )
        found.append([(game.actions.tolist(), game.policy_counts.tolist()) for game in games])
    assert found[0] == found[1] == found[2]


def test_the_device_answers_rows_by_their_hash_one_batch_after_another() -> None:
    packed = [state.features_packed() for state in random_positions(GAME, 30)]
    masks, values = (np.stack(parts) for parts in zip(*packed, strict=True))
    with closing(device.Device(GAME, 0.02)) as slow:
        begun = time.monotonic()
        first = slow.submit_packed(masks, values)
        second = slow.submit_packed(masks[::-1], values[::-1])
        logits, wdl = first.result()
        np.testing.assert_array_equal(second.result()[0], logits[::-1])
        assert time.monotonic() - begun >= 0.04
        np.testing.assert_allclose(wdl.sum(axis=1), 1, atol=1e-5)
        assert len(np.unique(logits[:, 0])) > 20
        with pytest.raises(ValueError, match="bit planes"):
            slow(features_of(GAME, random_positions(GAME, 2)))
        with pytest.raises(ValueError, match="at most 4096 rows"):
            slow.submit_packed(np.zeros((4097, 3), np.uint64), np.zeros((4097, 3), np.float32))
