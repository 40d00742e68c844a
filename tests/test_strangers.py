"""Files of strangers: whatever they hold, one line within ten seconds and 500 MB."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from solver.base.errors import GameError
from solver.games.common import description
from solver.rules.game import load_game

ROOT = Path(__file__).parent.parent
RULES = """(role a) (role b) (init (at 0)) (legal a go) (legal b noop) (<= (next (at 1)) (true (at 0)))
(<= terminal (true (at 1))) (goal a 100) (goal b 0)
"""
SECONDS, ADDRESSES = 10, 1 << 30  # CPU; of address space 500 MB are the interpreter's libraries


def judged(*arguments):
    """Exit code and stderr of a command that may take SECONDS of a processor and so much memory."""

    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))

    command = [sys.executable, "-m", "solver", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=bound, cwd=ROOT, timeout=300)
    return done.returncode, done.stderr


def values(count):
    return " ".join(f"(v {number})" for number in range(count))


def chosen(count):
    return " ".join(f"(v ?v{number})" for number in range(count))


TWELVE = " ".join(f"(distinct ?v{i} ?v{j})" for i in range(12) for j in range(i))
TOO_LARGE = "line 3: a term of more than 1,000 words, or 40 in each other"
TOO_MANY = "its variables can be chosen in too many ways"
TOO_MANY_WAYS = "line 3: its alternatives can be chosen in over 1,024 ways"
GROWING = {
    "a product": ("(<= (goal a 0) (and " + "(or (p a) (p b)) " * 40 + "))", TOO_MANY_WAYS),
    "a product of parts": ("(<= (goal a 0) " + "(or (p a) (p b)) " * 40 + ")", TOO_MANY_WAYS),
    "a sum of products": (
        "(<= (goal a 0) (or " + ("(and " + "(or (p a) (p b)) " * 4 + ")") * 400 + "))",
        TOO_MANY_WAYS,
    ),
    "a term that doubles": ("(p a) (<= (p (f ?x ?x)) (p ?x)) (<= terminal (p b))", TOO_LARGE),
    "a term that deepens": ("(p a) (<= (p (f ?x)) (p ?x)) (<= terminal (p b))", TOO_LARGE),
    "a start that deepens": ("(init a) (<= (init (f ?x)) (init ?x))", TOO_LARGE),
    "a term that is long": ("(p " + "a " * 5000 + ") (<= terminal (p b))", TOO_LARGE),
    "a rule that is long": (f"(v 1) (<= (goal a 0) {chosen(3000)})", "line 3: a rule of more than 1,000 parts"),
    "distinct variables": (f"{values(11)} (<= (goal a 0) {chosen(12)} {TWELVE})", TOO_MANY),
    "tuples": (f"{values(60)} (<= (q ?v0 ?v1 ?v2 ?v3 ?v4) {chosen(5)}) (<= terminal (q 1 1 1 1 1))", TOO_MANY),
    "tuples that deepen": (
        "(n a) (n b) (n c) (p n) (<= (p (f ?x ?y)) (p ?x) (n ?y)) (<= terminal (p b))",
        TOO_MANY,
    ),
    "relations": (
        "".join(f"(<= (r{i} 2) (r{i + 1} 1))" for i in range(2000)) + "(<= terminal (r0 a))",
        "more than 1,000 relations",
    ),
    "a goal without measure": (f"(goal a {'9' * 5000})", "is no goal: they are numbers from 0 to 100"),
    "a goal that is a term": ("(goal a (f 1))", "is no goal: they are numbers from 0 to 100"),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_description_is_counted_before_it_is_made(tmp_path, monkeypatch, name):
    monkeypatch.setattr(description, "MOST_WORK", 100_000)
    text, message = GROWING[name]
    (tmp_path / "odd.kif").write_text(RULES + text)
    with pytest.raises(GameError, match=message):
        load_game(str(tmp_path / "odd.kif"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_a_description_is_refused_within_ten_seconds(tmp_path, name):
    (tmp_path / "odd.kif").write_text(RULES + GROWING[name][0])
    code, error = judged("solve", tmp_path / "odd.kif", "-q", "-o", tmp_path / "odd.lmdb")
    assert (code, error.count("\n")) == (2, 1), error


def test_a_description_of_any_order_says_what_holds_everywhere(tmp_path):
    """Facts that follow from facts, in the order that needs most rounds, with what holds nowhere among them."""
    chain = "".join(f"(<= (z {i}) (z {i + 1}) (not (no {i})))" for i in range(50))
    told = RULES.replace("(goal a 100)", "(<= (goal a 100) (z 0)) (<= (goal a 50) (not (z 0)))")
    (tmp_path / "chain.kif").write_text(f"{told} (no 50) {chain} (z 50)")
    assert load_game(str(tmp_path / "chain.kif")).nodes.worths.tolist() == [0, -1]
    (tmp_path / "broken.kif").write_text(f"{told} (no 25) {chain} (z 50)".replace("goal b 0", "goal b 50"))
    assert load_game(str(tmp_path / "broken.kif")).nodes.worths.tolist() == [0, 0]
