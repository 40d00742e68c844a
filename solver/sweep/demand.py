"""What a sweep asks of memory and disk, measured: for estimates beforehand, and refusals on the way."""

from __future__ import annotations

from solver.rules.game import Rules

BOOK_BYTES = 2.1  # of a complete book, a stored state
CYCLIC_BOOK_BYTES = 4.0  # between quixo 4x4 (2.6) and animal shogi (5.7); KBNK takes 1.3
WORK_BYTES = 11  # of the work folder, a stored state; the book is there twice while it is written
SWEEP_BYTES = 16  # of memory, a stored state, as long as --memory allows it, beside 150 MiB of the process
CYCLIC_BYTES = 60  # the same in tiers with cycles, where 16 of them are needed whatever --memory says
CHANCE_BOOK_BYTES = 6.0  # of expectations: pig to 100 4.2, bearing off 3 checkers 5.9
CHANCE_WORK_BYTES = 19  # of the work folder, a stored state, whose value has 8 of them
CHANCE_CYCLIC_BYTES = 110  # of memory in tiers with cycles: pig to 100
DENSE_BOOK_BYTES = 0.75  # of the book of a game that arrays by state take: dots and boxes 2x5
DENSE_BYTES = 3  # of memory, a number below `size()`, where arrays by state take a game


def by_state(rules: Rules, tiered: bool) -> tuple[int, int] | None:
    """`size()`, and the bytes of memory that arrays by state need; None where they cannot take the game.

    `tiered`: the game is solved by its tiers.
    """
    if rules.size is None or not tiered or rules.chance is not None:
        return None
    size = rules.size()
    return size, DENSE_BYTES * size


def book_bytes(rules: Rules, cyclic: bool) -> float:
    """Bytes of a complete book, a stored state."""
    if rules.chance is not None:
        return CHANCE_BOOK_BYTES
    return CYCLIC_BOOK_BYTES if cyclic else BOOK_BYTES


def backward_bytes(rules: Rules, cyclic: bool) -> float:
    """Bytes of disk that a state still takes when all are counted: its value, and the book twice."""
    return (8 if rules.chance is not None else 2 if cyclic else 1) + 2 * book_bytes(rules, cyclic)


def needs(rules: Rules, stored: int, cyclic: bool) -> tuple[int, int]:
    """Bytes of memory, where there is enough, and of disk, for so many stored states."""
    chance = rules.chance is not None
    each = (CHANCE_CYCLIC_BYTES if chance else CYCLIC_BYTES) if cyclic else SWEEP_BYTES
    work = CHANCE_WORK_BYTES if chance else WORK_BYTES + (8 if cyclic else 0)
    return (150 << 20) + each * stored, round((work + 2 * book_bytes(rules, cyclic)) * stored)
