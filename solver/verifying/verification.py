"""A book against its rules: structure and checksums, then every value against its children.

It shares the rules and their compiled moves with the solver; only expectations are solved again. A win has a lost child
one ply nearer the end, and none nearer still. A loss has all children won, the last of them one ply nearer. A draw has
a drawn child and no lost one. No child is missing. Where this holds of every state of a complete book, the values are
those of perfect play, by induction over the distances. Distances to a conversion prove as much, tier by tier.

Margins, and wins and losses without a distance, are proved by induction over the moves: each is the best of the
children's, and no play comes back to a state, or they might rest on each other in a circle. Where they were found by
retrograde analysis it may, and what holds each up is found anew (`plainly`). An expectation is the mean or the best of
the children's, but for the rounding of both that the header admits. As that adds up ply by ply, values may agree and be
far off all the same. So the game is solved anew, by value iteration, which bounds each value from both sides and knows
its own error. That proves how far a value may be from the truth.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any, NamedTuple

from solver.base import errors, extras
from solver.base.errors import DamagedBook, MethodError, ResourceError, UncompiledRules, shortened
from solver.base.extras import PLAIN_LIMIT, working_memory
from solver.base.kinds import Method
from solver.base.options import Options
from solver.base.progress import Progress, silent
from solver.book import Book, Source
from solver.book.check import check_book
from solver.rules.game import GameOrName, Rules, is_built_in, is_name_of, is_score_game
from solver.rules.reading import parse_position
from solver.search import Budget, value_iteration
from solver.search.derive import edges
from solver.verifying import claims, playing
from solver.verifying.plainly import Plain, Unconfirmed, check_grounds, check_values, value_in

SEARCH = 10.0  # seconds of searching for the values of a book that is not complete
SPOTS, RUN = 128, 16  # of more states as many runs of so many
PLAIN_BYTES = 200  # of memory a state that is verified in plain Python alone
SIDE_BYTES = 24  # of one in a book for sides whose score compiled rules bound
BOUND_BYTES = 4096  # of one whose expectation it bounds, about
MOST_VISITS = 1 << 23  # of states whose expectations it bounds, all rounds together

UPWARD = Context(prec=3, rounding=ROUND_CEILING)  # digits of a bound
PROVED, CONSISTENT, WRONG = "proved", "consistent", "wrong"  # the verdicts, of which the last is raised


class Report(NamedTuple):
    """The proof that `verify` has about a book.

    Attributes:
        verdict: PROVED if the values are those of perfect play. CONSISTENT if they only agree with each other.
        basis: A sentence with the grounds of the verdict.
        states: Stored states.
        closed: Whether every child was there to be compared.
        seconds: Time taken.
        plain: States that were verified with the rules as plain Python: all of a small book, and all if there are no
            kernels; otherwise a sample.
        played: The sides for which the book was played out, if that was asked for.
        positions: Positions in which these sides were to move.
        by_search: Values of `to_search` that a search proved.
        to_search: Values of an incomplete book that do not follow from other values. The start's counts if it is not
            stored.
        within: Largest error of an expectation. None if no bound was proved.
        note: Why plain Python judged a book that is usually left to the compiled rules. None if it did not.
    """

    verdict: str
    basis: str
    states: int
    closed: bool
    seconds: float
    plain: int
    played: tuple[str, ...] = ()
    positions: int = 0
    by_search: int = 0
    to_search: int = 0
    within: float | None = None
    note: str | None = None


def verify(
    path: Source,
    game: GameOrName | None = None,
    *,
    workers: int | None = None,
    memory: int | None = None,
    play: bool = False,
    search: float = SEARCH,
    progress: Progress = silent,
) -> Report:
    """Verify a book: compare every value with its children's, and every checksum and count.

    An incomplete book lacks some children. What is there is compared, and values that do not follow from others are
    searched for.

    Args:
        path: A book or its path; or a game or its name, for the book that comes with the package.
        game: The rules or their name, if the game is your own.
        workers: Threads. None for all cores.
        memory: Limit in bytes. None for a share of what is free.
        play: Also play the book out against every reply.
        search: Limit in seconds for the searches in an incomplete book.
        progress: Called as the work goes on.

    Returns:
        The report. A book that is wrong raises an error instead.

    Raises:
        DamagedBook: A value, a checksum or a count is wrong. The message names the first.
        ForeignBook: The book was made with other rules.
        ResourceError: Memory does not suffice to say anything.
    """
    means = claims.Means(search, workers, working_memory(memory))
    started = time.perf_counter()
    with Book(path, game) as book:
        header = book.header
        rules = Rules(book.game, header.symmetry, header.kind.basis, header.start)
        _check_claims(book, rules)
        proof = None
        if header.scope == "complete":
            report = _judged(book, rules, means, progress)
        else:
            check_book(book.path, progress, book.game)
            _check_root(book, rules)
            values = Plain(book, rules, False)
            values.bounds, why = _bounds(book, rules, means.memory, progress)
            check_values(values, progress)
            found = claims.judge(values, means, progress)
            verdict, basis, proof = PROVED if found.proved else CONSISTENT, found.basis, found.played
            if header.estimate is not None:
                verdict, basis = CONSISTENT, f"{values.exact:,} values are exact: {basis}; the others are estimates"
            report = Report(verdict, basis, len(book), False, 0.0, values.checks, note=why or found.note)
            report = report._replace(by_search=found.by_search, to_search=found.to_search)
        played, positions = (proof or playing.prove(book, book.game, progress)) if play else ((), 0)
        return report._replace(seconds=time.perf_counter() - started, played=played, positions=positions)


def _judged(book: Book, rules: Rules, means: claims.Means, progress: Progress) -> Report:
    """Judge a complete book."""
    plain, note = _check_whole(book, rules, means, progress)
    _check_root(book, rules)
    report = Report(PROVED, "every value follows from its children", len(book), True, 0.0, plain, note=note)
    agrees, claim = "every value agrees with its children's, roundings apart", book.header.kind.error
    if not claim:
        return report
    options = Options(symmetry=rules.symmetry, workers=means.workers, memory=means.memory, progress=progress)
    off, why = _bound(book, rules, options, compiled=note is None)
    if off is None:
        basis = f"{agrees}; how far they may be from the truth was not bounded: {why}"
        return report._replace(verdict=CONSISTENT, basis=basis)
    within = math.nextafter(float(off), math.inf) if off else 0.0
    near = f"within {UPWARD.create_decimal_from_float(within):.2e} of the truth" if off else "exact"
    words = f"every value is {near}"
    if off <= Fraction(claim):
        return report._replace(basis=words, within=min(within, claim), note=note or why)
    basis = f"{agrees}; {words}, the header claims {claim:.2e}"
    return report._replace(verdict=CONSISTENT, basis=basis, within=within, note=note or why)


def _bound(book: Book, rules: Rules, options: Options, *, compiled: bool) -> tuple[Fraction | None, str | None]:
    """Bound how far an expectation is from the truth: solve the game anew, and compare.

    Args:
        book: A complete book whose values agree with their children's.
        rules: Its rules.
        options: The options of the solve.
        compiled: Solve a large book's game with kernels, where they are at hand.

    Returns:
        The bound, and why plain Python found it although the book is large. Or None, and why no bound is known.

    Raises:
        DamagedBook: A value is farther from the truth than the header claims.
    """
    needed, reason = BOUND_BYTES * len(book), None
    fits = options.memory is None or needed <= options.memory
    compiled = compiled and not rules.plain_only and extras.has_kernels()
    try:
        if compiled and len(book) > PLAIN_LIMIT:
            try:
                return _compared(book, rules, options), None
            except UncompiledRules as error:
                reason = str(error)
            except (DamagedBook, MethodError) as error:
                if is_built_in(rules.name) or not fits:
                    raise
                reason = f"as compiled, {error}"
        if not fits:
            return None, reason or f"that takes about {needed:,} bytes: more --memory"
        try:
            anew = value_iteration.solve(rules, budget=Budget(MOST_VISITS), progress=options.progress)
        except errors.BudgetExceeded:
            if compiled and reason is None:
                return _compared(book, rules, options), None
            return None, reason or "that takes too long in plain Python"
        # The state whose value is farthest from that found anew
        point, farthest, most = anew.units.point, -1, 0.0
        for state, value in book.items():
            off = abs(value.score * point - anew.table[state])
            if off > most:
                farthest, most = state, off
        return _checked_bound(book, farthest, most / point, anew.units.error / (2 * point)), reason
    except (MethodError, UncompiledRules) as error:
        if rules.reward is not None and isinstance(error, MethodError):
            raise DamagedBook(f"{book.path}: no method solves its game ({error}): solve again") from None
        return None, str(error)


def _compared(book: Book, rules: Rules, options: Options) -> Fraction:
    """The same by kernels, which solve the game anew."""
    from solver.sweep import exhaustive

    return _checked_bound(book, *exhaustive.compare(book, rules, options))


def _checked_bound(book: Book, state: int, off: float, error: float) -> Fraction:
    """How far a value is from the truth at most, by the state that is farthest from a value which has an error."""
    claim = book.header.kind.error
    if off - error > claim:
        raise DamagedBook(
            f"{book.path}: the value of state {state} is off by {off - error:.2g} or more, its header claims"
            f" {claim:.2g} at most: solve again"
        )
    return Fraction(off) + Fraction(error)


def _check_claims(book: Book, rules: Rules) -> None:
    """Check the header's statements about the rules. Their fingerprint is right already."""
    header, text = book.header, rules.name
    if is_built_in(text) and not is_name_of(header.game, rules.game):
        game_name = shortened(header.game)
        raise DamagedBook(f"{book.path}: its header says {game_name}, the rules are those of {text}: solve again")
    if header.score_game != is_score_game(rules.game):
        raise DamagedBook(f"{book.path}: its header says score_game {header.score_game}, the rules do not: solve again")
    if header.symmetry and not rules.folds:
        raise DamagedBook(f"{book.path}: its header says that it is folded, the rules know no symmetry: solve again")
    if header.kind.basis.name != rules.kind.name:
        raise DamagedBook(f"{book.path}: header and rules differ on whether it is a game of chance: solve again")
    if header.tiers is not None and not rules.tiered:
        raise DamagedBook(f"{book.path}: its header lists tiers, the rules know none: solve again")
    if header.start is not None:
        try:
            over = rules.is_terminal(parse_position(rules, f"#{header.start}").state)
        except errors.PositionError as error:
            raise DamagedBook(f"{book.path}: its start, {error}: prove it again") from None
        if over:
            raise DamagedBook(f"{book.path}: its start, #{header.start}, is over, and proves nothing: prove it again")


def _check_whole(book: Book, rules: Rules, means: claims.Means, progress: Progress) -> tuple[int, str | None]:
    """Check all of a complete book, by kernels where plain Python agrees with them.

    Returns:
        How many states plain Python checked, and why it checked all of a book that kernels could take.
    """
    number, stays, reason = 0, None, None
    if len(book) > PLAIN_LIMIT and not rules.plain_only and extras.has_kernels():
        from solver.compiled import agreement
        from solver.verifying import audit

        # Some thousand states, in runs spread over the book; the same ones each time
        chance, sampled = random.Random(book.header.digest), Plain(book, rules, True)
        sample: list[int] = []
        for spot in range(SPOTS):
            group = book.group(spot * len(book.directory) // SPOTS, chance.randrange)
            begin = chance.randrange(max(1, len(group) - RUN + 1))
            for state, value in group[begin : begin + RUN]:
                sampled.check(state, value)
                sample.append(state)
        number = len(sample)
        try:
            if not is_built_in(rules.name):
                agreement.compare(rules.game, sample, symmetry=rules.symmetry)
            stays = audit.check_values(book, rules, memory=means.memory, workers=means.workers, progress=progress)
        except UncompiledRules as error:
            reason = str(error)
        except Unconfirmed as error:
            if is_built_in(rules.name):
                raise
            reason = f"as compiled, {error}"
            if _plain_bytes(book) > means.memory:
                raise DamagedBook(f"{error} ({_too_large(book, 'plain Python must confirm that')})") from None
    if stays is None:
        if _plain_bytes(book) > means.memory:
            raise ResourceError(_too_large(book, reason and f"plain Python must judge ({reason})"))
        check_book(book.path, progress, book.game)
        plain = Plain(book, rules, True)
        check_values(plain, progress)
        plain.check_whole()
        stays, number = plain.stays, len(book)
        if stays and book.header.method == Method.RETROGRADE and not book.header.kind.has_distances:
            check_grounds(book, rules, progress)
    if stays and Method(book.header.method).is_acyclic:
        if _plain_bytes(book) > means.memory:
            raise ResourceError(_too_large(book, "plain Python must follow all play"))
        _check_acyclic(book, rules, progress)
    return number, reason


def _bounds(book: Book, rules: Rules, memory: int, progress: Progress) -> tuple[Any, str | None]:
    """What `audit.bounds` tells of a book, empty where plain Python judges alone; why, if the rules do not compile."""
    fits = PLAIN_LIMIT < len(book) <= memory // SIDE_BYTES and not rules.plain_only and extras.has_kernels()
    has_sides = book.trim is not None and book.trim.side is not None and book.header.kind.bare and rules.tiered
    if fits and has_sides and not book.header.state_bytes:
        from solver.verifying import audit

        try:
            return audit.bounds(book, rules, progress), None
        except UncompiledRules as error:
            return (), str(error)
    return (), None


def _plain_bytes(book: Book) -> int:
    """The memory that plain Python takes for a complete book."""
    return PLAIN_BYTES * len(book)


def _too_large(book: Book, reason: str | None) -> str:
    """Why plain Python cannot take a book, and the remedy."""
    remedy = "use more --memory" if extras.has_kernels() else "pip install 'solverbook[solve]', or more --memory"
    need = f"{len(book):,} states take about {_plain_bytes(book):,} bytes in plain Python"
    return f"{reason}: {need}: {remedy}" if reason else f"{need}: {remedy}"


def _check_acyclic(book: Book, rules: Rules, progress: Progress) -> None:
    """Follow all play, depth first, in a book that lacks no child. Raises DamagedBook where a state comes again."""
    followed: set[int] = set()
    for start in book:
        path = {start: _unfinished(rules, start)} if start not in followed else {}
        while path:
            state, children = next(reversed(path.items()))
            child = next((candidate for candidate in children if candidate not in followed), None)
            if child is None:
                path.pop(state)
                followed.add(state)
                if len(followed) % 1024 == 0:
                    progress("follow", len(followed), len(book))
            elif child in path:
                raise DamagedBook(
                    f"{book.path}: play comes back to state {child}, which {book.header.method} does not solve: solve"
                    " again"
                )
            else:
                path[child] = _unfinished(rules, child)


def _unfinished(rules: Rules, state: int) -> Iterator[int]:
    """The unfinished states that moves lead to, canonical ones."""
    for *_, child in edges(rules, state):
        if not rules.is_terminal(child):
            yield rules.canonical(child)


def _check_root(book: Book, rules: Rules) -> None:
    root = value_in(book, rules, rules.canonical(rules.first()))
    if root != book.header.root and not (root is None and book.header.scope != "complete"):
        raise DamagedBook(f"{book.path}: the header says {book.header.root} of the start, the book {root}: solve again")
