"""Expand pieces of a tier: keep its unfinished states, and sort their children into runs, tier by tier."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.check.conformance import confirmed
from solver.compiled import edges
from solver.compiled.agreement import naming_states
from solver.compiled.edges import CompiledMoves, Edges, Moves
from solver.rules.game import Rules
from solver.store.runs import Scattered, are_scattered, by_tier, runs_of, united, without
from solver.store.shared import part, shared
from solver.sweep.batch import next_edges

States = NDArray[np.int64]

STATES_PER_CALL = 1 << 15  # states that one call of a kernel goes through, in all passes
IN_MEMORY_TIER = 1 << 14  # states of a tier with cycles that are closed without files
CHILDREN_PER_CALL = 1 << 18  # children of one call, sorted in cache
LOWEST_TIER, HIGHEST_TIER = -(1 << 63), (1 << 63) - 1
REFUSED, KEPT, DROPPED = range(3)  # what becomes of moves that stay in their tier
COUNT, LOWEST, HIGHEST = range(3)  # slots of the report of `expand`; ERROR and CULPRIT are where `keep` has them


@shared
def expand(
    moves: Moves,
    states: NDArray[Any],
    begin: int,
    end: int,
    tier: int,
    staying: int,
    edges_listed: Edges,
    report: NDArray[Any],
) -> tuple[Any, Any]:
    """List the children of unfinished states[begin:end] of a tier, of as many states as fit.

    Args:
        moves: The compiled moves.
        states: The tier's states.
        begin: The first of them.
        end: The index after the last.
        tier: The tier.
        staying: REFUSED, KEPT or DROPPED: the fate of moves that stay in the tier. If `moves` have a win, DROPPED drops
            the moves that end the game too.
        edges_listed: Arrays for the moves.
        report: Written, (FIELDS,) int64: the number of moves, the range of their tiers, and an error with its culprit.

    Returns:
        `edges_listed`, or larger arrays, with one entry a move; and the first state that is left over.
    """
    edges_listed, count, next_state = next_edges(moves, states, begin, end, edges_listed)
    # A negative count is a fault of one state: no move of this call counts.
    error = max(0, -count)
    if error:
        report[edges.CULPRIT], count = states[next_state], 0
    elif staying == DROPPED:
        count = keep_later_moves(moves, tier, count, edges_listed)
    children, tiers, owners = edges_listed.keys, edges_listed.tiers, edges_listed.owners
    lowest, highest, sign_bits = HIGHEST_TIER, LOWEST_TIER, np.int64(0)
    for i in range(count):
        lowest, highest = min(lowest, tiers[i]), max(highest, tiers[i])
        # one test for all: a negative child leaves its sign
        sign_bits |= children[i]
    # The quick test failed: look for the move at fault, moves down before moves that stay.
    if sign_bits < 0 or lowest < tier or (lowest == tier and staying == REFUSED):
        for i in range(count):
            fault = edges.NEGATIVE if children[i] < 0 else edges.TIER_FALLS if tiers[i] < tier else edges.SAME_TIER
            is_same = fault == edges.SAME_TIER
            if error in (0, edges.SAME_TIER) and (not is_same or (tiers[i] == tier and staying == REFUSED)):
                error, report[edges.CULPRIT] = fault, states[begin + (owners[i] >> 1)]
    report[COUNT], report[LOWEST], report[HIGHEST], report[edges.ERROR] = count, lowest, highest, error
    return edges_listed, next_state


@part
def keep_later_moves(moves: Moves, tier: int, count: int, edges_listed: Edges) -> Any:
    """Keep the moves to later tiers and, if `moves` have a win, to unfinished states; return their number."""
    keys, tiers, merits = edges_listed.keys, edges_listed.tiers, edges_listed.merits
    kept_count = 0
    for i in range(count):
        if tiers[i] > tier and (moves.win == 0 or merits[i] == edges.NOT_TERMINAL):
            keys[kept_count], tiers[kept_count] = keys[i], tiers[i]
            kept_count += 1
    return kept_count


@part
def keep_distinct(edges_listed: Edges, count: int) -> Any:
    """Keep the first move to each child of a state; return the number of moves that are left."""
    keys, tiers, owners, merits = edges_listed.keys, edges_listed.tiers, edges_listed.owners, edges_listed.merits
    kept_count = owner_begin = 0
    owner = np.int64(-1)
    for i in range(count):
        if owners[i] >> 1 != owner:
            owner_begin, owner = kept_count, owners[i] >> 1
        is_duplicate = False
        # A state has few moves: compare all pairs.
        for j in range(owner_begin, kept_count):
            is_duplicate = is_duplicate or keys[j] == keys[i]
        if not is_duplicate:
            keys[kept_count], tiers[kept_count] = keys[i], tiers[i]
            owners[kept_count], merits[kept_count] = owners[i], merits[i]
            kept_count += 1
    return kept_count


@shared
def list_children(
    moves: Moves, states: NDArray[Any], begin: int, end: int, edges_listed: Edges
) -> tuple[Any, Any, Any]:
    """List the children of unfinished states[begin:end], each once for each parent, as far as they fit.

    A state whose rules fail counts as one without children.

    Returns:
        The arrays, or larger ones; the number of moves; and the first state that is left over.
    """
    edges_listed, count, next_state = next_edges(moves, states, begin, end, edges_listed)
    return edges_listed, keep_distinct(edges_listed, max(0, count)), next_state + (count < 0)


class Expanded(NamedTuple):
    """The result of expanding a piece of a tier.

    Attributes:
        states: The unfinished states; all states if the tier is being closed.
        runs: Sorted runs of children, each with its tier.
        scattered: Children of too many tiers for runs.
        reached: The number of states.
        terminal: The number of finished states by outcome, (3,).
        largest: The largest margin of the finished ones.
        highest: The highest tier of a child.
    """

    states: list[States]
    runs: list[tuple[int, States]]
    scattered: list[Scattered]
    reached: int
    terminal: NDArray[np.int64]
    largest: int
    highest: int


class Stays(Exception):
    """A move of the state that this is raised with stays in its tier."""


class Expansion:
    """Expands pieces of tiers, in any thread."""

    def __init__(self, compiled: CompiledMoves) -> None:
        self.compiled = compiled
        self.rules: Rules = compiled.rules
        self.moves: Moves = compiled.moves
        self._scratch = threading.local()

    def keep(self, states: States) -> tuple[States, NDArray[np.int64]]:
        """Return the unfinished states, and the report about the finished ones."""
        unfinished, report = np.empty(len(states), np.int64), np.zeros(edges.FIELDS, np.int64)
        # The kernel would be compiled anew for a read-only array
        count = self.compiled.kernels.keep(np.require(states, None, "W"), 0, len(states), unfinished, report)
        self.refuse(report)
        return unfinished[:count], report

    def later(self, moves: Moves, tier: int, states: States) -> list[tuple[int, States]]:
        """Return runs of the children that unfinished states have in later tiers.

        If `moves` have a win, only unfinished children are returned.
        """
        runs: list[tuple[int, States]] = []
        scattered: list[Scattered] = []
        with naming_states(self.compiled, lambda: states):
            self._expand(moves, tier, states, DROPPED, runs, scattered)
        return [*runs, *scattered_runs(scattered)]

    def expand(self, tier: int, states: States, closing: bool) -> Expanded:
        """Expand sorted states of a tier, without duplicates.

        Args:
            tier: The tier.
            states: The states.
            closing: Whether moves may stay in the tier.

        Raises:
            GameError: The rules break the protocol.
            Stays: A move stays in the tier, and `closing` is false.
        """
        expanded = Expanded([states] if closing else [], [], [], len(states), np.zeros(3, np.int64), 1, LOWEST_TIER)
        largest, highest = expanded.largest, expanded.highest
        # If the rules fail in compiled code, the state at fault is looked for in one chunk.
        for begin in range(0, len(states), STATES_PER_CALL):
            chunk = states[begin : begin + STATES_PER_CALL]
            with naming_states(self.compiled, lambda: chunk):  # noqa: B023
                unfinished, report = self.keep(chunk)
                staying = KEPT if closing else REFUSED
                highest = max(
                    highest, self._expand(self.moves, tier, unfinished, staying, expanded.runs, expanded.scattered)
                )
            if not closing:
                expanded.states.append(unfinished)
            expanded.terminal[:] += report[edges.WINS : edges.LOSSES + 1]
            largest = max(largest, int(report[edges.LARGEST]))
        return expanded._replace(largest=largest, highest=highest)

    def closed(self, tier: int, expanded: Expanded) -> Expanded:
        """Go on from the first generation of a tier, as long as its states are few enough for memory."""
        states = expanded.states[0]
        # Each generation holds the states that the last one led to. A small tier ends here, without files.
        while len(states) < IN_MEMORY_TIER:
            staying = [run for run_tier, run in expanded.runs if run_tier == tier]
            if not staying:
                break
            new_states = without(united(staying), states)
            later_runs = [run for run in expanded.runs if run[0] != tier]
            next_expanded = self.expand(tier, new_states, True)
            states = united([states, new_states])
            expanded = Expanded(
                [states],
                later_runs + next_expanded.runs,
                expanded.scattered + next_expanded.scattered,
                len(states),
                expanded.terminal + next_expanded.terminal,
                max(expanded.largest, next_expanded.largest),
                max(expanded.highest, next_expanded.highest),
            )
        return expanded

    def _expand(
        self,
        moves: Moves,
        tier: int,
        unfinished: States,
        staying: int,
        runs: list[tuple[int, States]],
        scattered: list[Scattered],
    ) -> int:
        """Add the children of unfinished states to runs or scattered states; return the highest tier among them."""
        cursor, highest, report = 0, LOWEST_TIER, np.zeros(edges.FIELDS, np.int64)
        # This thread's arrays for the moves, and one to sort in
        size = min(CHILDREN_PER_CALL, 64 * len(unfinished))
        arrays: tuple[Edges, States] | None = getattr(self._scratch, "arrays", None)
        if arrays is None or len(arrays[1]) < size:
            arrays = self._scratch.arrays = edges.new_edges(size), np.empty(size, np.int64)
        edges_listed, spare = arrays
        while cursor < len(unfinished):
            edges_listed, cursor = expand(
                moves, unfinished, cursor, len(unfinished), tier, staying, edges_listed, report
            )
            self.refuse(report)
            # The kernel may have returned larger arrays, so the one to sort in must grow as well.
            if len(spare) < len(edges_listed.keys):
                spare = np.empty_like(edges_listed.keys)
            count, lowest, highest_of_call = report[: HIGHEST + 1].tolist()
            highest = max(highest, highest_of_call)
            # runs of a handful of states each would cost more than the states
            if staying != KEPT and are_scattered(count, lowest, highest_of_call):
                scattered.append((edges_listed.keys[:count].copy(), edges_listed.tiers[:count].copy()))
            else:
                runs.extend(by_tier(edges_listed.keys, edges_listed.tiers, spare, count, lowest, highest_of_call))
        return highest

    def refuse(self, report: NDArray[np.int64]) -> None:
        """Raise the error in a kernel's report."""
        error, culprit = int(report[edges.ERROR]), int(report[edges.CULPRIT])
        if error == edges.SAME_TIER:
            raise Stays(culprit)
        if error:
            raise confirmed(self.rules.game, [culprit], f"state {culprit} {edges.FAULTS[error]}")


def scattered_runs(scattered: Sequence[Scattered]) -> Iterator[tuple[int, States]]:
    """Yield a sorted run for each tier of scattered states."""
    if scattered:
        states, tiers = (np.concatenate(arrays) for arrays in zip(*scattered, strict=True))
        yield from runs_of(states, tiers)
