"""Retrograde analysis of a tier that no worker has the memory for: shards that tell each other, by distance.

`link` counts the open children of the states of a shard, and tells the shards of those in its tier who their parents
are; `index` makes lists of these. Then round by round `step` enters the messages to a shard, and tells the parents of
its states of one distance. It works as `sweep.retrograde.Resolver` does: the merits are the same. `Rounds` is the
driver's side.

Cost: 14 bytes a state and 8 a move within the tier in memory, 32 a move while the lists are made.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.sharding import HASHED
from solver.cluster import blocks
from solver.cluster.blocks import Block, block_for, dealt, miniature, owners_of
from solver.cluster.shards import Resolving, ShardedTier, Shards
from solver.cluster.store import File
from solver.cluster.tasks import Folded, Job, bench_of, labelled, valued
from solver.compiled.agreement import naming_states
from solver.compiled.binding import compiling
from solver.compiled.edges import NOT_TERMINAL, Moves, lift
from solver.store.directory import LOOKUP_BATCH, MISSING, PASSED, TierLookup, locate, new_indices
from solver.store.packed import LAST
from solver.store.shared import shared
from solver.sweep.batch import BEYOND, FINE, LOST_CHILD, SCORING, Batch, new_batch, next_batch, refuse, value_at
from solver.sweep.expansion import CHILDREN_PER_CALL, STATES_PER_CALL
from solver.sweep.parents import NO_MERIT, RESOLVED, give, hear, settle
from solver.sweep.retrograde import narrow_endless
from solver.sweep.scale import WIN, Scale

LISTING = 1024  # bytes of memory that a state takes while the shards of its tier list the parents of their states
SHARD = 38  # bits of a parent's place, twice, and one if the same player moves; those above are its shard
ARRAYS = {"begins": np.int64, "parents": np.int64, "left": np.int32, "merits": np.int16}  # of a shard between rounds
# In place of open children: margins are told in the round in which others are resolved by them
MARGIN_SENT = 4 * RESOLVED
assert SHARD + HASHED < 63
Array = NDArray[Any]


class Told(NamedTuple):
    """The result of a shard's round.

    Attributes:
        resolved: States that it resolved.
        sent: Parents that it sent messages to.
        following: Next distance at which it has more states by itself. 0 if none.
    """

    resolved: int
    sent: int
    following: int


@shared
def open_links(
    moves: Moves,
    known: TierLookup,
    begin: int,
    end: int,
    batch: Batch,
    endless: NDArray[Any],
    left: NDArray[Any],
    merits: NDArray[Any],
) -> tuple[Any, Any, Any, Any, Any]:
    """List the moves of states[begin:end] in row 0 that stay inside the tier, as many as fit.

    `known` passes over the tier itself. The batch's keys get the children. Its weights get twice the index of the
    state, plus one if the same player moves again. left (n,) and merits (n,) get `left` and `candidates` of
    `parents.count_children`.

    Returns:
        The arrays, or larger ones; how many moves; the first state left over; and a fault with its state, as from
        `parents.count_children`.
    """
    batch, count, next_state = next_batch(moves, known, begin, end, 0, LAST, batch)
    if count < 0:
        return batch, 0, next_state, LOST_CHILD, known.states[next_state]
    (keys, _, owners, child_merits, rewards, entries), rows, places, _ = batch
    links = 0
    for j in range(count):
        owner, merit = begin + (owners[j] >> 1), child_merits[j]
        if merit == NOT_TERMINAL:
            if rows[j] == PASSED:
                if moves.rewarded and rewards[j]:
                    return batch, links, next_state, SCORING, known.states[owner]
                left[owner] += 1
                keys[links], entries[links] = keys[j], 2 * begin + owners[j]
                links += 1
                continue
            if places[j] == MISSING:
                return batch, links, next_state, LOST_CHILD, known.states[owner]
            merit = lift(value_at(known, rows[j], places[j]), (owners[j] & 1) == 1, moves.scores)
            if moves.rewarded:
                merit += rewards[j]
        if not give(merit, owner, endless, left, merits):
            return batch, links, next_state, BEYOND, known.states[owner]
    return batch, links, next_state, FINE, np.int64(0)


@shared
def find_links(known: TierLookup, keys: NDArray[Any], begins: NDArray[Any]) -> Any:
    """Replace keys by their indices among the states of row 0, and count them.

    begins[i + 1] counts the links to state i. Returns the index of the first key that is not there, or -1.
    """
    rows, places, highs = new_indices(LOOKUP_BATCH)
    rows[:] = 0
    for first_key in range(0, len(keys), LOOKUP_BATCH):
        batch = keys[first_key : first_key + LOOKUP_BATCH]
        locate(known, batch, rows, len(batch), places, highs)
        for j in range(len(batch)):
            if places[j] == MISSING:
                return first_key + j
            batch[j] = places[j]
            begins[places[j] + 1] += 1
    return -1


@shared
def enter_links(
    places: NDArray[Any], entries: NDArray[Any], shard: int, free: NDArray[Any], parents: NDArray[Any]
) -> None:
    """Enter links into the lists of the states at these places, each where its list has its next free entry."""
    for i in range(len(places)):
        parents[free[places[i]]] = shard << SHARD | entries[i]
        free[places[i]] += 1


@shared
def hear_all(messages: NDArray[Any], merit: int, left: NDArray[Any], merits: NDArray[Any]) -> None:
    """Enter messages into states, all of one distance. A message is twice the state's index, plus one for a win."""
    for message in messages:
        hear(message >> 1, merit if message & 1 else -merit, left, merits)


@shared
def front_of(distance: int, once: bool, left: NDArray[Any], merits: NDArray[Any]) -> tuple[Any, Any]:
    """List the states to resolve in the round of a distance.

    Args:
        once: Leave out states that were resolved before.

    Returns:
        Indices of the states of this distance, and the next distance that other states have already, 0 if none.
    """
    count = nearest = 0
    front = np.empty(len(left), np.int64)
    for i in range(len(left)):
        if (left[i] < 0 and left[i] != MARGIN_SENT) or (left[i] >= 0 and merits[i] > 0):
            due = WIN - abs(np.int64(merits[i]))
            if due == distance:
                left[i] = MARGIN_SENT if once else RESOLVED
                front[count] = i
                count += 1
            elif due > distance and (nearest == 0 or due < nearest):
                nearest = due
    return front[:count].copy(), nearest


@shared
def tell(
    front: NDArray[Any], begins: NDArray[Any], parents: NDArray[Any], scores: bool, merits: NDArray[Any]
) -> tuple[Any, Any]:
    """Return the shards of the parents of some states, and the messages for them: see `hear_all`."""
    room = 0
    for state_index in front:
        room += begins[state_index + 1] - begins[state_index]
    owners, messages = np.empty(room, np.int64), np.empty(room, np.int64)
    count = 0
    for state_index in front:
        for entry_index in range(begins[state_index], begins[state_index + 1]):
            entry = parents[entry_index]
            shard_index = entry & (np.int64(1) << SHARD) - 1
            owners[count] = entry >> SHARD
            messages[count] = (shard_index >> 1) * 2 + (
                lift(np.int64(merits[state_index]), shard_index & 1 == 1, scores) > 0
            )
            count += 1
    return owners, messages


def link(
    job: Job,
    tier: int,
    shard: tuple[int, int],
    states: File,
    scale: Scale,
    children: Block,
    queried: int,
    *answers: Any,
) -> list[Any]:
    """Prepare the rounds of a shard, (bits, owner), once 2**`queried` shards have valued its children in later tiers.

    Returns:
        The distance of its first states, the open children and merits so far, and, for the shards of the tier, the
        parents of their states.
    """
    bench = bench_of(job)
    own_states = bench.store.get(states, np.int64)
    known = miniature(tier, own_states, children, queried, answers, np.dtype(scale.kind))
    size = len(own_states)
    left, merits, due = np.zeros(size, np.int32), np.full(size, NO_MERIT, np.int16), np.empty(size, np.int16)
    links: list[blocks.Part] = []
    with compiling(bench.game), naming_states(bench.compiled, lambda: own_states):
        endless = narrow_endless(bench.rules, bench.compiled.endless(own_states))
        cursor, moves, others = 0, bench.compiled.valued(scale.win), known.without(0)
        batch = new_batch(min(CHILDREN_PER_CALL, 64 * size))
        # The moves inside the tier, in parts that are overwritten
        while cursor < size:
            end = min(cursor + STATES_PER_CALL, size)
            batch, count, cursor, *fault = open_links(moves, others, cursor, end, batch, endless, left, merits)
            refuse(bench.rules, *fault)
            keys = batch.edges.keys[:count]
            rows = np.stack((keys, batch.edges.weights[:count]), axis=1)
            links += dealt(tier, rows, owners_of(keys, shard[0]), shard[0])
    settle(left, merits, 0, size, due)
    return [int(due[due > 0].min(initial=WIN)) % WIN, left, merits, *blocks.in_blocks(links, shard[0])]


def index(job: Job, tier: ShardedTier, owner: int, *mails: Block) -> list[Array]:
    """The lists of the parents of a shard's states, and where they begin: arrays `begins` and `parents`.

    `mails` are of the shards that have states, in their order.
    """
    bench = bench_of(job)
    states = bench.store.get(tier.states[owner], np.int64)
    known = miniature(tier.number, states, blocks.EMPTY_BLOCK, 0, [], np.dtype(np.int16))
    begins = np.zeros(len(states) + 1, np.int64)
    links = []
    for source, mail in zip(tier.filled, mails, strict=True):
        for _, rows in mail.of(owner):
            places, entries = rows.T.copy()
            lost = find_links(known, places, begins)
            if lost >= 0:
                refuse(bench.rules, LOST_CHILD, bench.store.get(tier.states[source], np.int64)[entries[lost] >> 1])
            links.append((places, entries, source))
    np.cumsum(begins, out=begins)
    parents, free = np.empty(begins[-1], np.int64), begins[:-1].copy()
    for places, entries, source in links:
        enter_links(places, entries, source, free, parents)
    return [begins, parents]


def step(
    job: Job,
    shard: tuple[int, int],
    distance: int,
    begins: Array,
    parents: Array,
    left: Array,
    merits: Array,
    *mails: Block,
) -> list[Any]:
    """Run one round of a shard, (bits, owner): its states of this distance send their values to their parents.

    Returns:
        `Told`, the open children and merits afterwards, and messages for the shards of the tier.
    """
    left, merits = left.copy(), merits.copy()
    for mail in mails:
        for _, messages in mail.of(shard[1]):
            hear_all(messages, WIN - distance, left, merits)
    scores = bench_of(job).rules.scores
    front, following = front_of(distance, scores, left, merits)
    owners, sent = tell(front, begins, parents, scores, merits)
    result = Told(len(front), len(sent), int(following))
    return [result, left, merits, *blocks.in_blocks(dealt(0, sent, owners, shard[0]), shard[0])]


def keep(job: Job, tier: int, shard: tuple[int, int], arrays: Sequence[str], *arrays_given: Array) -> list[File]:
    """Files of arrays of these names."""
    store = bench_of(job).store
    return [store.put(labelled(name, tier, shard), array) for name, array in zip(arrays, arrays_given, strict=True)]


def load(job: Job, *files: File) -> list[Array]:
    """The arrays of a shard, of the names in ARRAYS."""
    store = bench_of(job).store
    return [store.get(file, kind) for file, kind in zip(files, ARRAYS.values(), strict=True)]


def settled(
    job: Job, tier: int, shard: tuple[int, int], states: File, scale: Scale, left: Array, merits: Array
) -> Folded:
    """Return the values of a shard, (bits, owner), after the last round. States never resolved are draws."""
    bench = bench_of(job)
    values, own_states = np.where(left < 0, merits, 0), bench.store.get(states, np.int64)
    if len(endless := bench.compiled.endless(own_states)):
        values = values + endless
    return valued(bench, tier, shard, scale, own_states, values.astype(scale.kind))


class Rounds:
    """A tier that is resolved in rounds.

    It holds handles of the arrays of its shards that have states, `places`, by name, and of the messages between them.
    Every `checkpoint_seconds` of the options the state of all shards is committed. A death costs the rounds since
    then, or, if there was no commit, the tier from its moves on.
    """

    def __init__(self, shards: Shards, tier: ShardedTier, scale: Scale) -> None:
        self.shards, self.engine, self.job = shards, shards.engine, shards.job
        self.tier, self.scale, self.places = tier, scale, tier.filled
        self.memory: int = shards.bytes_for(tier.kept, tier.bits, LISTING)
        self.blocks: int = blocks.block_count(tier.bits)
        self.arrays: dict[str, list[Any]] = {}
        # Kept files of begins and parents
        self.index: list[list[File]] = []
        self.mails: list[Any] = []
        self.resolved: int = 0

    def run(self) -> list[Folded]:
        """The values of the shards."""
        course = self.shards.course
        # If not, one of its files is repaired, perhaps in the middle of another tier's rounds
        its_turn = self.tier == course.next()
        kept = course.under_way if its_turn and isinstance(course.under_way, Resolving) else None
        saved = time.monotonic()
        distance = self.link() if kept is None else self.load(kept)
        while distance:
            following = self.step(distance)
            due = its_turn and time.monotonic() - saved > self.shards.options.checkpoint_seconds
            if following > distance and due and (kept is None or distance > kept.distance):
                kept = self.kept(distance)
                self.shards.done(kept)
                # Send again, so that nothing later depends on earlier messages
                self.load(kept)
                saved = time.monotonic()
            else:
                distance = following
        tier = self.tier
        return self.engine.each(
            settled,
            [
                (self.job, tier.number, (tier.bits, owner), tier.states[owner], self.scale, left, merits)
                for owner, left, merits in zip(self.places, self.arrays["left"], self.arrays["merits"], strict=True)
            ],
            memory=self.memory,
        )

    def link(self) -> int:
        """Count open children and list parents; the first distance, 0 if nothing decides any state."""
        tier, scale, bits = self.tier, self.scale, self.tier.bits
        queried, children, answers = self.shards.asked(tier, tier.parts)
        linked = self.engine.submit_each(
            link,
            [
                (self.job, tier.number, (bits, owner), tier.states[owner], scale, block, queried, *values)
                for owner, block, values in zip(self.places, children, answers, strict=True)
            ],
            returns=3 + self.blocks,
            memory=self.memory,
        )
        lists = self.engine.submit_each(
            index,
            [
                (self.job, tier, owner, *(handles[3 + block_for(owner, bits)] for handles in linked))
                for owner in self.places
            ],
            returns=2,
            memory=self.memory,
        )
        self._take(begins=0, parents=1, of=lists)
        self._take(left=1, merits=2, of=linked)
        list(self.engine.results(self.arrays["begins"]))
        return min(filter(None, self.engine.results(handles[0] for handles in linked)), default=0)

    def load(self, saved: Resolving) -> int:
        """Continue from files. Returns the distance of the round to repeat, whose messages were not kept."""
        files = zip(*(getattr(saved, name) for name in ARRAYS), strict=True)
        handles = self.engine.submit_each(load, [(self.job, *shard) for shard in files], returns=len(ARRAYS))
        self._take(**{name: number for number, name in enumerate(ARRAYS)}, of=handles)
        self.index, self.mails = [[*shard] for shard in zip(saved.begins, saved.parents, strict=True)], []
        return saved.distance

    def kept(self, distance: int) -> Resolving:
        """The arrays in files, after the round of that distance."""
        self.index = self.index or self._kept("begins", "parents")
        begins, parents = zip(*self.index, strict=True)
        left, merits = zip(*self._kept("left", "merits"), strict=True)
        return Resolving(self.tier.number, [*begins], [*parents], [*left], [*merits], distance)

    def step(self, distance: int) -> int:
        """A round; the next distance, 0 if there is no more to do."""
        scores = self.shards.rules.scores
        if distance >= WIN - 1 and not scores:
            raise GameError(f"{self.shards.rules.name} has wins of more than {WIN - 2:,} plies")
        bits = self.tier.bits
        handles = self.engine.submit_each(
            step,
            [
                (self.job, (bits, owner), distance, *arrays, *(mail[block_for(owner, bits)] for mail in self.mails))
                for owner, *arrays in zip(self.places, *(self.arrays[name] for name in ARRAYS), strict=True)
            ],
            returns=3 + self.blocks,
            memory=self.memory,
        )
        results: list[Told] = list(self.engine.results(shard[0] for shard in handles))
        self._take(left=1, merits=2, of=handles)
        self.mails = [shard[3:] for shard in handles]
        self.resolved += sum(result.resolved for result in results)
        self.shards.progress("resolve", min(self.resolved, self.tier.kept), self.tier.kept)
        if any(result.sent for result in results):
            return distance if scores else distance + 1
        self.mails = []
        return min((result.following for result in results if result.following), default=0)

    def _take(self, of: list[list[Any]], **names: int) -> None:
        """Keep handles of arrays, by their position in each shard's result."""
        for name, number in names.items():
            self.arrays[name] = [handles[number] for handles in of]

    def _kept(self, *names: str) -> list[list[File]]:
        """The files of these arrays of each shard."""
        return self.engine.each(
            keep,
            [
                (self.job, self.tier.number, (self.tier.bits, owner), names, *arrays)
                for owner, *arrays in zip(self.places, *(self.arrays[name] for name in names), strict=True)
            ],
        )
