"""The cost of a solve on a cluster: time, memory, storage, traffic and price, tier by tier, before one is rented.

`phases` is the model. The times of listing a game's moves and sorting its keys are measured here; the other costs were
measured once, as docs/explanation/scale.md says. None of this needs Ray, or a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.base.sharding import ARRANGED, BOUND
from solver.base.tiers import SizedTier
from solver.check.conformance import check_game
from solver.estimate.estimation import need_kernels
from solver.estimate.phases import KEY, PLAIN, Cluster, Costs, Kind, TierPlan, predict
from solver.rules.game import Game, Rules

ORDERED = 1.3  # bytes of a state, packed, in between
PROCESS = 120 << 20  # bytes of a worker, whatever it does
STATE_MEMORY, MOVE_MEMORY = 36, 36  # more bytes of it for each state, and for each move: fitted to connect-four
START_CPU = 8.0  # seconds of the processor that starting takes: Ray, and in each of two workers what is compiled


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
    from solver.sweep import projection

    census = projection.census(game, symmetry=symmetry, seconds=seconds, workers=workers, tiers=True, progress=progress)
    if census.cyclic:
        raise MethodError(f"{rules.name} has moves that stay in their tier: a plan for a cluster is made by tiers")
    return planned(census.tiers, measured(rules), cluster, kind_of(rules), census.counted, census.whole)


def measured(rules: Rules) -> Costs:
    """The costs of a game on a core of this machine."""
    from solver.compiled.edges import CompiledMoves
    from solver.sweep import projection

    bits = max(state.bit_length() for state in check_game(rules.game, playouts=projection.PLAYOUTS))
    return Costs(projection.pace(CompiledMoves(rules)).move, projection.sorting(bits))


def kind_of(rules: Rules) -> Kind:
    """Return the size of a game's state in the store and in the book."""
    from solver.sweep import demand

    sizes = demand.sizes(rules, cyclic=False)
    return Kind(sizes.value, sizes.book)


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
    book = _book_seconds(states, costs, cluster, kind)
    seconds = costs.start + sum(tier.forward + tier.backward for tier in plans) + book
    return Plan(
        tuple(plans),
        counted,
        is_complete,
        states,
        seconds,
        book,
        max(_worker_memory(tier, plan) for tier, plan in zip(tiers, plans, strict=True)),
        max(round((KEY + kind.merit_bytes) * states + _in_order(states, kind)), *(tier.storage for tier in plans)),
        sum(tier.shuffle for tier in plans),
        round(kind.book_bytes * states),
        cluster.price * cluster.nodes * seconds / 3600,
    )


def _in_order(states: int, kind: Kind) -> float:
    """Bytes of the store for states in the book's order, with their merits, beside those that were solved."""
    return (ORDERED + kind.merit_bytes) * states


def _book_seconds(states: int, costs: Costs, cluster: Cluster, kind: Kind) -> float:
    """Return the time of the book: workers sort some shards each and encode a range each, and the driver writes."""
    files, ranges = cluster.shards(states, ARRANGED), cluster.shards(states, BOUND)
    between = _in_order(states, kind)
    moved = (KEY + kind.merit_bytes + kind.book_bytes) * states + 2 * between
    links = [rate for rate in (cluster.nodes * cluster.network / 8, cluster.storage) if rate]
    tasks = (files + ranges) * costs.task + files * ranges * costs.slice
    driver = tasks + kind.book_bytes * states * costs.written
    workers = min(cluster.nodes * cluster.cores, ranges)
    return max(states * costs.book / workers, driver, moved / min(links) if links else 0.0)


def _worker_memory(tier: SizedTier, plan: TierPlan) -> int:
    """Return the peak memory of a worker in a tier: the states of a shard, their children, and copies of both."""
    return PROCESS + round((STATE_MEMORY * tier.reached + MOVE_MEMORY * tier.moves) / plan.shards)
