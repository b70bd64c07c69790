"""Batches made by threads: their order, their errors, and that no thread is left behind."""

import threading
import time

import pytest

from hauteur.learning.train import AHEAD, in_order


def alive() -> int:
    return sum(thread.name.startswith("hauteur-batches") for thread in threading.enumerate())


@pytest.mark.parametrize("workers", [1, 3])
def test_the_order_is_that_of_the_numbers(workers: int) -> None:
    def make(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        return number * number

    assert list(in_order(make, 20, workers=workers)) == [number * number for number in range(20)]
    assert list(in_order(make, 0)) == []


def test_not_more_than_wanted_are_made_ahead() -> None:
    made: list[int] = []
    batches = in_order(made.append, 100, workers=2)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert len(made) <= 2 + AHEAD
    assert alive() == 0


def test_an_error_comes_in_its_place() -> None:
    def make(number: int) -> int:
        if number == 3:
            raise ValueError("the third is missing")
        return number

    batches = in_order(make, 9, workers=3)
    assert [next(batches) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="the third is missing"):
        next(batches)
    assert alive() == 0
