"""The `ranked` codec: values alone, in the order of the states' ranks; the smallest, and read with the rules.

Its keys are ranks, numbers that the rules give states (`rank(state)`, `unrank(rank)`): so the group and the place in it
are told from the state, and no key is stored.

Group, up to 60,000 ranks, fewer where an index takes more than one byte; at most 64 groups to a segment
    u16 ranks - 1 symbols, raw deflate (RFC 1951, no distance beyond 8 KB), one for each rank from the group's first on,
    in as many
        bytes as an index: 0, a state that is not in the book; else its palette index + 1

Worked group: ranks 1000, 1001, 1003 with palette indices 7, 9, 7, indices of one byte, no state of rank 1002
    03 00 | e3 e0 e2 e2 00 00 4 ranks; symbols 08 0a 0a 08

Where the rules know that a rank has no state that a book could hold (a finished one, none at all, a twin that is
folded away), its symbol is a repetition of the one before, which takes no room. So it is for a state whose value they
tell, but that it is not 0. Whoever looks up asks the rules first.

A group ends where the next state's rank would be beyond it, and where 65,536 states do; so the bytes do not depend on
how the states are cut into parts. They depend on zlib: its versions may deflate to different bytes.
docs/explanation/tried.md has its cost and the alternatives.

A rank is looked up only if the rules have such a state, unfinished and canonical where the book is folded. So no state
is answered with a symbol that was free: what says which they are when a book is written is asked again at each look-up.

The rules may also tell a state's value, or where it comes from: `outlook`, and the one reply that `replies` leaves. In
a complete book of a game whose moves all raise the tier such states need no symbol but one that says that they are
there. The writer compares each value with the one that the rules tell; of more than a million states whose children
tell it, about a million.

A complete book without distances (`Header.sparse`) leaves out more: without `outlook` wins immediately, and, where
every move leads from a tier of an even number to an odd one or back, all values of the even tiers, which are the best
of their children's.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from solver.base.errors import BookError, DamagedBook, GameError, reason
from solver.base.value import WIN, Value, lift, merit_of, value_of
from solver.book.codecs import OFTEN_WRONG, PLAIN, Codec, Find, Groups, Index, Lists, States, unpacked
from solver.book.codecs.compact import deflated, inflated, whole
from solver.book.solution import Part
from solver.rules.game import STATE_LIMIT, Rules
from solver.rules.protocol import NUMBERS

MAX_GROUP_STATES = 60_000
BLOCK_STATES = 1 << 16
HEAD = struct.Struct("<H")
TELLING, HALVED = 1, 2  # what a book leaves out: values that rules tell, and those of even tiers
SAMPLE_GAMES, SAMPLE_PLIES = 20, 200
FEW_GAMES = 2  # that show a reader whether a header tells the truth: the first of those that the writer looked at
# of the way from a state to the stored values that tell its own: states, and forks one behind the other
MOST_STEPS, MOST_FORKS = 1 << 16, 200
RECOVERED = -1  # in place of the index of a value
SLOTS = 61  # decoded groups that a book keeps: 4 MB at most; a prime

Fill = Callable[[int, int], bytes]


def encode_chunk(
    ranks: Sequence[int],
    indices: Sequence[int],
    palette_size: int,
    index_bytes: int,
    holds: Callable[[int], bool] = lambda rank: True,
) -> Groups:
    """The groups of the ranks one after the other, the states and the bytes of each.

    An index is -1 where the rules tell the value of a state that is in the book.
    `holds(rank)` says whether somebody may ask for the rank, who then has to be told that it is not in the book.
    """

    def filled(begin: int, end: int) -> bytes:
        symbols = [int(holds(rank)) for rank in range(ranks[begin], ranks[end - 1] + 1)]
        fill(ranks[begin:end], indices[begin:end], symbols)
        return PLAIN.packed(symbols, index_bytes)

    return encode_blocks(ranks, index_bytes, filled)


def encode_blocks(ranks: Any, index_bytes: int, filled: Fill) -> Groups:
    """`encode_chunk` with a function that makes the symbols of ranks[begin] to ranks[end - 1]."""
    bodies: list[bytes] = []
    counts: list[int] = []
    span = MAX_GROUP_STATES // index_bytes
    first_rank = 0
    while first_rank < len(ranks):
        block = min((first_rank // BLOCK_STATES + 1) * BLOCK_STATES, len(ranks))
        end = bisect_left(ranks, ranks[first_rank] + span, first_rank, block)
        symbols = filled(first_rank, end)
        bodies.append(HEAD.pack(len(symbols) // index_bytes - 1) + deflated(symbols, zlib.Z_FILTERED))
        counts.append(end - first_rank)
        first_rank = end
    return b"".join(bodies), counts, [len(body) for body in bodies]


def fill(ranks: Any, indices: Any, symbols: Any) -> None:
    """Write the symbols of all ranks from the first to the last, in place of whether they may be asked for."""
    index = 0
    symbol = 0
    # The last symbol that is none of a missing state
    last_symbol = 1
    for at in range(len(symbols)):
        rank = ranks[0] + at
        if rank == ranks[index]:
            if indices[index] >= 0:
                last_symbol = indices[index] + 1
            symbol = last_symbol if indices[index] >= 0 or not symbol else symbol
            index += 1
        elif symbols[at]:
            symbol = 0
        symbols[at] = symbol


def _count(view: memoryview, offset: int, index_bytes: int) -> int:
    """The ranks of the group at a place."""
    count = int(HEAD.unpack_from(view, offset)[0]) + 1
    if count > MAX_GROUP_STATES // index_bytes:
        raise ValueError("its size is that of no group")
    return count


def finder() -> Find:
    """A look-up of ranks in the segments of one file, which keeps SLOTS groups decoded, as `compact` does."""
    slots: list[tuple[int, int, bytes] | None] = [None] * SLOTS

    def find(segment: Any, rank: int) -> int | None:
        view, firsts, starts, index_bytes = segment
        group = bisect_right(firsts, rank) - 1
        first_rank = firsts[group]
        known = slots[first_rank % SLOTS]
        if known is None or known[0] != first_rank:
            known = first_rank, _count(view, starts[group], index_bytes), b""
        first_rank, count, symbols = known
        index = rank - first_rank
        if index >= count:
            return None
        if len(symbols) < (index + 1) * index_bytes:
            size = (count if symbols else index + 1) * index_bytes
            symbols = inflated(view[starts[group] + HEAD.size : starts[group + 1]], size)
            slots[first_rank % SLOTS] = first_rank, count, symbols
        symbol = int.from_bytes(symbols[index * index_bytes : (index + 1) * index_bytes], "little")
        return symbol - 1 if symbol else None

    return find


def decode(body: memoryview, first_rank: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The ranks of a group and their palette indices, -1 where there is none; raises DamagedBook.

    The rules know which of the ranks are of states that are stored: those of others have an index, too.
    """
    symbols = unpacked(symbols_of(body, index_bytes), index_bytes)
    return list(range(first_rank, first_rank + len(symbols))), [symbol - 1 for symbol in symbols]


def symbols_of(body: memoryview, index_bytes: int) -> bytes:
    """The symbols of a group; raises DamagedBook."""
    try:
        return whole(body[HEAD.size :], _count(body, 0, index_bytes) * index_bytes)
    except OFTEN_WRONG as error:
        raise DamagedBook(f"a group is malformed ({reason(error)})") from None


class Ranks(States):
    """The ranks of the states that a book may hold. Raises BookError for a game without ranks."""

    name = "ranks"
    ASKED = (*NUMBERS, "outlook", "replies")
    SPARE = 1  # for a state that is missing
    LEFT_OUT = (0, TELLING, HALVED)

    def __init__(self, rules: Rules | None, palette: Sequence[Value], left: int) -> None:
        assert rules is not None
        self.check(rules, "")
        assert rules.rank is not None and rules.unrank is not None
        self.rules, self.palette, self.plain_only = rules, palette, rules.plain_only
        self._rank, self._unrank = rules.rank, rules.unrank
        self.bare: bool = any(value.distance is None and value.score for value in palette)
        hints = self.bare or rules.outlook is not None or rules.replies is not None
        self.tells: bool = left > 0 and hints and rules.alternates and not rules.margins
        self.halves: bool = self.tells and left == HALVED
        if self.halves:
            self.ASKED = (*self.ASKED, "tier")
        self._places = {value: palette_index for palette_index, value in enumerate(palette)}
        self.merits: list[Any] = [merit_of(value) for value in palette]

    @classmethod
    def left_out(cls, rules: Rules, games: int = SAMPLE_GAMES) -> int:
        """Return which values a complete book without distances leaves out, judged by some random games."""
        if not rules.alternates:
            return 0
        if not rules.tiered:
            return TELLING
        import random

        chance = random.Random(1)
        # Do all moves lead from tiers of even numbers to odd ones and back?
        for _ in range(games):
            state, plies = rules.first(), 0
            while plies < SAMPLE_PLIES and not rules.is_terminal(state):
                child = rules.result(state, chance.choice([*rules.actions(state)]))
                if (rules.tier(child) - rules.tier(state)) % 2 == 0:
                    return TELLING
                state, plies = child, plies + 1
        return HALVED

    @classmethod
    def check_left_out(cls, rules: Rules, sparse: int) -> None:
        if sparse > cls.left_out(rules, FEW_GAMES):
            raise DamagedBook(
                f"the header leaves out values ({sparse}) that the moves of {rules.name} do not tell: solve again"
            )

    @classmethod
    def check(cls, rules: Rules, scope: str) -> None:
        if rules.rank is None or rules.unrank is None:
            raise BookError(
                f"{rules.name} does not number its states, rank(state) and unrank(rank): choose the codec compact"
            )
        if scope == "exact":
            raise BookError("a search or a grown book has too few states among all ranks: choose the codec compact")

    def rank(self, state: int) -> int:
        """The rank of a state that a book may hold, else -1."""
        rank = self._rank(state) if 0 <= state < STATE_LIMIT else -1
        return rank if rank >= 0 and self._is_open(state) else -1

    def state(self, rank: int) -> int:
        """The state of that rank that a book may hold, else -1."""
        state: int = self._unrank(rank) if rank < STATE_LIMIT else -1
        return state if state >= 0 and self._is_open(state) else -1

    def _is_open(self, state: int) -> bool:
        return not self.rules.is_terminal(state) and self.rules.canonical(state) == state

    def value(self, state: int, find: Index) -> Value | None:
        """The value of a state; `find(rank)` is the index that the book has at a rank, None for a state it lacks."""
        rank = self.rank(state)
        index = find(rank) if rank >= 0 else None
        if index is None or not self.tells:
            return None if index is None else self.palette[index]
        merit = self._merit(state, find, iter(range(MOST_STEPS)), MOST_FORKS)
        return None if merit is None else value_of(merit, self.bare)

    def _merit(self, state: int, find: Index, steps: Iterator[int], forks: int) -> int | None:
        """The merit of a state that play comes to from one of the book; None where the book lacks one that it takes.

        Raises DamagedBook where the way to stored values takes more than these steps and forks: a header that calls a
        game with cycles one without makes it endless.
        """
        plies = 0
        merit, children = self._told(state)
        while len(children) == 1:
            plies += 1
            state = children[0]
            if next(steps, None) is None:
                raise self._endless(state)
            merit, children = self._told(state)
        if children:
            if not forks:
                raise self._endless(state)
            for child in children:
                if next(steps, None) is None:
                    raise self._endless(child)
                reply = self._merit(child, find, steps, forks - 1)
                if reply is None:
                    return None
                reply = lift(reply, False, self.bare)
                merit = reply if merit is None or reply > merit else merit
                if self.bare and merit > 0:
                    break
        elif merit is None:
            index = find(self._rank(state))
            merit = None if index is None else self.merits[index]
        return merit if merit is None else lift(merit, plies % 2 == 0, self.bare, plies)

    def _endless(self, state: int) -> DamagedBook:
        return DamagedBook(
            f"state {state} of {self.rules.name} is too far from any stored value: play may come back to it, which the"
            " header denies. Solve again"
        )

    def index(self, state: int, find: Index) -> int:
        """The palette index of a state's value, beyond the palette if it is not of it; -1 for a state without one."""
        if not self.tells:
            # Places of a palette may have the same value, at different distances to a conversion
            rank = self.rank(state)
            return super().index(rank, find) if rank >= 0 else -1
        value = self.value(state, find)
        return -1 if value is None else self._places.get(value, len(self.palette))

    def _told(self, state: int) -> tuple[int | None, list[int]]:
        """Return the merit of a state if the rules tell it, or else the states whose merits do. Neither is stored."""
        rules = self.rules
        if not self.tells:
            return None, []
        if rules.is_terminal(state):
            return (int(rules.utility(state)) if self.bare else rules.end(state)), []
        if rules.outlook:
            outlook = rules.outlook(state)
            if outlook:
                return (outlook if self.bare else WIN - 1 if outlook > 0 else 2 - WIN), []
        elif self.bare:
            results = (rules.result(state, action) for action in rules.actions(state))
            # Who moved there has won
            if any(rules.is_terminal(child) and rules.utility(child) < 0 for child in results):
                return 1, []
        choices = rules.replies(state) if rules.replies else 0
        single = choices and not choices & choices - 1
        if not single and not (self.halves and rules.tier(state) % 2 == 0):
            return None, []
        actions = [one for one in rules.actions(state) if not choices or choices >> one & 1]
        children = [rules.result(state, action) for action in actions]
        return None, [child if rules.is_terminal(child) else rules.canonical(child) for child in children]

    def in_order(self, groups: Iterable[Lists]) -> Iterator[Lists]:
        pairs = sorted(pair for group in groups for pair in zip(*group, strict=True))
        yield [state for state, _ in pairs], [index for _, index in pairs]

    def parts(self, chunks: Iterable[Part], block: int) -> Iterator[Part]:
        """Ranks and indices in order of the ranks, `block` at a time, of states and indices; raises GameError."""
        table = {int(state): int(index) for chunk in chunks for state, index in zip(*chunk, strict=True)}
        pairs: list[tuple[int, int]] = []
        for state, index in table.items():
            merit, children = self._told(state)
            if children:
                ends = self.rules.is_terminal
                merits = [self._told(child)[0] if ends(child) else self.merits[table[child]] for child in children]
                merit = max(lift(child, False, self.bare) for child in merits if child is not None)
            if merit is not None and merit != self.merits[index]:
                raise untrue(self.rules, state)
            pairs.append((self._rank(state), index if merit is None else RECOVERED))
        pairs.sort()
        if pairs and pairs[0][0] < 0:
            raise unnumbered(self.rules, next(state for state in table if self._rank(state) < 0))
        for begin in range(0, len(pairs), block):
            ranks, indices = zip(*pairs[begin : begin + block], strict=True)
            yield ranks, indices

    def states(self, keys: list[int], indices: list[int], find: Index) -> Lists:
        """The states of ranks that a book holds, with their indices; the index of a rank that it lacks is -1."""
        pairs = [(self.state(rank), index) for rank, index in zip(keys, indices, strict=True) if index >= 0]
        stored = [pair for pair in pairs if pair[0] >= 0]
        if self.tells:
            stored = [(state, self.index(state, find)) for state, _ in stored]
        return [state for state, _ in stored], [index for _, index in stored]

    def told(self, state: int) -> list[str]:
        """The rank of a state, its outlook, and its replies where the outlook is 0."""
        outlook = int(self.rules.outlook(state)) if self.rules.outlook else 0
        replies = int(self.rules.replies(state)) if self.rules.replies and not outlook else 0
        return [str(self._rank(state)), str(outlook), str(replies)]

    def encode(self, ranks: Any, indices: Any, palette_size: int, index_bytes: int) -> Any:
        """The codec's `encode_chunk`, told which ranks may be asked for."""
        return encode_chunk(ranks, indices, palette_size, index_bytes, lambda rank: self.state(rank) >= 0)


def unnumbered(rules: Rules, state: int) -> GameError:
    """The error of rules that give a state of play no rank."""
    return GameError(f"{rules.name}: state {state}, which play reaches, has no number: correct rank or scan")


def untrue(rules: Rules, state: int) -> GameError:
    """The error of rules that tell a wrong value."""
    return GameError(f"{rules.name}: state {state} has another value than outlook or replies say: correct them")


CODEC = Codec(
    "ranked",
    2,
    MAX_GROUP_STATES,
    groups=64,
    block=BLOCK_STATES,
    encode_chunk=encode_chunk,
    finder=finder,
    decode=decode,
    keys=Ranks,
    share=0.2,
)
