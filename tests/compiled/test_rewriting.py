"""What people write in rules and Numba does not know compiles all the same, or its line and the remedy are named."""

import textwrap

import pytest

from solver.base.errors import GameError, UncompiledRules
from solver.base.kinds import Units
from solver.base.value import Value, merit_of
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.rules.sources import names_in
from solver.search.alphabeta import minimax
from solver.solving import pipeline
from solver.solving.ways import plain
from tests import naive
from tests.refusals import raises
from tests.written import line_of, write_rules

np = pytest.importorskip("numpy")
numba = pytest.importorskip("numba")

from solver.compiled import agreement  # noqa: E402
from solver.compiled.advice import reason  # noqa: E402
from solver.compiled.exact.searcher import Searcher  # noqa: E402
from solver.compiled.rewriting import REFUSED, Rewriter  # noqa: E402

HEAD = """
import enum
import functools
import math

import numpy as np

RAGGED = ((0, 1, 2), (3, 4), ())
LIST = [1, -1, 1]
LONG = tuple(range(300))
ARRAY = np.array([2, 3, 5])


class Colour(enum.Enum):
    RED = 3


@functools.lru_cache
def parity(number):
    return bin(number).count("1") % 2

"""
FIELDS = "n: int = 40\nk: int = 70\n\nSIGNS = (1, -1, 1)\nSTEP = 3"
BODIES = {
    "initial": "1",
    "actions": "yield from range(1, self.STEP + 1)",
    "is_terminal": "state >= self.n",
    "utility": "-1 if state % 3 else 1",
    "tier": "state",
}
EVERYTHING = """
    def worth(self, state):
        worth = bin(state).count("1") + 2 * any(state % d == 0 for d in (2, 5))
        worth += 4 * all([state > d for d in RAGGED[0]])
        worth += sum(d for d in range(1, 10) if state % d == 0) + sum((state >> d & 1 for d in range(5)), 7)
        worth += max(state % d for d in range(1, 10)) + min((d for d in range(9) if d > state), default=3)
        worth += sum(a * b for a in range(3) for b in range(self.two) if a != b) + self.listed(state)
        for cells in RAGGED:
            worth += len(cells)
            for cell in cells:
                worth += state >> cell & 1
        worth += self.static(state) + Rules.static(state) + self.klass(state) + self.defaults(state, c=4)
        worth += self.many(1, 2, 3, 4, 5, 6, 7, state) + self.cached(state) + parity(state) + Colour.RED.value
        return worth + LIST[state % 3] + LONG[state] + Rules.STEP + int(ARRAY[state % 3]) + self.STEP

    def divisors(self, state):
        for d in (2, 3, 5, 7):
            if state % d == 0:
                yield d

    def none(self, state):
        return not list(self.divisors(state))

    def listed(self, state):
        moves, first = tuple(self.divisors(state)), next(self.divisors(state), None)
        worth = len(moves) + self.none(state) + (moves[0] if moves else 5) + (9 if first is None else first)
        worth += any(self.divisors(state)) + 3 * (state % 6 in self.divisors(state)) + sum(self.divisors(state))
        worth += next((d for d in range(9) if d > state), -1) + max(self.divisors(state), default=4)
        return worth + len([d for d in range(1, 9) if not any(self.divisors(state + d))])

    @property
    def two(self):
        return 2

    @staticmethod
    def static(state):
        return state % 5

    @classmethod
    def klass(cls, state):
        return state % cls.STEP

    def defaults(self, state, b=3, c=1):
        return state % b + c

    def many(self, a, b, c, d, e, f, g, h):
        return a + b * c - d + e * f - g + h

    @functools.lru_cache
    def cached(self, state):
        return state % 7
"""


def load(folder, name, *, body="", **bodies):
    """Rules with these methods, and what else stands behind them."""
    path = folder / f"{name}.py"
    text = write_rules(path, name="Rules", fields=FIELDS, head=HEAD, **{**BODIES, **bodies})
    path.write_text(path.read_text("utf-8") + body)
    return load_game(text)


@pytest.mark.slow
def test_what_numba_does_not_know_compiles_to_what_python_makes_of_it(tmp_path):
    game = load(tmp_path, "everything", utility="self.SIGNS[self.worth(state) % 3]", body=EVERYTHING)
    assert len({game.worth(state) for state in range(1, 43)}) > 20
    agreement.compare(game, range(1, 43))


IDIOMS = [
    "not list(self.divisors(state))",
    "bool(tuple(self.divisors(state)))",
    "any(self.divisors(state))",
    "all(self.divisors(state))",
    "any([state > 4, state % 3])",
    "sum(self.divisors(state), 2)",
    "min(self.divisors(state), default=-state)",
    "max((d * state % 7 for d in self.divisors(state)), default=8)",
    "next(self.divisors(state), None)",
    "next(iter(range(state)), 6)",
    "next(d for d in range(50) if d > state)",
    "list(tuple(d + 1 for d in range(state % 5)))",
    "sorted(-d for d in self.divisors(state))",
    "state % 6 in self.divisors(state)",
    "state % 6 not in self.divisors(state)",
    "sum(item * total + (item in self.divisors(total)) for item in range(3) for total in range(state % 4))",
    "[total * best for total in range(3) if any(total < best for best in self.divisors(state)) for best in (1, 2)]",
    "any(self.divisors(d) is None for d in self.divisors(state)) or not state",
]


def test_idioms_are_rewritten_to_what_they_are(tmp_path):
    """As plain Python, which tells as much as machine code but for types."""
    methods = "".join(f"\n    def idiom_{at}(self, state):\n        return {one}\n" for at, one in enumerate(IDIOMS))
    game = load(tmp_path, "idioms", body=EVERYTHING + methods)
    rewriter, strange = Rewriter(type(game)), {"any", "all", "next", "tuple", "iter"}
    for at, idiom in enumerate(IDIOMS):
        method = getattr(type(game), f"idiom_{at}")
        rewritten = rewriter.rewritten(method)
        assert rewritten is not method and not strange & {*names_in(rewritten.__code__)}, idiom
        assert [rewritten(game, state) for state in range(45)] == [method(game, state) for state in range(45)], idiom


def test_plain_python_solves_what_compiles_to_something_else(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    game = load(tmp_path, "differently", result="((state + action) << 70) >> 70")
    raises(UncompiledRules, r"result\(1, 1\) is 2 in Python; compiled, .* <<", agreement.compare, game, [1])
    said = []
    book = pipeline.solve(game, tmp_path / "book.lmdb", say=said.append)
    assert book.root == minimax(game).value != Value(0)
    assert len(said) == 1 and "<< gives a number beyond 64 bits" in said[0]
    assert sorted(path.name for path in tmp_path.glob("book*")) == ["book.lmdb"]


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ("d = {1: 2}\nreturn d[state]", "dicts do not compile: use a tuple"),
        ("global G\nreturn 1", "`global` does not compile"),
        ("a, *b = (state, 1)\nreturn a", "`*` does not compile here"),
        ("import math\nreturn math.gcd(state, 3)", "import at the top"),
        ("return self.worth(state - 1)", "a method that calls itself"),
        ("try:\n    return 1 // state\nexcept ZeroDivisionError:\n    return 0", "`try` does not compile here"),
        ("return len(enumerate(x for x in range(3)))", "only in any, sum, next, list"),
        ("return state in TAKEN", "TAKEN is a set, which does not compile"),
        ("return 1 if [] == list(range(state)) else 2", "write `not moves`"),
        ("return sum(d for d in reversed(range(state)))", "write xs[::-1]"),
        ("print(state)\nreturn 1", "`print` does not belong into rules"),
    ],
)
def test_the_line_and_what_to_write_instead_are_named(tmp_path, body, advice):
    text = "\n    def worth(self, state):\n" + textwrap.indent(body, " " * 8) + "\n\nTAKEN = {1, 2}\n"
    game = load(tmp_path, "advised", body=text)
    told = reason(type(game), "No implementation of function found in solver/sweep/forward.py (103)")
    _, _, number = told.partition(":")[0].partition("advised.py line ")
    assert advice in told and int(number) > line_of(tmp_path / "advised.py", "def worth")
    assert "forward" not in told


def test_print_never_compiles(tmp_path):
    """Numba knows it: kernels that had let go of Python's lock took it then, kept it, and waited for it for ever."""
    body = "\n    def worth(self, state):\n        return helper(state)\n"
    body += "\ndef helper(state):\n    print(state)\n    return 1\n"
    game = load(tmp_path, "printing", result="self.worth(state)", body=body)
    worth = Rewriter(type(game)).rewritten(type(game).worth)
    assert worth.__globals__["helper"].__globals__["print"] is REFUSED
    shown = load(tmp_path, "shown", body=body)  # where nothing that is compiled prints, all compiles
    assert Rewriter(type(shown)).rewritten(type(shown).result) is type(shown).result
    raises(ValueError, "Cannot determine Numba type", numba.typeof, REFUSED)
    line = line_of(tmp_path / "printing.py", "return self.worth(state)")
    assert "`print` does not belong into rules" in reason(type(game), f'File "printing.py", line {line}')


@pytest.mark.parametrize("text", ["tic-tac-toe", "mu-torere", "kalah:2,2"])
def test_a_solution_that_the_plain_rules_do_not_give_is_not_believed(text):
    game = load_game(text)
    rules, truth = Rules(game), naive.solve(game, symmetry=True)
    states = np.array(sorted(state for state in truth if not game.is_terminal(state)))
    merits = np.array([merit_of(truth[state], 30_000) for state in states.tolist()], np.int16)

    def audited(states, merits):
        found = dict(zip(states.tolist(), merits.tolist(), strict=True))
        return agreement.audit(rules, found.get, Units(rules.kind, 30_000), states.tolist(), seconds=100.0)

    assert audited(states, merits) > 0
    raises(UncompiledRules, "was found worth", audited, states, merits + 1)
    raises(UncompiledRules, "was not reached", audited, states[::2], merits[::2])


def test_the_line_that_numba_names_comes_first(tmp_path):
    body = "\n    def worth(self, state):\n        a = {1: 2}\n        b = {3}\n        return a, b\n"
    game = load(tmp_path, "placed", body=body)
    for text, told in (("a = {1: 2}", "dicts do not compile"), ("b = {3}", "sets do not compile")):
        line = line_of(tmp_path / "placed.py", text)
        report = f'File "../{tmp_path.name}/placed.py", line {line}:\n    def initial(self):'
        assert reason(type(game), report).startswith(f"placed.py line {line}: {told}")


@pytest.mark.slow
def test_a_live_search_does_not_believe_bounds_that_are_none(tmp_path, monkeypatch):
    body = "\n    def bounds(self, state):\n        return (1, 1) if state > 20 else (-1, 1)\n"
    game = load(tmp_path, "bounded", body=body)
    raises(GameError, r"its bounds are \(1, 1\)", Player({}, game).value, 30)
    monkeypatch.setattr("solver.check.soundness.SECONDS", 0)  # random games do not meet it
    raises(UncompiledRules, "bounds, replies, outlook or longest are unsound", Searcher(game).warm)
    assert Player({}, game).value(30).value == minimax(game, 30).value


def test_what_compiles_as_it_is_stays_as_it_is():
    cls = type(load_game("connect-four"))
    rewriter = Rewriter(cls)
    for method in (cls.actions, cls.result, cls.is_terminal, cls.canonical):
        assert rewriter.rewritten(method) is method
