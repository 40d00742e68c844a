"""The book on disk: one LMDB 0.9 file that answers by memory mapping.

The header says format 1, which every later version reads, and names what else would have to be guessed: its `keys` are
"states" or "ranks", its `values` places in the "palette" or numbers of "steps". Books made before format 1 have a
`version` in its place; they are refused. docs/reference/format.md has the rest.

Records of the main database, in key order
    8 bytes, big-endian n         segment n
    "directory" + 4 bytes n       part n of the directory: crc32, then the first state of each segment
    "graph" + 4 bytes n           part n of a game that is a graph: crc32, then at most 65,516 bytes that
                                  `games.common.nodes` has packed
    "header"                      crc32, then a msgpack map, the fields of `Header`; at most 1 MiB
    "palette" + 4 bytes n         part n of a palette of which the header has the size only: crc32, then the score and
                                  the distance, or -1, of each value, i64

A first state takes 8 bytes, or the header's `state_bytes`, of states of more than 63 bits. All integers but LMDB's keys
are little-endian. A crc32 runs over the book id, the record's number as u64, and the rest
of the record, so a record of another book or another place does not pass.

Segment, at most 65,520 bytes: whole pages of LMDB
    u32 crc32 | u16 groups n | u8 codec: 0 instant, 1 compact, 2 ranked | u8 bytes of an index, 0 of numbers of steps
    n first state of each group | n + 1 u16 where each group begins, and the end | groups, as their codec has them

Why so, in bits a state on connect-four 5x4: one LMDB record a state 161, fixed-width offsets 26, this 12; its
look-ups are as fast as those of plain records. Only non-terminal states are stored: rules tell terminal ones.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from solver.base.errors import DamagedBook, ForeignBook, excerpt, reason
from solver.base.kinds import MARGIN, Kind, Method, kind_asked
from solver.base.value import Value, merit_of
from solver.book.codecs import DEFAULT, NAMES, Codec, States, codec_of
from solver.book.solution import HASH, PROOF, TRIMMED, TierCount, Trim, check_trim
from solver.rules.fingerprint import Origin
from solver.rules.game import Rules

if TYPE_CHECKING:
    from solver.base.expectations import Estimate, Expectation

MAGIC = "solverbook"
FORMAT = 1
HEADER_SIZE, SEGMENT_SIZE = 1 << 20, 65_520
BODY = SEGMENT_SIZE - 4  # bytes behind the checksum
DIRECTORY_KEY, GAME_KEY, HEADER_KEY, PALETTE_KEY = b"directory", b"graph", b"header", b"palette"
DIRECTORY_PART = 8_000  # first states to a directory record
PALETTE_PART = 4_000  # values to a record
MOST_TEXT = 8192  # characters of a game's name
MOST_VALUES = 1 << 21  # of any palette: a reader takes 200 bytes for each

SCOPES = re.compile("complete|exact|grown|proof|ply [0-9]{1,9}")  # of books that hold all that was solved


def segment_key(number: int) -> bytes:
    """Return the key of a segment's record."""
    return number.to_bytes(8, "big")


def part_key(kind: bytes, part_index: int) -> bytes:
    """Return the key of a part of a record that is not a segment: `DIRECTORY_KEY`, `GAME_KEY` or `PALETTE_KEY`."""
    return kind + part_index.to_bytes(4, "big")


def seal(book_id: bytes, number: int, body: bytes) -> bytes:
    """The record: its checksum, then the body."""
    return struct.pack("<I", _checksum(book_id, number, body)) + body


def unseal(
    book_id: bytes, number: int, record: bytes | memoryview, name: str, limit: int = SEGMENT_SIZE
) -> bytes | memoryview:
    """The body of a record whose checksum holds; raises DamagedBook otherwise."""
    fits = 4 <= len(record) <= limit
    if not fits or int.from_bytes(record[:4], "little") != _checksum(book_id, number, record[4:]):
        raise DamagedBook(f"{name} fails its checksum: fetch or solve the book again")
    return record[4:]


def _checksum(book_id: bytes, number: int, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(book_id + number.to_bytes(8, "little")))


class Header(NamedTuple):
    """The header of a book. `states`, `terminal` and `tiers` are None where the scope is not complete.

    `numbers` are the stored states of each value of the palette; None in a book that did not count them yet. `trim` is
    None in a book that was not trimmed. `wdl`: wins and losses have no distance. `expectation` is what the values of a
    game of chance are, None elsewhere; with it the palette is empty. `estimate` is what those of a grown book are, None
    elsewhere. `state_bytes` are those of a state, 0 of one word. `sparse` is what a book without distances leaves out,
    since its codec can tell it; 0: nothing. `conversion`, only with `wdl`: distances in the palette are plies to a
    conversion, a move that raises the tier or ends the game. `start`: in a proof book of another position than the
    game's start, that position's state.
    """

    game: str
    rules: str
    method: str
    scope: str
    symmetry: bool
    score_game: bool
    palette: list[Value]
    states: int | None
    terminal: int | None
    stored: int
    counts: dict[str, int]
    tiers: list[TierCount] | None
    root: Value
    longest: tuple[int, int] | None
    book_id: bytes = b""
    digest: str = ""
    codec: str = DEFAULT
    numbers: list[int] | None = None
    trim: Trim | None = None
    wdl: bool = False
    expectation: Expectation | None = None
    estimate: Estimate | None = None
    state_bytes: int = 0
    sparse: int = 0
    conversion: bool = False
    start: int | None = None

    def identified(self) -> Header:
        """With the book id, which follows from all that is known before the records are written.

        And without `numbers` where they make the header too long: a book that is packed anew cannot know them.
        """
        header = self if self._is_whole() else self._replace(numbers=None)
        facts = header._replace(book_id=b"", digest="", longest=header._longest(), start=header._start())
        early, later = facts[: -len(LATER)], facts[-len(LATER) :]
        packed = msgpack.packb([*early, *(fact for fact in later if fact)])
        return header._replace(book_id=hashlib.sha256(packed).digest()[:8])

    def _longest(self) -> Any:
        """`longest` as msgpack takes it."""
        if self.longest is None or not self.state_bytes:
            return self.longest
        return self.longest[0], self.longest[1].to_bytes(self.state_bytes, "little")

    def _start(self) -> Any:
        """`start` as msgpack takes it: bytes, which are never taken for nothing."""
        return None if self.start is None else self.start.to_bytes(self.key_bytes, "little")

    @property
    def origin(self) -> Origin:
        """The game and the rules that made the book."""
        return Origin(self.game, self.rules)

    @property
    def encoding(self) -> Codec:
        """All that is its codec's own."""
        return codec_of(self.codec)

    @property
    def layout(self) -> dict[str, Any]:
        """The facts that tell a reader how to read the book."""
        values = "steps" if self.kind.is_stepped else "palette"
        return {"format": FORMAT, "keys": self.encoding.keys.name, "values": values}

    @property
    def key_bytes(self) -> int:
        """The bytes of a first state."""
        return self.state_bytes or 8

    @property
    def is_gapless(self) -> bool:
        """Whether all states that play can reach are stored, or settled by a search of `plies`."""
        return self.scope == "complete" if self.trim is None else self.trim.is_gapless

    @property
    def kind(self) -> Kind:
        """That of its values."""
        outcomes_or_margins = MARGIN if self.score_game else kind_asked(self.method, self.wdl, self.conversion)
        return self.expectation or self.estimate or outcomes_or_margins

    def of_kind(self, kind: Kind) -> Header:
        """The header of a book whose values are of this kind."""
        bare, converts = kind.bare, kind.converts
        return self._replace(wdl=bare, conversion=converts, expectation=kind.expectation, estimate=kind.estimate)

    @property
    def verdict(self) -> str:
        """The value of the start in words; of a proof book that begins elsewhere, of its position."""
        if self.start is None:
            return self.kind.verdict(self.root)
        return f"{self.kind.words(self.root)} for the side to move at #{self.start}"

    @property
    def values(self) -> Sequence[Value]:
        """The values by their stored number, which is a place in the palette or a count of steps."""
        return self.kind.values(self.palette)

    @property
    def outcomes(self) -> Sequence[Value]:
        """The values by their place in the palette; none where it is empty."""
        return self.palette and self.values

    @property
    def index_bytes(self) -> int:
        """Bytes of a palette index; 0 of numbers of steps."""
        if self.kind.is_stepped:
            return 0
        symbols = len(self.values) + self.encoding.keys.SPARE
        return 1 if symbols <= 1 << 8 else 2 if symbols <= 1 << 16 else 4

    def keys(self, rules: Rules | None) -> States:
        """Return the codec's keys. Some codecs need the rules for them.

        Raises:
            BookError: The codec does not fit the rules.
            DamagedBook: The game cannot tell the values that the book leaves out.
        """
        if self.sparse and rules is not None:
            self.encoding.keys.check_left_out(rules, self.sparse)
        keys = self.encoding.keys(rules, self.outcomes, self.sparse if self.kind.bare else int(self._is_acyclic))
        keys.plain_only |= self.state_bytes > 0
        return keys

    def holding(self, numbers: Mapping[Value, int], longest: tuple[int, int] | None) -> Header:
        """Return the header of a book that stores so many states of each value.

        They are counted by outcome if the header has no counts yet.
        """
        palette = sorted(numbers, key=merit_of, reverse=True)
        counts = dict.fromkeys(OUTCOMES, 0)
        for value, number in numbers.items():
            counts[value.leaning] += number
        return self._replace(
            palette=palette,
            stored=sum(numbers.values()),
            numbers=[numbers[value] for value in palette],
            longest=longest,
            counts=self.counts or counts,
        )

    @property
    def may_leave_out(self) -> tuple[int, ...]:
        """The allowed values of `sparse`."""
        return self.encoding.keys.LEFT_OUT if self._is_acyclic and self.kind.bare else (0,)

    @property
    def _is_acyclic(self) -> bool:
        """Whether the book is of all states of a game without cycles."""
        return self.scope == "complete" and self.method == Method.MINIMAX and not self.kind.converts

    def pack(self) -> bytes:
        """The header's record, which has the size of the palette only where that has `palette_records`."""
        if self._is_whole():
            return self.packed()
        return self._replace(palette=len(self.palette), numbers=None).packed()  # type: ignore[arg-type]

    def palette_records(self) -> list[tuple[bytes, bytes]]:
        """Keys and records of a palette that does not fit into the header."""
        records: list[tuple[bytes, bytes]] = []
        if self._is_whole():
            return records
        for part_index, begin in enumerate(range(0, len(self.palette), PALETTE_PART)):
            values = self.palette[begin : begin + PALETTE_PART]
            numbers = [number for score, distance in values for number in (score, -1 if distance is None else distance)]
            record = seal(self.book_id, part_index, struct.pack(f"<{len(numbers)}q", *numbers))
            records.append((part_key(PALETTE_KEY, part_index), record))
        return records

    def _is_whole(self) -> bool:
        return len(self._replace(book_id=bytes(8), digest="0" * 64).packed()) <= HEADER_SIZE

    def packed(self) -> bytes:
        fields = {"magic": MAGIC, **self.layout, "byte_order": "little", "group": self.encoding.group}
        fields |= self._asdict()
        fields["longest"], fields["start"] = self._longest(), self._start()
        for name in LATER:
            if not fields[name]:
                del fields[name]
        return seal(self.book_id, 0, msgpack.packb({**fields, "complete": True}))

    @classmethod
    def unpack(cls, record: bytes, read_record: Callable[[bytes], Any] = lambda key: None) -> Header:
        """The header in a record; `read_record` gives the record of another key, or None, for a palette outside of it.

        Raises ForeignBook for another format or version, DamagedBook for the rest, a header that contradicts itself
        included.
        """
        fields = _fields(record)
        if fields.get("magic") != MAGIC:
            raise ForeignBook("the header has no mark of a book of this package")
        if "version" in fields:
            raise ForeignBook(
                f"the book is older than format {FORMAT}: make it anew, solver solve {excerpt(fields.get('game'))} -o"
                " BOOK"
            )
        if fields.get("format") != FORMAT:
            raise ForeignBook(
                f"the book has format {excerpt(fields.get('format'))}, this package reads {FORMAT}: install the package"
                " that wrote it, or solve again"
            )
        book_id = fields.get("book_id")
        if not isinstance(book_id, bytes) or len(book_id) != 8:
            raise DamagedBook("the header has no book id")
        unseal(book_id, 0, record, "header", HEADER_SIZE)
        try:
            if type(fields["palette"]) is int:
                fields["palette"] = long_palette(book_id, fields["palette"], read_record)
            header = cls._checked(fields)
            is_so = all(fields.get(name) == fact for name, fact in header.layout.items())
            if not is_so or header.sparse not in header.may_leave_out:
                raise ValueError("unknown layout")
            check_facts(header)
            return header
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedBook(f"the header is malformed: {reason(error)}") from None

    @classmethod
    def _checked(cls, fields: dict[str, Any]) -> Header:
        """Return a header of fields of the right types. Raises whatever error a wrong field causes."""
        for name, kind in KINDS.items():
            if type(fields[name]) is not kind:
                raise ValueError(f"{name} is not of type {kind.__name__}")
        if fields["codec"] not in NAMES or fields["group"] != codec_of(fields["codec"]).group:
            raise ValueError("unknown codec")
        if fields["complete"] is not True or fields["byte_order"] != "little":
            raise ValueError("unknown layout")
        for name in ("states", "terminal"):
            if fields[name] is not None and type(fields[name]) is not int:
                raise ValueError(f"{name} is not a count")
        makers: dict[str, Callable[..., Any]] = {"trim": Trim}
        if "expectation" in fields or "estimate" in fields:
            from solver.base.expectations import Estimate, Expectation

            makers |= {"expectation": Expectation, "estimate": Estimate}
        for name, make in makers.items():
            if fields.get(name) is not None:
                fields[name] = make(*fields[name])
        optional = {"numbers", *LATER} - fields.keys()
        header = cls(**{name: fields[name] for name in cls._fields if name not in optional})
        if type(header.state_bytes) is not int or (header.state_bytes and not header.encoding.takes_all):
            raise ValueError("states of another size than their codec's")
        if header.longest is not None:
            distance, state = fields["longest"]
            state = int.from_bytes(state, "little") if header.state_bytes else state
            distance, state = _integers((distance, state))
            header = header._replace(longest=(distance, state))
        if header.start is not None:
            header = header._replace(start=int.from_bytes(fields["start"], "little"))
        book_kind = header.kind
        return header._replace(
            numbers=None if header.numbers is None else _integers(header.numbers),
            palette=[book_kind.palette_kind.kept(value_in(pair, book_kind.types)) for pair in header.palette],
            counts=dict(zip(OUTCOMES, _integers(header.counts[name] for name in OUTCOMES), strict=True)),
            tiers=None if header.tiers is None else [TierCount(*_integers(row)) for row in header.tiers],
            root=book_kind.kept(value_in(header.root, book_kind.types)),
        )


def long_palette(book_id: bytes, size: int, read_record: Callable[[bytes], Any]) -> list[tuple[int, int | None]]:
    """The scores and distances of a palette in records of its own."""
    numbers: list[int] = []
    if size > MOST_VALUES:
        raise ValueError("more values than a book may have")
    for part_index in range(-(-size // PALETTE_PART)):
        record = read_record(part_key(PALETTE_KEY, part_index))
        if record is None:
            raise ValueError(f"part {part_index} of the palette is missing")
        numbers += memoryview(unseal(book_id, part_index, record, f"part {part_index} of the palette")).cast("q")
    if len(numbers) != 2 * size:
        raise ValueError("the palette has another size")
    return [(score, None if distance == -1 else distance) for score, distance in zip(*[iter(numbers)] * 2, strict=True)]


def value_in(pair: Sequence[Any], types: tuple[type, ...]) -> Value:
    """The value of a header's [score, distance], of these types of scores."""
    score, distance = pair
    if type(score) not in types or not (distance is None or (type(distance) is int and distance >= 0)):
        raise ValueError("a value is no [score, distance]")
    return Value(score, distance)


def is_name(text: str) -> bool:
    """Whether a header may name a game by this text."""
    return text.isprintable() and len(text) <= MOST_TEXT


def check_facts(header: Header) -> None:
    """Raise ValueError for a header that contradicts itself, whatever the rules are."""
    scope = header.scope
    if (header.trim is None) != (scope != TRIMMED):
        raise ValueError("scope and trim differ")
    if header.trim is not None:
        check_trim(header.trim)
        scope = header.trim.scope
    if header.wdl is not header.kind.bare or header.conversion is not header.kind.converts:
        raise ValueError("distances where they cannot be, or none")
    if header.state_bytes and (header.state_bytes % 8 or not 16 <= header.state_bytes <= 64 or header.expectation):
        raise ValueError("states of no size")
    if header.method not in [*Method] or not SCOPES.fullmatch(scope) or header.stored < 0:
        raise ValueError("unknown method or scope")
    facts = Method(header.method).facts
    if header.trim is not None and (header.kind.unfit.get("trim") or facts.is_complete != (scope == "complete")):
        raise ValueError("a trimmed book of a method that makes none such")
    if not is_name(header.game):
        raise ValueError("game is not a name of a game")
    if not HASH.fullmatch(header.rules) or not HASH.fullmatch(header.digest):
        raise ValueError("rules and digest are not hashes")
    may_be = (header.kind.acyclic, header.kind.cyclic, header.kind.partial)
    if header.method not in (may_be if scope != PROOF else (header.kind.partial, Method.PROOF_NUMBER)):
        raise ValueError("method and values differ")
    if header.expectation is not None:
        # Such a book has no palette
        of, step, error = header.expectation
        if of != ("margin" if header.score_game else "utility") or type(step) is not float or type(error) is not float:
            raise ValueError("values of an unknown kind")
        if not 0 < step <= 1 or math.frexp(step)[0] != 0.5 or not step / 2 <= error < 1:
            raise ValueError("steps or error out of bounds")
        if not header.encoding.takes_all or header.palette or header.numbers is not None:
            raise ValueError("expectations with a palette")
    if header.estimate is not None:
        header.estimate.check(header.score_game)
    if (header.estimate is None) != (scope != "grown"):
        raise ValueError("estimates where they cannot be, or none")
    _check_palette(header)
    _check_counts(header)
    slowest = max((value.distance or 0 for value in header.palette if value.is_win), default=None)
    if (slowest is None) != (header.longest is None):
        raise ValueError("longest and palette differ")
    state_limit = 1 << (8 * header.state_bytes or 63)
    if header.longest is not None and (header.longest[0] != slowest or not 0 <= header.longest[1] < state_limit):
        raise ValueError("longest and palette differ")
    if header.start is not None and (scope != PROOF or header.start >= state_limit):
        raise ValueError("a start where it cannot be")


def _check_palette(header: Header) -> None:
    """Every value is of the book's kind; the best is first, none comes twice, none has no states."""
    palette_kind = header.kind.palette_kind
    for value, kind in (*((value, palette_kind) for value in header.palette), (header.root, header.kind)):
        if not kind.fits(value):
            raise ValueError(f"no value of such a game: {value.score}, {value.distance}")
    if any(better <= worse for better, worse in pairwise(map(merit_of, header.palette))):
        raise ValueError("the palette is not sorted")
    if len(header.palette) > min(header.stored, MOST_VALUES):
        raise ValueError("more values than states, or than a book may have")
    numbers = header.numbers
    if numbers is not None and (
        len(numbers) != len(header.palette) or min(numbers, default=1) < 1 or sum(numbers) != header.stored
    ):
        raise ValueError("numbers and palette differ")


def _check_counts(header: Header) -> None:
    """Counts add up, by outcome and by tier."""
    counts, tiers, total = header.counts, header.tiers, sum(header.counts.values())
    is_partial = not Method(header.method).facts.is_complete
    if header.scope != "complete":
        if not (is_partial or header.scope == TRIMMED) or (header.states, header.terminal, tiers) != (None, None, None):
            raise ValueError("counts of a whole game without one")
    elif is_partial or header.states is None or header.terminal is None:
        raise ValueError("a whole game without its counts")
    elif header.terminal < 0 or not header.stored + header.terminal == header.states == total:
        raise ValueError("states and counts differ")
    if min(counts.values()) < 0 or total < header.stored:
        raise ValueError("stored and counts differ")
    if tiers is not None:
        totals = [header.states, header.terminal, *counts.values()]
        if [sum(column) for column in zip(*tiers, strict=True)][1:] != totals:
            raise ValueError("tiers and counts differ")
        if any(low.tier >= high.tier for low, high in pairwise(tiers)) or any(
            min(tier[2:]) < 0 or not tier.terminal <= tier.states == tier.win + tier.draw + tier.loss for tier in tiers
        ):
            raise ValueError("tiers are not sorted, or their counts differ")


KINDS: dict[str, type] = dict.fromkeys(("game", "rules", "method", "scope", "codec", "digest"), str)
KINDS |= {"symmetry": bool, "score_game": bool, "stored": int}
OUTCOMES = ("win", "draw", "loss")
# that a header has only where they say something
LATER = ("trim", "wdl", "expectation", "estimate", "state_bytes", "sparse", "conversion", "start")


def _integers(items: Iterable[Any]) -> list[int]:
    numbers = list(items)
    if {*map(type, numbers)} - {int}:
        raise ValueError("a count is not a whole number")
    return numbers


def _fields(record: bytes) -> dict[str, Any]:
    """The msgpack map of a header record; nothing large or deep is built from hostile bytes."""
    if not 4 < len(record) <= HEADER_SIZE:
        raise DamagedBook(f"the header has {len(record)} bytes")
    limit = len(record)
    try:
        fields = msgpack.unpackb(
            record[4:], max_str_len=limit, max_bin_len=limit, max_array_len=limit, max_map_len=100, max_ext_len=0
        )
    except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
        raise DamagedBook(f"the header cannot be read: {type(error).__name__}") from None
    if not isinstance(fields, dict):
        raise ForeignBook("the header is not a map")
    return fields
