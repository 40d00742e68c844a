"""Arrays by state: the same book as by sorting, byte for byte."""

import itertools
import math

import pytest

from solver import load_game
from solver.base.errors import GameError, ResourceError
from solver.estimate import estimation
from solver.report import searches
from solver.report.facts import facts_of
from solver.solving import pipeline
from solver.solving.ways import plain

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.store.work import Work  # noqa: E402
from solver.sweep import arrays, exhaustive, resources, scale  # noqa: E402
from solver.sweep.checkpoint import ArrayState, Checkpoint  # noqa: E402
from tests import naive  # noqa: E402
from tests.refusals import raises  # noqa: E402
from tests.solutions import Stopped, assert_is_the_truth, stops_until_solved, swept, values  # noqa: E402
from tests.ways import slow, slow_rows  # noqa: E402
from tests.written import ruled  # noqa: E402

DENSE = ["dots-and-boxes:2,1", "dots-and-boxes:2,2", "dots-and-boxes:3,2", "dots-and-boxes:1,4"]
# Climb one to three steps, or, from every fifth, `jump`; who cannot move loses. Every third number is a state
Sparse = ruled(
    "Sparse",
    fields="rise: int = 7\njump: int = 9\ntop: int = 40\nnumbers: int = 121",
    size="self.numbers",
    actions="for step in (1, 2, 3, self.jump):\n"
    "    if state // 3 + step <= self.top and (step < 4 or state // 3 % 5 == 4):\n        yield step",
    result="state + 3 * action",
    is_terminal="state == 3 * self.top",
    tier="state // 3 * self.rise // 7",
)


@pytest.fixture
def by_kernels(monkeypatch):
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)


class Sorted(Exception):
    """The sorted sweep was begun."""


def never(*arguments, **options):
    raise Sorted


@pytest.mark.parametrize(
    ("text", "symmetry"),
    [(DENSE[0], True), *slow_rows(*itertools.product(DENSE[1:], (True, False)), (DENSE[0], False))],
)
@pytest.mark.interpreted
def test_dense_and_sorted_books_are_the_same_bytes(tmp_path, monkeypatch, by_kernels, text, symmetry):
    with monkeypatch.context() as patch:
        patch.setattr(exhaustive, "Forward", never)
        pipeline.solve(text, tmp_path / "dense.lmdb", symmetry=symmetry).close()
    monkeypatch.setattr(resources, "DENSE_BYTES", 1 << 50)
    said = []
    pipeline.solve(text, tmp_path / "sorted.lmdb", symmetry=symmetry, say=said.append).close()
    assert (tmp_path / "dense.lmdb").read_bytes() == (tmp_path / "sorted.lmdb").read_bytes()
    assert len(said) == 1 and "states are sorted: arrays of " in said[0] and "--memory" in said[0]


@pytest.mark.parametrize(("rise", "span"), [(7, 64), *slow_rows((7, 1 << 20), (21, 8))])
@pytest.mark.interpreted
def test_states_few_and_far_between_have_their_values(monkeypatch, rise, span):
    monkeypatch.setattr(arrays, "NUMBERS_PER_CALL", span)
    monkeypatch.setattr(exhaustive, "Forward", never)
    game = Sparse(rise=rise)
    solved = assert_is_the_truth(game)
    found = values(solved)
    assert solved.root == found[0]
    longest = max(value.distance for value in found.values() if value.score > 0)
    assert solved.longest == (longest, min(s for s, value in found.items() if value == (1, longest)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rise": 1}, "has a move that stays in its tier"),
        *slow_rows(
            ({"jump": 260, "top": 300, "numbers": 901}, "more than 254 tiers"),
            ({"top": 300, "numbers": 901}, "more than 254 tiers"),
        ),
    ],
)
@pytest.mark.interpreted
def test_games_that_arrays_cannot_take_are_sorted(options, reason):
    said = []
    game = Sparse(**options)
    solved = swept(game, say=said.append)
    assert said == [line for line in said if line.startswith("states are sorted: ") and reason in line] != []
    assert solved.root == naive.solve(game)[0]


@pytest.mark.interpreted
def test_what_sorting_has_no_use_for_is_taken_from_the_folder(tmp_path):
    said = []
    game = Sparse(rise=1)
    folder = tmp_path / "work"
    with Work(folder, "one", every=0) as work:
        saved = work.column("array", np.uint8, numbered=True)  # as a checkpoint leaves it
        work.checkpoint(Checkpoint(arrays=ArrayState("ByState", marks=saved.name)))
        assert (folder / f"{saved.name}.column").exists()
        assert swept(game, work, say=said.append).root == naive.solve(game)[0]
        assert any("stays in its tier" in line for line in said)
        assert not [name for name in work.columns if name.startswith("array")]
        assert not list(folder.glob("array-*"))


# Take one or two of the coins; each taken from the heap with k left scores k + 1. Most points win
Rich = ruled(
    "Rich",
    fields="score_game = True\ncoins: int = 30",
    size="self.coins + 1",
    actions="yield from range(1, min(2, self.coins - state) + 1)",
    reward="state * action + action",
    is_terminal="state == self.coins",
    utility="0",
    tier="state",
)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_margins_beyond_a_byte_are_found_in_wider_arrays(monkeypatch, workers):
    monkeypatch.setattr(arrays, "NUMBERS_PER_CALL", 8)
    monkeypatch.setattr(exhaustive, "Forward", never)
    kinds, wider = [], scale.wider
    monkeypatch.setattr(scale, "wider", lambda *given: kinds.append(wider(*given)) or kinds[-1])
    solved, best = swept(Rich(230), workers=workers), [0] * 231
    for state in reversed(range(230)):
        best[state] = max((state + 1) * step - best[state + step] for step in (1, 2) if state + step <= 230)
    assert solved.root.score == best[0] and len(kinds) == 1 and max(map(abs, best)) > 127
    assert {state: value.score for state, value in values(solved).items()} == dict(enumerate(best[:-1]))


@pytest.mark.interpreted
def test_a_disk_too_small_for_the_book_is_refused_before_values_are_sought(tmp_path, monkeypatch, by_kernels):
    monkeypatch.setattr(Work, "free", lambda self: 10)
    monkeypatch.setattr(arrays.ByState, "backward", never)
    with pytest.raises(ResourceError, match="the values of 4,095 states and their book need about 6,142 bytes more"):
        pipeline.solve("dots-and-boxes:2,2", tmp_path / "book.lmdb", symmetry=False)
    raises(Sorted, None, pipeline.solve, "dots-and-boxes:2,2", tmp_path / "book.lmdb", symmetry=False, anyway=True)


@pytest.mark.interpreted
def test_a_state_beyond_size_is_refused():
    raises(GameError, "not below size", swept, Sparse(numbers=20))
    raises(GameError, "starts at 0, and size", swept, Sparse(numbers=0))


@pytest.mark.parametrize("text", [DENSE[0], *slow(DENSE[1])])
@pytest.mark.interpreted
def test_a_solve_stopped_anywhere_goes_on_to_the_same_book(tmp_path, by_kernels, text):
    said = []
    assert stops_until_solved(text, tmp_path, say=said.append) > 5
    assert any("tiers counted" in line for line in said)


@pytest.mark.interpreted
def test_a_checkpoint_of_arrays_wants_the_memory_for_them(tmp_path):
    game = load_game("dots-and-boxes:2,2")

    def stop(step, done, total, note=""):
        if step == "backward":
            raise Stopped

    with pytest.raises(Stopped), Work(tmp_path / "work", "one", every=0) as work:
        swept(game, work, progress=stop)
    with pytest.raises(ResourceError, match="raise --memory, or --restart"), Work(tmp_path / "work", "one") as work:
        swept(game, work, memory=1000)
    with Work(tmp_path / "work", "one") as work:
        assert swept(game, work).root.score == 2


@pytest.mark.slow
def test_an_estimate_knows_of_arrays():
    dense = estimation.of_sweep(load_game("dots-and-boxes:2,2"), symmetry=False, seconds=math.inf)
    assert (dense.stored, dense.memory, dense.disk) == (4095, (150 << 20) + 3 * 4096, round(1.5 * 4095))
    assert dense.by_state and "less with --memory, and then more time and disk" in searches.sweep_text(facts_of(dense))
