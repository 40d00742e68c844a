"""The cost of a solve on a cluster: time, memory, storage, traffic and price, tier by tier, before one is rented.

The times of listing a game's moves and sorting its keys are measured here; the other costs were measured once, as
docs/explanation/scale.md says. None of this needs Ray, or a cluster.

The model is the phases of `cluster.driver`, tier by tier, and the cost of each. The states of a tier lie in shards by a
hash of the state. Forward, a task a shard (`advance`) expands its states and deals their children to shards, and a task
for each shard of the next tier (`gather`) merges its children. Backward, a task a shard (`request`) deals the children
whose values it needs, their owners look them up (`answer`), and a third (`fold`) makes the values of the shard. Where
several shards share a block, tasks between (`split`) cut blocks up, and put answers together. A child of p parents is
dealt by as many tasks as have one of them: of n shards, about n (1 - (1 - 1/n)^p). A phase takes as long as that
resource takes which takes longest: cores, network, store, or the one driver, which hands out tasks and owns their
results.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from solver.base import sharding
from solver.base.errors import MethodError
from solver.base.extras import free_memory
from solver.base.progress import Progress, silent
from solver.base.sharding import ARRANGED, BOUND
from solver.base.system import cores
from solver.base.tiers import SizedTier
from solver.check.conformance import check_game
from solver.estimate.estimation import need_kernels
from solver.rules.game import Game, Rules

KEY = 8  # bytes of a state
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
FIELD = re.compile(r"(nodes|cores|memory|network|storage|price)=([0-9]{1,12}(?:\.[0-9]{1,6})?)([KMGT]?)")
NEEDED = {"nodes": "nodes=64", "cores": "cores=32", "memory": "memory=256G"}  # and examples
FORM = "write nodes=64,cores=32,memory=256G,network=25G, with storage=40G and price=1.6 if you like, or local:2"


class Cluster(NamedTuple):
    """A cluster of equal nodes.

    Attributes:
        nodes: How many nodes.
        cores: Cores of a node.
        memory: Bytes of memory of a node.
        network: Bits a second that a node sends while it receives as many.
        storage: Bytes a second that all nodes together read or write in the store. 0 for no limit.
        price: Price of a node for an hour.
        task: Most bytes of memory that a task takes. Plans try several.
    """

    nodes: int
    cores: int
    memory: int
    network: float = 0.0
    storage: float = 0.0
    price: float = 0.0
    task: int = sharding.TASK_BYTES

    def shards(self, states: int, bytes_per_state: int = sharding.BYTES) -> int:
        """Return the shards of a tier, a power of two: as many as memory needs, or more so that no worker is idle."""
        memory = min((1 - sharding.OBJECTS) * self.memory / self.cores, self.task)
        return 1 << sharding.bits_for(states, bytes_per_state, memory, self.nodes * self.cores)


class Work(NamedTuple):
    """The work of a phase, for one core.

    Attributes:
        listing: How often a move is listed, for each move or key.
        sorting: How often a key is sorted, for each move or key.
        each: Further seconds for each move or key.
        state: Seconds for each state reached.
        task: Seconds for each task.
    """

    listing: float
    sorting: float
    each: float
    state: float
    task: float


class Costs(NamedTuple):
    """Seconds.

    The first two, of a core, are measured on the spot: a move listed, and a key sorted and freed of doubles. The others
    were measured once, on the tasks of five games one by one, and on Ray (docs/explanation/scale.md).
    """

    listing: float
    sorting: float
    advance: Work = Work(3.2, 1.8, 0.0, 7.3e-9, 2.5e-3)  # moves
    gather: Work = Work(0.0, 2.0, 0.0, 0.0, 0.7e-3)  # keys
    request: Work = Work(3.0, 0.0, 18e-9, 0.0, 0.7e-3)  # moves
    answer: Work = Work(0.0, 0.0, 10e-9, 0.0, 0.3e-3)  # keys
    fold: Work = Work(4.0, 0.0, 32e-9, 0.0, 1.4e-3)  # moves
    split: Work = Work(0.0, 0.0, 2e-9, 3e-6, 0.3e-3)  # keys; instead of states parts of blocks
    stored: float = 1.0e-9  # of a core, a byte read from the store or written to it, and its digest
    passed: float = 1.5e-9  # of a core, a byte put where other tasks find it
    fetch: float = 0.1e-3  # of a core, a result that a task takes
    task: float = 0.5e-3  # of the driver, a task
    handle: float = 15e-6  # of the driver, a result that it owns
    argument: float = 20e-6  # of the driver, a result that it passes to a task
    phase: float = 0.02  # until the first task of a phase runs, and the last one is heard of
    near: float = 2e-3  # the same of a phase that the driver sees to itself
    start: float = 5.0  # Ray, and the rules compiled
    book: float = 90e-9  # of a core, a state put in order and encoded for the book
    written: float = 5e-9  # of the driver, a byte of the book
    slice: float = 3.5e-6  # of the driver, what a file of ordered states has for a range


class Kind(NamedTuple):
    """Bytes of a state's merit in the store, and of its share of the book."""

    merit_bytes: int = 1
    book_bytes: float = 2.1


PLAIN = Kind()


class Phase(NamedTuple):
    """A phase of a tier.

    Attributes:
        name: The phase.
        tasks: How many tasks it has.
        work: Seconds of cores, of all tasks together.
        passed: Bytes that go from task to task.
        crossing: Those of them that Ray sends from node to node.
        stored: Bytes read and written in the store.
        handles: Results that the driver owns.
        arguments: How often the driver passes one to a task.
        places: Results in files that the driver knows.
        cores, network, store, driver: Seconds that each resource takes.
        seconds: Time of the phase: the longest of these.
        bound: Which resource that is.
    """

    name: str
    tasks: int
    work: float
    passed: int
    crossing: int
    stored: int
    handles: int
    arguments: int
    places: int
    cores: float
    network: float
    store: float
    driver: float
    seconds: float
    bound: str


class TierPlan(NamedTuple):
    """The plan of a tier.

    Attributes:
        tier: The tier.
        reached: States reached.
        states: States kept.
        shards: Its shards.
        forward, backward: Seconds of each pass.
        storage: Bytes in the store once the forward pass is through this tier, those of earlier tiers included.
        shuffle: Bytes that both passes shuffle.
        phases: Its phases.
    """

    tier: int
    reached: int
    states: int
    shards: int
    forward: float
    backward: float
    storage: int
    shuffle: int
    phases: tuple[Phase, ...]

    @property
    def bound(self) -> str:
        """The resource that takes most of the time."""
        return max(self.phases, key=lambda phase: phase.seconds).bound


def parse_cluster(text: str) -> Cluster:
    """A cluster by its description; ValueError where it is none."""
    local = re.fullmatch(sharding.LOCAL_WORKERS, text)
    if local:
        return Cluster(1, int(local[1] or cores()), free_memory())
    if "=" not in text:
        where = "is where a cluster is, and an estimate needs none, only its size" if ":" in text else "is not a size"
        raise ValueError(f"{text[:80]!r} {where}: {FORM}")
    words = [word.strip() for word in text.split(",")]
    if wrong := [word for word in words if FIELD.fullmatch(word) is None]:
        raise ValueError(f"{wrong[0][:80]!r} says nothing of a cluster: {FORM}")
    fields = [word for word in map(FIELD.fullmatch, words) if word is not None]
    fields_by_name = {word[1]: float(word[2]) * (BYTES if word[1] == "memory" else UNITS)[word[3]] for word in fields}
    if len(fields_by_name) < len(fields):
        raise ValueError(f"{text[:80]!r} says something twice: {FORM}")
    if missing := [name for name in NEEDED if name not in fields_by_name]:
        examples = ",".join(NEEDED[name] for name in missing)
        raise ValueError(f"{text[:80]!r} lacks {' and '.join(missing)}: add {examples}, for instance")
    if too_small := [name for name in fields_by_name if name != "price" and fields_by_name[name] < 1]:
        raise ValueError(f"{text[:80]!r} has no {too_small[0]}: give at least one, or leave network and storage out")
    nodes, each, memory = (int(fields_by_name[name]) for name in ("nodes", "cores", "memory"))
    network, storage, price = (fields_by_name.get(name, 0.0) for name in ("network", "storage", "price"))
    return Cluster(nodes, each, memory, network, storage, price)


def predict(tiers: Sequence[SizedTier], costs: Costs, cluster: Cluster, kind: Kind = PLAIN) -> list[TierPlan]:
    """Yield the plan of each tier."""
    plans: list[TierPlan] = []
    previous_kept = 0
    for index, tier in enumerate(tiers):
        later = tiers[index + 1] if index + 1 < len(tiers) else None
        phases = tuple(_phases(tier, later, costs, cluster, kind))
        previous_kept += tier.kept
        forward = [phase.seconds for phase in phases[: turn_of(phases)]]
        plans.append(
            TierPlan(
                tier.number,
                tier.reached,
                tier.kept,
                cluster.shards(tier.reached),
                sum(forward),
                sum(phase.seconds for phase in phases) - sum(forward),
                KEY * (previous_kept + (later.reached if later else 0)),
                sum(phase.passed for phase in phases),
                phases,
            )
        )
    return plans


def turn_of(phases: Sequence[Phase]) -> int:
    """How many phases of a tier are of the pass forward."""
    names = [phase.name for phase in phases]
    return 1 + names.index("gather") if "gather" in names else 1


def dealt(moves: int, children: int, count: int) -> int:
    """Return how many of `moves` are left after each of `count` shards has dropped its duplicates.

    The moves lead to `children` different states. Shards are by hash, so the parents of a child may be in any shard.
    """
    if not children or count == 1:
        return children
    return round(children * count * -math.expm1(moves / children * math.log1p(-1 / count)))


def _phases(tier: SizedTier, later: SizedTier | None, costs: Costs, cluster: Cluster, kind: Kind) -> Iterator[Phase]:
    """The phases of a tier. Its children are taken to lie in the next one, or to be as many."""
    reached, open_count, moves = tier.reached, tier.kept, tier.moves
    into, open_share = (min(later.reached, moves), later.kept / max(1, later.reached)) if later else (0, 0.0)
    shard_count = cluster.shards(reached)
    theirs, owners = cluster.shards(round(sharding.AHEAD * into)), cluster.shards(into)
    keys, owned = dealt(moves, into, shard_count), round(into * open_share)
    queried = round(keys * open_share)
    has, answers = KEY + kind.merit_bytes, kind.merit_bytes * queried
    read = has * owned * max(1, tier.leads)

    phase = functools.partial(_phase, costs, cluster, shard_count > sharding.FILED)

    def split(tasks: int, shards: int, items: int, size: int) -> Iterator[Phase]:
        """Return the exchange between tasks and shards, where several shards share a block."""
        if shards > sharding.MOST_BLOCKS:
            count, share = bundles(tasks, shards) * sharding.MOST_BLOCKS, shards // sharding.MOST_BLOCKS
            exchange = dict(gives=share, takes=min(tasks, sharding.SPLIT_TASKS))
            pieces = count * share * exchange["takes"]
            yield phase("split", count, items, states=pieces, passed=size * items, taken=size * items, **exchange)

    def bundles(tasks: int, shards: int) -> int:
        return tasks if shards <= sharding.MOST_BLOCKS else -(-tasks // sharding.SPLIT_TASKS)

    blocks, wanted = min(theirs, sharding.MOST_BLOCKS), min(owners, sharding.MOST_BLOCKS)
    yield phase(
        "advance",
        shard_count,
        moves,
        states=reached,
        passed=KEY * keys,
        stored=KEY * (reached + open_count),
        gives=blocks,
    )
    if into:
        yield from split(shard_count, theirs, keys, KEY)
        yield phase("gather", theirs, keys, taken=KEY * keys, stored=KEY * into, takes=bundles(shard_count, theirs))
        yield phase("request", shard_count, moves, passed=2 * KEY * queried, stored=KEY * open_count, gives=1 + wanted)
        yield from split(shard_count, owners, queried, KEY)
        bundle_count = bundles(shard_count, owners)
        yield phase(
            "answer",
            owners,
            queried,
            passed=answers,
            taken=KEY * queried,
            stored=read,
            gives=bundle_count,
            takes=bundle_count,
        )
        yield from split(shard_count, owners, queried, kind.merit_bytes)
    if open_count:
        yield phase("fold", shard_count, moves, taken=answers, stored=has * open_count, takes=1 + wanted if into else 0)


def _phase(
    costs: Costs,
    cluster: Cluster,
    in_files: bool,
    name: str,
    tasks: int,
    items: int,
    *,
    states: int = 0,
    passed: int = 0,
    taken: int = 0,
    stored: int = 0,
    gives: int = 1,
    takes: int = 0,
) -> Phase:
    """Return a phase of so many tasks over so many moves or keys.

    Args:
        costs: The costs of the game.
        cluster: The cluster.
        in_files: Whether results lie in files where several go through a task.
        name: The phase.
        tasks: How many tasks.
        items: How many moves or keys.
        states: States reached.
        passed: Bytes that tasks put where others find them.
        taken: Bytes that tasks take from there.
        stored: Bytes read and written in the store.
        gives, takes: Results that each task gives, and takes.
    """
    share: Work = getattr(costs, name)
    seconds_per_item = share.listing * costs.listing + share.sorting * costs.sorting + share.each
    filed = in_files and gives + takes > 1
    if filed:
        stored += passed + taken
    work = items * seconds_per_item + states * share.state + stored * costs.stored + passed * (not filed) * costs.passed
    work += tasks * (share.task + takes * costs.fetch)
    crossing = 0 if filed else round(taken * (1 - 1 / cluster.nodes))
    busy = work / tasks * -(-tasks // (cluster.nodes * cluster.cores))
    network = 8 * crossing / (cluster.nodes * cluster.network) if cluster.network else 0.0
    store = stored / cluster.storage if cluster.storage else 0.0
    handles, places = tasks * gives, 0
    driver = tasks * (costs.task + gives * costs.handle + takes * costs.argument)
    if filed:
        handles, places = tasks * min(2, gives), tasks * (gives + takes)
        driver = tasks * costs.task + handles * costs.handle + places * costs.slice
    wait = costs.phase
    # The driver does it itself: it is not worth the way
    if items <= sharding.LOCAL_STATES:
        network, driver, wait = 0.0, 0.0, costs.near
    times = {"cores": busy, "network": network, "store": store, "driver": driver}
    bound = max(times, key=times.__getitem__)
    counts = passed, crossing, stored, handles, tasks * takes, places
    return Phase(name, tasks, work, *counts, busy, network, store, driver, times[bound] + wait, bound)


ORDERED = 1.3  # bytes of a state, packed, in between
PROCESS = 120 << 20  # bytes of a worker, whatever it does
STATE_MEMORY, MOVE_MEMORY = 36, 36  # more bytes of it for each state, and for each move: fitted to connect-four


class Plan(NamedTuple):
    """A solve on a cluster. `whole`: the tiers are all there, else only the first; `counted`: they were counted.

    `seconds` are those of the tiers, of the book (`book_seconds`), and of the start; `memory` is the
    peak of a worker; `storage` that of the store; `price` that of all nodes all the time.
    """

    tiers: tuple[TierPlan, ...]
    counted: bool
    whole: bool
    states: int
    seconds: float
    book_seconds: float
    memory: int
    storage: int
    shuffle: int
    book_bytes: int
    price: float


def of_cluster(
    game: Game,
    cluster: Cluster,
    *,
    symmetry: bool = True,
    workers: int | None = None,
    seconds: float = 60.0,
    progress: Progress = silent,
) -> Plan:
    """Count the states tier by tier for most of that time on this machine, estimate the rest from samples, and plan.

    Raises MethodError without the extra [solve], and for games whose moves stay in a tier.
    """
    rules = Rules(game, symmetry)
    need_kernels(rules)
    from solver.sweep import projection, resources

    census = projection.census(game, symmetry=symmetry, seconds=seconds, workers=workers, tiers=True, progress=progress)
    if census.cyclic:
        raise MethodError(f"{rules.name} has moves that stay in their tier: a plan for a cluster is made by tiers")
    sizes = resources.sizes(rules, cyclic=False)
    kind = Kind(sizes.value, sizes.book)
    return planned(census.tiers, measured(rules), cluster, kind, census.counted, census.whole)


def measured(rules: Rules) -> Costs:
    """The costs of a game on a core of this machine."""
    from solver.compiled.edges import CompiledMoves
    from solver.sweep import projection

    bits = max(state.bit_length() for state in check_game(rules.game, playouts=projection.PLAYOUTS))
    return Costs(projection.pace(CompiledMoves(rules)).move, projection.sorting(bits))


def planned(
    tiers: Sequence[SizedTier],
    costs: Costs,
    cluster: Cluster,
    kind: Kind = PLAIN,
    counted: bool = True,
    is_complete: bool = True,
) -> Plan:
    """The plan of a solve whose tiers are known."""
    plans = predict(tiers, costs, cluster, kind)
    states = sum(tier.kept for tier in tiers)
    # Workers sort some shards each and encode a range each, and the driver writes. In between the states lie in the
    # book's order, with their merits, beside those that were solved
    files, ranges = cluster.shards(states, ARRANGED), cluster.shards(states, BOUND)
    in_order = (ORDERED + kind.merit_bytes) * states
    moved = (KEY + kind.merit_bytes + kind.book_bytes) * states + 2 * in_order
    links = [rate for rate in (cluster.nodes * cluster.network / 8, cluster.storage) if rate]
    driver = (files + ranges) * costs.task + files * ranges * costs.slice + kind.book_bytes * states * costs.written
    busy = states * costs.book / min(cluster.nodes * cluster.cores, ranges)
    book = max(busy, driver, moved / min(links) if links else 0.0)
    seconds = costs.start + sum(tier.forward + tier.backward for tier in plans) + book
    return Plan(
        tuple(plans),
        counted,
        is_complete,
        states,
        seconds,
        book,
        # Of the states of a shard, their children, and copies of both
        max(
            PROCESS + round((STATE_MEMORY * tier.reached + MOVE_MEMORY * tier.moves) / plan.shards)
            for tier, plan in zip(tiers, plans, strict=True)
        ),
        max(round((KEY + kind.merit_bytes) * states + in_order), *(tier.storage for tier in plans)),
        sum(tier.shuffle for tier in plans),
        round(kind.book_bytes * states),
        cluster.price * cluster.nodes * seconds / 3600,
    )
