"""Depth-first proof-number search (Nagai, Df-pn algorithm, 2002): whether a state is worth at least a draw, or a win.

    prover = Prover(Rules(load_game("hex:4"), kind=WDL))
    prover.is_worth(0, 1)              True: the first player wins

The table is kept between questions, and states of a search that ended can be asked for at once.

It needs no good order of moves, as alpha-beta does. Each state has two numbers: how many positions must still be
settled, at least, to prove that the answer is yes, and how many to prove that it is no. The search goes to the position
that counts in both, and stays with a move until its number is a quarter above that of the next (Pawlewicz and Lew,
Improving depth-first proof-number search, 2007). A state that was not searched yet begins with numbers by the rules'
`evaluate`: in hex 5x5 that saves nine of ten nodes.

The table holds both numbers by state and bound. Where four entries that share a bucket are all taken, the one makes way
whose search took the fewest nodes. So a table of any size will do; with a smaller one, more is searched again.

Cost: 0.5 us a node in connect-four 6x5, 2 in hex 5x5, 7 in domineering 8x8, whose states are wide. A node is a visit to
a state, which lists its moves anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base.errors import MethodError, UncompiledRules
from solver.check.conformance import check_game
from solver.compiled import agreement, states
from solver.compiled.binding import bind, compiling, inlined, kernel
from solver.compiled.exact.alphabeta import FULL, WIDE, Move, list_children
from solver.compiled.exact.moves import FAR, key_of, settle_first
from solver.compiled.exact.table import LIMIT, bucket_of, has_key, mixed_with, new_table, size_of, write_key
from solver.compiled.states import Words, copy_row, put_state, state_at, state_in
from solver.rules.game import Rules, is_built_in
from solver.search import Budget, SearchStatus
from solver.search import alphabeta as plain_search
from solver.store.addresses import borrowed
from solver.store.shared import part

game: Any = None  # constants of the bound copies
EVALUATE = False
MORE = ()

SURE = (1 << 28) - 1  # a number that no search reaches: the other answer is proved
MOST = SURE - 1
EPSILON = 4  # a search stays with a move until its number is a quarter above the next
SCALE = 16  # the numbers of a new state are from 1 to about twice that, by the rules' estimate
ENTRIES = 4  # of a bucket of the table, for `list_children`, too
USED = 2
PROOF_SHIFT, REFUTATION_SHIFT, WORK_SHIFT = 2, 30, 58
MOST_WORK = 31

# columns of `frames`, the path: at first those of a child's row
Frame = IntEnum("Frame", "STATE KEY CHOICES SIGN AWAY BOUND FIRST END PROOF REFUTATION CHILD NODES", start=0)
Field = IntEnum("Field", "PLY IS_NEW COUNT PROOF REFUTATION", start=0)
FIELDS = 8


@register_jitable(forceinline=True)
def known(table: Words, key: Any, bound: int) -> Any:
    """Return the data of a state and a bound, or 0."""
    at = bucket_of(key, len(table), ENTRIES)
    for _ in range(ENTRIES):
        data = table[at + 1]
        if data and (data & 1) == bound and has_key(table, at, key, 1, mixed_with(data)):
            return data
        at += size_of(key)
    return np.int64(0)


@register_jitable(forceinline=True)
def proof_in(data: int) -> Any:
    """Return the proof number in an entry's data."""
    return data >> PROOF_SHIFT & SURE


@register_jitable(forceinline=True)
def refutation_in(data: int) -> Any:
    """Return the disproof number in an entry's data."""
    return data >> REFUTATION_SHIFT & SURE


@part
def remember(table: Words, key: Any, bound: int, proof: int, refutation: int, nodes: int) -> None:
    """Store both numbers of a state, in its own place, a free one, or that of the entry which took fewest nodes."""
    first, size = bucket_of(key, len(table), ENTRIES), size_of(key)
    work, count = np.int64(0), nodes
    while count and work < MOST_WORK:
        count >>= 1
        work += 1
    chosen, least = first, np.int64(1 << 62)
    for place in range(ENTRIES):
        at = first + place * size
        data = table[at + 1]
        if data == 0:
            cost = np.int64(-1)
        elif (data & 1) == bound and has_key(table, at, key, 1, mixed_with(data)):
            work = max(work, data >> WORK_SHIFT)
            chosen = at
            break
        else:
            cost = data >> WORK_SHIFT
        if cost < least:
            chosen, least = at, cost
    data = bound | USED | proof << PROOF_SHIFT | refutation << REFUTATION_SHIFT | work << WORK_SHIFT
    table[chosen + 1] = data
    write_key(table, chosen, key, 1, mixed_with(data))


@inlined
def enter_numbers(moves: Words, numbers: Words, at: int, proof: Any, refutation: Any) -> None:
    """Write what a child's numbers, for its own question, mean for its parent's."""
    if moves[at, Move.SIGN] > 0:
        numbers[at, 0] = proof
        numbers[at, 1] = refutation
    else:
        numbers[at, 0] = refutation
        numbers[at, 1] = proof


@inlined
def first_numbers(state: Any) -> tuple[Any, Any]:
    """Return the numbers of a state that was not searched yet. What looks good for the mover is easier to prove."""
    if EVALUATE:
        estimate = max(-1.0, min(1.0, game.evaluate(state)))
        for_it = np.int64(SCALE * (1 + estimate))
        return max(1, min(2 * SCALE + 1 - for_it, 2 * SCALE)), max(1, min(1 + for_it, 2 * SCALE))
    return 1, 1


@inlined
def arrive(table: Words, frames: Words, moves: Words, numbers: Words, ply: int) -> Any:
    """List the moves of frames[ply] with their numbers.

    Returns the merit of a state that is settled; LIMIT if its moves must be searched; FULL if `moves` has too few rows.
    """
    state, bound, first = state_at(frames, ply, Frame.STATE, MORE), frames[ply, Frame.BOUND], frames[ply, Frame.FIRST]
    choices = state_at(frames, ply, Frame.CHOICES, MORE)
    # The caller has not settled the root, as `look_at` does for children
    if ply == 0:
        result, choices = settle_first(state, bound)
        put_state(frames, ply, Frame.KEY, key_of(state), MORE)
        if result != LIMIT:
            return result
    best, end_slot = list_children(table, moves, state, choices, bound, first, True)
    if end_slot < 0:
        return FULL
    if best >= bound or end_slot == first:
        return best
    for j in range(first, end_slot):
        data = known(table, state_at(moves, j, Move.KEY, MORE), moves[j, Move.BOUND])
        if data:
            enter_numbers(moves, numbers, j, proof_in(data), refutation_in(data))
        else:
            proof, refutation = first_numbers(state_at(moves, j, Move.STATE, MORE))
            enter_numbers(moves, numbers, j, proof, refutation)
    frames[ply, Frame.END] = end_slot
    return LIMIT


@inlined
def is_on_path(frames: Words, ply: int) -> Any:
    """Return whether the state of frames[ply] was come to before: its first word tells all but wide ones apart."""
    first_word = frames[ply, Frame.STATE]
    for earlier in range(ply):
        if frames[earlier, Frame.STATE] != first_word:
            continue
        if not len(MORE) or state_at(frames, earlier, Frame.STATE, MORE) == state_at(frames, ply, Frame.STATE, MORE):
            return True
    return False


@kernel
def search_on(table: Words, frames: Words, moves: Words, numbers: Words, search: Words, allowance: int) -> Any:
    """Search whether the state of frames[0] is worth at least its BOUND, 0 or 1.

    Args:
        table: (a power of two,) int64.
        frames: (plies, 12) int64, the path; PROOF and REFUTATION of the first are SURE.
        moves: (n, 8) int64, the children of all plies of the path.
        numbers: (n, 2) int64, what they need to prove the question of their parent, and to refute it.
        search: (FIELDS,) int64, which outlives the call. At first IS_NEW is 1, all others are 0.
        allowance: Nodes after which to pause.

    Returns:
        DONE: search[PROOF] is 0 if so, else search[REFUTATION]; STUCK where play came back to a state; or the statuses
        of `alphabeta.prove`.
    """
    table, frames, moves, numbers = borrowed(table), borrowed(frames), borrowed(moves), borrowed(numbers)
    search = borrowed(search)
    ply, nodes, is_new = search[Field.PLY], search[Field.COUNT], search[Field.IS_NEW]
    stop = nodes + allowance
    while True:
        proof: Any = np.int64(SURE)
        refutation: Any = np.int64(0)
        top, second, open_count = np.int64(-1), proof, 0
        if is_new:
            if nodes >= stop or ply + 2 >= len(frames) or frames[ply, Frame.FIRST] + WIDE > len(moves):
                search[Field.PLY], search[Field.COUNT], search[Field.IS_NEW] = ply, nodes, 1
                return SearchStatus.PAUSED if nodes >= stop else SearchStatus.NO_ROOM
            if is_on_path(frames, ply):
                search[Field.PLY], search[Field.COUNT], search[Field.IS_NEW] = ply, nodes, 1
                return SearchStatus.STUCK
            result = arrive(table, frames, moves, numbers, ply)
            if result in (FULL, FAR):
                search[Field.PLY], search[Field.COUNT], search[Field.IS_NEW] = ply, nodes, 1
                return SearchStatus.NO_ROOM if result == FULL else SearchStatus.OUTSIDE
            frames[ply, Frame.NODES] = nodes
            nodes += 1
            if result != LIMIT:
                frames[ply, Frame.END] = frames[ply, Frame.FIRST]
                if result >= frames[ply, Frame.BOUND]:
                    proof, refutation = np.int64(0), np.int64(SURE)
        for j in range(frames[ply, Frame.FIRST], frames[ply, Frame.END]):
            needed, against = numbers[j, 0], numbers[j, 1]
            if needed == SURE:
                continue
            open_count += 1
            refutation += against
            if needed < proof:
                top, second, proof = np.int64(j), proof, needed
            else:
                second = min(second, needed)
        if proof and open_count:
            refutation = min(refutation, MOST)
        elif proof == 0:
            refutation = np.int64(SURE)
        if proof >= frames[ply, Frame.PROOF] or refutation >= frames[ply, Frame.REFUTATION]:
            key, spent = state_at(frames, ply, Frame.KEY, MORE), nodes - frames[ply, Frame.NODES]
            remember(table, key, frames[ply, Frame.BOUND], proof, refutation, spent)
            if ply == 0:
                search[Field.PLY], search[Field.COUNT], search[Field.IS_NEW] = 0, nodes, 1
                search[Field.PROOF], search[Field.REFUTATION] = proof, refutation
                return SearchStatus.DONE
            ply -= 1
            enter_numbers(moves, numbers, frames[ply, Frame.CHILD], proof, refutation)
            is_new = 0
            continue
        frames[ply, Frame.CHILD] = top
        need = min(frames[ply, Frame.PROOF], min(second + 1 + second // EPSILON, SURE))
        most = frames[ply, Frame.REFUTATION]
        if most < SURE:
            most -= refutation - numbers[top, 1]
        copy_row(frames, ply + 1, moves, top, Move.PROMISE, MORE)
        frames[ply + 1, Frame.FIRST] = frames[ply, Frame.END]
        if moves[top, Move.SIGN] > 0:
            frames[ply + 1, Frame.PROOF], frames[ply + 1, Frame.REFUTATION] = need, most
        else:
            frames[ply + 1, Frame.PROOF], frames[ply + 1, Frame.REFUTATION] = most, need
        ply += 1
        is_new = 1


@kernel
def answers(table: Words, asked: Words, told: Any) -> None:
    """Write what is known of states (n,) without a search to `told`, (n, 2) int8.

    For each whether it is worth at least a draw, and a win: 1 if it is, 0 if not, -1 if nobody knows.
    """
    for i in range(len(asked)):
        state = state_in(asked, i, MORE)
        key = key_of(state)
        for bound in range(2):
            result, _ = settle_first(state, bound)
            data = known(table, key, bound)
            told[i, bound] = -1
            if result != LIMIT:
                told[i, bound] = result >= bound
            elif data and (proof_in(data) == 0 or refutation_in(data) == 0):
                told[i, bound] = proof_in(data) == 0


class Prover:
    """Proof-number search for one game, in one thread. `all_nodes` counts the visits to states."""

    def __init__(self, rules: Rules, table: int, bounds: bool = True) -> None:
        """Make a prover with an empty table.

        Args:
            rules: Rules without distances, of a game without cycles, chance and margins.
            table: The bytes that the table may take, at most.
            bounds: Whether to ask the rules' `bounds`.
        """
        self.rules = rules
        unasked = {"PROMISES": False} if bounds else {"PROMISES": False, "BOUNDS": False}
        self._kernels = bind(sys.modules[__name__], rules.game, rules.symmetry, True, **unasked)
        self._more = states.more_of(rules.bits)
        self.table = new_table(table)
        self.frames = np.zeros((128, states.columns(len(Frame), self._more)), np.int64)
        self.moves = np.zeros((4096, states.columns(8, self._more)), np.int64)
        self.numbers = np.zeros((4096, 2), np.int64)
        self.search = np.zeros(FIELDS, np.int64)
        self.all_nodes: int = 0

    def warm(self) -> None:
        """Compile, or load from the cache, what a search needs; hold a user's rules against plain Python.

        Raises GameError if those break the protocol, UncompiledRules if they compile to something else.
        """
        with compiling(self.rules.game):
            if is_built_in(self.rules.name):
                self.answers([self.rules.game.initial()])
                return
            positions = check_game(self.rules.game)
            agreement.compare(self.rules.game, positions, symmetry=self.rules.symmetry)

            # Whether it is worth at least a draw, and a win: unsound hints may say the second alone
            def plain(state: int, budget: Budget) -> tuple[bool, bool]:
                score = plain_search.solve(self.rules, state, budget=budget).value.score
                return score >= 0, score >= 1

            def compiled(state: int) -> tuple[bool | None, bool | None]:
                return self.is_worth(state, 0), self.is_worth(state, 1)

            suspects = "bounds, replies or outlook are unsound, or "
            agreement.compare_values(self.rules, positions, plain, compiled, suspects)

    def answers(self, asked: Sequence[int]) -> NDArray[np.int8]:
        """Whether unfinished states are worth at least a draw, and a win: (n, 2), -1 where no search has told."""
        told = np.empty((len(asked), 2), np.int8)
        self._kernels.answers(self.table, states.packed(asked, self._more), told)
        return told

    def is_worth(self, state: int, bound: int, nodes: int = 1 << 62) -> bool | None:
        """Whether an unfinished state is worth at least `bound`, 0 or 1; None if so many nodes do not tell."""
        self.begin(state, bound)
        return self.advance(nodes)

    def begin(self, state: int, bound: int) -> None:
        """Set out to find whether an unfinished state is worth at least `bound`, 0 or 1."""
        self.search[:] = 0
        self.search[Field.IS_NEW] = 1
        states.write_state(self.frames, Frame.STATE, state, self._more)
        for field in (Frame.CHOICES, Frame.FIRST, Frame.END):
            self.frames[0, field] = 0
        self.frames[0, Frame.BOUND] = bound
        self.frames[0, Frame.PROOF] = self.frames[0, Frame.REFUTATION] = SURE

    def advance(self, nodes: int) -> bool | None:
        """Search on for so many nodes; the answer, if there is one by then."""
        stop = int(self.search[Field.COUNT]) + nodes
        while (left := stop - int(self.search[Field.COUNT])) > 0:
            with compiling(self.rules.game):
                status = self._kernels.search_on(self.table, self.frames, self.moves, self.numbers, self.search, left)
            self.all_nodes += int(self.search[Field.COUNT]) - (stop - left)
            if status == SearchStatus.DONE:
                return bool(self.search[Field.PROOF] == 0)
            if status == SearchStatus.OUTSIDE:
                state = states.read_state(self.frames, int(self.search[Field.PLY]), Frame.STATE, self._more)
                raise UncompiledRules(f"{self.rules.name} has a utility other than -1, 0 and 1 near state {state}")
            if status == SearchStatus.STUCK:
                raise MethodError(f"{self.rules.name} has cycles, and a proof may never end there: solve it")
            if status == SearchStatus.NO_ROOM:
                # Twice the rows for the path and its moves
                self.frames, self.moves, self.numbers = map(states.doubled, (self.frames, self.moves, self.numbers))
        return None

    @property
    def arrays(self) -> list[Words]:
        """All that the search goes on from. To be set to the same later."""
        return [np.array([self.all_nodes]), self.search, self.frames, self.moves, self.numbers, self.table]

    @arrays.setter
    def arrays(self, arrays: list[Words]) -> None:
        nodes, self.search, self.frames, self.moves, self.numbers, self.table = arrays
        self.all_nodes = int(nodes[0])

    @property
    def bound(self) -> int:
        """That of the question which is searched."""
        return int(self.frames[0, Frame.BOUND])

    @property
    def root_numbers(self) -> tuple[int, int]:
        """The proof and disproof number of the state that is searched, as its moves tell them."""
        first, end = int(self.frames[0, Frame.FIRST]), int(self.frames[0, Frame.END])
        rows = self.numbers[first:end]
        if not len(rows):
            return 1, 1
        return int(rows[:, 0].min()), int(min(rows[:, 1].sum(), SURE))
