"""Retrograde analysis of one tier whose moves stay inside it or lead to tiers that are known.

Wins and losses go backward, one ply a round. A parent of a lost state is won. A state whose children are all won by the
opponent is lost, as late as the last of them. A state that is never resolved is drawn (Thompson, Retrograde Analysis of
Certain Endgames, ICCA Journal 9(3), 1986).

Margins go backward in the same way, the largest first, but at once and without distances. A state that is never
resolved is worth as much as endless play (Lincke and Marzetta, Large endgame databases with limited memory space, ICGA
Journal 23(3), 2000). Rounds count the distance of a margin m as WIN - abs(m).

Parents come from a reverse index, made of the moves that were kept when they were counted. If it exceeds the memory, it
is made one range of children after the other, and moves and index lie in files. A checkpoint leaves out an index in
memory: a resumed run makes it anew.

Cost: 8 bytes a state in memory (its place in the index, open children, merit) and 4 a move inside the tier, 8 while the
index is made; or as much of the disk. Another 2 bytes a state if endless play has a worth. Every such move is looked up
once. If the disk lacks room, or a resumed run lacks the kept moves, it is looked up once more for each range.
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
from solver.store.directory import BEGIN, END, TierLookup
from solver.store.packed import Table
from solver.store.runs import PIECE_STATES, merged
from solver.store.sorting import sort_unique
from solver.store.work import Column, Work
from solver.sweep import parents
from solver.sweep.batch import NARROW, refuse, too_wide
from solver.sweep.checkpoint import ResolverState, column_of
from solver.sweep.parents import NO_MERIT, Counted, Lists
from solver.sweep.resources import index_in_memory, moves_in_memory, refuse_beyond
from solver.sweep.scale import WIN, Scale

STATES_PER_PAUSE = 1 << 20  # states between two looks at the time for a checkpoint
PIECES_PER_PAUSE = 16  # pieces of a round between two such looks
MAPPED_BYTES_PER_MOVE = 128  # bytes of memory for each move of an index in a file that one piece may span
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
    """The analysis of one tier: first `count`, then `resolve`.

    Args:
        solve: The solve's own arguments.
        tier_row: The row of the tier.
        lookup: The tier and the tiers of its children.

    Raises:
        ResourceError: The memory does not hold the arrays of the tier.
    """

    def __init__(self, solve: Solve, tier_row: int, lookup: TierLookup) -> None:
        self.rules, self.moves, self.work = solve.rules, solve.moves, solve.work
        # How much later than their children states are resolved
        self.later = 0 if solve.rules.scores else 1
        self.memory, self.progress = solve.memory, solve.progress
        self.own, self.size = tier_row, int(lookup.table[tier_row, END] - lookup.table[tier_row, BEGIN])
        self.known = lookup
        # What the last checkpoint has of this layer
        self._columns: dict[str, Column] = {}
        # Moves inside the tier, where there is room for them
        self._inner_moves: parents.Inside | None = None
        # What a checkpoint has left out
        self._is_remaking = False
        self.begins: NDArray[Any] = np.empty(0, np.uint32)
        self.parents: NDArray[Any] = np.empty(0, np.uint32)
        begin = int(lookup.table[tier_row, BEGIN])
        self.compiled: CompiledMoves = solve.compiled
        self.endless = narrow_endless(solve.rules, solve.compiled.endless(lookup.states[begin : begin + self.size]))
        refuse_beyond(self.memory, self.size, 8 * self.size + self.endless.nbytes)

    def count(self, team: Workers, saved: ResolverState | None) -> bool:
        """Count the moves inside the tier, or go on from an earlier run.

        Returns:
            Whether all moves are kept: then the states of the tier are not looked up any more.
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
        return self._inner_moves is not None

    def resolve(self, team: Workers) -> Iterator[NDArray[np.int16]]:
        """Yield the merits of the tier's states, in pieces."""
        if self._stage == INDEX or self._is_remaking:
            self._index(team, *(self._position if self._stage == INDEX else [0, 0, 0, 0]))
        self._is_remaking = False
        self._rounds(team, *(self._position if self._stage == RESOLVE else [0, 0]))
        for column in self._columns.values():
            self.work.discard(column)
        self.begins = self.parents = np.empty(0, np.uint32)
        for begin in range(0, self.size, PIECE_STATES):
            piece = slice(begin, begin + PIECE_STATES)
            merits = np.where(self.left[piece] < 0, self.merits[piece], 0).astype(np.int16)
            yield merits + self.endless[piece] if len(self.endless) else merits

    def _begin(self, counter: type[np.signedinteger[Any]]) -> None:
        """Make the arrays of a number for each state; `counter` is the type of the open children."""
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
        pause: Callable[[int], None] = lambda chunk_end: None,
    ) -> None:
        """Visit all states from `begin` on, in chunks on all cores.

        Between pauses, a checkpoint is made if it is overdue.
        """
        for pause_begin in range(begin, self.size, STATES_PER_PAUSE):
            pause_end = min(pause_begin + STATES_PER_PAUSE, self.size)

            def chunk(chunk_begin: int, pause_end: int = pause_end) -> int:
                chunk_end = min(chunk_begin + parents.CACHED_STATES, pause_end)
                visit(chunk_begin, chunk_end)
                return chunk_end

            for chunk_end in team.map(chunk, range(pause_begin, pause_end, parents.CACHED_STATES)):
                self.progress(name, chunk_end, self.size)
            pause(pause_end)
            if pause_end < self.size and self.work.due(OVERDUE):
                save(pause_end)

    def _count(self, team: Workers, begin: int) -> None:
        """Count the open children of every state, and its place in the reverse index."""
        # New arrays: a thread that comes late writes to the old ones
        counters = Counted(self.endless, self.begins, self.left, self.merits)
        room = moves_in_memory(self.memory, self.size)
        is_keeping = begin == 0 and 2 * self.size < 1 << 32
        self._inner_moves = parents.Inside(self.size, room, self.work) if is_keeping else None

        def count(chunk_begin: int, chunk_end: int) -> None:
            moves_of_chunk = np.empty(
                parents.MOVES_PER_STATE * (chunk_end - chunk_begin) if self._inner_moves else 0, np.uint32
            )
            begin = int(self.known.table[self.own, BEGIN])
            with naming_states(self.compiled, lambda: self.known.states[begin + chunk_begin : begin + chunk_end]):
                fault, state, moves_of_chunk = parents.count_children(
                    self.moves, self.known, self.own, chunk_begin, chunk_end, counters, moves_of_chunk
                )
            # start over with wider counters
            if fault == NARROW:
                raise _Crowded
            refuse(self.rules, fault, state)
            if self._inner_moves:
                self._inner_moves.keep(moves_of_chunk, self.left, chunk_begin, chunk_end)

        def pause(chunk_end: int) -> None:
            if self._inner_moves:
                self._inner_moves.count(team, self.begins)
                if not self._inner_moves.fits(chunk_end):
                    self._inner_moves = None

        self._pass(team, begin, count, "count moves", lambda position: self._checkpoint(COUNT, [position]), pause)
        self._forget("begins", "left", "values")
        moves = int(self.begins.sum(dtype=np.int64))
        if moves >= 1 << 32:
            self.begins = self.begins.astype(np.int64)
        np.cumsum(self.begins, out=self.begins)

    def _index(self, team: Workers, begin_child: int, end_child: int, offset: int, begin: int) -> None:
        """Make the reverse index: in memory if it fits, else range by range into a file.

        Args:
            team: The threads.
            begin_child: The lists of the children below it are complete.
            end_child: The end of the range under way, or 0.
            offset: The number of moves in the complete lists.
            begin: The states below it are entered into the range under way.
        """
        size, moves = self.size, int(self.begins[-1])
        entry_limit = size if self.rules.alternates else 2 * size
        kind = np.dtype(np.uint32 if entry_limit < 1 << 32 else np.int64)
        # Moves of one range
        range_moves = index_in_memory(self.memory, size, kind.itemsize)
        column = self._columns.get("parents")
        if column is None and moves - offset > max(range_moves, len(self.parents)):
            column = self._columns["parents"] = self.work.column("parents", kind, numbered=True)
        while begin_child < size:
            if not end_child:
                end_child = int(np.searchsorted(self.begins[:size], offset + range_moves, "right")) if column else size
                if self._inner_moves:
                    end_child = end_child >> parents.BLOCK_BITS << parents.BLOCK_BITS if end_child < size else size
                end_child = min(
                    size, max(begin_child + (1 << parents.BLOCK_BITS if self._inner_moves else 1), end_child)
                )
                self.parents = np.empty(int(self.begins[end_child - 1]) - offset, kind)
            self._enter(team, begin, Lists(begin_child, end_child, self.begins, offset, self.parents))
            self._forget("part", "begins")
            begin_child, end_child, offset, begin = end_child, 0, offset + len(self.parents), 0
            if column is not None:
                column.append(self.parents)
                self.parents = np.empty(0, kind)
                if begin_child < size and self.work.due(OVERDUE):
                    self._checkpoint(INDEX, [begin_child, end_child, offset, begin])
        if column is not None:
            self.parents = column.view()
        if self._inner_moves:
            self._inner_moves.discard()
            self._inner_moves = None

    def _enter(self, team: Workers, begin: int, lists: Lists) -> None:
        """Fill a range of lists: from kept moves, or from the moves of the states from `begin` on."""
        if self._inner_moves:
            self._inner_moves.turn_around(team, self.rules.alternates, lists, self.progress)
            return
        lookup = self.known.only(self.own)

        def enter(chunk_begin: int, chunk_end: int) -> None:
            parents.list_parents(self.moves, lookup, self.own, chunk_begin, chunk_end, lists)

        def save(state_index: int) -> None:
            self._checkpoint(INDEX, [lists.low, lists.high, lists.offset, state_index])

        self._pass(team, begin, enter, "index moves", save)

    def _rounds(self, team: Workers, distance: int, begin: int) -> None:
        """Go backward, distance by distance; `begin` is the first state of the first frontier to take."""
        waiting, seeds = self._settled_by_distance(team, distance)
        done_count = int((self.left < 0).sum())

        alternates, scores = self.rules.alternates, self.rules.scores

        def back(frontier_piece: States) -> list[States]:
            # a parent of several frontier states may come twice: `sort_unique` drops the duplicates
            resolved_runs = parents.go_back(
                alternates, scores, frontier_piece, self.begins, self.parents, self.left, self.merits
            )
            return [run[: sort_unique(run, np.empty_like(run), len(run))] for run in resolved_runs]

        while waiting or seeds:
            distance = min([*waiting, *seeds])
            if distance >= WIN - self.later:
                raise GameError(f"{self.rules.name} has wins of more than {WIN - 2:,} plies")
            runs = waiting.pop(distance, [])
            if distance in seeds:
                runs.append(parents.claim(seeds.pop(distance), self.left))
            frontier = [
                frontier_piece[np.searchsorted(frontier_piece, begin) :] for frontier_piece in merged(Table(runs), team)
            ]
            pieces = list(self._pieces(frontier))
            begin = 0
            for piece_index in range(0, len(pieces), PIECES_PER_PAUSE):
                batch = pieces[piece_index : piece_index + PIECES_PER_PAUSE]
                for resolved, delayed in team.map(back, batch):
                    done_count += len(resolved) + len(delayed)
                    if "parents" in self._columns:  # in a file
                        self._columns["parents"].release()
                    if len(resolved):
                        waiting.setdefault(distance + self.later, []).append(resolved)
                    for later, state_indices in self._by_distance(delayed):
                        waiting.setdefault(later, []).append(state_indices)
                self.progress("resolve", min(done_count, self.size), self.size)
                if piece_index + PIECES_PER_PAUSE < len(pieces) and self.later and self.work.due(OVERDUE):
                    self._checkpoint(RESOLVE, [distance, int(batch[-1][-1]) + 1])
            if distance not in waiting and self.work.due():
                self._checkpoint(RESOLVE, [distance + 1, 0])

    def _pieces(self, frontier: list[States]) -> Iterator[States]:
        """Yield pieces of a frontier for one call each; of an index in a file, no more than may be mapped at a time."""
        for run in frontier:
            for piece_begin in range(0, len(run), PIECE_STATES):
                piece = run[piece_begin : piece_begin + PIECE_STATES]
                if "parents" in self._columns:
                    map_numbers = self.begins[piece] // max(1, self.memory // MAPPED_BYTES_PER_MOVE)
                    yield from np.split(piece, np.flatnonzero(np.diff(map_numbers)) + 1)
                else:
                    yield piece

    def _settled_by_distance(self, team: Workers, distance: int) -> tuple[dict[int, list[States]], dict[int, States]]:
        """Return the states that are resolved before the first round, by distance.

        The states that other tiers resolve later are returned as well.
        """
        due = np.zeros(self.size, np.int16)

        def settle_piece(begin: int) -> None:
            parents.settle(self.left, self.merits, begin, min(begin + PIECE_STATES, self.size), due)

        team.each(settle_piece, range(0, self.size, PIECE_STATES))
        due[due < distance] = 0
        resolved = self._by_distance(np.flatnonzero((due > 0) & (self.left < 0)))
        return {later: [state_indices] for later, state_indices in resolved}, dict(
            self._by_distance(np.flatnonzero((due > 0) & (self.left >= 0)))
        )

    def _by_distance(self, state_indices: States) -> Iterator[tuple[int, States]]:
        """Yield states in groups of equal distance."""
        if not len(state_indices):
            return
        distances = (WIN - np.abs(self.merits[state_indices])).astype(np.int16)
        if distances.min() == distances.max():
            yield int(distances[0]), state_indices
            return
        order = np.argsort(distances, kind="stable")
        ends = np.cumsum(np.bincount(distances))
        for distance in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
            yield distance, state_indices[order[ends[distance - 1] : ends[distance]]]

    def _checkpoint(self, stage: str, position: list[int]) -> None:
        """Save the stage, the position in it, and the arrays that changed."""
        if self._is_remaking:
            return
        changing = {COUNT: ("begins", "left", "values"), INDEX: ("begins", "part"), RESOLVE: ("left", "values")}[stage]
        arrays = {"left": self.left, "values": self.merits}
        # Otherwise the index was in memory, and is made anew
        if stage != RESOLVE or "parents" in self._columns:
            arrays["begins"] = self.begins
        if stage == INDEX:
            arrays["part"] = self.parents
        for name, array in arrays.items():
            if name in self._columns and name not in changing:
                continue
            column = column_of(self.work, name, array)
            self._forget(name)
            self._columns[name] = column
        columns = {name: column.name for name, column in self._columns.items()}
        self.work.checkpoint(self.work.state._replace(resolver=ResolverState(stage, position, columns)))

    def _forget(self, *names: str) -> None:
        """Discard the columns of arrays that have changed since the last checkpoint."""
        for name in names:
            if name in self._columns:
                self.work.discard(self._columns.pop(name))

    def _restore(self, team: Workers, columns: dict[str, str]) -> None:
        """Take the arrays of a checkpoint, and remake an index that it left out."""
        for name, column in list(self.work.columns.items()):
            if name.startswith(f"{parents.FILE_NAME}-"):
                self.work.discard(column)
        columns_found = {name: self.work.columns[column] for name, column in columns.items()}
        if "begins" not in columns_found:
            self._is_remaking = True
            self._begin(columns_found["left"].dtype.type)
            self._count(team, 0)
        self._columns |= columns_found
        arrays = {name: column.view().copy() for name, column in columns_found.items() if name != "parents"}
        self.left, self.merits = arrays["left"], arrays["values"]
        self.begins = arrays.get("begins", self.begins)
        if "part" in arrays:
            self.parents = arrays["part"]
        elif "parents" in self._columns:
            self.parents = self._columns["parents"].view()


def narrow_endless(rules: Rules, endless: States) -> NDArray[np.int16]:
    """Return the worths of endless play in the type of merits. Raises MethodError if they are too large."""
    if len(endless) and max(-int(endless.min()), int(endless.max())) >= WIN:
        raise too_wide(rules)
    return endless.astype(np.int16)
