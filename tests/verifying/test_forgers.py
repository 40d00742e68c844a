"""Books written to deceive, every checksum right: `verify` proves none of them, and what is honest it does."""

import functools
import inspect
import json
import random
import re
import subprocess
from collections import Counter

import pytest

from solver import trim
from solver.base import extras
from solver.base.errors import BookError, DamagedBook, MethodError
from solver.base.expectations import MIDDLE, Estimate
from solver.base.value import Value, sign_of
from solver.book import Book, Trim, writer
from solver.book.solution import PROOF
from solver.book.writer import write_book
from solver.export import export
from solver.export.readers import WEB
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from solver.search import nets, value_iteration
from solver.search.derive import steps_of
from solver.solving import pipeline
from solver.solving.ways import opening
from solver.verifying import audit, verification
from tests import naive
from tests.books import write_values
from tests.commands import ok, run
from tests.exports import needs_node, with_facts
from tests.interpreted import interpret
from tests.modules import exporting, forged, of_rules_alone
from tests.naive import enumerate_states
from tests.refusals import raises
from tests.ways import compiled, slow, what_is_marked_by_kernels
from tests.written import ruled

__all__ = ["what_is_marked_by_kernels"]  # a fixture

verify = functools.partial(verification.verify, search=1e9)  # a search ends, however slow the machine is


def ring(name, fields="", **bodies):
    """A stone goes round in a ring; who does not move it on gives up. Nobody must ever lose.

    With `open` the ring ends: at the last place one must give up.
    """
    bodies = {"is_terminal": "state >= 2 * self.size", **bodies}
    return ruled(
        name,
        fields=f"{fields}\nsize: int = 5\nopen: bool = False",
        actions="yield 0\nif not self.open or state // 2 < self.size - 1:\n    yield 1",
        result="(1 - state % 2) + 2 * ((state // 2 + 1) % self.size if action else self.size)",
        to_move="state % 2",
        utility="1",
        **bodies,
    )


Ring, Tiered = ring("Ring"), ring("Tiered", tier="int(self.is_terminal(state))")
Margins = ring("Margins", "score_game = True")
TieredMargins = ring("TieredMargins", "score_game = True", tier="int(self.is_terminal(state))")
RINGS = [Ring, Tiered, Margins, TieredMargins]
RING = f"{inspect.getfile(Ring.initial)}::Ring"  # its name
Table = ring("Table", is_terminal="(False,)[state]")


@pytest.fixture(autouse=True)
def careless(monkeypatch):
    """A forger's writer does not read back what it has written."""
    monkeypatch.setattr(writer, "_read_back", lambda finished, header: None)


@pytest.fixture(autouse=True)
def plainly(monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)


def facts_of(game, values, **changes):
    """What an honest header says of a complete book of these values."""
    rules, states = Rules(game), [] if "states" in changes else enumerate_states(game, True)
    ends = {state: Value(rules.utility(state)) for state in states if rules.is_terminal(state)}
    every = [sign_of(value) for value in (*values.values(), *ends.values())]
    outcomes = [value.outcome for value in every]
    scores = bool(getattr(game, "score_game", False))
    return {
        "game": rules.name,
        "rules": fingerprint(game),
        "symmetry": rules.folds,
        "score_game": scores,
        "states": len(values) + len(ends),
        "terminal": len(ends),
        "root": values.get(rules.canonical(game.initial())),
        "counts": {name: outcomes.count(name) for name in ("win", "draw", "loss")},
        "wdl": not scores and any(value.score and value.distance is None for value in values.values()),
        **changes,
    }


def forge(path, game, values, scope="complete", **changes):
    """Write a book of these values, whose header is honest but for the changes."""
    if scope != "complete":
        changes = {"method": "alphabeta", "states": None, "terminal": None, **changes}
    write_values(path, values, facts=facts_of(game, values, scope=scope, **changes))
    return path


def favouring(game, side, worth=1):
    """Values by which one side wins whatever is a draw: all agree with their children's, and are false."""
    rules = Rules(game)
    drawn = [state for state in enumerate_states(game, True) if not rules.is_terminal(state)]
    return {state: Value(worth if rules.to_move(state) == side else -worth) for state in drawn}


def refused(path, game=None):
    with pytest.raises(BookError) as refusal:
        verify(path, game)
    return str(refusal.value)


def by_kernels_too(monkeypatch):
    """Once in plain Python, and once by kernels."""
    yield False
    interpret(monkeypatch)
    monkeypatch.setattr(extras, "has_kernels", lambda: True)
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    yield True


METHODS = ["minimax", "retrograde", "alphabeta", "expectiminimax", "value-iteration", "import"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ring", RINGS)
def test_values_that_rest_on_each_other_in_a_circle_are_refused(tmp_path, ring, method):
    game = ring()
    for side in range(2):
        for wdl in (False, True):
            try:
                path = forge(tmp_path / f"{side}-{wdl}.lmdb", game, favouring(game, side), method=method, wdl=wdl)
            except ValueError:  # the writer itself refuses the header
                continue
            message = refused(path, game)
            assert method != "minimax" or "play comes back to state" in message or "malformed" in message


def test_a_draw_that_a_book_without_distances_calls_a_win_is_refused(tmp_path, monkeypatch):
    game = load_game("mu-torere")
    with pipeline.solve(game) as book:
        truth = dict(book.items())
    first = {state for layer in opening.plies(Rules(game), len(truth))[::2] for state in layer}
    drawn = {state: Value(1 if state in first else -1) for state, value in truth.items() if not value.score}
    false = {**{state: sign_of(value) for state, value in truth.items()}, **drawn}
    assert sum(false[state] != sign_of(truth[state]) for state in truth) > 50
    assert "play comes back" in refused(forge(tmp_path / "wdl.lmdb", game, false), game)
    forge(tmp_path / "round.lmdb", game, false, method="retrograde")
    pipeline.solve(game, tmp_path / "whole.lmdb", wdl=True).close()
    for _ in by_kernels_too(monkeypatch):
        assert "rests on itself" in refused(tmp_path / "round.lmdb", game)
        assert verify(tmp_path / "whole.lmdb").verdict == "proved"
    forge(tmp_path / "right.lmdb", game, truth, method="retrograde")
    assert verify(tmp_path / "right.lmdb").verdict == "proved"
    assert "minimax does not solve" in refused(forge(tmp_path / "named.lmdb", game, truth), game)


@pytest.mark.parametrize("distance", [1, 7, 39, 1 << 30])
@pytest.mark.parametrize("ring", [Ring, Tiered])
def test_no_distances_hold_up_a_circle(tmp_path, ring, distance):
    """Whatever they are: the same everywhere, falling along the ring, or those of some states alone."""
    for worth in (
        lambda state, score: Value(score, distance),
        lambda state, score: Value(score, distance + state // 2 * 2 + state % 2),
        lambda state, score: Value(0) if state > 5 else Value(score, distance),
    ):
        values = {state: worth(state, value.score) for state, value in favouring(ring(), 0).items()}
        path = forge(tmp_path / "distant.lmdb", ring(), values, method="retrograde")
        assert "than its children give it" in refused(path, ring())


@pytest.mark.parametrize("ring", RINGS)
def test_what_ends_is_proved_with_and_without_distances(tmp_path, monkeypatch, ring):
    game = ring(open=True)
    with pipeline.solve(game, tmp_path / "whole.lmdb", method="minimax") as book:
        truth = dict(book.items())
    if not hasattr(game, "score_game"):
        signs = {state: sign_of(value) for state, value in truth.items()}
        assert verify(forge(tmp_path / "wdl.lmdb", game, signs), game).verdict == "proved"
        state = max(signs)
        signs[state] = Value(-signs[state].score)
        assert "than its children" in refused(forge(tmp_path / "wrong.lmdb", game, signs), game)
    circle = forge(tmp_path / "circle.lmdb", ring(), favouring(ring(), 0))
    for _ in by_kernels_too(monkeypatch):
        assert verify(tmp_path / "whole.lmdb", game).verdict == "proved"
        assert "play comes back" in refused(circle, ring())


@pytest.fixture
def judged(tmp_path):
    """A folder of books for each verdict, and one with a file that is not a book."""
    pipeline.solve(Ring(), tmp_path / "proved.lmdb").close()
    forge(tmp_path / "wrong.lmdb", Ring(), favouring(Ring(), 0))
    pipeline.solve("connect-four:3,2", tmp_path / "opening.lmdb", max_ply=3).close()
    (tmp_path / "text.lmdb").write_text("no book")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options", "code", "verdict", "words"),
    [
        ("proved", ["--game", RING], 0, "proved", "every value follows from its children"),
        ("wrong", ["--game", RING], 5, "wrong", "play comes back to state"),
        ("text", [], 5, "wrong", "is not an LMDB file"),
        ("none", [], 2, None, "cannot be read (No such file"),
        ("opening", ["--search", "0"], 7, "consistent", "0 of 11 values proved by search in 0 s (--search)"),
        ("opening", ["--search", "100000"], 0, "proved", "11 of 11 values proved by search, the others follow from"),
    ],
)
def test_the_verdict_is_said_in_words_in_json_and_by_the_exit_code(judged, name, options, code, verdict, words):
    path = judged / f"{name}.lmdb"
    found, out, err = run("verify", path, *options)
    assert found == code and words in out + err and (out if code in (0, 7) else err).count("\n") == 1
    assert out.startswith(f"{path}: {verdict}: ") if code in (0, 7) else out == "" and err.startswith("Error: ")
    found, out, _ = run("verify", path, *options, "--json")
    assert found == code and (verdict is None) == (out == "")
    if verdict:
        facts = json.loads(out)
        assert facts["verdict"] == verdict and words in facts["basis"]
        assert name != "opening" or (facts["by_search"], facts["to_search"]) == (11 if code == 0 else 0, 11)


@pytest.fixture(scope="module")
def small():
    """Games of a few states, with their values: drawn, lost, margins, with cycles."""
    found = {}
    for text in ("mu-torere", "coins", "dots-and-boxes:2,1", "hexapawn", "connect-four:3,2"):
        game = load_game(text)
        with pipeline.solve(game) as book:
            found[text] = game, dict(book.items()), book.header
    return found


SCOPES = {"exact": {}, "ply 0": {}, "trimmed": {"trim": Trim("0" * 64, "complete", max_ply=0)}}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("text", ["connect-four:3,2", "mu-torere"])
def test_one_state_that_is_called_a_win_is_refused(small, tmp_path, text, scope):
    game, truth, header = small[text]
    start = Rules(game).canonical(game.initial())
    assert truth[start] == Value(0)
    method = header.method if scope == "trimmed" else "alphabeta"
    path = tmp_path / "one.lmdb"
    for false in (Value(1, 5), Value(-1, 4), Value(1, 1)):
        forge(path, game, {start: false}, scope, method=method, **SCOPES[scope])
        assert "a search finds draw" in refused(path, game) or false == Value(1, 1)
        report = verify(path, game, search=0)
        assert (report.verdict, report.by_search, report.to_search) == ("consistent", 0, 1)
    report = verify(forge(path, game, {start: Value(0)}, scope, method=method, **SCOPES[scope]), game)
    assert (report.verdict, report.by_search, report.to_search) == ("proved", 1, 1)


TRIMS = {
    "2-plies": Trim(plies=2),
    "to-ply-3": Trim(max_ply=3),
    "to-ply-4-but-1": Trim(max_ply=4, plies=1),
    "first": Trim(side="first"),
    "both-but-1": Trim(side="both", plies=1),
    "first-to-ply-5": Trim(side="first", max_ply=5),
}


@pytest.mark.parametrize("wanted", TRIMS.values(), ids=TRIMS)
@pytest.mark.parametrize("text", ["hexapawn", "mu-torere", *slow("coins", "dots-and-boxes:2,1")])
def test_trimmed_books_are_proved_and_altered_ones_refused(small, tmp_path, text, wanted):
    game, _, _ = small[text]
    pipeline.solve(game, tmp_path / "whole.lmdb").close()
    trim(tmp_path / "whole.lmdb", tmp_path / "some.lmdb", wanted)
    with Book(tmp_path / "some.lmdb") as book:
        header, values = book.header, dict(book.items())
    assert verify(tmp_path / "some.lmdb").verdict == "proved"
    path, start = tmp_path / "false.lmdb", Rules(game).canonical(game.initial())
    facts = {"method": header.method, "root": header.root, "trim": header.trim, "codec": header.codec}
    forged = functools.partial(forge, path, game, scope="trimmed", **facts)
    for state in sorted(values)[:: 1 + len(values) // 3]:
        for false in [value for value in set(values.values()) if value != values[state]][:1]:
            refused(forged({**values, state: false}), game)
        less = {one: value for one, value in values.items() if one != state}
        if less and wanted.side is None:
            assert "lack" in refused(forged(less), game)
    if wanted.side is not None and len(values) > 1:  # one state may be done without
        refused(forged({start: values[start]} if start in values else dict([values.popitem()])), game)
    refused(forged(values, root=Value(1) if header.score_game else Value(1, 3)), game)


def test_margins_and_signs_in_a_circle_are_searched_even_where_all_children_are_there(tmp_path):
    for game in (Ring(), Tiered(), Margins()):
        for some in (Trim("0" * 64, "complete", plies=1), Trim("0" * 64, "complete", max_ply=9)):
            path = forge(tmp_path / "ring.lmdb", game, favouring(game, 0), "trimmed", method="minimax", trim=some)
            if type(game) is Margins:
                assert verification.verify(path, game, search=0.1).verdict == "consistent"  # whose search has no end
            else:
                assert "a search finds draw" in refused(path, game)


def test_an_opening_book_follows_from_its_deepest_ply(small, tmp_path):
    game, truth, _ = small["connect-four:3,2"]
    pipeline.solve(game, tmp_path / "three.lmdb", max_ply=3).close()
    report = verify(tmp_path / "three.lmdb")
    with Book(tmp_path / "three.lmdb") as book:
        header, values = book.header, dict(book.items())
    deepest = {state for state in values if Rules(game).tier(state) == 3}
    assert (report.verdict, report.by_search, report.to_search) == ("proved", len(deepest), len(deepest))
    assert len(deepest) < len(values)
    for shape in ({**values, max(deepest): Value(1, 6)}, {s: v for s, v in values.items() if s != max(deepest)}):
        refused(forge(tmp_path / "false.lmdb", game, shape, "ply 3", root=header.root), game)
    # a false value all the way up: every value agrees with the others
    false = {state: Value((1, -1)[Rules(game).tier(state) % 2], 10 - Rules(game).tier(state)) for state in values}
    path = forge(tmp_path / "up.lmdb", game, false, "ply 3")
    assert verify(path, game, search=0).verdict == "consistent"
    assert "a search finds" in refused(path, game)


def test_no_number_that_is_no_state_is_believed(small, tmp_path):
    for text in ("connect-four:3,2", "coins", "mu-torere"):
        game, truth, header = small[text]
        for state in (1 << 62, (1 << 40) + 1, 77_777):
            values = {Rules(game).canonical(game.initial()): header.root, state: Value(1, 3)}
            path = forge(tmp_path / "odd.lmdb", game, values, "exact")
            try:
                assert verify(path, game, search=0.05).verdict == "consistent"  # no time suffices
            except DamagedBook:
                assert state not in truth


def test_counts_and_strays_of_partial_books_are_looked_at(small, tmp_path):
    """And a small book that claims a large game is refused at once."""
    game, truth, header = small["connect-four:3,2"]
    start = Rules(game).canonical(game.initial())
    for scope in ("ply 0", "trimmed"):
        facts = {"method": header.method if scope == "trimmed" else "alphabeta", **SCOPES[scope]}
        path, values = tmp_path / "counts.lmdb", {start: truth[start]}
        forge(path, game, values, scope, **facts, counts={"win": 1, "draw": 0, "loss": 0})
        assert "its header counts" in refused(path, game)
        values[max(truth)] = truth[max(truth)]
        assert "does not come to state" in refused(forge(path, game, values, scope, **facts), game)
    large = load_game("connect-four:7,6")
    for scope in ("ply 42", "ply 999999999"):
        values = {Rules(large).canonical(large.initial()): Value(1, 41)}
        assert "lacks state" in refused(forge(tmp_path / "large.lmdb", large, values, scope), large)


def leant_on(game, values, slack):
    """Expectations that agree with their children's but for `slack` a ply, always to the first player's good."""
    rules = Rules(game, False)

    def worth(state, action, child):
        score = rules.utility(child) if rules.is_terminal(child) else leant[child]
        return score if rules.same_mover(state, action, child) else -score

    leant = dict(values)
    for _ in range(100):
        for state in sorted(leant, key=rules.tier, reverse=True):
            seen = [(weight, worth(state, action, child)) for weight, action, child in rules.children(state)]
            total = sum(weight for weight, _ in seen)
            best = sum(weight * score for weight, score in seen) / total if total else max(score for _, score in seen)
            leant[state] = max(-1.0, min(1.0, best + (slack if rules.to_move(state) == 0 else -slack)))
    return leant


def forge_expectations(path, book, values, error, **changes):
    """The book with other values and another error, its counts put right; `changes` of its header."""
    header, finished = book.header, Counter(book.header.counts)
    finished.subtract(sign_of(value).outcome for value in book.values())
    outcomes = Counter(sign_of(Value(score)).outcome for score in values.values())
    numbers = {state: round(score / header.expectation.step) + MIDDLE for state, score in sorted(values.items())}
    facts = {
        "book_id": b"",
        "digest": "",
        "tiers": None,
        "stored": len(values),
        "expectation": header.expectation._replace(error=error),
        "root": Value((numbers[book.game.initial()] - MIDDLE) * header.expectation.step),
        "counts": {name: finished[name] + outcomes[name] for name in ("win", "draw", "loss")},
    }
    write_book(path, header._replace(**{**facts, **changes}), [(list(numbers), list(numbers.values()))])
    return path


@pytest.mark.parametrize("text", ["piglet:2", "pig:3", "backgammon-bearoff:1,4"])
def test_errors_that_add_up_are_not_proved(tmp_path, monkeypatch, text):
    """Two games have cycles, one has none. Values that take too long to prove are "consistent" alone."""
    honest, forged, leaning, modest, proud = (tmp_path / f"{name}.lmdb" for name in "abcde")
    with pipeline.solve(text, honest, symmetry=False) as book:
        values, start = {state: value.score for state, value in book.items()}, book.game.initial()
        false, leant = leant_on(book.game, values, 0.0199), leant_on(book.game, values, 1.9e-7)
        assert abs(false[start] - values[start]) > (0.07 if text == "piglet:2" else 0.02)
        for path, some, error in ((forged, false, 0.01), (leaning, leant, 1e-7), (forged, values, 0.0)):
            forge_expectations(path, book, some, error)
            assert (f"its header claims {error} at most" if error else "") in refused(path)
        forge_expectations(modest, book, values, 0.01)
        anew = value_iteration.solve(book.game, symmetry=False)
        with Book(forge_expectations(proud, book, leant, 0.01)) as leant_book:
            off = max(abs(value.score - anew.table[state] / anew.units.point) for state, value in leant_book.items())
        # What is known of the truth is not enough to refuse a claim of just that
        forge_expectations(proud, book, leant, off)
    report = verify(proud)
    assert report.verdict == "consistent" and off < report.within < off + 1e-9 and "the header claims" in report.basis
    with monkeypatch.context() as patch:
        patch.setattr(verification, "MOST_VISITS", 10)
        patch.setattr(extras, "has_kernels", lambda: False)
        report = verify(honest)
        assert (report.verdict, report.within) == ("consistent", None) and "too long in plain Python" in report.basis
    assert json.loads(ok("verify", modest, "--json"))["within"] < 1e-9
    facts = json.loads(ok("verify", honest, "--json"))
    assert facts["verdict"] == "proved" and facts["within"] <= 2.0**-31 + 1e-12
    said = ok("verify", honest)
    assert re.search(r": proved: .* every value is within [1-4]\.[0-9]{2}e-10 of the truth$", said.strip())
    monkeypatch.setattr(nets, "MOST_ROUNDS", 1)
    for path in (honest, leaning) if text != "backgammon-bearoff:1,4" else ():
        code, out, _ = run("verify", path)
        assert code == 7 and "consistent" in out and "the truth was not bounded: " in out and "after 1 rounds" in out
        assert json.loads(run("verify", path, "--json")[1])["within"] is None


# Pay in one, then a coin ends it, or all begins again, or, if nobody stays, a way out
Toll = ruled(
    "Toll",
    fields="score_game = True\nstays: bool = True",
    actions="if state != 2:\n    yield 0",
    result="2 if state == 0 else 1",
    reward="1 if state == 0 else 0",
    to_move="0",
    tier="0 if self.stays else (0, 3, 1, 2)[state]",
    is_terminal="state == 1",
    utility="0",
    chance="if state == 2:\n    yield 1, 1\n    yield 1, 0 if self.stays else 3",
)


def test_moves_that_score_where_play_comes_back_are_not_bounded(tmp_path):
    """Nothing tells what they are worth at most; no method solves such a game."""
    game, path = Toll(), tmp_path / "forged.lmdb"
    raises(MethodError, "rewards", pipeline.solve, game, tmp_path / "none.lmdb")
    changes = {"game": Rules(game).name, "rules": fingerprint(game), "states": 3, "method": "value-iteration"}
    with pipeline.solve(Toll(False)) as book:
        forge_expectations(path, book, {0: 1.0, 2: 0.25}, 0.3, **changes)  # they are 2 and 1
    assert "has moves that stay in a tier, and rewards" in refused(path, game)


@pytest.mark.slow
@compiled
def test_a_large_book_is_solved_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: True)
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    with pipeline.solve("piglet:10", tmp_path / "honest.lmdb", symmetry=False) as book:
        values, error = {state: value.score for state, value in book.items()}, book.expectation.error
        forge_expectations(tmp_path / "forged.lmdb", book, leant_on(book.game, values, 1.9e-7), 1e-7)
        forge_expectations(tmp_path / "modest.lmdb", book, values, 0.01)
    for name in ("honest", "modest"):
        report = verify(tmp_path / f"{name}.lmdb")
        assert (report.verdict, report.within) == ("proved", pytest.approx(error, rel=1e-12))
    assert "its header claims 1e-07 at most" in refused(tmp_path / "forged.lmdb")


# Go up a stair, or pass; who goes up the third wins. On the second one wins; below, all pass for ever
Stairs = ruled(
    "Stairs",
    fields="",
    actions="yield from (0, 1)",
    result="(state ^ 1) + 2 * action",
    to_move="state % 2",
    is_terminal="state >= 6",
    tier="state // 2",
)


def prove_falsely(path, game, values, root, side="first", **changes):
    rules = Rules(game, symmetry=False)
    facts = {"trim": Trim(fingerprint(game), PROOF, side=side), "symmetry": False, "wdl": True, "longest": None}
    forge(path, game, values, "trimmed", root=Value(root), **facts, **changes)
    with Book(path, rules.game) as book:
        export(book, path.with_suffix(".bin"))
    return path.with_suffix(".bin")


def checked(book, module):
    """What `check.mjs` says: its exit code, and its one line; two if each side has something to prove."""
    done = subprocess.run(["node", WEB / "reader" / "check.mjs", book, module], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert said.count("\n") in (1, 2) and all(line.isprintable() for line in said.splitlines()), said
    return done.returncode, said.strip()


@pytest.fixture(scope="module")
def stairs():
    return Stairs(), of_rules_alone(Rules(Stairs()))


SEARCHING = "lay_out", "begin", "go_on", "found", "spent", "forget"
FORGERIES = {  # states and scores of a book, its root, side and start; then what is said of it
    "a-circle": ({0: 1, 2: 1, 4: 1}, 1, {}, (1, "play comes back to a position, so that its win rests on itself")),
    "a-win": ({0: 0, 2: 0, 4: 1}, 1, {}, (1, "the book says 0 where 1 is needed, at the start")),
    "a-gap": ({0: 0, 4: 1}, 0, {}, (1, "no move is known to be worth 0, at the start")),
    "no-start": ({2: 0, 4: 1}, 1, {}, (1, "the book has no value, at the start")),
    "a-loss": ({0: -1, 2: -1, 4: -1}, -1, {}, (1, "the book's side loses, and has nothing to prove, at the start")),
    "a-finished-start": ({0: 1}, 1, {"start": 6}, (2, "the game is over at #6, where the book begins")),
    "a-lost-end": ({0: 0}, -1, {"start": 6}, (2, "the game is over at #6, where the book begins")),
    "another-start": ({4: 1}, 1, {"start": 4}, (0, " from #4: the first player gets at least a win, proved in 1")),
    "a-draw": ({0: 0, 2: 0, 4: 1}, 0, {}, (0, ": the first player gets at least a draw, proved in 3 positions")),
    "a-draw-for-the-other": ({1: 0, 3: 0, 5: 1}, 0, {"side": "second"}, (0, "the second player gets at least a draw")),
}


# Who moves may move again, and a move may stay in its tier
Uneven = ruled(
    "Uneven",
    fields="",
    actions="yield from (1, 3, 5)",
    result="state + action",
    to_move="(state + state // 9) % 2",
    is_terminal="state >= 600",
    utility="state % 3 - 1",
    tier="state - (state % 40 == 7)",
)


@compiled
@pytest.mark.parametrize("game", [Uneven(), *slow("hex:3", "connect-four:4,3", "cram:3,4")])
def test_bounds_by_moves_and_replies_are_those_of_the_definition(tmp_path, monkeypatch, game):
    game, chance, found = load_game(game) if isinstance(game, str) else game, random.Random(1), Counter()
    monkeypatch.setattr(extras, "has_kernels", lambda: True)
    rules, truth = Rules(game), naive.solve(game, symmetry=True)
    honest = {state: sign_of(value) for state, value in truth.items() if not rules.is_terminal(state)}

    def bounds(state, values, plies):
        worths = []
        for key, end, same, _ in steps_of(rules, state):
            if end is not None:
                low = high = ((end > 0) - (end < 0)) * (1 if same else -1)
            elif same or rules.tier(key) == rules.tier(state):
                low, high = -1, 1
            elif plies:
                high, low = (-worth for worth in bounds(key, values, 0))
            else:
                low, high = (-values[key].score,) * 2 if key in values else (-1, 1)
            worths.append((low, high))
        return [max(column) for column in zip(*worths, strict=True)]

    for share in (1.0, 0.9, 0.5):
        values = {state: value for state, value in honest.items() if chance.random() < share}
        values.update((state, Value(chance.choice((-1, 0, 1)))) for state in chance.sample([*values], len(values) // 9))
        facts = {"trim": Trim(fingerprint(game), PROOF, side="both"), "wdl": True, "longest": None}
        forge(tmp_path / "some.lmdb", game, values, "trimmed", root=Value(0), **facts)
        with Book(tmp_path / "some.lmdb") as book:
            bounded = audit.bounds(book, Rules(game, True, book.header.kind.basis)).T.tolist()
            assert bounded == [bounds(state, values, 1) for state in book]
            found.update(map(tuple, bounded))
    assert len(found) >= 5


@needs_node
@pytest.mark.parametrize("name", FORGERIES)
def test_another_program_proves_what_verify_proves(stairs, tmp_path, name):
    scores, root, facts, (code, said) = FORGERIES[name]
    game, module = stairs
    values = {state: Value(score) for state, score in scores.items()}
    book = prove_falsely(tmp_path / "forged.lmdb", game, values, root, **facts)
    (tmp_path / "game.wasm").write_bytes(exporting(module, *SEARCHING))
    found = checked(book, tmp_path / "game.wasm")
    assert found[0] == code and said in found[1]
    for play in (False, True):
        if code:
            raises(BookError, None, verify, tmp_path / "forged.lmdb", game, play=play)
        else:
            assert verify(tmp_path / "forged.lmdb", game, play=play).verdict == "proved"


@pytest.mark.parametrize("scope", ["complete", "exact", "ply 3", "trimmed", "grown"])
def test_states_at_which_the_rules_fail_are_wrong(tmp_path, scope):
    game, values = Table(), {0: Value(1, 3), 99: Value(1, 1)}
    facts = {"states": 2, "terminal": 0, "counts": {"win": 2, "draw": 0, "loss": 0}} if scope == "complete" else {}
    if scope == "trimmed":
        facts = {"trim": Trim("0" * 64, "ply 3", plies=1)}
    if scope == "grown":
        facts = {"method": "drop-out", "estimate": Estimate("outcome", 4, "evaluate", "0" * 64)}
    message = refused(forge(tmp_path / "table.lmdb", game, values, scope, **facts), game)
    assert "the rules fail at" in message and "IndexError" in message


@pytest.mark.parametrize(
    ("game", "start", "said"),
    [
        (load_game("hex:3"), 12345678901, "its start, #12345678901, is over"),
        (load_game("connect-four:4,4"), (1 << 63) - 1, "its start, #9223372036854775807, is over"),
        (Ring(), 1 << 40, "its start, #1099511627776, is over"),
        (Table(), 1 << 40, "'#1099511627776' is not a state of this game: IndexError"),
    ],
    ids=str,
)
def test_a_proof_of_no_position_is_refused(tmp_path, game, start, said):
    """Nothing is played there, so that any value would agree with it."""
    values = {Rules(game).first(): Value(1)}
    for root in (1, 0, -1):
        prove_falsely(tmp_path / "forged.lmdb", game, values, root, start=start)
        for play in (False, True):
            raises(DamagedBook, re.escape(said), verify, tmp_path / "forged.lmdb", game, play=play, search=0.1)


ODD_FACTS = {
    "a side": ({"trim": {"side": "nobody"}}, "the book is for no side"),
    "no root": ({"root": None}, "the facts lack the value of the start"),
    "a root of two": ({"root": {"score": 2}}, "the book says neither win nor draw nor loss of its start"),
    "a root in words": ({"root": {"score": "1"}}, "the book says neither win nor draw nor loss of its start"),
    "a start below 0": ({"start": -2}, "the book begins at what is not a state"),
    "a start beyond 63 bits": ({"start": str((1 << 64) + 4)}, "the book begins at what is not a state"),
    "a start in words": ({"start": "home"}, "the book begins at what is not a state"),
    "a finished start": ({"start": 6}, "the game is over at #6"),
    "controls as rules": ({"rules": "\x1b[2J"}, "the book is of rules"),
    "rules that are no text": ({"rules": 5}, "the book is of rules 5, the module of"),
    "symmetry": ({"symmetry": True}, "the book is folded by symmetry, the module is not"),
}


@needs_node
@pytest.mark.parametrize("step", [4, *slow(1)])
def test_no_facts_of_a_book_are_believed(stairs, tmp_path, step):
    """Nor printed: control characters would alter a terminal."""
    game, module = stairs
    book = prove_falsely(tmp_path / "honest.lmdb", game, {0: Value(0), 2: Value(0), 4: Value(1)}, 0)
    file, whole = tmp_path / "game.wasm", book.read_bytes()
    file.write_bytes(exporting(module, *SEARCHING))
    for facts, said in [*ODD_FACTS.values()][::step]:
        book.write_bytes(with_facts(whole, facts))
        code, found = checked(book, file)
        assert code == 2 and said in found
    book.write_bytes(with_facts(whole, {"game": "\x1b]0;hex\x07"}))
    assert "hex" not in checked(book, file)[1]
    book.write_bytes(whole)
    for odd, said in (
        (module, "has no tiers, so that play need not end: use solver verify"),
        (exporting(module, *SEARCHING, "chance"), "has margins or chance"),
        (exporting(module, *SEARCHING, "reward"), "has margins or chance"),
        (forged(exporting(module, *SEARCHING), facts={"scores": True}), "has margins or chance"),
    ):
        file.write_bytes(odd)
        code, found = checked(book, file)
        assert code == 2 and said in found
