"""A game in the game description language (`.kif`): its rules read, and rid of their variables.

The language is logic: `(<= head body...)` over relations, of which `role init legal next terminal goal` make a game and
`true` and `does` say where it stands (Love, Hinrichs, Haley, Schkufza, Genesereth: General Game Playing: Game
Description Language Specification, Stanford 2008). All atoms that might ever hold are derived first, taking what is
negated for possible, and with them every rule for every choice of its variables, so that a position is a number of bits
and a rule two masks (`described`). That suits games whose positions can be counted at all.

A few lines of a stranger may describe more than any memory holds: alternatives multiply, terms grow, variables are
chosen independently. So everything is counted before it is made, in words of the description, against limits that a
`Budget` keeps. A description that is too large is refused within some seconds and a few hundred megabytes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

TOKEN = re.compile(r"\n|;[^\n]*|[()]|[^\s();]+")
IMPLIED = {"init": "true", "next": "true", "legal": "does"}  # what may be true, or done, and why
ARITIES = {"role": 1, "init": 1, "legal": 2, "next": 1, "true": 1, "does": 2, "terminal": 0, "goal": 2, "distinct": 2}
DEEPEST = 40  # terms within terms
LONGEST = 1000  # words of a term, or parts of a rule
MOST_WAYS = 1 << 10  # that a rule's alternatives may be chosen
MOST_WORDS = 1 << 19  # of all rules, once their alternatives are chosen
MOST_WORK = 12_000_000  # words that are filled in, compared and kept: at most 7 s and 180 MB where measured
KEPT = 8  # times the work of a word that is only compared: an atom is found by each of its words
TOO_LARGE = f"a term of more than {LONGEST:,} words, or {DEEPEST} in each other: let no relation lengthen its own terms"

Term = Any  # a word, a variable "?x", or a tuple of a word and terms; an atom always is such a tuple
Binding = dict[str, Term]


class Rule(NamedTuple):
    """The head holds where all of `needs` do, none of `nots`, and the terms of no pair of `distinct` are the same.

    `words` counts those of all parts. `unbound` says whether a variable stands in none of `needs`.
    """

    line: int
    head: Term
    needs: tuple[Term, ...]
    nots: tuple[Term, ...]
    distinct: tuple[tuple[Term, Term], ...]
    words: int
    unbound: bool


class Ground(NamedTuple):
    """A rule without variables."""

    head: Term
    needs: tuple[Term, ...]
    nots: tuple[Term, ...]


class Budget:
    """The work that may still be done. `spend` raises ValueError, whose message is `excess`, once it is used up."""

    def __init__(self, units: int, excess: str) -> None:
        self.left, self.excess = units, excess

    def spend(self, units: int) -> None:
        """Take so many units."""
        self.left -= units
        if self.left < 0:
            raise ValueError(self.excess)


def read(text: str) -> list[Rule]:
    """The rules of a description. Raises ValueError, which names the line."""
    rules: list[Rule] = []
    budget = Budget(MOST_WORDS, f"more than {MOST_WORDS:,} words with those before: describe a smaller game")
    for line, term in _terms(text):
        try:
            rules += _rules(line, term, budget)
        except ValueError as error:
            raise ValueError(f"line {line}: {error}") from None
    return rules


def _terms(text: str) -> Iterator[tuple[int, Term]]:
    """The text between the outermost brackets, and the line that it begins in; words alone as they are."""
    open_terms: list[list[Term]] = []
    line = begun = 1
    for match in TOKEN.finditer(text.casefold()):
        token = match[0]
        if token == "\n":
            line += 1
        elif token == "(":
            begun = begun if open_terms else line
            open_terms.append([])
            if len(open_terms) > DEEPEST:
                raise ValueError(f"line {line}: more than {DEEPEST} brackets in each other: close some")
        elif token[0] != ";":
            if not open_terms and (token == ":-" or (token != ")" and match.string.startswith("(", match.end()))):
                raise ValueError(f"line {line}: {token[:40]!r} before a bracket is infix GDL: write (cell 1 1 x)")
            term: Term = token
            if token == ")":
                if not open_terms:
                    raise ValueError(f"line {line}: a bracket closes that nothing opened")
                term = tuple(open_terms.pop())
                if not term or not isinstance(term[0], str) or term[0][0] == "?":
                    raise ValueError(f"line {line}: brackets begin with a name: (cell 1 1 x)")
            if open_terms:
                open_terms[-1].append(term)
            else:
                yield begun if token == ")" else line, term
    if open_terms:
        raise ValueError(f"line {begun}: a bracket that nothing closes")


def _rules(line: int, term: Term, budget: Budget) -> Iterator[Rule]:
    """The rules that a term is, one for each choice among alternatives. Raises ValueError."""
    head, *body = term[1:] if _name(term) == "<=" and len(term) > 1 else (term,)
    if _name(head) in ("true", "does", "distinct", "not", "or", "and"):
        raise ValueError(f"no rule says what {_name(head)} is")
    for literals in _together([_alternatives(part) for part in body]):
        if len(literals) > LONGEST:
            raise ValueError(f"a rule of more than {LONGEST:,} parts: give some of them a relation of their own")
        needs = tuple(_atom(one) for one in literals if _name(one) not in ("not", "distinct"))
        nots = tuple(_atom(one[1]) for one in literals if _name(one) == "not")
        distinct = tuple(_atom(one)[1:] for one in literals if _name(one) == "distinct")
        atoms = (_atom(head), *needs, *nots, *(term for pair in distinct for term in pair))
        words = sum(map(_measured, atoms))
        budget.spend(words)
        bound, wanted = (set[str]().union(*map(_variables, some)) for some in (needs, atoms))
        yield Rule(line, atoms[0], needs, nots, distinct, words, not wanted <= bound)


def _name(term: Term) -> str:
    return term if isinstance(term, str) else str(term[0])


def _atom(term: Term) -> Term:
    """An atom, a tuple also without terms. Raises ValueError."""
    atom = (term,) if isinstance(term, str) else term
    if atom[0][0] == "?" or atom[0] in ("<=", "not", "or", "and"):
        raise ValueError(f"{said(term)[:60]} stands where a relation is wanted")
    if ARITIES.get(atom[0], len(atom) - 1) != len(atom) - 1:
        raise ValueError(f"{atom[0]} is of {ARITIES[atom[0]]}, not of {len(atom) - 1}")
    return atom


def _alternatives(term: Term) -> list[list[Term]]:
    """The lists of literals of which one must hold. Raises ValueError."""
    name = _name(term)
    if name == "or":
        either = [some for part in term[1:] for some in _alternatives(part)]
        _check_ways(len(either), sum(map(len, either)))
        return either
    if name == "and":
        return _together([_alternatives(part) for part in term[1:]])
    if name == "not":
        if len(term) != 2 or _name(term[1]) in ("or", "and", "not"):
            raise ValueError("not stands before one relation")
        if _name(term[1]) == "distinct":
            raise ValueError("not before distinct: write one variable in place of two")
    return [[term]]


def _together(parts: list[list[list[Term]]]) -> list[list[Term]]:
    """The lists of literals of which one must hold, where of each part one list must. Raises ValueError."""
    ways = 1
    for some in parts:
        ways *= len(some)
        _check_ways(ways, 0)
    _check_ways(ways, sum(ways // len(some) * sum(map(len, some)) for some in parts if some))
    return [[literal for some in chosen for literal in some] for chosen in product(*parts)]


def _check_ways(ways: int, literals: int) -> None:
    """Raise ValueError where a rule has too many alternatives, or too many literals in all of them."""
    if ways > MOST_WAYS:
        raise ValueError(f"its alternatives can be chosen in over {MOST_WAYS:,} ways: write a relation for some")
    if literals > MOST_WORDS:
        raise ValueError(f"its alternatives have over {MOST_WORDS:,} parts: write a relation for some")


def _measured(term: Term, depth: int = 0) -> int:
    """The words of a term. Raises ValueError for one that is too long or too deep."""
    if isinstance(term, str):
        return 1
    if depth > DEEPEST or len(term) > LONGEST:
        raise ValueError(TOO_LARGE)
    words = 1
    for part in term[1:]:
        words += 1 if isinstance(part, str) else _measured(part, depth + 1)
        if words > LONGEST:
            raise ValueError(TOO_LARGE)
    return words


def _variables(term: Term) -> set[str]:
    if isinstance(term, str):
        return {term} if term[0] == "?" else set()
    return set[str]().union(*map(_variables, term[1:]))


def said(term: Term) -> str:
    """A term as positions and moves have it: cell(1,1,x)."""
    return term if isinstance(term, str) else f"{term[0]}({','.join(map(said, term[1:]))})" if term[1:] else term[0]


def filled(term: Term, binding: Binding) -> Term:
    """A term with its variables replaced, where it is known by what."""
    if isinstance(term, str):
        return binding.get(term, term)
    return tuple([term[0], *[filled(part, binding) for part in term[1:]]])


def matched(pattern: Term, ground: Term, binding: Binding) -> bool:
    """Whether a term may become one without variables; `binding` is told how."""
    if isinstance(pattern, str):
        if pattern[0] == "?":
            return bool(binding.setdefault(pattern, ground) == ground)
        return bool(pattern == ground)
    if isinstance(ground, str) or len(pattern) != len(ground) or pattern[0] != ground[0]:
        return False
    return all(matched(part, other, binding) for part, other in zip(pattern[1:], ground[1:], strict=True))


def _places(atom: Term) -> Iterator[tuple[Any, ...]]:
    """The arguments that tell an atom from others of its relation: words by where they stand, two levels deep."""
    for i, part in enumerate(atom[1:]):
        if isinstance(part, str):
            if part[0] != "?":
                yield atom[0], i, part
        else:
            yield atom[0], i, part[0], len(part)
            for j, inner in enumerate(part[1:]):
                if isinstance(inner, str) and inner[0] != "?":
                    yield atom[0], i, j, inner, part[0]


class Grounding:
    """All atoms that may ever hold, and all rules without variables that may make them: `rules`. Raises ValueError."""

    def __init__(self, rules: list[Rule]) -> None:
        self.rules: dict[Ground, None] = {}
        self.known: set[Term] = set()
        self.found: deque[Term] = deque()
        self.index: dict[Any, list[Term]] = {}
        self.budget = Budget(MOST_WORK, "its variables can be chosen in too many ways: describe a smaller game")
        uses: dict[str, list[tuple[Rule, int]]] = {}
        for rule in rules:
            for i, literal in enumerate(rule.needs):
                uses.setdefault(literal[0], []).append((rule, i))
            if not rule.needs:
                self._enter(rule, {})
        while self.found:
            atom = self.found.popleft()
            for key in ((atom[0],), *_places(atom)):
                self.index.setdefault(key, []).append(atom)
            for rule, i in uses.get(atom[0], ()):
                self.budget.spend(len(atom) + 2)
                binding: Binding = {}
                if matched(rule.needs[i], atom, binding):
                    self._join(rule, [*rule.needs[:i], *rule.needs[i + 1 :]], binding)

    def _join(self, rule: Rule, left: list[Term], binding: Binding) -> None:
        """Enter the rule for all choices of variables by which the literals that are left may hold."""
        choices = [iter([(left, binding)])]
        while choices:
            choice = next(choices[-1], None)
            if choice is None:
                choices.pop()
                continue
            self.budget.spend(rule.words)
            left, binding = choice
            if any(filled(one, binding) == filled(other, binding) for one, other in rule.distinct):
                continue
            if left:
                choices.append(self._choices(left, binding))
            else:
                self._enter(rule, binding)

    def _choices(self, left: list[Term], binding: Binding) -> Iterator[tuple[list[Term], Binding]]:
        """The ways in which one of the literals may hold, that with the fewest, and the literals left then."""
        literals = [filled(literal, binding) for literal in left]
        listed = [
            min((self.index.get(key, []) for key in ((literal[0],), *_places(literal))), key=len)
            for literal in literals
        ]
        first = min(range(len(left)), key=lambda i: len(listed[i]))
        rest = literals[:first] + literals[first + 1 :]
        for atom in listed[first]:
            self.budget.spend(len(atom) + 2)
            more: Binding = {}
            if matched(literals[first], atom, more):
                yield rest, {**binding, **more}

    def _enter(self, rule: Rule, binding: Binding) -> None:
        """A rule without variables. Raises ValueError if some are left, or a term is too large."""
        if rule.unbound:
            raise ValueError(f"line {rule.line}: {said(rule.head)[:60]} has a variable that no relation binds")
        head, *rest = (filled(atom, binding) for atom in (rule.head, *rule.needs, *rule.nots))
        try:
            words = _measured(head)
            self.budget.spend(words + sum(map(_measured, rest)))
        except ValueError as error:
            raise ValueError(f"line {rule.line}: {error}") from None
        needs, nots = rest[: len(rule.needs)], rest[len(rule.needs) :]
        self.rules[Ground(head, tuple(needs), tuple(nots))] = None
        implied = IMPLIED.get(head[0])
        for atom in (head, (implied, *head[1:])) if implied else (head,):
            if atom not in self.known:
                self.budget.spend(KEPT * words)
                self.known.add(atom)
                self.found.append(atom)
