"""Packed runs of states, and the shelves that hold them, against the arrays that they were made of."""

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.base.parallel import Workers  # noqa: E402
from solver.store import directory  # noqa: E402
from solver.store.packed import BLOCK_STATES, LAST, Table, packed, unpacked, unseen  # noqa: E402
from solver.store.runs import joined, spans, splitters  # noqa: E402
from solver.store.shelves import StateShelf, ValueShelf  # noqa: E402
from solver.store.work import Work  # noqa: E402
from tests.interpreted import interpret  # noqa: E402


def some_states(count, bits, seed=0):
    return np.unique(np.random.default_rng(seed).integers(0, (1 << bits) - 1, count, endpoint=True))


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    interpret(monkeypatch)


@pytest.mark.parametrize("bits", [0, 1, 5, 11, 40, 62, 63])
@pytest.mark.parametrize("count", [0, 1, 2, 32, 33, 34, BLOCK_STATES, BLOCK_STATES + 1])
def test_what_is_packed_comes_back(count, bits):
    states = some_states(count, bits)
    run = packed(states)
    assert len(run) == len(states) and unpacked(run).tolist() == states.tolist()


def test_gaps_of_all_widths_come_back():
    ends = [0, *(1 << bit for bit in range(63)), LAST]
    run = packed(np.array(ends))
    assert unpacked(run).tolist() == ends
    assert len(packed(np.array([5, LAST])).blocks) == 2  # the widest gaps are between blocks


def test_dense_states_take_two_bits():
    run = packed(np.arange(10 * BLOCK_STATES))
    assert 8 * run.words.nbytes <= 2.3 * len(run)


def test_ranges_of_several_runs(monkeypatch):
    arrays = [some_states(3000, 14, 1), some_states(700, 14, 2), some_states(20, 14, 3) + 9000]
    runs = Table([packed(arrays[0]), arrays[1], packed(np.empty(0, np.int64)), packed(arrays[2])])
    for low, high in [(0, LAST), (0, 0), (5000, 5000), (4000, 9100), (16000, LAST), (-5, 3), (1 << 20, LAST)]:
        found, shares = runs.read(low, high)
        inside = [array[(low <= array) & (array <= high)] for array in arrays]
        assert found.tolist() == np.concatenate(inside).tolist()
        assert shares[:, 1].tolist() == list(map(len, inside))
        for (first, count), array, part in zip(shares.tolist(), arrays, inside, strict=True):
            assert array[first : first + count].tolist() == part.tolist()
        assert joined(runs, low, high).tolist() == sorted(set(found.tolist()))
    keys = splitters(runs, 500)
    assert len(keys) >= 4
    pieces = [joined(runs, *span) for span in spans(keys, 300)]
    assert np.concatenate(pieces).tolist() == [key for key in joined(runs, 0, LAST).tolist() if key >= 300]


@pytest.mark.parametrize("count", [0, 1, 1500])
@pytest.mark.parametrize("size", [0, 1, BLOCK_STATES, 3000])
def test_what_was_seen_is_left_out(count, size):
    keys, states = some_states(count, 14, 1), some_states(size, 14, 2)
    for known in (states, states + 9000, states[: size // 3]):
        seen = set(known.tolist())
        left = [key for key in keys.tolist() if key not in seen]
        assert unseen(keys.copy(), packed(known)).tolist() == left


def test_states_that_crowd_in_a_cell_are_found():
    crowd = 1000 + np.cumsum(np.random.default_rng(0).integers(1, 4, 300))
    states = np.concatenate([[3], crowd, [1 << 40]])
    known = directory.lookup_of([(0, np.arange(5)), (1, states)], np.empty(0, np.int8))
    keys = np.concatenate([states[:1], np.arange(crowd[0] - 5, crowd[0] + 700), states[-1:]])
    rows, places, scratch = directory.new_indices(len(keys))
    rows[:] = 1
    directory.locate(known, keys, rows, len(keys), places, scratch)
    where = {state: place for place, state in enumerate(states.tolist())}
    assert places.tolist() == [where.get(key, -1) for key in keys.tolist()]


def test_a_shelf_of_states(tmp_path):
    first, second, third = (some_states(count, 13, count) for count in (2500, 1, 900))
    with Work(tmp_path / "work", "shelf") as work:
        shelf = StateShelf(work, "states")
        for states in (first, np.empty(0, np.int64), second):
            shelf.append(packed(states))
        blocks, size = shelf.count, shelf.size
        work.checkpoint(None)
        shelf.append(packed(third))
        for one in (shelf, StateShelf(work, "states")):
            assert (one.size, one.last) == (size + len(third), third[-1])
            assert unpacked(one.section(blocks, one.count)).tolist() == third.tolist()
            assert unpacked(one.section(0, blocks)).tolist() == [*first, *second]
            places = np.array([0, 5, 1023, 1024, 2000, size - 1])
            assert one.section(0, one.count).at(places).tolist() == np.concatenate([first, second])[places].tolist()
            assert one.section(1, one.count).at(np.array([0])).tolist() == [first[BLOCK_STATES]]
            assert one.block_of(size) == blocks and one.first_of(blocks) == third[0]
        shelf.truncate(blocks)
        shelf.append(packed(third[:3]))
        assert unpacked(shelf.section(blocks, shelf.count)).tolist() == third[:3].tolist()


@pytest.mark.parametrize("dtype", ["i1", "i2", "i8"])
def test_a_shelf_of_values(dtype):
    values = np.random.default_rng(0).integers(-100, 100, 40000).astype(dtype)
    with Work() as work, Workers(2) as team:
        shelf, at = ValueShelf(work, "values", dtype), 0
        for end in (0, 1, 30000, 30000, 40000):
            shelf.append(values[at:end], team)
            at = end
        assert shelf.size == 40000
        for begin, end in [(0, 0), (0, 1), (1, 2), (8191, 8194), (29999, 30001), (0, 40000)]:
            assert shelf.part(begin, end).tolist() == values[begin:end].tolist()
