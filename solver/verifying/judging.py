"""The compiled pass over all states of a book: each value must follow from its children's.

It has arithmetic of its own: outcome and distance instead of merits. A reducer makes a state's value of its moves.
There are three: the best; in games of chance the mean of what chance may do; of nimbers the least that no move leads to
(mex). A constant of the compiled copy leaves one of them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.expectations import MIDDLE
from solver.base.kinds import LOST
from solver.book.format import Header
from solver.compiled.binding import inlined, kernel
from solver.store.addresses import prefetch
from solver.store.sorting import lower_bound, upper_bound
from solver.verifying.plainly import GROUNDED, SCORING, UNEVEN, UNGROUNDED

game: Any = None  # constants of the bound copies
SCORES = CONVERTS = ALTERNATES = AGAIN = REWARD = ENDLESS = FOLDS = TIERS = TIERED = VANISHING = False
MEANS = MEX = False  # the reducer, where it is not the best

BATCH_MOVES = 512  # moves looked up together
NO_DISTANCE = -1  # instead of a distance: the child is not finished
NO_ROOM, NO_ACTIONS = -1, -2  # instead of a number of moves
WORST = -(1 << 62)  # below all scores
WORST_STEPS = -(1 << 45)  # below all expectations, and with weights within 64 bits
FINE, CHILD_MISSING, WRONG_VALUE, TERMINAL, NOT_CANONICAL, WRONG_TIER, VANISHES = range(7)
FAULT, CULPRIT, AT, COUNT, LOOKS, STAYS = range(6)  # slots of the report
FAULTS = {
    CHILD_MISSING: "has a child that the book lacks",
    WRONG_VALUE: "has another value than its children give it",
    TERMINAL: "is terminal and should not be stored",
    NOT_CANONICAL: "is not the canonical one of its symmetric states",
    VANISHES: "vanishes and should not be stored",
    WRONG_TIER: "or one of its children is of a tier that the header does not list",
}


class Sorted(NamedTuple):
    """Ascending states, split into leading and other bits.

    A table of the leading bits says where the states begin that have them; the other bits take 2, 4 or 8 bytes a state.
    With 16 other bits (361 million states of connect-four 5x6):

        state      100110101101110101110 0110100111010010
        begins     [100110101101110101110] -> the first such state, and [.. + 1] -> the first after them
        lows                              0110100111010010

    So the states of most games take 2 to 4 bytes each, where they would take 8.

    Attributes:
        begins: (cells + 1,) where the states with the same leading bits begin.
        lows: (n,) the `shift` other bits of each state.
        shift: How many these are.
    """

    begins: NDArray[np.int64]
    lows: NDArray[Any]
    shift: int


class Reached(NamedTuple):
    """Marks (n,) uint8 of the states[low:low + n] that some move leads to."""

    low: int
    marks: NDArray[np.uint8]


class Stored(NamedTuple):
    """A book's states and values.

    Attributes:
        states: The states.
        indices: Of their values in the palette; of expectations, the numbers that stand for them.
        scores: Scores of the palette.
        distances: Its distances, 0 where that means nothing.
        point: Steps of a margin of 1, 1 but for expectations.
        slack: How far a score may be from the one that the children give, in 1024ths of a step.
    """

    states: Sorted
    indices: NDArray[Any]
    scores: NDArray[np.int64]
    distances: NDArray[np.int64]
    point: int
    slack: int


def stored(states: Sorted, indices: NDArray[Any], header: Header) -> Stored:
    """Return the kernel's view of a book."""
    scores = np.array([value.score for value in header.palette], np.int64)
    distances = np.array([value.distance or 0 for value in header.palette], np.int64)
    step, error = header.kind.step, header.kind.error
    return Stored(states, indices, scores, distances, round(1 / step), math.ceil(1024 * 2 * error / step))


class Listed(NamedTuple):
    """Moves, as arrays with one entry each.

    Attributes:
        keys: The child, folded once it is looked up.
        owners: Twice the state's number in its run, plus 1 if the same player moves again; -1 behind the last move.
        rewards: Reward of the move.
        weights: Weight of an outcome of chance, at the first of its moves; 0 at others, and at players' moves.
        scores: Value of a finished child for the side to move there.
        distances: Its distance in plies, or NO_DISTANCE.
        places: Index of the child among the states, or -1.
        highs: Scratch.
    """

    keys: NDArray[np.int64]
    owners: NDArray[np.int64]
    rewards: NDArray[np.int64]
    weights: NDArray[np.int64]
    scores: NDArray[np.int64]
    distances: NDArray[np.int64]
    places: NDArray[np.int64]
    highs: NDArray[np.int64]


@kernel
def new_listed(room: int) -> Any:
    """Room for so many moves."""
    keys, owners, rewards = np.empty(room, np.int64), np.empty(room + 1, np.int64), np.empty(room, np.int64)
    weights, scores, distances = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    return Listed(keys, owners, rewards, weights, scores, distances, np.empty(room, np.int64), np.empty(room, np.int64))


@kernel
def audit(
    stored: Any,
    reached: Any,
    tiers: NDArray[Any],
    tallies: NDArray[Any],
    begin: int,
    end: int,
    ends: NDArray[Any],
    report: NDArray[Any],
) -> None:
    """Check states[begin:end] against their children, until `ends` (capacity) has no room for a batch.

    Args:
        report: (6,) int64, set: the first fault, its state, where to go on, the finished children in `ends`, the
            look-ups made, and whether some move does not raise the tier.
        tallies: (tiers, 5) int64, added to: states, finished ones, wins, draws, losses.
    """
    report[:] = 0
    states = states_from(stored.states, begin, end)
    listed, cursor = new_listed(min(BATCH_MOVES, len(ends))), begin
    while cursor < end and report[COUNT] + len(listed.keys) <= len(ends):
        # List a batch of moves, look all of them up together, then judge their states.
        count, next_state = list_moves(states[cursor - begin :], listed)
        next_state += cursor
        listed.owners[max(count, 0)] = -1
        # Not even one state fits: it is at fault, or needs larger arrays.
        if next_state == cursor:
            report[CULPRIT], report[AT] = states[cursor - begin], cursor
            if count < 0:
                report[FAULT] = -count
                return
            listed = new_listed(2 * len(listed.keys))
            continue
        report[LOOKS] += find_moves(stored, reached, count, listed, ends, report)
        batch = states[cursor - begin : next_state - begin]
        if not judge(stored, batch, cursor, reached, tiers, tallies, listed, report):
            return
        cursor = next_state
    report[AT] = cursor


@kernel
def list_moves(states: NDArray[Any], listed: Any) -> tuple[Any, Any]:
    """List the moves of some states, of as many as fit: how many moves, and of how many states.

    At a fault of the first of all the number is that of the fault, less than 0.
    """
    keys, owners, rewards, weights, _, _, _, _ = listed
    count = 0
    for i in range(len(states)):
        state, mark = states[i], count
        fault, is_decided = unfit(state), True
        if MEANS and not fault:
            for weight, child in game.chance(state):
                is_decided = False
                # The moves of an outcome that nobody stores stand in its place.
                if VANISHING and game.vanishing(child):
                    count = list_actions(child, weight, i, count, keys, owners, rewards, weights)
                elif count == len(keys):
                    count = NO_ROOM
                else:
                    keys[count], rewards[count], weights[count] = child, 0, weight
                    owners[count] = 2 * i + (game.to_move(child) == game.to_move(state))
                    count += 1
                if count < 0:
                    break
        if is_decided and not fault:
            count = list_actions(state, 0, i, count, keys, owners, rewards, weights)
        if count == NO_ACTIONS:
            fault = WRONG_VALUE
        # Take this state's moves back, so that the next batch begins with it.
        if fault or count < 0:
            return -fault if i == 0 else mark, i
    return count, len(states)


@inlined
def list_actions(
    state: Any,
    weight: Any,
    i: int,
    count: int,
    keys: NDArray[Any],
    owners: NDArray[Any],
    rewards: NDArray[Any],
    weights: NDArray[Any],
) -> Any:
    """List the actions of a state, of which the first has a weight; the new number of moves."""
    first = count
    for action in game.actions(state):
        if count == len(keys):
            return NO_ROOM
        child = game.result(state, action)
        if AGAIN:
            same = game.again(state, action) != 0
        else:
            same = not ALTERNATES and game.to_move(child) == game.to_move(state)
        keys[count], owners[count] = child, 2 * i + same
        if REWARD:
            rewards[count] = game.reward(state, action)
        if MEANS:
            weights[count] = weight if count == first else 0
        count += 1
    return count if count > first else NO_ACTIONS


@kernel
def find_moves(stored: Any, reached: Any, count: int, listed: Any, ends: NDArray[Any], report: NDArray[Any]) -> Any:
    """Look up the unfinished children of listed moves, and return how many there are; the others go into `ends`.

    Each step is done for all moves before the next, so that their memory accesses overlap.
    """
    states = stored.states
    begins, shift = states.begins, states.shift
    keys, scores, distances, places, highs = listed.keys, listed.scores, listed.distances, listed.places, listed.highs
    looks = 0
    for j in range(count):
        child = keys[j]
        keys[j] = game.canonical(child) if FOLDS else child
        distances[j] = NO_DISTANCE
        if game.is_terminal(child):
            # Finished states are in no book. They are counted apart, without duplicates.
            ends[report[COUNT]] = keys[j]
            report[COUNT] += 1
            scores[j] = game.utility(child)
            distances[j] = 0 if SCORES or scores[j] == 0 else game.plies_left(child)
        prefetch(begins, keys[j] >> shift)
    for j in range(count):
        # A child that the table cannot hold gets an empty range.
        places[j] = highs[j] = 0
        cell = keys[j] >> shift
        if distances[j] == NO_DISTANCE and cell >= 0 and cell + 1 < len(begins):
            places[j], highs[j] = begins[cell], begins[cell + 1]
            prefetch(states.lows, (places[j] + highs[j]) >> 1)
    for j in range(count):
        if distances[j] == NO_DISTANCE:
            looks += 1
            key = low_bits(states, keys[j])
            low = lower_bound(states.lows, key, places[j], highs[j])
            is_stored = low < highs[j] and states.lows[low] == key
            places[j] = low if is_stored else -1
            # judge() reads the value and writes the mark next: ask for both now.
            prefetch(stored.indices, low)
            prefetch(reached.marks, low - reached.low)
    return looks


@kernel
def judge(
    stored: Any,
    states: NDArray[Any],
    begin: int,
    reached: Any,
    tiers: NDArray[Any],
    tallies: NDArray[Any],
    listed: Any,
    report: NDArray[Any],
) -> bool:
    """Compare states with the values that their moves give them.

    `begin` is the number of the first state. Returns False at the first state that is wrong.
    """
    indices, scores, distances, point = stored.indices, stored.scores, stored.distances, stored.point
    # The last state with a move there, by nimber; of a forged book all may be 0, and ends worth 1
    met = np.full(max(scores.max(), 1) + 2 if MEX else 0, -1)
    j = 0
    for i in range(len(states)):
        state, best_score, best_distance = states[i], np.int64(WORST_STEPS if MEANS else WORST), np.int64(0)
        total, share, weights = np.int64(0), np.int64(0), np.int64(0)
        report[CULPRIT], report[AT] = state, begin + i
        # Moves lie in the order of their states, so one cursor suffices.
        while listed.owners[j] >> 1 == i:
            distance = listed.distances[j]
            if distance != NO_DISTANCE:
                score = listed.scores[j] * point
            else:
                child_index = listed.places[j]
                if child_index < 0:
                    report[FAULT] = CHILD_MISSING
                    return False
                # Mark the child as reached. States that stay unmarked make the book too large.
                if reached.low <= child_index < reached.low + len(reached.marks):
                    reached.marks[child_index - reached.low] = 1
                index = indices[child_index]
                score, distance = score_of(index, scores), np.int64(0) if SCORES else distances[index]
                is_inside = stays(state, listed.keys[j])
                report[STAYS] |= is_inside
                if CONVERTS and not is_inside:
                    distance = 0
            if MEX:
                met[max(score, 0)] = begin + i
            # From the child's view to the parent's, and one ply more.
            score = score if listed.owners[j] & 1 else -score
            if REWARD:
                score += listed.rewards[j] * point
            distance = 0 if SCORES or score == 0 else distance + 1
            if MEANS and listed.weights[j]:
                # The next outcome of chance: that before is worth the best of its moves.
                total, share = total + share * best_score, listed.weights[j]
                weights += share
                best_score = score
            elif _is_better(score, distance, best_score, best_distance):
                best_score, best_distance = score, distance
            j += 1
        if MEX:
            best_score = least_unmet(met, begin + i)
        if weights:
            best_score = total + share * best_score
        weights = max(weights, np.int64(1))
        index = indices[begin + i]
        score, distance = score_of(index, scores), np.int64(0) if SCORES else distances[index]
        if abs(score * weights - best_score) > weights * stored.slack // 1024 or distance != best_distance:
            report[FAULT] = WRONG_VALUE
            return False
        if not tally(state, score, False, tiers, tallies):
            report[FAULT] = WRONG_TIER
            return False
    return True


@inlined
def score_of(index: Any, scores: NDArray[np.int64]) -> Any:
    """The score of which a book has the index."""
    return np.int64(index) - MIDDLE if MEANS else scores[index]


@kernel
def least_unmet(met: NDArray[np.int64], index: int) -> Any:
    """The least nimber that no move of a state leads to, as a score."""
    nimber = 0
    while met[nimber] == index:
        nimber += 1
    return nimber if nimber else LOST


@kernel
def _is_better(score: Any, distance: Any, best_score: Any, best_distance: Any) -> Any:
    """Higher scores first, then quick wins, then slow losses."""
    if score != best_score:
        return score > best_score
    return distance < best_distance if score > 0 else distance > best_distance


@kernel
def mark_starts(stored: Any, reached: Any, begin: int, ends: NDArray[Any], report: NDArray[Any]) -> None:
    """Go on at start number `begin`, until `ends` is full of finished ones: `reached` is set for the others.

    report (4,) int64 gets CHILD_MISSING and the first unfinished start that is missing, the number of the start to go
    on with, and how many finished ones `ends` holds.
    """
    report[:] = 0
    if begin == 0:
        mark_start(game.initial(), stored, reached, ends, report)
    for start in game.starts():
        if report[FAULT] or report[COUNT] == len(ends):
            break
        report[AT] += 1
        if report[AT] > begin:
            mark_start(start, stored, reached, ends, report)


@kernel
def mark_start(start: Any, stored: Any, reached: Any, ends: NDArray[Any], report: NDArray[Any]) -> None:
    """Mark a start as reached, or add it to `ends` if it is terminal."""
    key = game.canonical(start) if FOLDS else start
    if game.is_terminal(start):
        ends[report[COUNT]] = key
        report[COUNT] += 1
        return
    index = look_up(stored.states, key)
    if index < 0:
        report[FAULT], report[CULPRIT] = CHILD_MISSING, start
    elif reached.low <= index < reached.low + len(reached.marks):
        reached.marks[index - reached.low] = 1


@kernel
def stays(state: Any, key: Any) -> Any:
    """Whether a move to an unfinished state does not raise the tier, so that play may come back."""
    if TIERED:
        return game.tier(key) <= game.tier(state)
    return True


@kernel
def unfit(state: Any) -> Any:
    """Why no book stores this state: TERMINAL, NOT_CANONICAL or VANISHES; FINE where one may."""
    if game.is_terminal(state):
        return TERMINAL
    if FOLDS and game.canonical(state) != state:
        return NOT_CANONICAL
    if VANISHING and game.vanishing(state):
        return VANISHES
    return FINE


@kernel
def tally_ends(ends: NDArray[Any], tiers: NDArray[Any], tallies: NDArray[Any]) -> Any:
    """Tally distinct finished states; the first whose tier is none of `tiers`, or -1."""
    for i in range(len(ends)):
        if not tally(ends[i], game.utility(ends[i]), True, tiers, tallies):
            return ends[i]
    return np.int64(-1)


@kernel
def tally(state: Any, score: int, finished: bool, tiers: NDArray[Any], tallies: NDArray[Any]) -> bool:
    """Count a state in tallies (tiers, 5); False if its tier is none of `tiers` (sorted)."""
    row = 0
    if TIERS:
        tier = game.tier(state)
        row = np.searchsorted(tiers, tier)
        if row == len(tiers) or tiers[row] != tier:
            return False
    tallies[row, 0] += 1
    tallies[row, 1] += finished
    tallies[row, 2 if score > 0 else 4 if score < 0 else 3] += 1
    return True


@kernel
def look_up(states: Any, key: Any) -> Any:
    """The place of a key in `Sorted` states, or -1."""
    cell = key >> states.shift
    if cell < 0 or cell + 1 >= len(states.begins):
        return np.int64(-1)
    end = states.begins[cell + 1]
    low = lower_bound(states.lows, low_bits(states, key), states.begins[cell], end)
    return low if low < end and states.lows[low] == low_bits(states, key) else np.int64(-1)


@kernel
def low_bits(states: Any, key: Any) -> Any:
    """The bits of a state that `lows` has."""
    return key & ((np.int64(1) << states.shift) - 1)


@kernel
def states_from(states: Any, begin: int, end: int) -> Any:
    """The states (end - begin,) from one place to another."""
    found = np.empty(end - begin, np.int64)
    cell = upper_bound(states.begins, begin, 0, len(states.begins)) - 1
    for index in range(begin, end):
        while states.begins[cell + 1] <= index:
            cell += 1
        found[index - begin] = cell << states.shift | np.int64(states.lows[index])
    return found


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
