"""Threads share the table of alpha-beta. Bounds are a function of the key here, so any others come of a race."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("numba")

from numba import njit  # noqa: E402

from solver.compiled.exact.table import exact_entries, find, high_of, keep, low_of, new_table  # noqa: E402
from solver.compiled.operators import raised_to  # noqa: E402
from tests.ways import slow  # noqa: E402

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)  # bytes: from four buckets a key, where threads meet all the time
raised = raised_to(128)


@njit(nogil=True)
def bound_of(number):
    return number * 2654435761 >> 7 & 1023


@njit(nogil=True)
def narrow(number):
    return number


@njit(nogil=True)
def wide(number):
    return raised(number, 0) | raised(number * 2654435761, 1)


def racing(key_of):
    @njit(nogil=True)
    def race(table, seed, rounds, keys, counts):
        """Look up and keep at random; counts hits and wrong ones."""
        chance = seed
        for _ in range(rounds):
            chance = chance * 6364136223846793005 + 1442695040888963407
            number = chance >> 33 & keys - 1
            key, bound = key_of(number), bound_of(number)
            data = find(table, key)
            if data:
                counts[0] += 1
                counts[1] += low_of(data) != bound or high_of(data) != bound
            keep(table, key, bound, bound, chance >> 20 & 31)

    return race


@pytest.fixture(scope="module")
def races():
    return {key_of.py_func.__name__: racing(key_of) for key_of in (narrow, wide)}


@pytest.mark.parametrize(
    ("threads", "rounds"), [(2, 20_000), *(pytest.param(n, 30_000_000, marks=pytest.mark.stress) for n in (2, 4))]
)
@pytest.mark.parametrize("kind", ["narrow", *slow("wide")])
def test_no_thread_finds_bounds_of_another_state(races, kind, threads, rounds):
    """What is left in the table is right, but for entries that two threads tore, which are of no key in use."""
    for size in SIZES if rounds > 20_000 else SIZES[:2]:
        table, keys = new_table(size), size >> 2
        counts = np.zeros((threads, 2), np.int64)
        with ThreadPoolExecutor(threads) as pool:
            given = [table] * threads, range(7, 7 + 2 * threads, 2), [rounds] * threads, [keys] * threads
            list(pool.map(races[kind], *given, counts))
        assert counts[:, 1].sum() == 0 < counts[:, 0].sum()
        if kind == "narrow":
            entries = exact_entries(table)
            mine = {key: bound for key, bound in entries.items() if key < keys}
            assert len(mine) > len(entries) * 0.9
            assert all(bound == key * 2654435761 >> 7 & 1023 for key, bound in mine.items())
