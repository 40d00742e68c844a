"""Kernels over arrays by number, for games whose rules number their positions and give unmoves (`parents`).

Each position of a tier has one code, and the array of codes is all that the analysis needs: no queue, no list of moves.

    1 to MOST_OPEN      open: how many of its moves inside the tier are not known to lose
    CROWDED             open, with more moves than that
    OPEN_SAFE           open, and some move leads to a drawn position of a later tier
    OVER                the game is over, drawn
    NONE                no position, or none that play reaches
    from BEGIN on       decided: BEGIN + 2 * distance, and one more if it is won
    LOST, WON, FRESH    the same without distances: FRESH + 2 * (round % 2) + won as long as its parents do not know

A code takes one byte, or two with distances. Finished tiers keep their codes, or only outcomes, in two bits each. With
distances to a conversion, codes have distances and finished tiers have outcomes: a move that leads there is one ply.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.compiled import edges
from solver.compiled.binding import inlined, kernel
from solver.rules.placements import Span
from solver.store.addresses import (
    address,
    byte_at,
    exchange_byte,
    exchange_short,
    prefetch_at,
    put_byte,
    put_short,
    put_word,
    short_at,
    word_at,
)

game: Any = None  # what follows are constants of the bound copies
SCORES = DISTANT = FOLDS = False

MOST_OPEN, CROWDED, OPEN_SAFE, OVER, NONE = 237, 238, 239, 240, 241
LOST, WON, FRESH = 242, 243, 244
BEGIN = 256  # of decided positions with distances
MOST_DISTANCE = (65535 - BEGIN) // 2 - 1
MOST_PARENTS = 1024  # of a position
TOGETHER = 8  # children whose values are asked for at a time
LACKING = 1 << 30  # in place of a distance: a child has no value
DRAWN, IS_WON, IS_LOST, MISSING = 0, 1, 2, 3  # of a finished tier, without distances, four to a byte
REACHED, WAITING = 1, 2  # marks of the pass forward, and after them two for the rounds in a tier
# slots of a report, after those of `edges.keep`
STAYS, FURTHEST, FOUND, SLOTS = edges.FIELDS, edges.FIELDS + 1, edges.FIELDS + 2, edges.FIELDS + 3
UNNUMBERED, OTHER_TIER, CROWDED_PARENTS, OUTSIDE = 200, 201, 202, 203  # further faults


@inlined
def _key(state: Any) -> Any:
    """The state that stands for a state and its images."""
    return game.canonical(state) if FOLDS else state


@inlined
def _worth(values: int, number: int) -> tuple[Any, Any]:
    """The outcome of a number of a finished tier, and its distance."""
    if SCORES:
        return byte_at(values, number >> 2) >> 2 * (number & 3) & 3, np.int64(0)
    code = short_at(values, number)
    if code >= BEGIN:
        return (IS_WON if code & 1 else IS_LOST), code - BEGIN >> 1
    return (MISSING if code == NONE else DRAWN), np.int64(0)


@inlined
def _code_at(codes: int, index: int) -> Any:
    return short_at(codes, index) if DISTANT else byte_at(codes, index)


@inlined
def _put(codes: int, index: int, code: int) -> None:
    if DISTANT:
        put_short(codes, index, code)
    else:
        put_byte(codes, index, code)


@inlined
def _decided(won: bool, distance: int) -> Any:
    """The code of a position that this round, or the one of this distance, decides."""
    if DISTANT:
        return BEGIN + 2 * distance + won
    return FRESH + 2 * (distance & 1) + won


@kernel
def reach(begin: int, end: int, span: Span, round: int, marks: NDArray[Any], report: Any) -> None:
    """Mark the children of the positions among some numbers that the last round reached, and count these.

    Threads may mark the same child, with the same byte.
    """
    now, following = WAITING + round % 2, WAITING + (round + 1) % 2
    for number in range(begin, end):
        if marks[number] != now:
            continue
        marks[number] = REACHED
        state = game.unrank(number)
        report[FOUND] += 1
        if game.is_terminal(state):
            continue
        for action in game.actions(state):
            child = game.result(state, action)
            index = game.rank(_key(child))
            if index < 0:
                report[edges.ERROR], report[edges.CULPRIT] = UNNUMBERED, child
                return
            if marks[index]:
                continue
            child_tier = game.tier(child)
            if child_tier < span.tier:
                report[edges.ERROR], report[edges.CULPRIT] = edges.TIER_FALLS, state
                return
            if (span.first <= index < span.last) != (child_tier == span.tier):
                report[edges.ERROR], report[edges.CULPRIT] = OTHER_TIER, child
                return
            marks[index] = following if child_tier == span.tier else WAITING


@kernel
def seed(
    begin: int,
    end: int,
    span: Span,
    marks: NDArray[Any],
    values: int,
    codes: int,
    report: NDArray[Any],
) -> None:
    """Write the codes of a tier's numbers begin..end that finished games and later tiers tell.

    Args:
        begin, end: Numbers.
        span: Those of the tier.
        marks: Which numbers play reaches; empty if all that are positions count.
        values: Of all numbers, those of finished tiers.
        codes: Of the tier's numbers, written.
        report: (SLOTS,) int64; the counts are added.
    """
    everywhere, scratch = len(marks) == 0, np.empty(TOGETHER, np.int64)
    numbers = address(scratch)
    for number in range(begin, end):
        code = NONE
        state = np.int64(-1)
        if everywhere or marks[number]:
            state = np.int64(game.unrank(number))
            if everywhere and FOLDS and state >= 0 and game.canonical(state) != state:
                state = np.int64(-1)
        if state >= 0:
            report[FOUND] += 1
            if game.tier(state) != span.tier:
                report[edges.ERROR], report[edges.CULPRIT] = OTHER_TIER, state
                return
            if game.is_terminal(state):
                utility = np.int64(game.utility(state))
                if not -1 <= utility <= 1:
                    report[edges.ERROR], report[edges.CULPRIT] = edges.BAD_UTILITY, state
                    return
                report[edges.DRAWS - (utility > 0) + (utility < 0)] += 1
                code = _decided(utility > 0, 0) if utility else OVER
            else:
                report[edges.KEPT_COUNT] += 1
                code = _seeded(state, span.tier, values, numbers, report)
        _put(codes, number - span.first, code)
        if report[edges.ERROR]:
            return


@inlined
def _seeded(state: Any, tier: int, values: int, numbers: int, report: NDArray[Any]) -> Any:
    """The code of an unfinished position by its children in later tiers. numbers (TOGETHER,) is scratch."""
    inside, waiting = 0, 0
    best = (MOST_DISTANCE, -1, False)
    for action in game.actions(state):
        child = game.result(state, action)
        if game.tier(child) == tier:
            inside += 1
            if SCORES and best[0] < MOST_DISTANCE:
                break
        # Of a win only whether some move stays is left to be known
        elif not SCORES or best[0] == MOST_DISTANCE:
            number = game.rank(_key(child))
            if number < 0:
                report[edges.ERROR], report[edges.CULPRIT] = UNNUMBERED, child
                return NONE
            # Values lie anywhere: some are asked for together, then read
            prefetch_at(values + (number >> 2 if SCORES else 2 * number))
            put_word(numbers, waiting, number)
            waiting += 1
            if waiting == TOGETHER:
                best = _best(values, numbers, waiting, best)
                waiting = 0
                if SCORES and best[0] < MOST_DISTANCE and inside:
                    break
    quickest, slowest, drawn = _best(values, numbers, waiting, best)
    if slowest == LACKING:
        report[edges.ERROR], report[edges.CULPRIT] = edges.UNKNOWN_CHILD, state
        return NONE
    if inside:
        report[STAYS] += 1
    if quickest < MOST_DISTANCE:
        report[FURTHEST] = max(report[FURTHEST], quickest)
        return _decided(True, quickest if DISTANT else 0)
    if drawn:
        return OPEN_SAFE
    if inside:
        return inside if inside <= MOST_OPEN else CROWDED
    if slowest < 0:
        report[edges.ERROR], report[edges.CULPRIT] = edges.NO_ACTIONS, state
        return NONE
    report[FURTHEST] = max(report[FURTHEST], slowest)
    return _decided(False, slowest if DISTANT else 0)


@inlined
def _best(values: int, numbers: int, count: int, best: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """With some children more: the distances of the quickest win and of the slowest loss, and whether one is drawn."""
    quickest, slowest, drawn = best
    for i in range(count):
        outcome, distance = _worth(values, word_at(numbers, i))
        if outcome == IS_LOST:
            quickest = min(quickest, distance + 1)
        elif outcome == IS_WON:
            slowest = max(slowest, distance + 1)
        elif outcome == DRAWN:
            drawn = True
        else:
            slowest = LACKING
    return quickest, slowest, drawn


@kernel
def go_back(
    begin: int,
    end: int,
    span: Span,
    distance: int,
    values: int,
    codes: int,
    report: NDArray[Any],
) -> None:
    """Take the moves back that lead to the positions of one distance, or round.

    Args:
        begin, end: Numbers, among which the positions are sought, by words of their codes.
        span: Those of the tier.
        distance: The distance, or the number of the round.
        values: The address of the values of all numbers.
        codes: That of the tier's codes, written.
        report: (SLOTS,) int64: FOUND counts the positions, FURTHEST is the largest distance that was written.
    """
    scratch, parents = np.empty(2 * MOST_PARENTS, np.int64), 0
    keys, first, size = address(scratch), span.first, span.last - span.first
    numbers = keys + 8 * MOST_PARENTS
    each = 4 if DISTANT else 8
    ones = 0x0001000100010001 if DISTANT else 0x0101010101010101
    low = 0x7FFF7FFF7FFF7FFF if DISTANT else 0x7F7F7F7F7F7F7F7F
    sought = np.int64(_decided(False, distance))
    pattern = sought * ones
    # A word belongs to the range in which its first number is
    for index in range((begin - first + each - 1) // each, (end - first + each - 1) // each):
        # Lost or won: the lowest bit does not matter. Then the high bit of each part that is zero
        word = (word_at(codes, index) ^ pattern) & ~ones
        if ~(((word & low) + low) | word | low) == 0:
            continue
        for place in range(each * index, each * index + each):
            code = _code_at(codes, place)
            if code & ~1 != sought:
                continue
            report[FOUND] += 1
            won = code & 1
            if not DISTANT:
                _put(codes, place, LOST + won)
            state = game.unrank(first + place)
            even = FOLDS and game.is_own_image(state)
            parents = 0
            for parent in game.parents(state):
                key = _key(parent)
                index = game.rank(key) - first
                if not 0 <= index < size:
                    report[edges.ERROR], report[edges.CULPRIT] = OUTSIDE, state
                    return
                if parents == MOST_PARENTS:
                    report[edges.ERROR], report[edges.CULPRIT] = CROWDED_PARENTS, state
                    return
                put_word(keys, parents, key)
                put_word(numbers, parents, index)
                # All are asked for together, then read
                prefetch_at(codes + (2 * index if DISTANT else index))
                parents += 1
            for i in range(parents):
                index = word_at(numbers, i)
                parent_code = _code_at(codes, index)
                if parent_code >= OVER and (
                    parent_code <= NONE or not DISTANT or won or parent_code <= _decided(True, distance + 1)
                ):
                    continue
                if not won:
                    # A quicker win than one in a later tier counts, too
                    _put(codes, index, _decided(True, distance + 1))
                    report[FURTHEST] = max(report[FURTHEST], distance + 1)
                elif parent_code < OPEN_SAFE and parent_code > 0:
                    moves = np.int64(1)
                    if even or (FOLDS and game.is_own_image(word_at(keys, i))):
                        # Symmetric positions have fewer images, and moves between them do not match one by one
                        for j in range(i):
                            if word_at(numbers, j) == index:
                                moves = np.int64(0)
                        if moves:
                            moves = _moves_between(index, place, span)
                    if moves and _take(codes, index, moves):
                        _lose(index, span, distance, values, codes, report)


@inlined
def _moves_between(index: int, child_index: int, span: Span) -> Any:
    """How many moves of a position lead to another, or to an image of it."""
    count, number = np.int64(0), span.first + index
    state = game.unrank(number)
    for action in game.actions(state):
        child = game.result(state, action)
        if game.tier(child) == span.tier and game.rank(_key(child)) - span.first == child_index:
            count += 1
    return count


@inlined
def _take(codes: int, index: int, moves: int) -> Any:
    """Take moves that lose from an open position; whether none may be left. Another thread may decide it meanwhile."""
    while True:
        code = _code_at(codes, index)
        if code == CROWDED:
            return True
        if code > MOST_OPEN:
            return False
        left = max(code - moves, 0)
        found = exchange_short(codes, index, code, left) if DISTANT else exchange_byte(codes, index, code, left)
        if found == code:
            return left == 0


@inlined
def _lose(index: int, span: Span, distance: int, values: int, codes: int, report: NDArray[Any]) -> None:
    """Decide a position that loses, unless it has more moves than were counted, and one that does not lose."""
    longest, number = distance + 1, span.first + index
    if not DISTANT and _code_at(codes, index) != CROWDED:
        _put(codes, index, _decided(False, longest))
        report[FURTHEST] = max(report[FURTHEST], longest)
        return
    state = game.unrank(number)
    for action in game.actions(state):
        child = game.result(state, action)
        child_number = game.rank(_key(child))
        if game.tier(child) == span.tier:
            code = _code_at(codes, child_number - span.first)
            if code & 1 == 0 or code < (BEGIN if DISTANT else LOST):
                return
            if DISTANT:
                if code > _decided(True, distance):
                    return
                longest = max(longest, (code - BEGIN >> 1) + 1)
        else:
            longest = max(longest, _worth(values, child_number)[1] + 1)
    _put(codes, index, _decided(False, longest))
    report[FURTHEST] = max(report[FURTHEST], longest)


@kernel
def file_away(begin: int, end: int, first: int, codes: int, values: int, numbers: NDArray[Any]) -> None:
    """Write the values of a decided tier's numbers begin..end, and count their codes in numbers (65,536,) int64."""
    for number in range(begin, end):
        code = _code_at(codes, number - first)
        numbers[code] += 1
        if SCORES:
            outcome = MISSING if code == NONE else DRAWN if code < NONE else IS_WON if code & 1 else IS_LOST
            shift = 2 * (number & 3)
            put_byte(values, number >> 2, byte_at(values, number >> 2) & ~(3 << shift) | outcome << shift)
        else:
            put_short(values, number, code)


@kernel
def collect(
    begin: int,
    end: int,
    values: int,
    codes: int,
    by_state: bool,
    keys: NDArray[Any],
    merits: NDArray[Any],
    win: int,
) -> Any:
    """The unfinished positions among the numbers begin..end, states or numbers, and their merits; how many.

    `codes`: the address of those that tell the distances of these numbers to a conversion, or 0: each is one ply.
    """
    count = 0
    for number in range(begin, end):
        outcome, distance = _worth(values, number)
        if SCORES and DISTANT:
            distance = np.int64(1)
            if codes and short_at(codes, number - begin) >= BEGIN:
                distance = np.int64(short_at(codes, number - begin) - BEGIN >> 1)
        if outcome == MISSING:
            continue
        state = np.int64(game.unrank(number))
        if game.is_terminal(state):
            continue
        size = win - distance if DISTANT else 1
        keys[count] = state if by_state else number
        merits[count] = 0 if outcome == DRAWN else size if outcome == IS_WON else -size
        count += 1
    return count


@kernel
def numbers_of(states: NDArray[Any], numbers: NDArray[Any]) -> None:
    """The numbers of some states' canonical ones."""
    for i in range(len(states)):
        numbers[i] = game.rank(_key(states[i]))


@kernel
def parents_of(state: int, numbers: NDArray[Any]) -> Any:
    """The numbers of a state's parents; how many there are."""
    count = 0
    for parent in game.parents(state):
        if count < len(numbers):
            numbers[count] = game.rank(_key(parent))
        count += 1
    return count


@kernel
def positions_of(numbers: NDArray[Any], states: NDArray[Any]) -> None:
    """The canonical states of some numbers, -1 where there is none."""
    for i in range(len(numbers)):
        state = np.int64(game.unrank(numbers[i]))
        states[i] = -1 if FOLDS and state >= 0 and game.canonical(state) != state else state
