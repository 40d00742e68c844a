"""The end of a solve: the shard files of all tiers as one, in the order of states, and the book, written by workers.

Some tasks each sort a few shards by state and cut them into ranges. Then a task for each range makes groups of the book
of it.

The sorted slices lie in the store, one file for each task and in it a slice for each range: states packed in blocks,
and their values. So no process holds more than one task needs, and the driver only passes on where a slice lies. Cost,
for connect-four 5x5 on one core: 43 ns a state to sort, 44 to encode.
"""

from __future__ import annotations

import bisect
import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.sharding import ARRANGED, BOUND
from solver.book.codecs import codec_of
from solver.book.codecs.arrays import encoder_of
from solver.book.solution import Encoded
from solver.book.writer import encoded
from solver.cluster.blocks import owner_of
from solver.cluster.shards import Shards
from solver.cluster.store import File, Slice, Sliced, Store
from solver.cluster.tasks import CHECKED_STATES, Job, bench_of, labelled
from solver.store.packed import LAST, Packed, Table, packed
from solver.store.runs import spans, splitters
from solver.sweep.exhaustive import PART, in_order
from solver.sweep.scale import Piece, indices_of

SLICE_HEADER = 3  # numbers before those of a slice: states, blocks, words
READ_STATES = 1 << 12  # states that are read with one that is asked for: a bisection ends among them
EMPTY_PIECE: Piece = np.empty(0, np.int64), np.empty(0, np.uint8)


class Share(NamedTuple):
    """The slice of a file of ordered states that belongs to a range: how many states, and they with their values."""

    states: int
    part: Slice


class Arranged(NamedTuple):
    """A file of ordered states: for each range how many there are, and a part."""

    states: NDArray[np.int64]
    file: Sliced

    def share(self, number: int) -> Share:
        """Return the slice of a range."""
        return Share(int(self.states[number]), self.file.part(number))


class Form(NamedTuple):
    """How a book has its values: the merits best first, None where they are numbers of steps; and as whose groups."""

    merits: list[int] | None
    codec: str
    palette: int
    index_bytes: int


class Bound(NamedTuple):
    """A range of the book.

    Attributes:
        head: States that complete a block begun in an earlier range.
        groups: Groups of whole blocks.
        tail: States of a block that ends in a later range.
    """

    head: Piece
    groups: list[Encoded]
    tail: Piece


def arrange(job: Job, number: int, shards: Sequence[tuple[File, File]], kind: str, keys: Sequence[int]) -> Arranged:
    """The states of some files, in order, with the values of others, cut into ranges by the keys."""
    store = bench_of(job).store
    runs = Table([store.get(states, np.int64) for states, _ in shards])
    values = [store.get(file, kind) for _, file in shards]
    inner, counts, sheets = splitters(runs, PART), list[int](), list[NDArray[Any]]()
    for low, high in spans(np.array(keys, np.int64)):
        between = inner[(inner > low) & (inner <= high)].tolist()
        ends = [*(key - 1 for key in between), high]
        states, merits = _joined([in_order(runs, values, *span) for span in zip([low, *between], ends, strict=True)])
        run, size = packed(states), -(-merits.nbytes // 8) * 8
        padded = np.zeros(size, np.uint8)
        padded[: merits.nbytes] = merits.view(np.uint8)
        head = np.array([len(states), len(run.blocks), len(run.words)])
        parts = head, run.blocks.reshape(-1), run.words.view(np.int64), padded.view(np.int64)
        counts.append(len(states))
        sheets.append(np.concatenate(parts))
    return Arranged(np.array(counts), store.put_parts(labelled("part", number, (0, 0)), sheets))


def ordered(store: Store, shares: Sequence[Share], kind: str) -> Iterator[Callable[[], Piece]]:
    """A range of the states of all shares, with their values: calls that give one piece after the other."""
    runs, values = [], []
    for share in shares:
        if share.states:
            array = np.frombuffer(store.read(*share.part), np.int64)
            states, blocks, words = array[:SLICE_HEADER].tolist()
            begin = SLICE_HEADER + 3 * blocks
            index = array[SLICE_HEADER:begin].reshape(-1, 3)
            runs.append(Packed(index, array[begin : begin + words].view(np.uint64)))
            values.append(array[begin + words :].view(kind)[:states])
    table = Table(runs)
    for span in spans(splitters(table, PART)):
        yield functools.partial(in_order, table, values, *span)


def bind(job: Job, shares: Sequence[Share], kind: str, form: Form, before: int) -> Bound:
    """The groups of a range of the book, before which there are so many states."""
    block, groups, head, tail = codec_of(form.codec).block, list[Encoded](), EMPTY_PIECE, EMPTY_PIECE
    # The states that complete a block which others begin
    missing, indices = -before % block, indices_of(form.merits)
    for call in ordered(bench_of(job).store, shares, kind):
        states, values = call()
        piece, tail = _cut(_joined([tail, (states, indices(values))]), missing)
        head, missing = _joined([head, piece]), missing - len(piece[0])
        blocks, tail = _cut(tail, len(tail[0]) // block * block)
        if len(blocks[0]):
            groups.append(groups_of(form, blocks))
    return Bound(head, groups, tail)


def _cut(piece: Piece, count: int) -> tuple[Piece, Piece]:
    """The first states of a piece, and the others."""
    states, indices = piece
    return (states[:count], indices[:count]), (states[count:], indices[count:])


def groups_of(form: Form, piece: Piece) -> Encoded:
    """The groups that states and palette indices make."""
    return encoded(encoder_of(codec_of(form.codec)), *piece, form.palette, form.index_bytes)


def _joined(pieces: list[Piece]) -> Piece:
    states, indices = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return states, indices


def cuts(samples: Sequence[tuple[Sequence[int], int]], ranges: int) -> list[int]:
    """Keys that cut tiers, of which there are some states and how many they are, into so many ranges, or fewer."""
    samples = [(sampled, count) for sampled, count in samples if len(sampled)]
    if not samples or ranges == 1:
        return []
    keys = np.concatenate([np.array(sampled, np.int64) for sampled, _ in samples])
    weights = np.concatenate([np.full(len(sampled), count / len(sampled)) for sampled, count in samples])
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(weights[order])
    places = np.searchsorted(ends, np.arange(1, ranges) * ends[-1] / ranges)
    return [key for key in np.unique(keys[order][places]).tolist() if 0 < key < LAST]


class Merged:
    """`Swept`, in the files of a store. `tier` gives the tier of a state."""

    def __init__(self, shards: Shards, tier: Callable[[int], int]) -> None:
        course = shards.course
        assert course.scale is not None
        self.shards, self.store, self.course, self.kind = shards, shards.store, course, np.dtype(course.scale.kind)
        self.tier, self.scale, self.tally, self.layers = tier, course.scale, course.tally, course.tiers
        self.stored: int = course.stored
        self.values: list[list[File]] = list(reversed(course.values))
        self.rows: dict[int, int] = {tier.number: row for row, tier in enumerate(course.tiers)}
        self._read = functools.lru_cache(maxsize=256)(
            lambda file, begin, end, kind: np.frombuffer(
                self.store.read(file.name, begin * kind.itemsize, end * kind.itemsize), kind
            )
        )

    def merit_of(self, key: int) -> int | None:
        files = self._files_of(key) if 0 <= key < 1 << 63 else None
        if files is None:
            return None
        states, values = files
        kind, every = np.dtype(np.int64), range(states.length)
        index = bisect.bisect_left(every, key, key=lambda index: self._at(states, index, kind))
        is_stored = index < states.length and self._at(states, index, kind) == key
        return self._at(values, index, self.kind) if is_stored else None

    def _files_of(self, key: int) -> tuple[File, File] | None:
        """The files of the states and values of the shard that has a state, if any."""
        row = self.rows.get(self.tier(key))
        if row is None:
            return None
        owner = int(owner_of(key, self.course.tiers[row].bits))
        return self.course.tiers[row].states[owner], self.values[row][owner]

    def _at(self, file: File, index: int, kind: np.dtype[Any]) -> int:
        begin = index - index % READ_STATES
        return int(self._read(file, begin, min(begin + READ_STATES, file.length), kind)[index - begin])

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        tiers = [tier for tier in self.course.tiers if tier.kept]
        number = max(1, min(CHECKED_STATES, limit // max(1, len(tiers))))
        states = []
        for tier in tiers:
            files = [file for [file] in tier.parts]
            for _ in range(number):
                file = files[int(chance.integers(len(files)))]
                states.append(self._at(file, int(chance.integers(file.length)), np.dtype(np.int64)))
        chance.shuffle(states)
        return states[:limit]

    def check(self, key: int | None = None) -> None:
        """Raise Damaged for the first file that has changed: of all files, or of the two that hold a state."""
        files = None if key is None else self._files_of(key)
        for states, values in self._pairs() if files is None else [files]:
            self.store.get(states, np.int64)
            self.store.get(values, self.kind)

    def _pairs(self) -> list[tuple[File, File]]:
        """The files that there are of states, and of their values."""
        return [
            pair
            for tier, values in zip(self.course.tiers, self.values, strict=True)
            for pair in zip(tier.states, values, strict=True)
            if pair[0].length
        ]

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        shown, kind = indices_of(best_first), self.kind.str

        def piece(call: Callable[[], Piece]) -> Piece:
            states, values = call()
            return states, shown(values)

        for shares in self._ranges():
            yield from team.map(piece, ordered(self.store, shares, kind))

    def encoded(self, codec: str, index_bytes: int) -> Iterator[Encoded]:
        """The same as groups of a book, by tasks."""
        units = self.scale.units(self.shards.rules, self.tally.error)
        merits = units.kind.listed(self.tally.values)
        form = Form(None if merits is None else list(merits), codec, len(merits or ()), index_bytes)
        block, pieces, waiting = codec_of(codec).block, list[Piece](), 0
        for bound in self._bounds(form):
            pieces.append(bound.head)
            waiting += len(bound.head[0])
            # Two or more ranges may share a block
            if waiting == block:
                yield groups_of(form, _joined(pieces))
                pieces, waiting = [], 0
            yield from bound.groups
            pieces.append(bound.tail)
            waiting += len(bound.tail[0])
        if waiting:
            yield groups_of(form, _joined(pieces))

    def _bounds(self, form: Form) -> Iterator[Bound]:
        """The ranges of the book, of which only some are under way at a time."""
        shards, before = self.shards, 0
        engine, waiting = shards.engine_for(self.stored), deque[Any]()
        for shares in self._ranges():
            states = sum(share.states for share in shares)
            memory = min(shards.memory, BOUND * states)
            waiting += engine.submit(bind, shards.job, shares, self.kind.str, form, before, memory=memory)
            before += states
            if len(waiting) > 2 * engine.workers:
                yield engine.result(waiting.popleft())
        yield from engine.results(waiting)

    def _ranges(self) -> Iterator[list[Share]]:
        """Yield, for each range of states, its slices in the files of ordered shards, which tasks write."""
        shards, kind = self.shards, self.kind.str
        bits, ranges = (shards.bits_for(self.stored, bytes_per_state) for bytes_per_state in (ARRANGED, BOUND))
        keys = cuts([(tier.sample, tier.kept) for tier in self.course.tiers], 1 << ranges)
        engine, memory = shards.engine_for(self.stored), shards.bytes_for(self.stored, bits, ARRANGED)
        # The files, in shares of about so many states
        groups, count, limit = [list[tuple[File, File]]()], 0, self.stored >> bits
        for pair in self._pairs():
            if groups[-1] and count + pair[0].length // 2 > limit:
                groups.append([])
                count = 0
            groups[-1].append(pair)
            count += pair[0].length
        tasks = [
            engine.submit(arrange, shards.job, number, group, kind, keys, memory=memory)[0]
            for number, group in enumerate(groups)
        ]
        arranged = list(engine.results(tasks))
        for number in range(len(keys) + 1):
            yield [piece.share(number) for piece in arranged]
