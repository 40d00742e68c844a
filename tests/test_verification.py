"""`verify` finds every kind of wrong book, with the kernels and without."""

from collections import Counter

import pytest

from solver.base import extras
from solver.base.errors import DamagedBook, ForeignBook, ResourceError
from solver.base.value import Value
from solver.book import Book, write_book
from solver.book.solution import TierCount
from solver.rules.fingerprint import fingerprint
from solver.rules.game import load_game
from solver.solving import pipeline
from solver.verifying import verification
from tests.books import KEYED_BY_STATE, header_of

GAME = "connect-four:4,3,3"


@pytest.fixture(params=["plain", "compiled"])
def way(request, monkeypatch):
    """Verify in both ways."""
    if request.param == "plain":
        monkeypatch.setattr(extras, "has_kernels", lambda: False)
    else:
        pytest.importorskip("numba")
        monkeypatch.setattr(verification, "FEW", 0)  # small books are verified in plain Python alone
    return request.param


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A right book's header and values."""
    path = tmp_path_factory.mktemp("verified") / "book.lmdb"
    pipeline.solve(load_game(GAME), path)
    with Book(path) as book:
        return path, book.header, dict(book.items())


def tampered(path, header, values, **changes):
    """A book of these values, its checksums in order, and whatever follows from sums in its header, too."""
    facts = header_of(values)
    extra = len(values) - header.stored
    row = max(range(len(header.tiers)), key=lambda row: header.tiers[row].win)
    tiers = list(header.tiers)
    tiers[row] = tiers[row]._replace(states=tiers[row].states + extra, win=tiers[row].win + extra)
    numbers = Counter(values.values())
    fields = {
        "palette": facts.palette,
        "longest": facts.longest,
        "numbers": [numbers[value] for value in facts.palette],
        "stored": len(values),
        "states": header.states + extra,
        "counts": {**header.counts, "win": header.counts["win"] + extra},
        "tiers": tiers,
        **changes,
    }
    states = sorted(values)
    place = {value: index for index, value in enumerate(facts.palette)}
    write_book(path, header._replace(**fields), [(states, [place[values[state]] for state in states])])
    return path


@pytest.mark.parametrize("codec", KEYED_BY_STATE)
def test_a_right_book_is_verified(tmp_path, solved, way, codec):
    _, header, values = solved
    report = verification.verify(tampered(tmp_path / "right.lmdb", header, values, codec=codec))
    assert (report.states, report.closed) == (len(values), True)
    state = max(state for state, value in values.items() if value.score)
    wrong = {**values, state: Value(0)}
    with pytest.raises(DamagedBook, match="solve again"):
        verification.verify(tampered(tmp_path / "wrong.lmdb", header, wrong, codec=codec))


@pytest.mark.parametrize("text", ["kalah:2,3", "dots-and-boxes:2,2", "mu-torere", "othello:4,2", "coins", "nim"])
def test_books_of_all_kinds_are_verified(tmp_path, monkeypatch, text):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    for method in ("auto", "alphabeta") if text != "mu-torere" else ("auto",):
        pipeline.solve(load_game(text), tmp_path / "book.lmdb", method=method)
        assert verification.verify(tmp_path / "book.lmdb").closed == (method == "auto")


CHANGES = {
    "another score": lambda value: Value(0) if value.score else Value(1, 3),
    "a ply too many": lambda value: Value(value.score, value.distance + 2) if value.score else Value(-1, 2),
    "the opposite": lambda value: Value(-value.score, value.distance) if value.score else Value(1, 1),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("part", [0.0, 0.31, 0.77, 1.0])
def test_any_wrong_value_is_found(tmp_path, solved, way, change, part):
    _, header, values = solved
    states = sorted(values)
    state = states[int(part * (len(states) - 1))]
    wrong = {**values, state: CHANGES[change](values[state])}
    with pytest.raises(DamagedBook, match="solve again"):
        verification.verify(tampered(tmp_path / "wrong.lmdb", header, wrong))


def test_a_missing_state_is_found(tmp_path, solved, way):
    _, header, values = solved
    state = sorted(values)[len(values) // 2]
    less = {one: value for one, value in values.items() if one != state}
    with pytest.raises(DamagedBook, match="lacks|solve again"):
        verification.verify(tampered(tmp_path / "less.lmdb", header, less))


def test_a_stray_state_is_found(tmp_path, solved, way):
    _, header, values = solved
    game = load_game(GAME)
    stray = next(
        state
        for state in range(2**12, 2**16)
        if state not in values and not game.is_terminal(state) and game.canonical(state) == state
    )
    with pytest.raises(DamagedBook):
        verification.verify(tampered(tmp_path / "more.lmdb", header, {**values, stray: Value(0)}))


def test_a_wrong_root_is_found(tmp_path, solved, way):
    _, header, values = solved
    with pytest.raises(DamagedBook, match="the start"):
        verification.verify(tampered(tmp_path / "root.lmdb", header, values, root=Value(0)))


def moved(header, source, target, *fields):
    """The tiers where one state of these fields is counted in another tier."""
    tiers = list(header.tiers)
    for place, step in ((source, -1), (target, 1)):
        tiers[place] = tiers[place]._replace(**{name: getattr(tiers[place], name) + step for name in fields})
    return {"tiers": tiers}


def one_more(header):
    """A finished state that there is not, counted wherever it must be."""
    last = header.tiers[-1]
    tiers = [*header.tiers[:-1], last._replace(states=last.states + 1, terminal=last.terminal + 1, win=last.win + 1)]
    counts = {**header.counts, "win": header.counts["win"] + 1}
    return {"tiers": tiers, "counts": counts, "states": header.states + 1, "terminal": header.terminal + 1}


def one_drawn(header):
    """A lost state counted as drawn."""
    tiers = list(header.tiers)
    tiers[4] = tiers[4]._replace(draw=tiers[4].draw + 1, loss=tiers[4].loss - 1)
    counts = header.counts
    return {"tiers": tiers, "counts": {**counts, "draw": counts["draw"] + 1, "loss": counts["loss"] - 1}}


def slower(header):
    """The losses are put a ply later than they come."""
    return {"palette": [value if value.score >= 0 else Value(-1, value.distance + 1) for value in header.palette]}


LIES = {
    "a state of another tier": lambda header, values: moved(header, 3, 4, "states", "win"),
    "a finished state of another tier": lambda header, values: moved(header, -2, -3, "terminal"),
    "tiers of other numbers": lambda header, values: {
        "tiers": [tier._replace(tier=tier.tier + 1) for tier in header.tiers]
    },
    "a finished state more": lambda header, values: one_more(header),
    "a loss counted as a draw": lambda header, values: one_drawn(header),
    "another value's state": lambda header, values: {
        "numbers": [header.numbers[0] - 1, header.numbers[1] + 1, *header.numbers[2:]]
    },
    "another longest win": lambda header, values: {"longest": (header.longest[0], header.longest[1] + 1)},
    "a longest win that is not the first": lambda header, values: {
        "longest": (header.longest[0], max(state for state in values if values[state] == Value(1, header.longest[0])))
    },
    "another root": lambda header, values: {"root": header.palette[0]},
    "a palette of other distances": lambda header, values: slower(header),
    "another board": lambda header, values: {"game": "connect-four:3,4"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_found(tmp_path, solved, way, lie):
    """The header agrees with itself, and all checksums are right."""
    _, header, values = solved
    assert header.numbers[1] > 1
    path = tampered(tmp_path / "lie.lmdb", header, values, **LIES[lie](header, values))
    with pytest.raises((DamagedBook, ForeignBook), match=r"(solve again|the book .*)$") as refused:
        verification.verify(path, load_game(GAME))
    assert "malformed" not in str(refused.value)


def test_a_book_that_denies_what_its_rules_know_is_refused(tmp_path, solved, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    _, header, values = solved
    path = tmp_path / "lie.lmdb"
    with pytest.raises(DamagedBook, match="child that the book lacks"):
        verification.verify(tampered(path, header, values, symmetry=False))
    scores = {state: Value(value.score) for state, value in values.items()}
    margins = {"score_game": True, "root": Value(header.root.score), "longest": None}
    with pytest.raises(DamagedBook, match="says score_game True, the rules do not"):
        verification.verify(tampered(path, header, scores, **margins))
    pipeline.solve(load_game("mu-torere"), path)
    with Book(path) as book:
        whole, drawn = book.header, dict(book.items())
    tiers = [TierCount(0, whole.states, whole.terminal, *whole.counts.values())]
    with pytest.raises(DamagedBook, match="lists tiers, the rules know none"):
        verification.verify(tampered(path, whole._replace(tiers=tiers), drawn))
    pipeline.solve(load_game("coins"), path)
    with Book(path) as book:
        whole, moves = book.header, dict(book.items())
    with pytest.raises(DamagedBook, match="says that it is folded, the rules know no symmetry"):
        verification.verify(tampered(path, whole, moves, symmetry=True))


def test_what_compiled_rules_confirm_is_verified_in_plain_python(tmp_path, solved, monkeypatch):
    """As if the compiled rules had confirmed a book that the plain ones do not."""
    path, header, values = solved
    assert verification.verify(path).plain == len(values)
    monkeypatch.setattr(verification, "_compiled", lambda *arguments: True)
    assert 1000 < verification.verify(path).plain < len(values)
    wrong = {state: Value(value.score, value.distance + 2) if value.score else value for state, value in values.items()}
    with pytest.raises(DamagedBook, match="than its children give it: .*compiled, the rules agree with the book"):
        verification.verify(tampered(tmp_path / "wrong.lmdb", header, wrong, root=header.root))


OVERFLOWING = """
from typing import NamedTuple

class Wide(NamedTuple):
    coins: int = 30

    def initial(self):
        return self.coins

    def actions(self, state):
        for coins in range(1, min(3, state) + 1):
            yield coins

    def result(self, state, action):
        return state - action

    def is_terminal(self, state):
        return state == 0

    def utility(self, state):  # plain -1: the last coin wins; in 64 bits 1: it loses
        return -1 if ((state + 2) << 62) >> 62 == state + 2 else 1

    def tier(self, state):
        return self.coins - state
"""


@pytest.mark.slow
def test_rules_that_compile_to_other_rules_are_found(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(verification, "FEW", 0)
    (tmp_path / "wide.py").write_text(OVERFLOWING)
    game = load_game(f"{tmp_path / 'wide.py'}::Wide")
    path = tmp_path / "wide.lmdb"
    pipeline.solve(load_game("coins:30"), path)
    with Book(path) as book:  # who takes the last coin loses
        header, values = book.header, dict(book.items())
    tampered(path, header, values, game="wide.py::Wide:30", rules=fingerprint(game))
    with pytest.raises(DamagedBook, match="than its children give it: .*compiled, the rules agree with the book"):
        verification.verify(path, game)


def test_a_book_beyond_the_memory_is_verified_in_files_and_passes(tmp_path, solved, monkeypatch):
    pytest.importorskip("numba")
    from solver.verifying import audit

    path, header, values = solved
    monkeypatch.setattr(audit, "LEAST_SPAN", 500)
    with Book(path) as book:
        audit.check_values(book, load_game(GAME), memory=1000)
    state = max(values)
    wrong = {one: value for one, value in values.items() if one != state} | {state - 1: values[state]}
    with Book(tampered(tmp_path / "wrong.lmdb", header, wrong)) as book, pytest.raises(DamagedBook):
        audit.check_values(book, load_game(GAME), memory=1000)


def test_memory_is_bounded(solved, monkeypatch):
    with pytest.raises(ResourceError, match="at least --memory 768M"):
        verification.verify(solved[0], memory=1 << 20)
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    monkeypatch.setattr(verification, "PLAIN_BYTES", 1 << 30)
    with pytest.raises(ResourceError, match="or more --memory"):
        verification.verify(solved[0])


def test_a_book_of_other_rules_is_refused(solved, way):
    path, _, _ = solved
    with pytest.raises(ForeignBook, match="was made by rules"):
        verification.verify(path, load_game("connect-four:3,4"))


def test_a_ring_of_unfounded_wins_is_found(tmp_path):
    """Values that agree with each other but not with any distance (a cycle of unsupported wins and losses)."""
    game = load_game("mu-torere")
    pipeline.solve(game, tmp_path / "right.lmdb")
    with Book(tmp_path / "right.lmdb") as book:
        header, values = book.header, dict(book.items())
    header = header._replace(tiers=[TierCount(0, header.states, header.terminal, *header.counts.values())])
    drawn = {state for state, value in values.items() if value.score == 0}
    wrong = {state: Value(1, 7) if state in drawn else value for state, value in values.items()}
    with pytest.raises(DamagedBook):
        verification.verify(tampered(tmp_path / "ring.lmdb", header, wrong, tiers=None))
