"""What all parts of a solve's driver share: numbers of shards, engines, results of tasks, commits.

Results of tasks go through files of the store where they would be too many for the driver to own. Ray's driver keeps a
record of each result, 38 kB of them in a large shuffle (ray#18333), and passes each on in 20 us. Of a task whose
results are filed it owns two: the first of them, and the offsets of the others in one file. The digests of what is read
come by Ray.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from solver.base import sharding
from solver.base.kinds import Method
from solver.base.options import Options
from solver.base.sharding import BYTES, GATHERED
from solver.cluster.blocks import EMPTY_BLOCK, block_count, block_for, split, unsplit
from solver.cluster.engine import Engine, Here, Node
from solver.cluster.history import EVENT_NAMES, LAYOUT, Course, Event, ShardedTier
from solver.cluster.store import File, Slice, Sliced, Store, store_at
from solver.cluster.tasks import Job, Run, answer, gather, request
from solver.rules.game import Rules
from solver.sweep.scale import Scale

EVERY = 1.0  # seconds between commits, at least
MAIL = "mail"  # what files of results are called


class Made:
    """The file that a task makes: what it says of it, once that was asked for."""

    def __init__(self, engine: Engine, handle: Any) -> None:
        self._engine, self._handle = engine, handle
        self.filed: Sliced | None = None

    def part(self, number: int) -> Slice:
        """Where a result is."""
        if self.filed is None:
            self.filed, self._handle = self._engine.result(self._handle), None
        return self.filed.part(number)


class Place(NamedTuple):
    """A handle: one of the results in a file."""

    made: Made
    number: int

    @property
    def slice(self) -> Slice:
        return self.made.part(self.number)


class Filing(Engine):
    """An engine around another one that lets tasks exchange results through files of a store.

    Tasks may read results from files. With `files`, a task writes all its results but the first to one file.
    """

    def __init__(self, engine: Engine, store: Store, files: bool) -> None:
        self.engine, self.store, self.files = engine, store, files
        self._made: list[Made] = []
        self._before: list[Made] = []

    @property
    def workers(self) -> int:
        return self.engine.workers

    @property
    def memory(self) -> int:
        return self.engine.memory

    def submit(self, task: Callable[..., Any], *arguments: Any, returns: int = 1, **options: Any) -> list[Any]:
        slices = [argument.slice if isinstance(argument, Place) else argument for argument in arguments]
        url = self.store.url
        if self.files and returns > 1:
            first_result, handle = self.engine.submit(_filed, url, task, *slices, returns=2, **options)
            self._made.append(Made(self.engine, handle))
            return [first_result, *(Place(self._made[-1], number) for number in range(returns - 1))]
        if any(isinstance(argument, Slice) for argument in slices):
            return self.engine.submit(_called, url, task, *slices, returns=returns, **options)
        return self.engine.submit(task, *slices, returns=returns, **options)

    def result(self, handle: Any, within: float | None = None) -> Any:
        return _read(self.store, handle.slice) if isinstance(handle, Place) else self.engine.result(handle, within)

    def nodes(self) -> list[Node]:
        return self.engine.nodes()

    def step(self) -> None:
        """A step of the solve is done: nothing is wanted any more that was made before the last one was."""
        wanted = {result.filed.name for result in self._made if result.filed is not None}
        self.store.remove(sorted({result.filed.name for result in self._before if result.filed is not None} - wanted))
        self._before, self._made = self._made, []


class Shards:
    """A job on an engine. `course` is its history, and `tell` is called with a line about every tier."""

    def __init__(self, rules: Rules, job: Job, store: Store, engine: Engine, options: Options) -> None:
        self.rules, self.job, self.store = rules, job, store
        self.engine, self.filing = Filing(engine, store, False), Filing(engine, store, True)
        self.progress, self.tell = options.progress, options.say
        self.cyclic: bool = options.method != Method.MINIMAX and not job.nimbers
        self.memory: int = min(engine.memory, sharding.TASK_BYTES)
        self.every = EVERY if options.checkpoint is None else options.checkpoint
        self.course, self.identity = Course(), ""
        self.here: Here = Here()
        self._commits, self._committed = 0, time.monotonic()
        self._uncommitted: list[Event] = []
        self._obsolete: list[str] = []
        # Requests of the tier to come, begun early
        self.ahead: dict[int, list[list[Any]]] = {}
        # Looks at some states of each tier
        self.inspect: Callable[[list[int]], None] | None = None

    def done(self, event: Event) -> None:
        """Enter an event, and commit if that is due."""
        self.filing.step()
        self._obsolete += self.course.apply(event)
        self._uncommitted.append(event)
        if time.monotonic() >= self._committed + self.every:
            self.commit()

    def commit(self) -> None:
        """Commit the events since the last time, and remove files that are no longer needed."""
        if self._uncommitted:
            events = [(EVENT_NAMES[type(event)], event) for event in self._uncommitted]
            self.store.commit(self._commits, {"format": LAYOUT, "identity": self.identity, "done": events})
            # what was let go may have been written again since: the same states are the same file
            self.store.remove(sorted(set(self._obsolete) - self.course.names))
            self._commits, self._committed = self._commits + 1, time.monotonic()
            self._uncommitted, self._obsolete = [], []

    def bits_for(self, states: float, each: int = BYTES) -> int:
        """Of how many shards, as a power of two, so many states are, of which a task takes `each` bytes."""
        return sharding.bits_for(states, each, self.memory, self.engine.workers)

    def engine_for(self, states: int) -> Engine:
        """Return the engine for the tasks of a tier of so many states."""
        if states <= sharding.LOCAL_STATES:
            return self.here
        return self.filing if 1 << self.bits_for(states) > sharding.FILED else self.engine

    def gathered(
        self, source: int | None, tasks: Sequence[Sequence[Any]], bits: int, engine: Engine | None = None
    ) -> list[Run]:
        """Return the run files of the states that a tier's tasks have dealt to 2**`bits` shards."""
        engine, memory = engine or self.engine, GATHERED * self.memory // BYTES
        given = [(self.job, source, (bits, owner), *items) for owner, items in enumerate(sent(engine, tasks, bits))]
        return [run for run in engine.each(gather, given, memory=memory if bits else 0) if run is not None]

    def ask_ahead(self, tier: ShardedTier) -> None:
        """While a tier is solved let the one before it ask for its children, which takes no values."""
        place = len(self.course.tiers) - 2 - len(self.course.values)
        if place < 0 or self.course.next() is not tier:
            return
        before = self.course.tiers[place]
        if not before.cyclic and self.engine_for(before.kept) is not self.here:
            self.ahead = {before.number: self._requests(before, before.parts)}

    def _requests(self, tier: ShardedTier, parts: list[list[File]], memory: int | None = None) -> list[list[Any]]:
        """Return handles of the results of `request` for some parts of a tier."""
        scale, later = self.course.scale, self.course.later(tier)
        assert scale is not None
        bits = max((one.bits for one in later), default=0)
        ahead = self.ahead.pop(tier.number, None)
        return ahead or [self.requested(tier, files, scale, bits, memory=memory) for files in parts if later]

    def asked(
        self, tier: ShardedTier, parts: list[list[File]], memory: int | None = None
    ) -> tuple[int, list[Any], list[list[Any]]]:
        """Ask later tiers for the values that parts of a tier need. A part is some files.

        Returns:
            The number of shards asked, as a power of two; handles of the children of each part; and handles of the
            answers, in the order of the shards.
        """
        scale, later, engine = self.course.scale, self.course.later(tier), self.engine_for(tier.kept)
        assert scale is not None
        if not later or not parts:
            return 0, [EMPTY_BLOCK] * len(parts), [[] for _ in parts]
        bits = max(one.bits for one in later)
        requests = self._requests(tier, parts, memory)
        memory = min(self.memory, max(GATHERED * (one.kept >> one.bits) for one in later))
        columns = sent(engine, [handles[1:] for handles in requests], bits)
        answers = engine.submit_each(
            answer,
            [
                (self.job, owner, scale, self.course.shards(later, bits, owner), *items)
                for owner, items in enumerate(columns)
            ],
            returns=len(columns[0]),
            memory=memory,
        )
        return bits, [handles[0] for handles in requests], sent_back(engine, answers, len(parts), bits)

    def requested(
        self,
        tier: ShardedTier,
        files: list[File],
        scale: Scale,
        bits: int,
        *,
        only: int | None = None,
        memory: int | None = None,
    ) -> list[Any]:
        """Return handles of the results of `request` for one part of a tier."""
        memory, returns = memory or self.bytes_for(tier.kept, tier.bits), 1 + block_count(bits)
        given = self.job, tier.number, files, scale, bits, only
        return self.engine_for(tier.kept).submit(request, *given, returns=returns, memory=memory)

    def bytes_for(self, states: int, bits: int, each: int = BYTES) -> int:
        """Of memory that a task on one of so many shards takes."""
        return min(self.memory, each * (states >> bits))


def sent(engine: Engine, tasks: Sequence[Sequence[Any]], bits: int) -> list[list[Any]]:
    """Return, for each of 2**`bits` shards, handles of the blocks that the tasks send it, in the tasks' order."""
    share = (1 << bits) // block_count(bits)
    if share == 1:
        return [[results[block_for(owner, bits)] for results in tasks] for owner in range(1 << bits)]
    columns: list[list[Any]] = [[] for _ in range(1 << bits)]
    for batch in _batches(tasks):
        for block_index in range(sharding.MOST_BLOCKS):
            first_owner = block_index * share
            sent_blocks = (results[block_index] for results in batch)
            pieces = engine.submit(split, first_owner, share, *sent_blocks, returns=share)
            for owner, piece in enumerate(pieces, first_owner):
                columns[owner].append(piece)
    return columns


def sent_back(engine: Engine, answers: Sequence[Sequence[Any]], count: int, bits: int) -> list[list[Any]]:
    """Return, for each of `count` tasks, handles of the answers of 2**`bits` shards, in their order."""
    share = (1 << bits) // block_count(bits)
    if share == 1 or not answers:
        return [[answer[task] for answer in answers] for task in range(count)]
    rows: list[list[Any]] = []
    for number, batch in enumerate(_batches(range(count))):
        replies: list[list[Any]] = [[] for _ in batch]
        for first_owner in range(0, 1 << bits, share):
            pieces = (answer[number] for answer in answers[first_owner : first_owner + share])
            for row, piece in zip(replies, engine.submit(unsplit, *pieces, returns=len(batch)), strict=True):
                row.append(piece)
        rows += replies
    return rows


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), sharding.SPLIT_TASKS):
        yield items[begin : begin + sharding.SPLIT_TASKS]


def _called(url: str, task: Callable[..., Any], *arguments: Any) -> Any:
    """A task, of arguments of which some lie in files."""
    store = store_at(url)
    return task(*(_read(store, argument) if isinstance(argument, Slice) else argument for argument in arguments))


def _filed(url: str, task: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The same; its first result, and where the others are."""
    first_result, *other_results = _called(url, task, *arguments)
    pickles = [pickle.dumps(result, protocol=5) for result in other_results]
    return [first_result, store_at(url).put_parts(f"{MAIL}-starts-0-0", pickles)]


def _read(store: Store, piece: Slice) -> Any:
    return pickle.loads(store.read(*piece))  # noqa: S301  # what has another digest than Ray says is not loaded
