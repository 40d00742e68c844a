"""What all parts of a solve's driver share: its history, numbers of shards, engines, results of tasks, commits.

The history is made of commits, and is the same whether they were just made or read again. A commit is a list of events,
each a record. `EVENTS` has the name of each kind in a commit.

Results of tasks go through files of the store where they would be too many for the driver to own. Ray's driver keeps a
record of each result, 38 kB of them in a large shuffle (ray#18333), and passes each on in 20 us. Of a task whose
results are filed it owns two: the first of them, and the offsets of the others in one file. The digests of what is read
come by Ray.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from solver.base import sharding
from solver.base.kinds import Method
from solver.base.options import Options
from solver.base.sharding import BYTES, GATHERED
from solver.base.tiers import Tier
from solver.cluster.blocks import EMPTY_BLOCK, block_count, block_for, split, unsplit
from solver.cluster.engine import Engine, Here, Node
from solver.cluster.store import File, Slice, Sliced, Store, store_at
from solver.cluster.tasks import Advanced, Job, Run, Segment, Shard, answer, gather, request
from solver.rules.game import Rules
from solver.sweep.scale import Scale, Tally

LAYOUT = 3  # of commits
SPLITTER_SAMPLE = 512  # states of a tier that tell how its states are spread
EVERY = 1.0  # seconds between commits, at least
MAIL = "mail"  # what files of results are called


@dataclass(frozen=True, slots=True)
class ShardedTier(Tier):
    """A tier whose states are all found: its shards, 2**`bits` of them, and some of its states."""

    bits: int
    states: list[File]
    sample: list[int]

    @property
    def filled(self) -> list[int]:
        """The shards that have states."""
        return [owner for owner, file in enumerate(self.states) if file.length]

    @property
    def parts(self) -> list[list[File]]:
        """The states of each of these, in a file each."""
        return [[file] for file in self.states if file.length]


def tier_of(number: int, bits: int, results: Sequence[Advanced], highest: int, cyclic: bool) -> ShardedTier:
    """The tier of these shards."""
    wins, draws, losses = np.sum([result.ends for result in results], axis=0).tolist()
    sampled = sorted(state for result in results for state in result.sample)
    files = [result.states for result in results]
    return ShardedTier(
        number,
        sum(result.reached for result in results),
        sum(file.length for file in files),
        bits,
        files,
        sampled[:: 1 + len(sampled) // SPLITTER_SAMPLE],
        cyclic=cyclic,
        highest=highest,
        ends=(wins, draws, losses),
    )


class Found(NamedTuple):
    """The states of a tier were found, or without one the starts.

    The files of what they led to, the largest margin of a finished state, and how many states one led to.
    """

    tier: ShardedTier | None
    runs: list[Run]
    largest: int
    growth: float


class Closing(NamedTuple):
    """A tier with cycles whose states are being found, breadth first.

    Attributes:
        number: The tier.
        bits: There are 2**bits shards.
        seen: For each shard, the files of its visited states, older ones first.
        front: The children of the last generation.
        reached: How many states were visited.
        highest: Highest tier that they lead to.
    """

    number: int
    bits: int
    seen: list[list[Segment]]
    front: list[Segment]
    reached: int
    highest: int

    @property
    def names(self) -> set[str]:
        """The files that it needs."""
        return {file.name for file in self.front}.union(*({file.name for file in files} for files in self.seen))


class Resolving(NamedTuple):
    """A tier with cycles that is being resolved in rounds, after the round of `distance`.

    For each shard that has states, it holds the arrays that `rounds.step` takes.
    """

    number: int
    begins: list[File]
    parents: list[File]
    left: list[File]
    merits: list[File]
    distance: int

    @property
    def names(self) -> set[str]:
        """The files that it needs."""
        return {file.name for files in self[1:5] for file in files if file.length}


class StartedOver(NamedTuple):
    """The tier with cycles that was under way begins anew."""


class Solved(NamedTuple):
    """The values of a tier were found.

    Their files, how many there are of each, the slowest win and its first state, and how far apart the bounds of
    expectations are.
    """

    values: list[File]
    tally: Counter[int]
    slowest: tuple[int, int] | None
    gap: int


Event = Found | Closing | Scale | Resolving | StartedOver | Solved
EVENTS: dict[str, type[Event]] = {
    "forward": Found,
    "closing": Closing,
    "scale": Scale,
    "resolving": Resolving,
    "over": StartedOver,
    "backward": Solved,
}
EVENT_NAMES = {kind: name for name, kind in EVENTS.items()}


class Course:
    """The history of a solve: `tiers` in order, `runs` of their children, and from the last tier on their `values`."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        # A tier with cycles
        self.under_way: Closing | Resolving | None = None
        self.tiers: list[ShardedTier] = []
        self.largest: int = 1
        # States led to, by those that led to them
        self.growth: float = 0.0
        self.scale: Scale | None = None
        self.values: list[list[File]] = []
        self.tally: Tally = Tally()

    @property
    def stored(self) -> int:
        return sum(tier.kept for tier in self.tiers)

    @property
    def names(self) -> set[str]:
        """The files that are needed."""
        files = (file.name for files_of in (*(tier.states for tier in self.tiers), *self.values) for file in files_of)
        return {run.name for run in self.runs}.union(files, self.under_way.names if self.under_way else ())

    def first(self) -> int | None:
        """The tier whose turn it is, forward."""
        return min((min(run.segments) for run in self.runs), default=None)

    def next(self) -> ShardedTier | None:
        """The tier whose turn it is, backward."""
        left = len(self.tiers) - len(self.values)
        return self.tiers[left - 1] if left else None

    def pending(self, tier: int) -> list[Segment]:
        """Return the runs of states that earlier tiers lead to in this one."""
        return [run.segments[tier] for run in self.runs if tier in run.segments]

    def later(self, tier: ShardedTier) -> list[ShardedTier]:
        """The solved tiers that moves from a tier may lead to."""
        return [
            later_tier
            for later_tier in self.tiers
            if tier.number < later_tier.number <= tier.highest and later_tier.kept
        ]

    def shards(self, tiers: list[ShardedTier], bits: int, owner: int) -> list[Shard]:
        """Return, for each of these tiers, the shard that holds the states of `owner`, one of 2**`bits`."""
        last_tier, segments = len(self.tiers) - 1, []
        for tier in tiers:
            owner_index = owner >> bits - tier.bits
            values = self.values[last_tier - self.tiers.index(tier)]
            segments.append(Shard(tier.number, tier.bits, owner_index, tier.states[owner_index], values[owner_index]))
        return [shard for shard in segments if shard.states.length]

    def apply(self, event: Event) -> list[str]:
        """Apply an event. Returns the names of files that are no longer needed."""
        if isinstance(event, Scale):
            obsolete = [file.name for files in self.values for file in files]
            self.scale, self.values, self.tally = event, [], Tally()
            return obsolete
        obsolete = sorted(self.under_way.names) if self.under_way else []
        self.under_way = event if isinstance(event, Closing | Resolving) else None
        if isinstance(event, Found):
            if event.tier is not None:
                self.tiers.append(event.tier)
                for run in self.runs:
                    run.segments.pop(event.tier.number, None)
                obsolete += [run.name for run in self.runs if not run.segments]
                self.runs = [run for run in self.runs if run.segments]
            self.largest, self.growth = max(self.largest, event.largest), event.growth
            self.runs += [Run(run.name, dict(run.segments)) for run in event.runs]
        elif isinstance(event, Solved):
            tier = self.next()
            assert tier is not None
            self.values.append(event.values)
            self.tally.end_tier(event.tally)
            self.tally.meet_win(event.slowest)
            # Each tier rounds once more, and cycles leave a gap
            if self.scale is not None and self.scale.point:
                self.tally.error += event.gap + (tier.kept > 0)
        return obsolete


def owned(segments: Sequence[Segment], bits: int, owner: int) -> list[Segment]:
    """The segments that have states of a shard, perhaps among others."""

    def is_owned(segment: Segment) -> bool:
        # The leading bits that both have
        shared = min(bits, segment.bits)
        return owner >> bits - shared == segment.owner >> segment.bits - shared

    return list(filter(is_owned, segments))


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
        slices = [
            argument.made.part(argument.number) if isinstance(argument, Place) else argument for argument in arguments
        ]
        url = self.store.url
        if self.files and returns > 1:
            first_result, handle = self.engine.submit(_filed, url, task, *slices, returns=2, **options)
            self._made.append(Made(self.engine, handle))
            return [first_result, *(Place(self._made[-1], number) for number in range(returns - 1))]
        if any(isinstance(argument, Slice) for argument in slices):
            return self.engine.submit(_called, url, task, *slices, returns=returns, **options)
        return self.engine.submit(task, *slices, returns=returns, **options)

    def result(self, handle: Any, within: float | None = None) -> Any:
        if isinstance(handle, Place):
            return _read(self.store, handle.made.part(handle.number))
        return self.engine.result(handle, within)

    def nodes(self) -> list[Node]:
        return self.engine.nodes()

    def step(self) -> None:
        """A step of the solve is done: nothing is wanted any more that was made before the last one was."""
        wanted = {result.filed.name for result in self._made if result.filed is not None}
        self.store.remove(sorted({result.filed.name for result in self._before if result.filed is not None} - wanted))
        self._before, self._made = self._made, []


class Shards:
    """A job on an engine. `course` is its history, and `tell` is called with a line about each tier that takes long."""

    def __init__(self, rules: Rules, job: Job, store: Store, engine: Engine, options: Options) -> None:
        self.rules, self.job, self.store = rules, job, store
        self.engine, self.filing = Filing(engine, store, False), Filing(engine, store, True)
        self.options, self.progress, self.tell = options, options.progress, options.say
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
        self, source: int | None, tasks: Sequence[Any], bits: int, engine: Engine | None = None, kind: str = "run"
    ) -> list[Run]:
        """Return the run files of the states that a tier's tasks have dealt to 2**`bits` shards."""
        engine, memory = engine or self.engine, GATHERED * self.memory // BYTES
        given = [(self.job, kind, source, (bits, i), *items) for i, items in enumerate(sent(engine, tasks, bits))]
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
