"""The work on one shard: pure functions of a job, files and blocks, which any engine may run, and run again.

Forward, `advance` joins the children that earlier tiers sent, keeps the unfinished states and deals their children to
the shards of later tiers, and `gather` merges the children that a shard is dealt. Backward, `request` deals the
children whose values a shard needs, `answer` looks a shard's up, and `fold` makes the values of the states of them. A
task that is tried again writes the same files.

If moves stay inside a tier, `explore` takes a shard one generation further, and `close` ends it when there is no
further one. Backward, `resolve` finds the values of a whole tier at once, by the analysis of one machine.
"""

from __future__ import annotations

import functools
import re
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver import __version__
from solver.base.errors import GameError
from solver.base.expectations import MIDDLE, number_of
from solver.base.kinds import NIMBER, OUTCOME
from solver.base.parallel import Workers
from solver.base.progress import silent
from solver.cluster.blocks import Block, States, blocks_of, by_tiers, look_up, miniature, owners_of, several
from solver.cluster.store import File, Store, store_at
from solver.compiled.agreement import naming_states
from solver.compiled.binding import compiling
from solver.compiled.edges import LARGEST, LOSSES, WINS, CompiledMoves
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from solver.store.directory import END
from solver.store.runs import PIECE_STATES, runs_of, united, without
from solver.store.shelves import ALL_KEYS
from solver.store.work import Work
from solver.sweep import backward, batch, exhaustive, expectation, forward, retrograde
from solver.sweep.expansion import STATES_PER_CALL, Expansion, scattered_runs
from solver.sweep.scale import Scale, slowest_win, tallied

LABEL = re.compile(r"([a-z]+)(?:_(\d+)|-starts)-(\d+)-(\d+)\.")
CHECKED_STATES = 8  # states of a shard that are held against the plain rules


class Job(NamedTuple):
    """A solve, as every process of a cluster needs to know it.

    Attributes:
        game: The game's name.
        fingerprint: Of its rules.
        symmetry: Whether states are folded.
        tiers: Whether tiers are asked for.
        url: Where the files lie.
        nimbers: Whether values are nimbers.
    """

    game: str
    fingerprint: str
    symmetry: bool
    tiers: bool
    url: str
    nimbers: bool = False


class Segment(NamedTuple):
    """A part of a run file: the states of one tier that the shard `owner` of 2**`bits` has; its bytes, their digest."""

    name: str
    begin: int
    end: int
    digest: str
    bits: int
    owner: int


class Run(NamedTuple):
    """A file of the children of tiers: its name, and a segment for each tier that it has states of."""

    name: str
    segments: dict[int, Segment]


class Spent(NamedTuple):
    """The seconds that a task took, and the host that ran it."""

    host: str
    seconds: float


class Advanced(NamedTuple):
    """A shard of a tier after the forward pass.

    Attributes:
        states: File of its unfinished states.
        reached: How many states it has, finished ones included.
        ends: Finished states by outcome.
        largest: Largest margin of a finished state.
        highest: Highest tier that it leads to.
        sample: Some of its states.
        spent: Which process took how long.
    """

    states: File
    reached: int
    ends: list[int]
    largest: int
    highest: int
    sample: list[int]
    spent: Spent


class Folded(NamedTuple):
    """The values of a shard.

    Attributes:
        values: Their file.
        tally: How many there are of each value; in a game of chance, of each sign.
        slowest: The slowest win, and the first state that has it.
        spent: Which process took how long, if one task did it all.
    """

    values: File
    tally: dict[int, int]
    slowest: tuple[int, int] | None
    spent: Spent | None = None


class Explored(NamedTuple):
    """A generation of one shard.

    Attributes:
        kept: How many files of visited states stay as they are.
        seen: The file that replaces the others.
        reached: How many states are new.
        highest: Highest tier that they lead to.
    """

    kept: int
    seen: File
    reached: int
    highest: int


class Bench:
    """A process's own copy of a job: its rules, compiled, and its store."""

    def __init__(self, job: Job) -> None:
        game = load_game(job.game)
        if fingerprint(game) != job.fingerprint:
            raise GameError(
                f"{job.game}: the node {socket.gethostname()} of the cluster, with solverbook {__version__}, has other"
                " rules: give all nodes the same files and the same version"
            )
        self.game = game
        self.rules: Rules = Rules(game, job.symmetry, NIMBER if job.nimbers else OUTCOME)
        with compiling(game):
            self.compiled: CompiledMoves = CompiledMoves(self.rules, job.tiers)
            self.expansion: Expansion = Expansion(self.compiled)
        self.store: Store = store_at(job.url)


_made = functools.lru_cache(maxsize=1)(Bench)
_lock = threading.Lock()


def bench_of(job: Job) -> Bench:
    """The bench of this process for a job."""
    with _lock:
        return _made(job)


def warm(job: Job) -> None:
    """Prepare a process for its first task: load the rules and the kernels."""
    bench = bench_of(job)
    start = np.array([bench.rules.canonical(bench.game.initial())], np.int64)
    with compiling(bench.game):
        bench.expansion.later(bench.compiled.valued(1), -1, bench.expansion.keep(start)[0])
    blocks_of([(0, start)], 1)


def begin(job: Job, bits: int) -> Any:
    """The starts, in blocks for 2**`bits` shards."""
    bench = bench_of(job)
    with compiling(bench.game):
        runs = [run for part in forward.starts_of(bench.compiled, PIECE_STATES) for run in runs_of(*part)]
    return several(blocks_of(by_tiers(runs), bits))


def advance(job: Job, tier: int, shard: tuple[int, int], segments: Sequence[Segment], bits: int) -> list[Any]:
    """Advance a shard, (bits, owner), of a tier. Returns `Advanced`, and blocks of children for 2**`bits` shards."""
    bench, begun = bench_of(job), time.monotonic()
    with compiling(bench.game):
        states = read_segments(bench.store, segments, *shard)
        found = bench.expansion.expand(tier, states, False)
        kept = np.concatenate(found.states) if found.states else states[:0]
        runs = [*found.runs, *scattered_runs(found.scattered)]
    file = bench.store.put(labelled("states", tier, shard), kept)
    facts = Advanced(
        file, found.reached, found.terminal.tolist(), found.largest, found.highest, sample_of(kept), spent(begun)
    )
    return [facts, *blocks_of(by_tiers(runs), bits)]


def explore(
    job: Job,
    tier: int,
    shard: tuple[int, int],
    front: Sequence[Segment],
    visited: Sequence[Segment],
    bits: int,
    limit: int,
) -> list[Any]:
    """Explore one more generation of a shard, (bits, owner).

    A shard that is alone goes on until there is no further generation, or more than `limit` states.

    Returns:
        `Explored`, and blocks of the children in the same tier for 2**`bits` shards.
    """
    bench = bench_of(job)
    store = bench.store
    states = read_segments(store, front, *shard)
    # Few arrays of states seen: newer ones are merged with the older where those are not much larger
    seen = [read_segments(store, [segment], *shard) for segment in visited]
    kept, reached, highest = len(seen), 0, tier
    with compiling(bench.game):
        while True:
            for known in seen:
                states = without(states, known)
            expanded = bench.expansion.expand(tier, states, True)
            pieces, size = [states], len(states)
            while seen and size * forward.MERGE_FACTOR > len(seen[-1]):
                pieces.append(seen.pop())
                size += len(pieces[-1])
            kept = min(kept, len(seen))
            if size:
                seen.append(united(pieces))
            reached, highest = reached + len(states), max(highest, expanded.highest)
            states = united([run for later, run in expanded.runs if later == tier])
            if shard[0] or not len(states) or reached > limit:
                break
    file = store.put(labelled("seen", tier, shard), united(seen[kept:]))
    return [Explored(kept, file, reached, highest), *blocks_of([(tier, states)], bits)]


def close(job: Job, tier: int, shard: tuple[int, int], visited: Sequence[Segment], bits: int, leads: bool) -> list[Any]:
    """Finish a shard, (bits, owner), once all its states have been visited.

    Args:
        leads: Whether there are children in other tiers at all.

    Returns:
        The same as `advance`, without children that stay in the tier.
    """
    bench, begun = bench_of(job), time.monotonic()
    with compiling(bench.game):
        states = read_segments(bench.store, visited, *shard)
        open_states, report = bench.expansion.keep(states)
        runs = bench.expansion.later(bench.compiled.moves, tier, open_states) if leads else []
    file = bench.store.put(labelled("states", tier, shard), open_states)
    ends = report[WINS : LOSSES + 1].tolist()
    facts = Advanced(file, len(states), ends, int(report[LARGEST]), tier, sample_of(open_states), spent(begun))
    return [facts, *blocks_of(by_tiers(runs), bits)]


def gather(job: Job, kind: str, source: int | None, shard: tuple[int, int], *blocks: Block | list[Block]) -> Run | None:
    """Gather, as a file of that kind, the states that tier `source`, or the starts, dealt to a shard: (bits, owner)."""
    bits, owner = shard
    # Blocks come split or not
    parts = [part for item in blocks for part in (item if isinstance(item, list) else [item])]
    runs = list(by_tiers(run for part in parts for run in part.of(owner)))
    if not runs:
        return None
    file = bench_of(job).store.put_parts(labelled(kind, source, shard), [keys for _, keys in runs])
    segments = {tier: Segment(*file.part(number), bits, owner) for number, (tier, _) in enumerate(runs)}
    return Run(file.name, segments)


def request(job: Job, tier: int, files: Sequence[File], scale: Scale, bits: int, only: int | None = None) -> list[Any]:
    """The unfinished children in later tiers of the states of some files, as one block and dealt to 2**`bits` shards.

    With a win of 0 also the finished ones; `only` those of one tier.
    """
    bench = bench_of(job)
    with compiling(bench.game):
        states = united([bench.store.get(file, np.int64) for file in files])
        found = bench.expansion.later(bench.compiled.valued(scale.win), tier, states)
    runs = list(by_tiers(run for run in found if only in (None, run[0])))
    return [*blocks_of(runs, 0), *blocks_of(runs, bits)]


class Shard(NamedTuple):
    """The files of a shard that is solved: of 2**`bits` of its tier, its states and their values."""

    tier: int
    bits: int
    owner: int
    states: File
    values: File


def answer(job: Job, owner: int, scale: Scale, shards: Sequence[Shard], *items: Block | list[Block]) -> Any:
    """Look up the values of each block's keys for this owner.

    A list of blocks gives a list of answers. A key that was never reached gets the least number of the type. `shards`
    hold all that the owner has of every tier that may be asked for, perhaps among other keys.
    """
    store, kind = bench_of(job).store, np.dtype(scale.kind)
    asked: dict[int, list[tuple[States, NDArray[Any]]]] = {}

    def room(block: Block) -> NDArray[Any]:
        parts = list(block.of(owner))
        values, begin = np.full(sum(len(keys) for _, keys in parts), np.iinfo(kind).min, kind), 0
        for tier, keys in parts:
            asked.setdefault(tier, []).append((keys, values[begin : begin + len(keys)]))
            begin += len(keys)
        return values

    found = [[room(block) for block in item] if isinstance(item, list) else room(item) for item in items]
    for shard in shards:
        if shard.tier in asked:
            states, known = store.get(shard.states, np.int64), store.get(shard.values, kind)
            for keys, values in asked[shard.tier]:
                look_up(keys, states, known, values)
    return several(found)


def fold(
    job: Job, tier: int, shard: tuple[int, int], states: File, scale: Scale, children: Block, bits: int, *answers: Any
) -> Folded:
    """The values of the states of a file, by those of their children, which 2**`bits` shards have answered."""
    bench, kind, begun = bench_of(job), np.dtype(scale.kind), time.monotonic()
    own_states = bench.store.get(states, np.int64)
    known = miniature(tier, own_states, children, bits, answers, kind)
    values = np.full(len(own_states), np.iinfo(kind).min, kind)
    moves = bench.compiled.valued(scale.win)
    value = exhaustive.PASSES.get(bench.rules.kind.name, backward.Backward).value
    with compiling(bench.game), naming_states(bench.compiled, lambda: own_states):
        for begin in range(0, len(values), STATES_PER_CALL):
            end = min(begin + STATES_PER_CALL, len(values))
            batch.refuse(bench.rules, *value(moves, known, begin, end, ALL_KEYS, scale.point, values[begin:end]))
    return valued(bench, tier, shard, scale, own_states, values)._replace(spent=spent(begun))


def resolve(
    job: Job, tier: int, files: Sequence[File], scale: Scale, memory: int, children: Block, queried: int, *answers: Any
) -> tuple[list[Folded], int]:
    """Value a tier that one task can hold, of which each shard has a file of states.

    Its children in later tiers were valued by 2**`queried` shards. Takes about `memory` bytes.

    Returns:
        The values of the shards that have states, and how far apart the bounds of expectations are.
    """
    bench, kind = bench_of(job), np.dtype(scale.kind)
    tier_states = [bench.store.get(file, np.int64) for file in files]
    known = miniature(tier, united(tier_states), children, queried, answers, kind)
    states = known.states[: known.table[0, END]]
    with compiling(bench.game), Work() as work, Workers(1) as team:
        solve = retrograde.Solve(
            bench.rules, bench.compiled.valued(scale.win), bench.compiled, work, memory, silent, scale
        )
        if scale.point:
            bounds = expectation.Bounds(solve, 0, known)
            bounds.build(team)
            values, gap = bounds.narrowed(team), bounds.gap
        else:
            resolver = retrograde.Resolver(solve, 0, known)
            resolver.count(team, None)
            values, gap = np.concatenate(list(resolver.resolve(team))), 0
    resolved_files, bits = [], len(files).bit_length() - 1
    for owner, owner_states in enumerate(tier_states):
        if len(owner_states):
            merits = np.empty(len(owner_states), kind)
            look_up(owner_states, states, values, merits)
            resolved_files.append(valued(bench, tier, (bits, owner), scale, owner_states, merits))
    return resolved_files, gap


def spent(begun: float) -> Spent:
    """The seconds that this task has taken since it began, and its host."""
    return Spent(socket.gethostname(), time.monotonic() - begun)


def valued(
    bench: Bench, tier: int, shard: tuple[int, int], scale: Scale, states: States, values: NDArray[Any]
) -> Folded:
    """Keep the values of a shard, (bits, owner), in a file, counted."""
    tally, slowest = tallied(values), None
    if scale.point:
        tally = tallied(np.sign(number_of(values) - MIDDLE))
    else:
        slowest = slowest_win(tally, values, states)
    file = bench.store.put(labelled("values", tier, shard), values)
    return Folded(file, tally, slowest)


def read_segments(store: Store, segments: Sequence[Segment], bits: int, owner: int) -> States:
    """The states of a shard, sorted and without doubles, from the pieces dealt to it or to shards that share some."""
    runs = []
    for one in segments:
        keys = np.frombuffer(store.read(one.name, one.begin, one.end, one.digest), np.int64)
        runs.append(keys[owners_of(keys, bits) == owner] if one.bits < bits else keys)
    return united(runs)


def sample_of(states: States) -> list[int]:
    """Some of the states."""
    found: list[int] = states[:: max(1, len(states) // CHECKED_STATES)].tolist()
    return found[:CHECKED_STATES]


def labelled(kind: str, tier: int | None, shard: tuple[int, int]) -> str:
    """Return a name of a file that tells its kind: `origin` reads it back."""
    return f"{kind}{'-starts' if tier is None else f'_{tier}'}-{shard[0]}-{shard[1]}"


def origin(name: str) -> tuple[str, int | None, tuple[int, int]]:
    """The facts in a file's name: its kind, its tier, or None for the starts, and its shard, (bits, owner)."""
    found = LABEL.match(name)
    assert found is not None, f"{name} is not a shard file"
    kind, tier, bits, owner = found.groups()
    return kind, None if tier is None else int(tier), (int(bits), int(owner))
