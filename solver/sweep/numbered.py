"""Games whose rules number their positions and give unmoves: retrograde analysis over arrays by number.

Each number has one value, and each number of the tier under way one code (`by_number`). The numbers of a tier are one
range, and ranges follow each other as tiers do. Wins and losses go back round by round, over all numbers of the tier:
`parents` says whence they come, so that no move is kept. Values, counts and book are those of the other sweeps.

Forward, a byte for each number says whether play reaches it, unless all positions count (`everywhere`).

With distances to a conversion only those of tiers with cycles are kept, in a file: everywhere else they are one ply.

Cost, memory: 2 bytes a number and 2 a number of the largest tier; without distances a quarter of a byte, and 1 (2 with
those to a conversion, and as much disk); for the pass forward 1 more a number.
"""

from __future__ import annotations

import itertools
import random
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.base.tiers import Tier
from solver.check.conformance import check_parents, confirmed, unlike
from solver.compiled import edges
from solver.compiled.binding import bind, compiling
from solver.compiled.edges import CompiledMoves
from solver.rules import placements
from solver.rules.placements import Span
from solver.search.derive import conversion_of
from solver.store.packed import LAST
from solver.store.work import Work
from solver.sweep import arrays, by_number
from solver.sweep.arrays import ArraySweep, Unfit, pieces_of
from solver.sweep.checkpoint import ArrayState
from solver.sweep.scale import WIN, Piece, indices_of, of_bytes

EARLY_STATES = 64  # of each tier, held against the plain rules
CHECKED, COMPARED, PARENTS_SECONDS = 2000, 500, 0.3  # states whose parents are looked at, and compiled ones compared


class ByNumber(ArraySweep):
    """The arrays of a game whose rules number its positions and take moves back."""

    def __init__(self, compiled: CompiledMoves, work: Work, progress: Progress, saved: ArrayState | None) -> None:
        super().__init__(compiled, work, progress, saved)
        rules = self.rules
        self.distant = rules.kind.has_distances  # the codes have them; values of outcomes alone do not
        assert rules.numbering is not None
        self.size = rules.numbering.size
        self.spans[:] = placements.spans_of(rules)
        if not self.spans:
            raise Unfit("the numbers of later tiers do not follow those of earlier ones")
        self.kernels: Any = bind(
            sys.modules[by_number.__name__], rules.game, rules.symmetry, outcomes=rules.scores, DISTANT=self.distant
        )
        self.scale = of_bytes(2 if self.distant else 1)
        if rules.scores:
            self.values = np.zeros(-(-self.size // 4), np.uint8)
        else:
            self.values = np.full(self.size, by_number.NONE, np.uint16)
        self._at = self.values.ctypes.data
        # Positions that were reached in this run
        self._found = 0
        self._restore()

    def _start(self) -> None:
        if self.rules.everywhere:
            self.state.reached = len(self.spans)
            return
        self.marks = np.zeros(self.size, np.uint8)
        numbers = self._numbers_of(self.rules.roots())
        if numbers.min() < 0:
            raise Unfit("a start has no number")
        self.marks[numbers] = by_number.WAITING

    def _reach(self, span: Span, team: Workers) -> None:
        # A tier's first round takes what earlier ones reached
        for turn in itertools.count():
            report = self._each(span, team, self.kernels.reach, turn, self.marks)
            self._found += int(report[by_number.FOUND])
            self.progress("forward", self._found, None)
            if not report[by_number.FOUND]:
                break

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        """Some states, of every tier that has many."""
        numbers = [chance.integers(span.first, span.last, EARLY_STATES) for span in self.spans]
        chosen = np.concatenate([*numbers, chance.integers(0, self.size, 8 * limit)])
        states = np.empty(len(chosen), np.int64)
        self.kernels.positions_of(chosen, states)
        chance.shuffle(states)
        known = (
            state
            for state in states[states >= 0].tolist()
            if not self.rules.is_terminal(state) and self.merit_of(state) is not None
        )
        return list(itertools.islice(known, limit))

    def check(self) -> None:
        """Hold the parents of some states, and distances to a conversion, against the plain rules.

        Raises GameError, UncompiledRules.
        """
        rules, chance, states = self.rules, random.Random(0), self.sample(np.random.default_rng(1), CHECKED)
        # A canonical state has pieces where they are seldom moved to
        assert rules.parents is not None and rules.rank is not None and rules.numbering is not None
        check_parents(rules.game, [chance.choice(rules.numbering.images(state)) for state in states], PARENTS_SECONDS)
        listed = np.empty(by_number.MOST_PARENTS, np.int64)
        for state in states[:COMPARED]:
            count = self.kernels.parents_of(state, listed)
            if sorted(listed[:count].tolist()) != sorted(rules.rank(rules.canonical(p)) for p in rules.parents(state)):
                raise unlike(rules.game, f"state {state} has other parents")
        if not rules.kind.converts:
            return
        kept = self._kept_codes()

        def worth(key: int) -> tuple[int, int]:
            return self.merit_of(key) or 0, self._plies_of(key, kept)

        for state in self.sample(np.random.default_rng(2), CHECKED):
            score = self.merit_of(state)
            if score and conversion_of(rules, state, score, worth) != self._plies_of(state, kept):
                raise unlike(rules.game, f"state {state} is not as far from a conversion as its moves say")

    def _numbers_of(self, states: Iterable[int]) -> NDArray[np.int64]:
        """The numbers of some folded states, -1 for one that has none."""
        keys = np.fromiter(states, np.int64)
        numbers = np.empty_like(keys)
        self.kernels.numbers_of(keys, numbers)
        return numbers

    def merit_of(self, key: int) -> int | None:
        [number] = self._numbers_of([key]).tolist()
        if number < 0:
            return None
        if self.rules.scores:
            return (0, 1, -1, None)[int(self.values[number >> 2]) >> 2 * (number & 3) & 3]
        code = int(self.values[number])
        return None if code == by_number.NONE else self._merit(code)

    def _plies_of(self, key: int, kept: dict[int, NDArray[np.uint16]]) -> int:
        """The distance of a decided folded state to a conversion, by the codes that were `kept`."""
        [number] = self._numbers_of([key]).tolist()
        span = self.spans[bisect_right(self.spans, number, key=lambda span: span.first) - 1]
        codes = kept.get(span.tier)
        code = 0 if codes is None else int(codes[number - span.first])
        return 1 if code < by_number.BEGIN else code - by_number.BEGIN >> 1

    def _kept_codes(self) -> dict[int, NDArray[np.uint16]]:
        """The codes of the tiers whose distances are kept."""
        if "codes" not in self.work.columns:
            return {}
        column, at, codes = self.work.columns["codes"].view(), 0, {}
        sizes = {span.tier: span.last - span.first for span in self.spans}
        for layer in reversed(self.layers):
            if layer.cyclic:
                codes[layer.number] = column[at : at + sizes[layer.number]]
                at += sizes[layer.number]
        return codes

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        assert best_first is not None, "chance is for the sorted sweep"
        listed = self._listed(best_first, team, by_state=True)
        states, indices = (np.concatenate(arrays) for arrays in zip(*listed, strict=True))
        order = np.argsort(states, kind="stable")
        for begin in range(0, len(order), arrays.NUMBERS_PER_CALL):
            part = order[begin : begin + arrays.NUMBERS_PER_CALL]
            yield states[part], indices[part]

    def ranked(self, workers: int | None) -> Iterator[Piece]:
        """`pieces` with numbers in place of states, ascending, on so many threads."""
        best_first = np.array(self.rules.kind.listed(self.tally.values), np.int64)
        with Workers(workers) as team:
            yield from self._listed(best_first, team, by_state=False)

    def _listed(self, best_first: NDArray[np.int64], team: Workers, *, by_state: bool) -> Iterator[Piece]:
        """All unfinished positions in order of their numbers: states or numbers, and the indices of their merits."""
        place_of = indices_of(best_first)

        kept, first_of = self._kept_codes(), {span.tier: span.first for span in self.spans}

        def listed(piece: Span) -> Piece:
            begin, end = piece.first, piece.last
            keys, merits = np.empty(end - begin, np.int64), np.empty(end - begin, np.int16)
            codes = kept[piece.tier][begin - first_of[piece.tier] :].ctypes.data if piece.tier in kept else 0
            count = self.kernels.collect(begin, end, self._at, codes, by_state, keys, merits, WIN)
            return keys[:count], place_of(merits[:count])

        return team.map(listed, itertools.chain.from_iterable(map(pieces_of, self.spans)))

    def _each(
        self,
        span: Span,
        team: Workers,
        act: Callable[..., None],
        *arguments: Any,
        visited: Callable[[int], None] = lambda count: None,
    ) -> NDArray[np.int64]:
        """Let a kernel go through the numbers of a tier; its report, summed up. `visited`: told how many are done."""
        total = np.zeros(by_number.SLOTS, np.int64)

        def run(piece: Span) -> NDArray[np.int64]:
            report = np.zeros(by_number.SLOTS, np.int64)
            act(piece.first, piece.last, span, *arguments, report)
            return report

        with compiling(self.rules.game):
            for piece, report in zip(pieces_of(span), team.map(run, pieces_of(span)), strict=True):
                fault, state = int(report[edges.ERROR]), int(report[edges.CULPRIT])
                if fault == by_number.UNNUMBERED:
                    raise Unfit(f"state {state}, which play reaches, has no number")
                if fault == by_number.OTHER_TIER:
                    raise Unfit(f"the numbers of tiers do not follow each other: state {state} is of another")
                if fault == by_number.CROWDED_PARENTS:
                    raise Unfit(f"state {state} has more than {by_number.MOST_PARENTS} parents")
                if fault == by_number.OUTSIDE:
                    name = self.rules.name
                    raise GameError(f"{name}: state {state} has a parent outside its tier: parents are of one tier")
                if fault:
                    raise confirmed(self.rules.game, [state], f"state {state} {edges.FAULTS[fault]}")
                visited(piece.last - span.first)
                furthest = max(total[by_number.FURTHEST], report[by_number.FURTHEST])
                total += report
                total[by_number.FURTHEST] = furthest
        return total

    def _solve(self, span: Span, team: Workers) -> None:
        dtype = np.dtype(np.uint16 if self.distant else np.uint8)
        codes = np.full(-(-(span.last - span.first) // 8) * 8, by_number.NONE, dtype)

        def visited(count: int) -> None:
            self.progress("resolve", self.size - span.last + count, self.size)

        at = self._at, codes.ctypes.data
        seeds = self._each(span, team, self.kernels.seed, self.marks, *at, visited=visited)
        furthest, distance, written = int(seeds[by_number.FURTHEST]), 0, True
        cyclic = bool(seeds[by_number.STAYS])
        while cyclic and (distance <= furthest if self.distant else written):
            report = self._each(span, team, self.kernels.go_back, distance, *at)
            furthest, distance = max(furthest, int(report[by_number.FURTHEST])), distance + 1
            written = report[by_number.FOUND] > 0
            visited(span.last - span.first)
            if furthest >= by_number.MOST_DISTANCE:
                raise GameError(f"{self.rules.name} has wins of more than {by_number.MOST_DISTANCE:,} plies")
        self._finish(span, seeds, codes, team)
        self.state.finished += 1

    def _finish(self, span: Span, seeds: NDArray[np.int64], codes: NDArray[Any], team: Workers) -> None:
        """Keep the values of a tier, and count them."""
        numbers = np.zeros(1 << 16, np.int64)

        def file_away(piece: Span) -> NDArray[np.int64]:
            counted = np.zeros(1 << 16, np.int64)
            self.kernels.file_away(piece.first, piece.last, span.first, codes.ctypes.data, self._at, counted)
            return counted

        for counted in team.map(file_away, pieces_of(span)):
            numbers += counted
        ends = tuple(int(seeds[slot]) for slot in (edges.WINS, edges.DRAWS, edges.LOSSES))
        # From the number of each code, how many unfinished positions have each merit
        win = WIN if self.distant else 1
        merits = Counter({win: -ends[0], 0: -ends[1], -win: -ends[2]})
        for code in np.flatnonzero(numbers).tolist():
            if code != by_number.NONE:
                merits[self._merit(code)] += int(numbers[code])
        counts = {merit: number for merit, number in merits.items() if number}
        if not seeds[by_number.FOUND]:
            return
        reached, kept = int(seeds[by_number.FOUND]), int(seeds[edges.KEPT_COUNT])
        cyclic = bool(seeds[by_number.STAYS])
        if self.rules.kind.converts and cyclic:
            self.work.column("codes", codes.dtype).append(codes[: span.last - span.first])
        self.layers.insert(0, Tier(span.tier, reached, kept, cyclic=cyclic, ends=(ends[0], ends[1], ends[2])))
        self.tally.end_tier(counts)
        won = [merit for merit in counts if merit > 0]
        if not won or not self.distant:
            return
        code = by_number.BEGIN + 2 * (WIN - min(won)) + 1  # of a won position

        def least(piece: Span) -> int:
            numbers = np.flatnonzero(codes[piece.first - span.first : piece.last - span.first] == code) + piece.first
            states = np.empty_like(numbers)
            self.kernels.positions_of(numbers, states)
            return int(states.min(initial=LAST))

        self.tally.meet_win((min(won), min(team.map(least, pieces_of(span)))))

    def _merit(self, code: int) -> int:
        """The merit of a code."""
        if code < by_number.NONE:
            return 0
        size = WIN - (code - by_number.BEGIN >> 1) if self.distant else 1
        return size if code & 1 else -size

    def _stored(self, span: Span) -> slice:
        if not self.rules.scores:
            return slice(span.first, span.last)
        # A byte that it shares with the next tier, too
        return slice(span.first // 4, -(-span.last // 4))
