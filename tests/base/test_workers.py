"""The map over threads: order, few tasks ahead, and a prompt end."""

import threading

import pytest

pytest.importorskip("numpy")

from solver.base.parallel import Workers  # noqa: E402


def test_few_tasks_are_taken_ahead():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    with Workers(2) as workers:
        next(workers.map(lambda number: number, items()))
    assert len(taken) <= 6


def test_an_error_ends_the_map_without_running_the_rest():
    ran = []

    def work(number):
        ran.append(number)
        if number == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"), Workers(2) as workers:
        list(workers.map(work, range(1000)))
    assert len(ran) < 20


def test_the_count_is_the_number_of_threads():
    together = threading.Barrier(3, timeout=300)
    with Workers(3) as workers:
        list(workers.map(lambda _: together.wait(), range(3)))
