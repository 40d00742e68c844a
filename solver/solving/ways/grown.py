"""Grown books: of games that nobody can solve, positions where play is most likely, with exact values and estimates.

Drop-out expansion (Lincke, Strategies for the automatic construction of opening books, 2000; Buro, Toward opening book
learning, 1999): the leaves to which the likeliest play leads are expanded, their children valued, values backed up, and
so on. A round is some leaves, as many as the size of the book says; each leaf's children are searched together by one
thread, from empty tables and within nodes, not seconds, so that the result depends on nobody's pace. The book itself
is the checkpoint: written between rounds, it holds all that the next round depends on.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solver.base import extras
from solver.base.errors import BookError, BudgetExceeded, DamagedBook, ForeignBook, PositionError
from solver.base.expectations import Estimate
from solver.base.kinds import Method, Units
from solver.base.parallel import Workers
from solver.base.value import in_plies, merit_of
from solver.book import Book
from solver.book.codecs import rules_of
from solver.rules.fingerprint import Origin, check_origin, fingerprint
from solver.rules.game import Rules
from solver.rules.reading import game_lines, moves_played
from solver.search import cycle, stuck
from solver.search.derive import Step, steps_of
from solver.solving.job import Job, Outcome, solved_by

ROUND, WIDEST = 16, 64  # leaves, in a small book and in a large one, of 16,384 positions or more
EXACT_NODES = 1 << 15  # nodes of an exact search of a state
NODE_BYTES = 8  # of its table, for each
MOST_TABLE = 64 << 20
SEARCH_DEPTH = 8  # plies of a search of limited depth
ERRORS = {"outcome": 0.1, "margin": 1.0}  # that are followed
PLAYERS = ("first", "second")
PLIES = 4.0  # that a move which loses as much as may be lost counts for
RESTART = "--restart begins anew in its place, or name another file"


class Tree:
    """The states of a grown book with their merits, floats where they are estimates (`Estimate`).

    A graph rather, without cycles: symmetric states are one, and so are those that moves reach in another order. A
    state is expanded when all its unfinished children are in the tree; then its value is the best that they make of it
    (negamax), until it is exact. Nothing depends on the order in which states came: a tree that is read from a book
    grows on as it would have. Some 2 KB of memory a state.
    """

    def __init__(self, rules: Rules, kind: Estimate) -> None:
        self.rules, self.kind = rules, kind
        self.merits: dict[Any, Any] = {}
        self._moves: dict[Any, list[Step]] = {}
        # Children that are not in the tree
        self._missing: dict[Any, int] = {}
        # Parents of states in the tree, and of missing ones
        self._parents: dict[Any, list[Any]] = {}
        # What is to be valued anew, the last tier first
        self._stale: list[tuple[int, Any]] = []

    def add(self, values: Iterable[tuple[Any, Any]]) -> None:
        """Add states with their merits, and value all that depends on them again. Raises MethodError for cycles."""
        rules = self.rules
        for state, merit in values:
            if state in self.merits:
                continue
            self.merits[state], moves = merit, steps_of(rules, state)
            if not moves:
                raise stuck(rules, state)
            self._moves[state] = moves
            children = self.children(state)
            self._missing[state] = sum(child not in self.merits for child in children)
            for child in children:
                self._parents.setdefault(child, []).append(state)
            for parent in self._parents.get(state, ()):
                self._missing[parent] -= 1
                self._mark(parent)
            # Play must not come back, by states of the new one's tier that are in the tree
            level, visited, todo = rules.tier(state), {state}, [state]
            while todo:
                for child in self.children(todo.pop()):
                    if child == state:
                        raise cycle(rules, "growing a book")
                    if child in self.merits and child not in visited and rules.tier(child) <= level:
                        visited.add(child)
                        todo.append(child)
            self._mark(state)
        while self._stale:
            _, state = heapq.heappop(self._stale)
            # Since it was marked
            if self.is_exact(state):
                continue
            before, merit = self.merits[state], self.kind.backed_up([self._made(move) for move in self._moves[state]])
            if merit != before or type(merit) is not type(before):
                self.merits[state] = merit
                for parent in self._parents.get(state, ()):
                    self._mark(parent)

    def children(self, state: Any) -> list[Any]:
        """The unfinished children of a state of the tree, each once."""
        return list(dict.fromkeys(move.child for move in self._moves[state] if move.end is None))

    def is_expanded(self, state: Any) -> bool:
        """Whether all children of a state of the tree are in it."""
        return self._missing[state] == 0

    def is_exact(self, state: Any) -> bool:
        """Whether the value of a state of the tree is known."""
        return not isinstance(self.merits[state], float)

    def _mark(self, state: Any) -> None:
        if self._missing[state] == 0 and not self.is_exact(state):
            heapq.heappush(self._stale, (-self.rules.tier(state), state))

    def _made(self, move: Step) -> Any:
        """Return the merit that a move gives its state."""
        return self.kind.lifted(self.merits[move.child] if move.end is None else move.end, move.same, move.gain)

    def leaves(self, limit: int, error: float, side: int | None) -> list[Any]:
        """The states to expand next, so many at most: those to which play is likeliest to come.

        A path is likely if it is short and loses little: each move counts a ply, and its loss against the best in PLIES
        to an `error`. A move that loses more is not followed, nor one of `side`, 0 or 1, that loses anything. States of
        exact value come when there are no others, because an exact value tells no move.
        """
        return self._likeliest(limit, error, side, False) or self._likeliest(limit, error, side, True)

    def _likeliest(self, limit: int, error: float, side: int | None, exact: bool) -> list[Any]:
        """`leaves`, among states whose value is `exact`, too, or without them."""
        rules = self.rules
        leaves: list[Any] = []
        queue = [(0.0, state, rules.mover(state)) for state in dict.fromkeys(map(rules.canonical, rules.roots()))]
        heapq.heapify(queue)
        visited = set()
        while queue and len(leaves) < limit:
            cost, state, mover = heapq.heappop(queue)
            if state in visited or rules.is_terminal(state) or (not exact and self.is_exact(state)):
                continue
            visited.add(state)
            if not self.is_expanded(state):
                leaves.append(state)
                continue
            worths = [self.kind.worth(self._made(move)) for move in self._moves[state]]
            best = max(worths)
            for move, worth in zip(self._moves[state], worths, strict=True):
                lost = best - worth
                if move.end is None and move.child not in visited and lost <= (0 if mover == side else error):
                    further = cost + 1 + (PLIES * lost / error if lost else 0)
                    heapq.heappush(queue, (further, move.child, mover if move.same else 1 - mover))
        return leaves


@dataclass
class Growing:
    """A way that does not solve: `stages` are books, each larger than the one before.

    Attributes:
        positions: Stop at so many.
        seconds: Stop after so many.
        depth: Plies of the searches that estimate. SEARCH_DEPTH if None, or that of the book that grows.
        evaluate: The file of the evaluation. The rules' own if None.
        exact: Nodes of the exact search of each position. EXACT_NODES if None, or as before.
        games: Lines of moves played. Their positions are put in first.
        side: "first" or "second", whose best moves alone are expanded. Both if None.
        error: The loss by a move up to which play is followed.
        books: Grown ones that are put together. Nothing else is done then.
    """

    positions: int | None = None
    seconds: float | None = None
    depth: int | None = None
    evaluate: str | None = None
    exact: int | None = None
    games: Sequence[str] = ()
    side: str | None = None
    error: float | None = None
    books: Sequence[str] = ()

    name = "growing a book"
    heeds = {"workers", "restart", "checkpoint"}

    def refuses(self, job: Job) -> str | None:
        """Refuse games of chance, games whose tiers do not prove an end, and games without evaluation or compiler."""
        rules = job.rules
        if self.books:
            return None
        if rules.chance is not None:
            return f"{rules.name} is a game of chance, which growing cannot value: solve it"
        if not rules.tiered:
            return f"{rules.name} has no tier(state), which says that play does not come back: add it, or solve it"
        if self.evaluate is None and rules.evaluate is None:
            return f"{rules.name} has no evaluate(state): name an evaluation that solver learn wrote, --evaluate"
        extras.require_kernels()
        return f"{rules.name} runs in plain Python only: solve it" if rules.plain_only else None

    def solve(self, job: Job) -> Outcome:
        """The last of the `stages`."""
        *_, last_stage = self.stages(job)
        return last_stage

    def stages(self, job: Job) -> Iterator[Outcome]:
        """Yield the book as it grows, and at the end. Raises as `pipeline.solve`, and PositionError for games."""
        rules, options = job.rules, job.options
        job.lock()
        if self.books:
            yield self._grown(_together(rules, self.books))
            return
        evaluation = None
        if self.evaluate is not None:
            from solver.compiled.lookahead.evaluation import game_of, read

            evaluation = read(self.evaluate)
            game_of(evaluation, rules.game)
        played = positions_of(rules, self.games)
        kind, earlier = self._begun(job)
        tree = Tree(rules, kind)
        job.played()
        due = pause = options.checkpoint_seconds
        with Workers(options.workers) as workers:
            idle = [_Member(rules, kind, evaluation) for _ in range(workers.count)]
            idle[0].warm()

            def value(states: Sequence[Any]) -> list[tuple[Any, Any]]:
                # There are as many as threads
                member = idle.pop()
                try:
                    return member.valued(states)
                finally:
                    idle.append(member)

            def valued(tasks: Sequence[Sequence[Any]]) -> list[tuple[Any, Any]]:
                """States with their merits, task by task."""
                return list(itertools.chain.from_iterable(workers.map(value, tasks)))

            tree.add(earlier or valued([[rules.canonical(state)] for state in rules.roots()]))
            began = time.monotonic()
            due += began
            while leaves := self._next(tree, played, time.monotonic() - began):
                # Each child is valued once, with the first of its leaves
                visited, tasks = set[Any](), []
                for leaf in leaves:
                    children = [child for child in tree.children(leaf) if child not in tree.merits]
                    tasks.append([child for child in children if child not in visited])
                    visited.update(children)
                tree.add(valued(tasks))
                root = tree.merits[rules.canonical(rules.game.initial())]
                options.progress("growing", len(tree.merits), self.positions, kind.words(kind.value(root)))
                if time.monotonic() >= due:
                    yield self._grown(tree)
                    due = time.monotonic() + pause
        yield self._grown(tree)

    def _begun(self, job: Job) -> tuple[Estimate, list[tuple[Any, Any]]]:
        """The kind of the values, and the values of the book that is to grow further. Raises BookError, ForeignBook."""
        rules, path = job.rules, job.target
        name, identity = "evaluate", fingerprint(rules.game, ("evaluate",))
        if self.evaluate is not None:
            file = Path(self.evaluate)
            name, identity = file.name[:200], hashlib.sha256(file.read_bytes()).hexdigest()
        kind = Estimate(rules.kind.name, self.depth or SEARCH_DEPTH, name, identity, self.exact or EXACT_NODES)
        if path is None or not path.exists() or job.options.restart:
            return kind, []
        with Book(path) as book:
            header, earlier = book.header, book.header.estimate
            check_origin(str(path), header.origin, Origin(rules.name, rules_of(rules.game, header.codec)), RESTART)
            if earlier is None or header.trim is not None:
                raise BookError(f"{path} is {'no' if earlier is None else 'a trimmed'} grown book: {RESTART}")
            if header.symmetry != rules.folds:
                raise BookError(f"{path} is{'' if header.symmetry else ' not'} folded by symmetry: {RESTART}")
            if earlier.identity != kind.identity:
                raise ForeignBook(
                    f"{path} was grown by another evaluation ({earlier.evaluation}, {earlier.identity[:8]}; this is"
                    f" {kind.evaluation}, {kind.identity[:8]}): {RESTART}"
                )
            if self.depth not in (None, earlier.depth):
                raise BookError(
                    f"{path} was grown by searches of {in_plies(earlier.depth)}: --depth {earlier.depth}; {RESTART}"
                )
            kind = earlier if self.exact is None else earlier._replace(nodes=self.exact)
            return kind, [(state, merit_of(value)) for state, value in book.items()]

    def _next(self, tree: Tree, played: list[list[Any]], passed: float) -> list[Any]:
        """The leaves of the next round: of games, then of likely play; none in the end."""
        while played:
            left = [state for state in played[0] if not tree.is_expanded(state)]
            if left:
                return left[: _width(tree)]
            played.pop(0)
        if (self.positions or len(tree.merits) + 1) <= len(tree.merits):
            return []
        if self.seconds is not None and passed >= self.seconds:
            return []
        error = ERRORS[tree.kind.of] if self.error is None else self.error
        return tree.leaves(_width(tree), error, None if self.side is None else PLAYERS.index(self.side))

    def _grown(self, tree: Tree) -> Outcome:
        return Outcome(solved_by(tree.rules, tree.merits, units=Units(tree.kind)), Method.DROP_OUT, "grown")


def _together(rules: Rules, paths: Sequence[str]) -> Tree:
    """The tree of several books. Raises BookError where they do not go together, DamagedBook where they differ."""
    merits: dict[Any, Any] = {}
    kinds = set()
    for path in paths:
        with Book(path, rules.game) as book:
            if book.header.estimate is None or book.header.trim is not None:
                raise BookError(f"{path} is {'trimmed' if book.header.trim else 'not grown'}: merge books of one kind")
            kind = book.header.estimate
            kinds.add((kind.depth, kind.identity))
            if len(kinds) > 1:
                raise BookError(f"{path} was grown by other searches than {paths[0]}: merge books of one evaluation")
            for state, value in book.items():
                merit, before = merit_of(value), merits.get(state)
                if before is not None and before != merit and not isinstance(before, float):
                    if not isinstance(merit, float):
                        raise DamagedBook(f"state {state} has two exact values in {' and '.join(paths)}: verify both")
                    continue
                merits[state] = merit
    tree = Tree(rules, kind)
    tree.add(sorted(merits.items()))
    return tree


def _width(tree: Tree) -> int:
    """The leaves of a round."""
    return max(ROUND, min(WIDEST, len(tree.merits) // (4 * WIDEST)))


def positions_of(rules: Rules, games: Iterable[str]) -> list[list[Any]]:
    """The unfinished positions of games, one a line, by ply. Raises PositionError that names line and move."""
    plies: dict[int | None, dict[Any, None]] = {}
    for number, line in game_lines(games):
        try:
            for before, _, after in moves_played(rules, line):
                for position in (before, after):
                    if not rules.is_terminal(position.state):
                        plies.setdefault(position.ply, {})[rules.canonical(position.state)] = None
        except PositionError as error:
            raise PositionError(f"line {number}: {error}") from None
    return [list(states) for states in plies.values()]


class _Member:
    """The searches of one thread."""

    def __init__(self, rules: Rules, kind: Estimate, evaluation: Any) -> None:
        from solver.compiled.exact.searcher import Searcher
        from solver.compiled.lookahead.depth import model_of
        from solver.compiled.lookahead.searches import SMALL_TABLE_BYTES, Lookahead

        self.rules, self.kind = rules, kind
        self._model = None if evaluation is None else model_of(evaluation)
        self._ahead = Lookahead(rules.game, model=self._model, symmetry=rules.symmetry, table=SMALL_TABLE_BYTES)
        self._searcher = Searcher(rules, table=min(MOST_TABLE, max(SMALL_TABLE_BYTES, NODE_BYTES * kind.nodes)))

    def warm(self) -> None:
        """Compile the searches, and check a user's rules against plain Python."""
        self._ahead.warm()
        self._searcher.warm()

    def valued(self, states: Sequence[Any]) -> list[tuple[Any, Any]]:
        """States with their merits, by searches that know nothing of others before."""
        self._ahead.use(self._model)
        self._searcher.clear()
        values: list[tuple[Any, Any]] = []
        for state in states:
            before = result = self._ahead.look(state, 1)
            for deeper in range(2, self.kind.depth + 1):
                if not result.exact:
                    before, result = result, self._ahead.look(state, deeper, result.action)
            if result.exact:
                values.append((state, merit_of(result.value._replace(score=int(result.value.score)))))
                continue
            try:
                merit = merit_of(self._searcher.value(state, nodes=self.kind.nodes))
            except BudgetExceeded:
                # The mean of the last two depths: who has the last move would count for more than the moves do
                last_merit, last_but_one = (float(merit_of(each_result.value)) for each_result in (result, before))
                sure = not self.kind.scores and max(abs(last_merit), abs(last_but_one)) >= 1
                merit = self.kind.estimated(last_merit if sure else (last_merit + last_but_one) / 2)
            values.append((state, merit))
        return values
