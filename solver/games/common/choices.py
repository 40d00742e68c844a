"""Choices of some of a board's cells, numbered: what the ranks of states are made of (the combinatorial number system).

A set of cells is an int, a bit for each. Choices of equally many cells are ordered like these ints.
"""

import functools


def choose(items: int, some: int) -> int:
    """How many choices of so many items there are."""
    ways = 1
    for item in range(some):
        ways = ways * (items - item) // (item + 1)
    return ways


@functools.lru_cache(maxsize=1 << 12)
def fillings(items: int, boxes: int, most: int) -> int:
    """In how many ways equal items fill boxes that hold so many each; by inclusion and exclusion of boxes too full."""
    items = min(items, boxes * most - items)  # as many ways, and numbers that fit 64 bits
    if boxes == 0 or items < 0:
        return 1 if items == 0 else 0
    ways = 0
    sign = 1
    for full in range(boxes + 1):
        left = items - full * (most + 1)
        if left >= 0:
            ways += sign * choose(boxes, full) * choose(left + boxes - 1, boxes - 1)
        sign = -sign
    return ways


def place_of(chosen: int, cells: int) -> int:
    """Which of the choices of as many of these cells this one is, from 0."""
    left, some = cells.bit_count(), chosen.bit_count()
    ways = choose(left, some)
    place = 0
    while left > 0:
        cell = 1 << cells.bit_length() - 1
        without = ways * (left - some) // left
        if chosen & cell:
            place += without
            ways -= without
            some -= 1
        else:
            ways = without
        cells ^= cell
        left -= 1
    return place


def choice_at(place: int, some: int, cells: int) -> int:
    """The choice of so many of these cells that has this place."""
    left = cells.bit_count()
    ways = choose(left, some)
    chosen = 0
    while left > 0:
        cell = 1 << cells.bit_length() - 1
        without = ways * (left - some) // left
        if place >= without:
            place -= without
            chosen |= cell
            ways -= without
            some -= 1
        else:
            ways = without
        cells ^= cell
        left -= 1
    return chosen
