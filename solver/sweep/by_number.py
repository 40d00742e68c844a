"""Kernels over arrays by number, for games whose rules number their positions and take moves back (`parents`).

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
from solver.compiled.numbering import Addresses, orbit_entry, orbit_position, table_of
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
SCORES = DISTANT = FOLDS = ORBITS = False

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
def _number(state: Any, at: Addresses) -> Any:
    """The number of a state's canonical one, -1 if it has none."""
    return _entry(state, at) >> 1


@inlined
def _entry(state: Any, at: Addresses) -> Any:
    """Twice the number of a state's canonical one, and one more if that may be symmetric; negative if it has none."""
    key = game.canonical(state) if FOLDS else state
    return orbit_entry(at, key) if ORBITS else 2 * game.rank(key) + FOLDS


@inlined
def _position(number: int, table: int, at: Addresses) -> Any:
    """The state of a number, which is in a table; -1 where there is none."""
    if ORBITS:
        return orbit_position(at, table, number)
    return game.unrank(number)


@inlined
def _table(number: int, at: Addresses) -> Any:
    return table_of(at, number) if ORBITS else 0


@inlined
def _next_table(table: int, number: int, at: Addresses) -> Any:
    """The table of a number that is not before a table."""
    if ORBITS:
        while table + 1 < at.table_count and word_at(at.arrays.tables, 4 * (table + 1)) <= number:
            table += 1
    return table


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
def reach(begin: int, end: int, span: Span, round: int, marks: NDArray[Any], at: Addresses, report: Any) -> None:
    """Mark the children of the positions among some numbers that the last round reached, and count these.

    Threads may mark the same child, with the same byte.
    """
    now, following = WAITING + round % 2, WAITING + (round + 1) % 2
    table = _table(begin, at)
    for number in range(begin, end):
        if marks[number] != now:
            continue
        table = _next_table(table, number, at)
        marks[number] = REACHED
        state = _position(number, table, at)
        report[FOUND] += 1
        if game.is_terminal(state):
            continue
        for action in game.actions(state):
            child = game.result(state, action)
            index = _number(child, at)
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
    at: Addresses,
    report: NDArray[Any],
) -> None:
    """Write the codes of a tier's numbers begin..end that finished games and later tiers tell.

    Args:
        begin, end: Numbers.
        span: Those of the tier.
        marks: Which numbers play reaches; empty if all that are positions count.
        values: Of all numbers, those of finished tiers.
        codes: Of the tier's numbers, written.
        at: The look-up tables of the numbering.
        report: (SLOTS,) int64; the counts are added.
    """
    everywhere, scratch = len(marks) == 0, np.empty(TOGETHER, np.int64)
    numbers = address(scratch)
    table = _table(begin, at)
    for number in range(begin, end):
        table = _next_table(table, number, at)
        code = NONE
        state = np.int64(-1)
        if everywhere or marks[number]:
            state = np.int64(_position(number, table, at))
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
                code = _seeded(state, span.tier, values, at, numbers, report)
        _put(codes, number - span.first, code)
        if report[edges.ERROR]:
            return


@inlined
def _seeded(state: Any, tier: int, values: int, at: Addresses, numbers: int, report: NDArray[Any]) -> Any:
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
            number = _number(child, at)
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
    at: Addresses,
    report: NDArray[Any],
) -> None:
    """Take the moves back that lead to the positions of one distance, or round.

    Args:
        begin, end: Numbers, among which the positions are sought, by words of their codes.
        span: Those of the tier.
        distance: The distance, or the number of the round.
        values: The address of the values of all numbers.
        codes: That of the tier's codes, written.
        at: The look-up tables of the numbering.
        report: (SLOTS,) int64: FOUND counts the positions, FURTHEST is the largest distance that was written.
    """
    scratch, parents = np.empty(MOST_PARENTS, np.int64), 0
    numbers, first, size = address(scratch), span.first, span.last - span.first
    each = 4 if DISTANT else 8
    ones = 0x0001000100010001 if DISTANT else 0x0101010101010101
    low = 0x7FFF7FFF7FFF7FFF if DISTANT else 0x7F7F7F7F7F7F7F7F
    sought = np.int64(_decided(False, distance))
    pattern, table = sought * ones, _table(begin, at)
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
            table = _next_table(table, first + place, at)
            state = _position(first + place, table, at)
            even = _entry(state, at) & 1
            parents = 0
            for parent in game.parents(state):
                entry = _entry(parent, at) - 2 * first
                if not 0 <= entry < 2 * size:
                    report[edges.ERROR], report[edges.CULPRIT] = OUTSIDE, state
                    return
                if parents == MOST_PARENTS:
                    report[edges.ERROR], report[edges.CULPRIT] = CROWDED_PARENTS, state
                    return
                put_word(numbers, parents, entry | even)
                # All are asked for together, then read
                prefetch_at(codes + (entry & ~1 if DISTANT else entry >> 1))
                parents += 1
            for i in range(parents):
                index = word_at(numbers, i) >> 1
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
                    if word_at(numbers, i) & 1:
                        # Symmetric positions have fewer images, and moves between them do not match one by one
                        for j in range(i):
                            if word_at(numbers, j) >> 1 == index:
                                moves = np.int64(0)
                        if moves:
                            moves = _moves_between(index, place, span, at)
                    if moves and _take(codes, index, moves):
                        _lose(index, span, distance, values, codes, at, report)


@inlined
def _moves_between(index: int, child_index: int, span: Span, at: Addresses) -> Any:
    """How many moves of a position lead to another, or to an image of it."""
    count, number = np.int64(0), span.first + index
    state = _position(number, _table(number, at), at)
    for action in game.actions(state):
        child = game.result(state, action)
        if game.tier(child) == span.tier and _number(child, at) - span.first == child_index:
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
def _lose(index: int, span: Span, distance: int, values: int, codes: int, at: Addresses, report: NDArray[Any]) -> None:
    """Decide a position that loses, unless it has more moves than were counted, and one that does not lose."""
    longest, number = distance + 1, span.first + index
    if not DISTANT and _code_at(codes, index) != CROWDED:
        _put(codes, index, _decided(False, longest))
        report[FURTHEST] = max(report[FURTHEST], longest)
        return
    state = _position(number, _table(number, at), at)
    for action in game.actions(state):
        child = game.result(state, action)
        child_number = _number(child, at)
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
    at: Addresses,
    by_state: bool,
    keys: NDArray[Any],
    merits: NDArray[Any],
    win: int,
) -> Any:
    """The unfinished positions among the numbers begin..end, states or numbers, and their merits; how many.

    `codes`: the address of those that tell the distances of these numbers to a conversion, or 0: each is one ply.
    """
    count, table = 0, _table(begin, at)
    for number in range(begin, end):
        outcome, distance = _worth(values, number)
        if SCORES and DISTANT:
            distance = np.int64(1)
            if codes and short_at(codes, number - begin) >= BEGIN:
                distance = np.int64(short_at(codes, number - begin) - BEGIN >> 1)
        if outcome == MISSING:
            continue
        table = _next_table(table, number, at)
        state = np.int64(_position(number, table, at))
        if game.is_terminal(state):
            continue
        size = win - distance if DISTANT else 1
        keys[count] = state if by_state else number
        merits[count] = 0 if outcome == DRAWN else size if outcome == IS_WON else -size
        count += 1
    return count


@kernel
def numbers_of(states: NDArray[Any], at: Addresses, numbers: NDArray[Any]) -> None:
    """The numbers of some states' canonical ones."""
    for i in range(len(states)):
        numbers[i] = _number(states[i], at)


@kernel
def parents_of(state: int, at: Addresses, numbers: NDArray[Any]) -> Any:
    """The numbers of a state's parents; how many there are."""
    count = 0
    for parent in game.parents(state):
        if count < len(numbers):
            numbers[count] = _number(parent, at)
        count += 1
    return count


@kernel
def positions_of(numbers: NDArray[Any], at: Addresses, states: NDArray[Any]) -> None:
    """The canonical states of some numbers, -1 where there is none."""
    for i in range(len(numbers)):
        state = np.int64(_position(numbers[i], _table(numbers[i], at), at))
        states[i] = -1 if FOLDS and state >= 0 and game.canonical(state) != state else state
