"""Retrograde analysis of one tier, whose moves stay inside it or lead to tiers already known.

Wins and losses go backward, one ply a round: a parent of a lost state is won; a state whose children are all won by
the other is lost as late as the last of them; what is never resolved is drawn (Thompson, Retrograde Analysis of
Certain Endgames, ICCA Journal 9(3), 1986). Margins go backward in the same way, the largest first, but at once and not
a ply later, and without distances; what is never resolved is worth what endless play is (Lincke and Marzetta, Large
endgame databases with limited memory space, ICGA Journal 23(3), 2000). Where margins m are said to have a distance,
that is WIN - abs(m), by which rounds are counted.

Parents come from a reverse index, which is made of the moves that were kept when they were counted; where it exceeds
the memory it is made one range of children after the other, and both lie in files. A checkpoint leaves out an index in
memory: who goes on from there makes it anew.

Cost: 8 bytes a state in memory (place in the index, children left, merit) and 4 a move within the tier, while the index
is made 8; or as much of the disk. Every such move is looked up once; where the disk lacks room, or who goes on from a
checkpoint lacks what was kept, once more for each range. Another 2 where endless play has a worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.agreement import naming_states
from solver.compiled.edges import CompiledMoves, Moves
from solver.rules.game import Rules
from solver.store.column import Column
from solver.store.directory import BEGIN, END, TierLookup
from solver.store.packed import Table
from solver.store.runs import PIECE_STATES, merged
from solver.store.sorting import sort_unique
from solver.store.work import Work
from solver.sweep.batch import NARROW, refuse, too_wide
from solver.sweep.checkpoint import ResolverState
from solver.sweep.demand import index_in_memory, moves_in_memory, refuse_beyond
from solver.sweep.inside import BITS, CHUNK, EACH, FILE, Inside
from solver.sweep.parents import (
    NO_MERIT,
    Counted,
    Lists,
    claim,
    count_children,
    go_back,
    list_parents,
    settle,
)
from solver.sweep.scale import WIN, Scale

STEP = 1 << 20  # states between two looks at the time for a checkpoint
SOME = 16  # pieces of a round between two such looks
MAPPED = 128  # bytes of memory for each move of an index in a file that one piece may span
OVERDUE = 1.5  # times between checkpoints after which one is made inside a pass, where it is dear
COUNT, INDEX, RESOLVE = "count", "index", "resolve"  # what has to be done
States = NDArray[np.int64]


class _Crowded(Exception):
    """A state has more children in its tier than 16 bits can count."""


class Solve(NamedTuple):
    """The arguments of the analysis of a tier with cycles."""

    rules: Rules
    moves: Moves
    compiled: CompiledMoves
    work: Work
    memory: int
    progress: Progress
    scale: Scale


class Resolver:
    """The analysis of one layer: first `count`, then `resolve`."""

    def __init__(self, solve: Solve, own: int, known: TierLookup) -> None:
        self.rules, self.moves, self.work = solve.rules, solve.moves, solve.work
        self.later = 0 if solve.rules.scores else 1  # how much later than their children states are resolved
        self.memory, self.progress = solve.memory, solve.progress
        self.own, self.size = own, int(known.table[own, END] - known.table[own, BEGIN])
        self.known = known
        self._kept: dict[str, Column] = {}  # what the last checkpoint has of this layer
        self._inside: Inside | None = None  # moves inside the tier, where there is room for them
        self._remaking = False  # what a checkpoint has left out
        self.begins: NDArray[Any] = np.empty(0, np.uint32)
        self.parents: NDArray[Any] = np.empty(0, np.uint32)
        begin = int(known.table[own, BEGIN])
        self.compiled = solve.compiled
        self.endless = narrowed(solve.rules, solve.compiled.endless(known.states[begin : begin + self.size]))
        refuse_beyond(self.memory, self.size, 8 * self.size + self.endless.nbytes)

    def count(self, team: Workers, saved: ResolverState | None) -> bool:
        """Count the moves inside the layer, or go on from what an earlier run has saved.

        Returns:
            Whether all of them are kept: then the states of the layer are not looked up any more.
        """
        self._stage, self._position = COUNT, [0]
        if saved is not None:
            self._stage, self._position, columns = saved
            self._restore(team, columns)
        else:
            self._begin(np.int16)
        if self._stage == COUNT:
            try:
                self._count(team, *self._position)
            except _Crowded:
                refuse_beyond(self.memory, self.size, 10 * self.size)
                self._begin(np.int32)
                self._count(team, 0)
            self._stage, self._position = INDEX, [0, 0, 0, 0]
            if self.work.due():
                self._checkpoint(self._stage, self._position)
        return self._inside is not None

    def resolve(self, team: Workers) -> Iterator[NDArray[np.int16]]:
        """The merits of the layer's states, in parts."""
        if self._stage == INDEX or self._remaking:
            self._index(team, *(self._position if self._stage == INDEX else [0, 0, 0, 0]))
        self._remaking = False
        self._rounds(team, *(self._position if self._stage == RESOLVE else [0, 0]))
        for column in self._kept.values():
            self.work.discard(column)
        self.begins = self.parents = np.empty(0, np.uint32)
        for begin in range(0, self.size, PIECE_STATES):
            part = slice(begin, begin + PIECE_STATES)
            found = np.where(self.left[part] < 0, self.merits[part], 0).astype(np.int16)
            yield found + self.endless[part] if len(self.endless) else found

    def _begin(self, counter: type[np.signedinteger[Any]]) -> None:
        """The arrays of a state each, before anything is known; `counter` holds its open children."""
        self.begins = np.zeros(self.size + 1, np.uint32)
        self.left = np.zeros(self.size, counter)
        self.merits = np.full(self.size, NO_MERIT, np.int16)

    def _pass(
        self,
        team: Workers,
        begin: int,
        visit: Callable[[int, int], Any],
        name: str,
        save: Callable[[int], None],
        pause: Callable[[int], None] = lambda last: None,
    ) -> None:
        """Visit all states from `begin` on, in chunks on all cores, with pauses after which it may be saved how far it
        is, when that is overdue."""
        for step in range(begin, self.size, STEP):
            end = min(step + STEP, self.size)

            def chunk(first: int, end: int = end) -> int:
                last = min(first + CHUNK, end)
                visit(first, last)
                return last

            for last in team.map(chunk, range(step, end, CHUNK)):
                self.progress(name, last, self.size)
            pause(end)
            if end < self.size and self.work.due(OVERDUE):
                save(end)

    def _count(self, team: Workers, begin: int) -> None:
        """The children of every state that are still open, and its place in the reverse index."""

        counted = Counted(self.endless, self.begins, self.left, self.merits)  # whatever a thread comes late with
        room = moves_in_memory(self.memory, self.size)
        keeping = begin == 0 and 2 * self.size < 1 << 32
        self._inside = Inside(self.size, room, self.work) if keeping else None

        def count(first: int, last: int) -> None:
            kept = np.empty(EACH * (last - first) if self._inside else 0, np.uint32)
            begin = int(self.known.table[self.own, BEGIN])
            with naming_states(self.compiled, lambda: self.known.states[begin + first : begin + last]):
                fault, state, kept = count_children(self.moves, self.known, self.own, first, last, counted, kept)
            if fault == NARROW:
                raise _Crowded
            refuse(self.rules, fault, state)
            if self._inside:
                self._inside.keep(kept, self.left, first, last)

        def pause(last: int) -> None:
            if self._inside:
                self._inside.count(team, self.begins)
                if not self._inside.fits(last):
                    self._inside = None

        self._pass(team, begin, count, "count moves", lambda at: self._checkpoint(COUNT, [at]), pause)
        self._forget("begins", "left", "values")
        moves = int(self.begins.sum(dtype=np.int64))
        if moves >= 1 << 32:
            self.begins = self.begins.astype(np.int64)
        np.cumsum(self.begins, out=self.begins)

    def _index(self, team: Workers, low: int, high: int, offset: int, begin: int) -> None:
        """The reverse index, in memory if it fits, else range by range into a file.

        The lists of the states below `low` are complete, with `offset` moves; those to `high` have the states below
        `begin`.
        """
        size, moves = self.size, int(self.begins[-1])
        places = size if self.rules.alternates else 2 * size
        kind = np.dtype(np.uint32 if places < 1 << 32 else np.int64)
        most = index_in_memory(self.memory, size, kind.itemsize)  # moves of one range
        column = self._kept.get("parents")
        if column is None and moves - offset > max(most, len(self.parents)):
            column = self._kept["parents"] = self.work.column("parents", kind, numbered=True)
        while low < size:
            if not high:
                high = int(np.searchsorted(self.begins[:size], offset + most, "right")) if column else size
                if self._inside:
                    high = high >> BITS << BITS if high < size else size
                high = min(size, max(low + (1 << BITS if self._inside else 1), high))
                self.parents = np.empty(int(self.begins[high - 1]) - offset, kind)
            self._enter(team, begin, Lists(low, high, self.begins, offset, self.parents))
            self._forget("part", "begins")
            low, high, offset, begin = high, 0, offset + len(self.parents), 0
            if column is not None:
                column.append(self.parents)
                self.parents = np.empty(0, kind)
                if low < size and self.work.due(OVERDUE):
                    self._checkpoint(INDEX, [low, high, offset, begin])
        if column is not None:
            self.parents = column.view()
        if self._inside:
            self._inside.discard()
            self._inside = None

    def _enter(self, team: Workers, begin: int, lists: Lists) -> None:
        """Fill a range of lists, with the moves that were kept, or else with those of the states from `begin` on."""
        if self._inside:
            self._inside.turn_around(team, self.rules.alternates, lists, self.progress)
            return
        inside = self.known.inside(self.own)

        def enter(first: int, last: int) -> None:
            list_parents(self.moves, inside, self.own, first, last, lists)

        def save(at: int) -> None:
            self._checkpoint(INDEX, [lists.low, lists.high, lists.offset, at])

        self._pass(team, begin, enter, "index moves", save)

    def _rounds(self, team: Workers, distance: int, begin: int) -> None:
        """Backward by distance, from the states of that distance on, those below `begin` left out."""
        waiting, seeds = self._waiting(team, distance)
        done = int((self.left < 0).sum())

        alternates, scores = self.rules.alternates, self.rules.scores

        def back(part: States) -> list[States]:
            found = go_back(alternates, scores, part, self.begins, self.parents, self.left, self.merits)
            return [run[: sort_unique(run, np.empty_like(run), len(run))] for run in found]

        while waiting or seeds:
            distance = min([*waiting, *seeds])
            if distance >= WIN - self.later:
                raise GameError(f"{self.rules.name} has wins of more than {WIN - 2:,} plies")
            runs = waiting.pop(distance, [])
            if distance in seeds:
                runs.append(claim(seeds.pop(distance), self.left))
            front = [part[np.searchsorted(part, begin) :] for part in merged(Table(runs), team)]
            pieces = list(self._pieces(front))
            begin = 0
            for first in range(0, len(pieces), SOME):
                some = pieces[first : first + SOME]
                for reached, delayed in team.map(back, some):
                    done += len(reached) + len(delayed)
                    if "parents" in self._kept:  # in a file
                        self._kept["parents"].release()
                    if len(reached):
                        waiting.setdefault(distance + self.later, []).append(reached)
                    for later, places in self._by_distance(delayed):
                        waiting.setdefault(later, []).append(places)
                self.progress("resolve", min(done, self.size), self.size)
                if first + SOME < len(pieces) and self.later and self.work.due(OVERDUE):
                    self._checkpoint(RESOLVE, [distance, int(some[-1][-1]) + 1])
            if distance not in waiting and self.work.due():
                self._checkpoint(RESOLVE, [distance + 1, 0])

    def _pieces(self, front: list[States]) -> Iterator[States]:
        """What is gone back from in one call; where the index is a file, no more of it than may be mapped at a time."""
        for part in front:
            for at in range(0, len(part), PIECE_STATES):
                piece = part[at : at + PIECE_STATES]
                if "parents" in self._kept:
                    spans = self.begins[piece] // max(1, self.memory // MAPPED)
                    yield from np.split(piece, np.flatnonzero(np.diff(spans)) + 1)
                else:
                    yield piece

    def _waiting(self, team: Workers, distance: int) -> tuple[dict[int, list[States]], dict[int, States]]:
        """The places of states that are resolved, not below `distance`, by distance; and of those that will be at the
        latest then."""
        due = np.zeros(self.size, np.int16)

        def settled(begin: int) -> None:
            settle(self.left, self.merits, begin, min(begin + PIECE_STATES, self.size), due)

        for _ in team.map(settled, range(0, self.size, PIECE_STATES)):
            pass
        due[due < distance] = 0
        resolved = self._by_distance(np.flatnonzero((due > 0) & (self.left < 0)))
        return {later: [places] for later, places in resolved}, dict(
            self._by_distance(np.flatnonzero((due > 0) & (self.left >= 0)))
        )

    def _by_distance(self, places: States) -> Iterator[tuple[int, States]]:
        """Places in groups of equal distance."""
        if not len(places):
            return
        distances = (WIN - np.abs(self.merits[places])).astype(np.int16)
        if distances.min() == distances.max():
            yield int(distances[0]), places
            return
        order = np.argsort(distances, kind="stable")
        ends = np.cumsum(np.bincount(distances))
        for distance in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
            yield distance, places[order[ends[distance - 1] : ends[distance]]]

    def _checkpoint(self, stage: str, at: list[int]) -> None:
        """Save how far it is, and the arrays that changed."""
        if self._remaking:
            return
        changing = {COUNT: ("begins", "left", "values"), INDEX: ("begins", "part"), RESOLVE: ("left", "values")}[stage]
        arrays = {"left": self.left, "values": self.merits}
        if stage != RESOLVE or "parents" in self._kept:  # else the index is in memory, and made anew
            arrays["begins"] = self.begins
        if stage == INDEX:
            arrays["part"] = self.parents
        for name, array in arrays.items():
            if name in self._kept and name not in changing:
                continue
            column = self.work.column(name, array.dtype, numbered=True)
            for begin in range(0, len(array), 1 << 24):
                column.append(array[begin : begin + (1 << 24)])
            self._forget(name)
            self._kept[name] = column
        columns = {name: column.name for name, column in self._kept.items()}
        self.work.checkpoint(self.work.state._replace(resolver=ResolverState(stage, at, columns)))

    def _forget(self, *names: str) -> None:
        """What the last checkpoint has of these arrays is out of date."""
        for name in names:
            if name in self._kept:
                self.work.discard(self._kept.pop(name))

    def _restore(self, team: Workers, columns: dict[str, str]) -> None:
        """The arrays of a checkpoint, and an index that it has left out."""
        for column in [one for name, one in self.work.columns.items() if name.startswith(f"{FILE}-")]:
            self.work.discard(column)
        found = {name: self.work.columns[column] for name, column in columns.items()}
        if "begins" not in found:
            self._remaking = True
            self._begin(found["left"].dtype.type)
            self._count(team, 0)
        self._kept |= found
        kept = {name: column.view().copy() for name, column in found.items() if name != "parents"}
        self.left, self.merits = kept["left"], kept["values"]
        self.begins = kept.get("begins", self.begins)
        if "part" in kept:
            self.parents = kept["part"]
        elif "parents" in self._kept:
            self.parents = self._kept["parents"].view()


def narrowed(rules: Rules, endless: States) -> NDArray[np.int16]:
    """What endless play is worth, as merits are kept. Raises MethodError where that is too much for them."""
    if len(endless) and max(-int(endless.min()), int(endless.max())) >= WIN:
        raise too_wide(rules)
    return endless.astype(np.int16)
