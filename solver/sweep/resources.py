"""The memory and disk that a sweep needs, measured: for estimates beforehand, and refusals on the way."""

from __future__ import annotations

import math
from typing import NamedTuple

from solver.base.errors import ResourceError
from solver.base.kinds import OUTCOME, WDL, Method
from solver.book.codecs import DEFAULT, codec_of
from solver.rules import placements
from solver.rules.game import Rules, own_method

DENSE_BOOK_BYTES = 0.75  # of the book of a game that arrays by state take: dots and boxes 2x5
DENSE_BYTES = 3  # of memory, a number below `size()`, where arrays by state take a game
DENSE_VALUE = 2  # bytes of a value in such arrays, at most


class Sizes(NamedTuple):
    """Bytes for each stored state.

    Attributes:
        book: In a complete book.
        value: For its value during a solve.
        work: In the work folder, besides the state itself.
        memory: In memory.
    """

    book: float
    value: int
    work: float
    memory: int


class Cycle(NamedTuple):
    """A tier with cycles: how many states it has, and the moves of one that stay in it."""

    states: int
    moves: float


FEW_NUMBERS = 1 << 22  # for which it does not pay to compile kernels by number
SORTED_BYTES = 20  # of memory, for a state, the index of its value, and its place, where states are sorted in the end
PACKED = 2.5  # of a packed state, before some are: 0.8 to 2.3
VALUES = 0.5  # bytes of a value in an instant book: 0.26 to 0.58 of outcomes
MARGINS = 0.8  # the same of margins: 0.55 of dots and boxes, 1.02 of kalah
RANKED_BYTES = 0.09  # of a value without its distance in a ranked book: nine men's morris
BOOK = 16 << 10  # bytes of any book
OF_MERITS = Sizes(2.1, 1, 0.5, 12)  # 12 as long as --memory allows it, beside 150 MiB of the process
OF_CYCLES = Sizes(4.0, 2, 0.5, 60)  # of books between quixo 4x4 (2.6) and animal shogi (5.7); KBNK takes 1.3
OF_CHANCE = Sizes(5.0, 8, 6.5, 16)  # of books of pig to 100 4.2, of bearing off 3 checkers 5.9
CHECKPOINT_STATE_BYTES = 8  # bytes of a state of a tier with cycles that a checkpoint has, beside the index
SIZES = {  # by the method that solves the game; with cycles all the memory is needed, whatever --memory says
    Method.MINIMAX: OF_MERITS,
    Method.NIMBERS: OF_MERITS,
    Method.RETROGRADE: OF_CYCLES,
    Method.EXPECTIMINIMAX: OF_CHANCE,
    Method.VALUE_ITERATION: OF_CHANCE._replace(memory=110),  # where nobody counts the moves that stay in a tier
}


def by_state(rules: Rules, tiered: bool) -> tuple[int, int] | None:
    """`size()`, and the bytes of memory that arrays by state need; None where they cannot take the game.

    `tiered`: the game is solved by its tiers.
    """
    if rules.size is None or not tiered or sizes(rules, False).value > DENSE_VALUE:
        return None
    size = rules.size()
    return size, DENSE_BYTES * size


def by_number(rules: Rules, codec: str | None) -> int | None:
    """The bytes of memory that arrays by number need; None where they cannot take the game, or need not.

    `codec` is that of the book: where its keys are states, these are sorted.
    """
    kind = rules.kind
    if rules.parents is None or rules.numbering is None or not rules.alternates or kind.basis not in (OUTCOME, WDL):
        return None
    size = rules.numbering.size
    if (size < FEW_NUMBERS and not kind.converts) or own_method(rules.game, "plies_left"):
        return None
    values, marks = number_bytes(rules, size), 0 if rules.everywhere else size
    tier = max((span.last - span.first for span in placements.spans_of(rules)), default=size)
    analysis = marks + tier * (2 if kind.has_distances else 1)
    listing = 0 if codec_of(codec or DEFAULT).asks_rules else SORTED_BYTES * size
    return values + max(analysis, listing)


def number_bytes(rules: Rules, size: int) -> int:
    """The bytes of the values of so many numbers: two bits each, or two bytes with distances."""
    return size // 4 if rules.kind.bare else 2 * size


def sizes(rules: Rules, cyclic: bool, codec: str | None = None) -> Sizes:
    """Return the sizes of a game's stored state, in tiers with cycles or without, in a book of that codec."""
    bytes_per_item = SIZES[(rules.kind.cyclic or Method.RETROGRADE) if cyclic else rules.kind.acyclic]
    return bytes_per_item._replace(book=bytes_per_item.book * codec_of(codec or DEFAULT).share)


def needs(
    rules: Rules, stored: int, cyclic: bool, packed: float, codec: str | None = None, narrowed: int = 0
) -> tuple[int, int]:
    """Bytes of memory, where there is enough, and of disk, for so many stored states that take `packed` bytes each.

    `narrowed`: bytes of memory for the bounds of the largest tier with cycles of a game of chance, where known.
    """
    bytes_per_item = sizes(rules, cyclic, codec)
    memory = OF_CHANCE.memory * stored + narrowed if narrowed else bytes_per_item.memory * stored
    return (150 << 20) + memory, round((packed + bytes_per_item.work + 2 * bytes_per_item.book) * stored)


def book_bytes(rules: Rules, cyclic: bool, keys: float) -> float:
    """Bytes of a state in an instant book whose keys take so many, or in one of expectations."""
    bytes_per_item = sizes(rules, cyclic)
    return bytes_per_item.book if bytes_per_item.value > DENSE_VALUE else keys + (MARGINS if rules.margins else VALUES)


def moves_in_memory(memory: int, states: int) -> int:
    """How many moves inside a tier of so many states may be kept in memory, and made an index there.

    `memory`: bytes of the pass backward, half of the memory that --memory leaves it.
    """
    return memory // 8 - states


def index_in_memory(memory: int, states: int, entry: int) -> int:
    """How many entries of so many bytes an index of the moves inside a tier may have in memory."""
    return max(1, (memory - 8 * states) // entry)


def index_files(cycle: Cycle, alternates: bool, memory: int) -> tuple[int, int]:
    """Return the bytes of the files that retrograde analysis makes of a tier's moves if memory is short.

    They hold the moves as they are counted, and their index.
    """
    moves = round(cycle.states * cycle.moves)
    places = cycle.states if alternates else 2 * cycle.states
    entry = 4 if places < 1 << 32 else 8
    lists_moves = moves > moves_in_memory(memory, cycle.states) and 2 * cycle.states < 1 << 32
    return 4 * moves * lists_moves, entry * moves * (moves > index_in_memory(memory, cycle.states, entry))


def refuse_beyond(memory: int, states: int, needed: int) -> None:
    """Raise ResourceError if a tier with cycles of so many states needs more bytes than there are."""
    if needed > memory:
        raise ResourceError(
            f"{states:,} states in a tier with cycles need {needed / 2**30:.2f} GiB in memory, more than the"
            f" {memory / 2**30:.2f} GiB of it that are free for them: {more_memory(needed, memory)}"
        )


def more_memory(needed: int, memory: int) -> str:
    """The remedy where so many bytes are needed, and so many of --memory are for them, whatever part of it they are."""
    return f"raise --memory to {math.ceil(10 * needed / max(1, memory)) / 10:.1f} times what it is"
