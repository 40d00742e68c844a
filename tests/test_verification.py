"""`verify` finds every kind of wrong book, with the kernels and without."""

import pytest

from solver import extras, pipeline, verification
from solver.book import Book, Header, write_book
from solver.errors import DamagedBook, ForeignBook
from solver.fingerprint import fingerprint
from solver.game import load_game
from solver.value import Value
from tests.books import header_of

GAME = "connect-four:4,3"


@pytest.fixture(params=["plain", "compiled"])
def way(request, monkeypatch):
    """Verify in both ways."""
    if request.param == "plain":
        monkeypatch.setattr(extras, "has_kernels", lambda: False)
    else:
        pytest.importorskip("numba")
    return request.param


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A right book's header and values."""
    path = tmp_path_factory.mktemp("verified") / "book.lmdb"
    pipeline.solve(load_game(GAME), path)
    with Book(path) as book:
        return path, book.header, dict(book.items())


def tampered(path, header, values, **changes):
    """A book of these values, its checksums and its header's sums in order."""
    facts = header_of(values)
    missing = len(values) - header.stored
    counts = {name: header.counts[name] for name in header.counts}
    facts = {
        **header._asdict(),
        "palette": facts.palette,
        "longest": facts.longest,
        "stored": len(values),
        "states": header.states + missing,
        "numbers": None,
        "tiers": None,
        "counts": {**counts, "win": counts["win"] + missing},
        **changes,
    }
    header = Header(**facts)
    states = sorted(values)
    place = {value: index for index, value in enumerate(header.palette)}
    write_book(path, header, [(states, [place[values[state]] for state in states])])
    return path


def test_a_right_book_is_verified(solved, way):
    path, header, values = solved
    report = verification.verify(path)
    assert (report.states, report.closed) == (len(values), True)


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
        verification.verify(tampered(tmp_path / "root.lmdb", header, values, root=Value(1, 9)))


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
    drawn = {state for state, value in values.items() if value.score == 0}
    wrong = {state: Value(1, 7) if state in drawn else value for state, value in values.items()}
    with pytest.raises(DamagedBook):
        verification.verify(tampered(tmp_path / "ring.lmdb", header, wrong, rules=fingerprint(game)))
