"""`grounds`, compiled: 9 bytes a state."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.book import Book
from solver.compiled.binding import bind, kernel
from solver.sweep.expansion import STATES_PER_CALL
from solver.verifying.grounds import GROUNDED, SCORING, UNEVEN, UNGROUNDED, refusal
from solver.verifying.reached import look_up, state_at, states_from, stays

game: Any = None  # constants of the bound copies
ALTERNATES = AGAIN = REWARD = ENDLESS = FOLDS = TIERS = TIERED = False


@kernel
def ground(stored: Any, grounded: NDArray[Any], pending: NDArray[Any], left: NDArray[Any]) -> Any:
    """Set grounded (n,) uint8 of the states at the indices `pending`, as far as can be seen.

    The indices of the others go into `left`. Returns how many there are; -SCORING or -UNEVEN at a state with that
    fault, whose index then comes first.
    """
    count = 0
    for state_index in pending:
        is_held = held_up(stored, grounded, state_index)
        if is_held > GROUNDED:
            left[0] = state_index
            return -is_held
        if is_held == GROUNDED:
            grounded[state_index] = GROUNDED
        else:
            left[count] = state_index
            count += 1
    return count


@kernel
def held_up(stored: Any, grounded: NDArray[Any], state_index: int) -> Any:
    """Whether the value of a state is GROUNDED, UNGROUNDED so far, or neither."""
    state, score = (
        states_from(stored.states, state_index, state_index + 1)[0],
        stored.scores[stored.indices[state_index]],
    )
    endless = np.int64(game.endless(state)) if ENDLESS else np.int64(0)
    by_one, by_all = False, True
    for action in game.actions(state):
        child = game.result(state, action)
        reward = np.int64(game.reward(state, action)) if REWARD else np.int64(0)
        if AGAIN:
            same = game.again(state, action) != 0
        else:
            same = not ALTERNATES and game.to_move(child) == game.to_move(state)
        held = True
        if game.is_terminal(child):
            child_value = np.int64(game.utility(child))
        else:
            key = game.canonical(child) if FOLDS else child
            child_index = look_up(stored.states, key)
            child_value = stored.scores[stored.indices[child_index]]
            if stays(state, key):
                if reward:
                    return SCORING
                further = np.int64(game.endless(key)) if ENDLESS else np.int64(0)
                if (further if same else -further) != endless:
                    return UNEVEN
                held = grounded[child_index] != 0
        by_one |= held and (child_value if same else -child_value) + reward == score
        by_all &= held
    if score == endless or (by_one if score > endless else by_all):
        return GROUNDED
    return UNGROUNDED


def check(book: Book, stored: Any, team: Workers, progress: Progress) -> None:
    """Hold up all values of a book, `stored` as `audit` has it. Raises DamagedBook."""
    header = book.header
    kernels = bind(
        sys.modules[__name__], book.game, header.symmetry, outcomes=header.kind.scores, tiers=header.tiers is not None
    )
    grounded = np.zeros(len(stored.states.lows), np.uint8)

    def some(pending: NDArray[np.int64]) -> NDArray[np.int64]:
        left = np.empty_like(pending)
        count = kernels.ground(stored, grounded, pending, left)
        if count < 0:
            raise refusal(book, state_at(stored.states, left[0]), -count)
        return left[:count].copy()

    pending = np.arange(len(grounded))
    while len(pending):
        chunks = [pending[begin : begin + STATES_PER_CALL] for begin in range(0, len(pending), STATES_PER_CALL)]
        left = np.concatenate(list(team.map(some, chunks)))
        if len(left) == len(pending):
            raise refusal(book, state_at(stored.states, left[0]), UNGROUNDED)
        pending = left
        progress("ground", len(grounded) - len(pending), len(grounded))
