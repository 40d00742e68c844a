"""`verify` finds every kind of wrong book, with the kernels and without."""

import contextlib
import functools
import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from solver.base import extras
from solver.base.errors import DamagedBook, ForeignBook, ResourceError, UncompiledRules
from solver.base.value import Value
from solver.book import Book
from solver.book.solution import TierCount
from solver.book.writer import write_book
from solver.compiled.exact import searcher
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.verifying import audit, claims, judging, verification
from tests import naive
from tests.books import KEYED_BY_STATE, RACE, header_of
from tests.interpreted import interpret
from tests.refusals import raises
from tests.ways import compiled, what_is_marked_by_kernels
from tests.written import ruled

__all__ = ["what_is_marked_by_kernels"]  # a fixture
pytestmark = pytest.mark.interpreted

GAME = "connect-four:3,3,3"
KINDS = ("kalah:2,2", "mu-torere", "coins:9", "nim:1,2,3", "othello:4,2")  # margins, cycles, no symmetry, passes


@pytest.fixture
def verify(request, monkeypatch):
    """`verification.verify` in the way that the test asks for, "plain" or "compiled", however small the book is."""
    if request.param == "plain":
        monkeypatch.setattr(extras, "has_kernels", lambda: False)
    else:
        monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    return verification.verify


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """`right(text)`: the path of a right book of a game, its header and its values."""

    @functools.cache
    def solved(text):
        with pipeline.solve(load_game(text), tmp_path_factory.mktemp("verified") / "book.lmdb") as book:
            return book.path, book.header, dict(book.items())

    return solved


@pytest.fixture
def solved(right):
    return right(GAME)


def tampered(path, header, values, **changes):
    """A book of these values, its checksums in order, and whatever follows from sums in its header, too."""
    facts = header_of(values)
    extra = len(values) - header.stored
    if header.tiers:
        row = max(range(len(header.tiers)), key=lambda row: header.tiers[row].win)
        header = header._replace(tiers=counted(header, row, states=extra, win=extra)["tiers"])
    numbers = Counter(values.values())
    fields = {
        "palette": facts.palette,
        "longest": facts.longest,
        "numbers": [numbers[value] for value in facts.palette],
        "stored": len(values),
        "states": header.states + extra,
        "counts": {**header.counts, "win": header.counts["win"] + extra},
        **changes,
    }
    states = sorted(values)
    place = {value: index for index, value in enumerate(facts.palette)}
    write_book(path, header._replace(**fields), [(states, [place[values[state]] for state in states])])
    return path


@pytest.mark.parametrize("verify", ["plain", "compiled"], indirect=True)
@pytest.mark.parametrize("codec", KEYED_BY_STATE)
def test_a_right_book_is_verified(tmp_path, solved, verify, codec):
    _, header, values = solved
    report = verify(tampered(tmp_path / "right.lmdb", header, values, codec=codec))
    assert (report.states, report.closed) == (len(values), True)
    state = max(state for state, value in values.items() if value.score)
    wrong = {**values, state: Value(0)}
    raises(DamagedBook, "solve again", verify, tampered(tmp_path / "wrong.lmdb", header, wrong, codec=codec))


@pytest.mark.parametrize("text", [*KINDS, "dots-and-boxes:2,1"])
def test_books_of_all_kinds_are_verified(tmp_path, monkeypatch, text):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    for method in ("auto", "alphabeta") if text != "mu-torere" else ("auto",):
        pipeline.solve(load_game(text), tmp_path / "book.lmdb", method=method)
        assert verification.verify(tmp_path / "book.lmdb").closed == (method == "auto")


def another(change):
    """The values of books, each with one wrong value: of the first state, the last, and two between."""

    def forge(header, values):
        states = sorted(values)
        for part in (0.0, 0.31, 0.77, 1.0):
            state = states[int(part * (len(states) - 1))]
            value = change(values[state])
            yield {**values, state: Value(value.score) if header.score_game else value}, {}

    return forge


def lie(change):
    """The right values, under a header of which some fields lie."""
    return lambda header, values: [(values, change(header))]


def without_a_state(header, values):
    gone = [state for state, value in values.items() if value.score > 0]
    yield {state: value for state, value in values.items() if state != gone[len(gone) // 2]}, {}


def with_a_stray(header, values):
    game = load_game(header.game)
    fit = (state for state in range(2**8, 2**12) if state not in values and game.canonical(state) == state)
    yield {**values, next(state for state in fit if not game.is_terminal(state)): Value(0)}, {}


def with_the_last_longest_win(header, values):
    last = max(state for state in values if values[state] == Value(1, header.longest[0]))
    yield values, {"longest": (header.longest[0], last)}


def in_margins(header, values):
    margins = {"score_game": True, "root": Value(header.root.score), "longest": None}
    yield {state: Value(value.score) for state, value in values.items()}, margins


def counted(header, row, **steps):
    """The counts of a header if a tier had so many more states of a kind."""
    tiers = [*header.tiers]
    tiers[row] = tiers[row]._replace(**{name: getattr(tiers[row], name) + step for name, step in steps.items()})
    counts = {name: number + steps.get(name, 0) for name, number in header.counts.items()}
    sums = {name: getattr(header, name) + steps.get(name, 0) for name in ("states", "terminal")}
    return {"tiers": tiers, "counts": counts, **sums}


def moved(header, source, target, *kinds):
    """The same if one state of these kinds were counted in another tier."""
    less = header._replace(**counted(header, source, **dict.fromkeys(kinds, -1)))
    return counted(less, target, **dict.fromkeys(kinds, 1))


def slower(header):
    """The losses are put a ply later than they come."""
    return {"palette": [value if value.score >= 0 else Value(-1, value.distance + 1) for value in header.palette]}


ALL = (GAME, *KINDS)  # of which the last stores no win
DISTANT = (GAME, "mu-torere", "coins:9", "nim:1,2,3")  # whose values have distances
ONE = (GAME,)
FORGERIES = {  # the books that are forged, what is altered, and perhaps words of the refusal
    "another score": (ALL, another(lambda value: Value(0) if value.score else Value(1, 3))),
    "a ply too many": (
        DISTANT,
        another(lambda value: Value(value.score, value.distance + 2) if value.score else Value(-1, 2)),
    ),
    "the opposite": (ALL, another(lambda value: Value(-value.score, value.distance) if value.score else Value(1, 1))),
    "a state less": (ALL[:-1], without_a_state),
    "a stray": (ONE, with_a_stray),
    "another root": (ONE, lie(lambda header: {"root": header.palette[0]}), "the start"),
    "a state of another tier": (ONE, lie(lambda header: moved(header, 3, 4, "states", "win"))),
    "a finished state of another tier": (ONE, lie(lambda header: moved(header, -2, -3, "terminal"))),
    "tiers of other numbers": (
        ONE,
        lie(lambda header: {"tiers": [tier._replace(tier=tier.tier + 1) for tier in header.tiers]}),
    ),
    "a finished state more": (
        ONE,
        lie(lambda header: counted(header, -1, states=1, terminal=1, win=1)),
        "its header counts",
    ),
    "a loss counted as a draw": (ONE, lie(lambda header: counted(header, 4, draw=1, loss=-1)), "its header counts"),
    "a state of another value": (
        ONE,
        lie(lambda header: {"numbers": [header.numbers[0] - 1, header.numbers[1] + 1, *header.numbers[2:]]}),
        "other numbers of states",
    ),
    "another longest win": (ONE, lie(lambda header: {"longest": (header.longest[0], header.longest[1] + 1)})),
    "a longest win that is not the first": (ONE, with_the_last_longest_win, "the first of the longest wins"),
    "a palette of other distances": (ONE, lie(slower)),
    "another board": (ONE, lie(lambda header: {"game": "connect-four:3,4"})),
    "no symmetry": (ONE, lie(lambda header: {"symmetry": False}), "child that the book lacks"),
    "margins": (ONE, in_margins, "says score_game True, the rules do not"),
    "tiers of a game without": (
        ("mu-torere",),
        lie(lambda header: {"tiers": [TierCount(0, header.states, header.terminal, *header.counts.values())]}),
        "lists tiers, the rules know none",
    ),
    "symmetry of a game without": (("coins:9",), lie(lambda header: {"symmetry": True}), "the rules know no symmetry"),
    "unfounded wins": (
        ("mu-torere",),
        # which agree with each other but not with any distance
        lambda header, values: [({s: v if v.score else Value(1, 7) for s, v in values.items()}, {"tiers": None})],
        "than its children give it",
    ),
}


@pytest.mark.parametrize(
    ("text", "forgery", "verify"),
    [
        pytest.param(text, name, way, id=f"{name.replace(' ', '-')}-{text}-{way}")
        for name, (texts, *_) in FORGERIES.items()
        for text in texts
        for way in (("plain", "compiled") if text in (GAME, "kalah:2,2") else ("plain",))
    ],
    indirect=["verify"],
)
def test_a_forgery_is_refused(tmp_path, right, text, forgery, verify):
    _, header, values = right(text)
    _, forge, *words = FORGERIES[forgery]
    for altered, changes in forge(header, values):
        path = tampered(tmp_path / "forged.lmdb", header, altered, **changes)
        message = "".join([*words, ".*(solve again|the book .*)$"])
        with pytest.raises((DamagedBook, ForeignBook), match=message) as refused:
            verify(path, load_game(text))
        assert "malformed" not in str(refused.value)


def test_a_sample_is_verified_in_plain_python(tmp_path, right, monkeypatch):
    """As if the compiled rules had confirmed a book that the plain ones do not."""
    path, header, values = right("connect-four:4,3,3")
    assert verification.verify(path).plain == len(values)
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    monkeypatch.setattr("solver.verifying.audit.check_values", lambda *arguments, **options: True)
    assert 1000 < verification.verify(path).plain < len(values)
    wrong = {state: Value(value.score, value.distance + 2) if value.score else value for state, value in values.items()}
    path = tampered(tmp_path / "wrong.lmdb", header, wrong, root=header.root)
    raises(DamagedBook, "than its children give it", verification.verify, path)


@pytest.fixture
def lie_by(monkeypatch):
    """`lie_by(name, function)` puts a function in the place of a compiled one, as if of a game of one's own."""
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    monkeypatch.setattr(verification, "is_built_in", lambda name: False)

    def put(name, other):
        monkeypatch.setattr(judging, name, functools.partial(other, getattr(judging, name)))

    return put


def state_at(stored, place):
    return audit.state_at(stored.states, place)


def call_wrong(check, moves, stored, reached, begin, end, tiers, ends, report):
    check(moves, stored, reached, begin, end, tiers, ends, report)
    report[:2] = 2, state_at(stored, end // 2)


def count_wrong(tally, tiers, scores, known, tallies):
    tallies[0, 3] += 1
    return tally(tiers, scores, known, tallies)


def reach_nothing(check, moves, stored, reached, *rest):
    check(moves, stored, reached._replace(marks=reached.marks.copy()), *rest)


def fail(check, *arguments):
    """Fail at a state, as rules do that leave 64 bits."""
    raise OverflowError("line 27: beyond 64 bits by +")


def miss_the_start(mark_starts, stored, reached, starts, missing):
    missing[0] = state_at(stored, 0)
    return 1


LIARS = {
    "a-state": ("audit", call_wrong, "as compiled, state [0-9]+ has another value .*; not as plain Python"),
    "a-count": ("tally", count_wrong, "as compiled, .* its header counts"),
    "a-stray": ("audit", reach_nothing, "as compiled, .* no move leads to state"),
    "a-failure": ("audit", fail, "as compiled, they fail with OverflowError: line 27: beyond 64 bits by [+]"),
    "a-start": ("mark_starts", miss_the_start, "as compiled, the start [0-9]+ is missing; not as plain Python"),
}


@pytest.mark.parametrize("liar", LIARS)
def test_plain_python_judges_where_kernels_differ(tmp_path, solved, lie_by, liar):
    path, header, values = solved
    name, kernel, note = LIARS[liar]
    lie_by(name, kernel)
    report = verification.verify(path)
    assert (report.verdict, report.plain) == ("proved", len(values))
    assert re.search(note, report.note)
    state = max(state for state, value in values.items() if value.score)
    path = tampered(tmp_path / "wrong.lmdb", header, {**values, state: Value(0)})
    raises(DamagedBook, "solve again", verification.verify, path)


def test_a_book_too_large_for_plain_python_is_refused(solved, lie_by, monkeypatch):
    """Where kernels and plain Python differ, nobody can judge; a fault of the whole book stays one."""
    monkeypatch.setattr(verification, "PLAIN_BYTES", 1 << 40)
    for name, kernel, error, message in (
        ("tally", count_wrong, DamagedBook, "its header counts .*plain Python must confirm that: .* more --memory[)]"),
        ("audit", fail, ResourceError, "plain Python must judge .*line 27.* in plain Python: use more --memory"),
    ):
        lie_by(name, kernel)
        raises(error, message, verification.verify, solved[0])


def fail_to_search(states, seconds):
    raise UncompiledRules("line 27: beyond 64 bits by +")


@pytest.mark.parametrize(
    ("search", "note"),
    [
        (lambda states, seconds: ([(state, Value(1, 99))] for state in states), "in plain Python, win in 99 compiled"),
        (fail_to_search, "line 27"),
    ],
    ids=["wrong", "failing"],
)
def test_plain_python_searches_where_the_compiled_search_differs(tmp_path, monkeypatch, search, note):
    path = tmp_path / "opening.lmdb"
    with monkeypatch.context() as patch:
        patch.setattr(extras, "has_kernels", lambda: False)
        pipeline.solve(load_game(GAME), path, max_ply=4)
    team = SimpleNamespace(map=search)
    monkeypatch.setattr(searcher, "Team", lambda rules, **options: contextlib.nullcontext(team))
    monkeypatch.setattr(claims, "SOON", 0.0)
    monkeypatch.setattr(claims, "is_built_in", lambda name: False)
    report = verification.verify(path, search=1e9)
    assert (report.verdict, report.by_search) == ("proved", report.to_search)
    assert note in report.note


DIFFERENT = {  # rules that compile to others
    "a-shift": "1 << (62 + state % 4) > 0",
    "a-product": "state * (1 << 60) % 7 == 3",
    "a-sum": "sum(x * (1 << 61) for x in (state, 3)) % 5 < 2",
    "a-float": "float(9007199254740993 + state % 2) == 9007199254740993 + state % 2",
    "a-rare-failure": "7 // ((1 << 62) * (4 * (state == 77)) + (state != 77)) == 7",
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", DIFFERENT)
def test_a_book_of_rules_that_compile_to_others_is_proved(tmp_path, monkeypatch, rule):
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    (tmp_path / "taking.py").write_text(RACE.replace("min(self.most,", f"min(2 + int({DIFFERENT[rule]}),"))
    game = load_game(f"{tmp_path / 'taking.py'}::Race:400")
    path = tmp_path / "taking.lmdb"
    pipeline.solve(game, path)  # in plain Python: it is small
    report = verification.verify(path, game)
    assert (report.verdict, report.states, report.plain) == ("proved", 400, 400)
    assert report.note
    with Book(path, game) as book:
        header, values = book.header, dict(book.items())
    tampered(path, header, {**values, 77: Value(1, 399)})
    raises(DamagedBook, "solve again", verification.verify, path, game)


def test_a_book_beyond_the_memory_is_verified_in_files_and_passes(tmp_path, solved, monkeypatch):
    path, header, values = solved
    monkeypatch.setattr(audit, "LEAST_SPAN", 50)
    with Book(path) as book:
        audit.check_values(book, Rules(book.game), memory=100)
    state = max(values)
    wrong = {one: value for one, value in values.items() if one != state} | {state - 1: values[state]}
    with Book(tampered(tmp_path / "wrong.lmdb", header, wrong)) as book, pytest.raises(DamagedBook):
        audit.check_values(book, Rules(book.game), memory=100)


@pytest.mark.parametrize(
    ("text", "method"),
    [(GAME, "auto"), ("kalah:2,2", "auto"), ("mu-torere", "auto"), ("piglet:3", "auto"), ("nim:2,3", "nimbers")],
)
def test_books_are_judged_alike_by_few_moves_at_a_time(tmp_path, monkeypatch, text, method):
    monkeypatch.setattr(audit, "ENDS", 24)
    with pipeline.solve(load_game(text), tmp_path / "book.lmdb", method=method) as book:
        audit.check_values(book, Rules(book.game), memory=1 << 20)


def test_memory_is_bounded(solved, monkeypatch):
    raises(ResourceError, "at least --memory 768M", verification.verify, solved[0], memory=1 << 20)
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    monkeypatch.setattr(verification, "PLAIN_BYTES", 1 << 30)
    raises(ResourceError, "or more --memory", verification.verify, solved[0])


def test_a_book_of_other_rules_is_refused(solved):
    raises(ForeignBook, "was made by rules", verification.verify, solved[0], load_game("connect-four:3,4"))


def top(**bodies):
    """Coins, counted up to the last number of 63 bits, from which play ends."""
    return ruled(
        "Top",
        fields="coins: int = 40\nlast: int = (1 << 63) - 1",
        initial="self.last - self.coins",
        actions="yield from range(1, 4)",
        result="state + action if action <= self.last - state else 0",
        is_terminal="state == 0",
        **bodies,
    )()


TOPS = [
    (top(), "instant"),
    (top(tier="self.coins + 1 if state == 0 else state - (self.last - self.coins)"), "instant"),
    (top(size="self.last + 1")._replace(last=(1 << 63) - 2), "ranked"),  # size() is above all states
]


@compiled
@pytest.mark.parametrize(("game", "codec"), TOPS, ids=("one-tier", "tiers", "ranks"))
def test_states_up_to_the_last_of_63_bits_are_solved_and_verified(tmp_path, monkeypatch, game, codec):
    """Where the last cell of a table ends is 2**63, which wraps."""
    interpret(monkeypatch)
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    said, truth = [], naive.solve(game)
    with pipeline.solve(game, tmp_path / "top.lmdb", codec=codec, say=said.append) as book:
        assert dict(book.items()) == {state: value for state, value in truth.items() if state}
    report = verification.verify(tmp_path / "top.lmdb", game)
    assert (report.verdict, report.note) == ("proved", None)
    assert not [line for line in said if "plain Python" in line]


@pytest.mark.parametrize(
    ("states", "width"),
    [
        ([0], 2),
        ([3, 5, 6, 70_000, 70_001], 4),
        (list(range(0, 1 << 20, 37)), 2),
        (list(range(0, 1 << 34, 1 << 20)), 4),
        ([0, 1, (1 << 63) - 2, (1 << 63) - 1], 8),
    ],
)
def test_packed_states_are_those_that_were_packed(states, width):
    shift, dtype = audit.layout(states[-1], len(states))
    lows, begins, cell = np.empty(len(states), dtype), np.zeros((states[-1] >> shift) + 2, np.int64), -1
    for at in range(0, len(states), 1000):
        part = np.array(states[at : at + 1000], np.int64)
        cell = audit.pack(part, at, shift, lows[at : at + 1000], begins, cell)
    begins[cell + 1 :] = len(states)
    packed, places = judging.Sorted(begins, lows, shift), {state: place for place, state in enumerate(states[:300])}
    assert lows.itemsize == width
    if width < 8:
        assert judging.states_from(packed, 0, len(states)).tolist() == states
        assert all(judging.look_up(packed, state) == places.get(state, -1) for state in [*range(-2, 40), *places])
    assert [audit.state_at(packed, place) for place in range(len(states))][-300:] == states[-300:]
