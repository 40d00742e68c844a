"""What a solve on a cluster will take: time, memory, storage, traffic and price, tier by tier, before one is rented.

The model. A tier's states lie in shards by a hash of the state. Forward, a task a shard expands its states and deals
their children by owner, a second merges what came for a shard of the next tier. Backward, a task a shard asks the
owners for its children's values, the owners answer, and a third task folds the answers. A child of p parents is sent by
as many tasks as have one of them: of n shards, about n (1 - (1 - 1/n)^p). Each of the five phases of a tier takes as
long as the resource of it that takes longest: cores, network, storage, or the one driver that hands out the tasks.

What listing a game's moves and sorting its keys take is measured on the spot; the other costs of a core were measured
once. It works without Ray and on no cluster.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from solver.conformance import check_game
from solver.errors import MethodError
from solver.estimation import duration, need_kernels
from solver.game import Game, Rules
from solver.memory import free_memory
from solver.parallel import cores
from solver.progress import Progress, silent

if TYPE_CHECKING:
    from solver.sweep.sampling import Tier

KEY = 8  # bytes of a state
STATES_PER_TASK = 4_000_000
PROCESS = 200 << 20  # bytes of a worker, whatever it does
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
FIELD = re.compile(r"(nodes|cores|memory|network|storage|price)=([0-9]{1,12}(?:\.[0-9]{1,6})?)([KMGT]?)")
LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
FORM = "write nodes=64,cores=32,memory=256G,network=25G, with storage=40G and price=1.6 if you like, or local:2"
PHASES = ("expand", "gather", "ask", "answer", "fold")


class Cluster(NamedTuple):
    """Equal nodes: cores and bytes of memory of each; bits a second that a node sends while it receives as many, bytes
    a second that all read or write in the store together (0: not a limit); the price of a node for an hour."""

    nodes: int
    cores: int
    memory: int
    network: float = 0.0
    storage: float = 0.0
    price: float = 0.0


class Costs(NamedTuple):
    """Seconds of a core. The first two are measured on the spot, the others were on the machine that docs/scale.md
    names, with the cluster's own tasks."""

    listing: float  # a state's moves
    sorting: float  # a key, sorted, doubles dropped
    store: float = 1.5e-9  # a byte written or read and its digest
    send: float = 1.0e-9  # a byte put into the object store and taken out
    merge: float = 10e-9  # a key merged with those of other tasks
    look: float = 60e-9  # a key looked up
    fold: float = 15e-9  # a move's value folded
    task: float = 5e-3  # a task, on its worker
    drive: float = 1e-3  # a task, in the driver, of which there is one
    barrier: float = 0.05  # a phase, in the driver: the last task's end, and a manifest
    start: float = 5.0  # of the workers
    book: float = 60e-9  # a state merged into the book by the driver


class Kind(NamedTuple):
    """Bytes of a state's merit in the store, and of its share of the book."""

    merit_bytes: int = 1
    book_bytes: float = 2.1


PLAIN = Kind()


class Phase(NamedTuple):
    """A phase of a tier. `work`: seconds of cores, all tasks together; `sent`: bytes from task to task; `stored`: bytes
    read and written in the store; `seconds`: what it takes; `bound`: the resource that takes so long."""

    name: str
    tasks: int
    work: float
    sent: int
    stored: int
    seconds: float
    bound: str


class TierPlan(NamedTuple):
    """A tier: the states reached and kept, its shards, seconds of both passes, bytes of storage once it is done forward
    (those of all tiers before it included), bytes shuffled in both passes, and its phases."""

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


class Plan(NamedTuple):
    """A solve on a cluster. `whole`: the tiers are all there, else only the first; `counted`: they were counted.

    `seconds` are those of the tiers, of the merge into the book (`book_seconds`), and of the start; `memory` is the
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

    def text(self) -> str:
        about = "" if self.counted else "about " if self.whole else "more than "
        rows = [("tier", "states", "shards", "forward", "backward", "storage", "shuffle", "binds")]
        for tier in self.tiers:
            times = f"{tier.forward:.2f} s", f"{tier.backward:.2f} s"
            places = f"{tier.tier}", f"{tier.states:,}", f"{tier.shards:,}"
            rows.append((*places, *times, size(tier.storage), size(tier.shuffle), tier.bound))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        price = [f"price    {self.price:,.2f}"] if self.price else []
        return "\n".join(
            [
                *lines,
                f"stored   {about}{self.states:,} states, {'counted' if self.counted else 'from samples'}",
                f"time     about {duration(self.seconds)}, {duration(self.book_seconds)} of it for the book",
                f"memory   about {size(self.memory)} a worker",
                f"storage  about {size(self.storage)}",
                f"shuffle  about {size(self.shuffle)}",
                f"book     about {self.book_bytes:,} bytes",
                *price,
            ]
        )


def size(count: float) -> str:
    """Bytes in the unit that suits them."""
    for unit, one in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= one:
            return f"{count / one:.1f} {unit}"
    return f"{count:.0f} B"


def parse_cluster(text: str) -> Cluster:
    """A cluster by its description; ValueError where it is none."""
    local = LOCAL.fullmatch(text)
    if local:
        return Cluster(1, int(local[1] or cores()), free_memory())
    parts = [FIELD.fullmatch(part.strip()) for part in text.split(",")]
    found = {part[1]: float(part[2]) * (BYTES if part[1] == "memory" else UNITS)[part[3]] for part in parts if part}
    if len(found) < len(parts) or not {"nodes", "cores", "memory"} <= set(found):
        raise ValueError(f"{text[:80]!r} describes no cluster: {FORM}")
    if not all(found[name] >= 1 for name in found if name != "price"):
        raise ValueError(f"{text[:80]!r} is a cluster of nothing: {FORM}")
    counts = (int(found[name]) for name in ("nodes", "cores", "memory"))
    return Cluster(*counts, *(found.get(name, 0.0) for name in ("network", "storage", "price")))


def predict(
    tiers: Sequence[Tier], costs: Costs, cluster: Cluster, kind: Kind = PLAIN, states_per_task: int = STATES_PER_TASK
) -> list[TierPlan]:
    """What each tier takes."""
    plans: list[TierPlan] = []
    kept = 0
    for tier, later in zip(tiers, [*tiers[1:], None], strict=True):
        phases = tuple(_phases(tier, later, costs, cluster, kind, states_per_task))
        kept += tier.kept
        after = 0 if later is None else later.reached
        seconds = [phase.seconds for phase in phases]
        plans.append(
            TierPlan(
                tier.number,
                tier.reached,
                tier.kept,
                shards(tier.reached, states_per_task),
                sum(seconds[:2]),
                sum(seconds[2:]),
                KEY * (kept + after),
                sum(phase.sent for phase in phases),
                phases,
            )
        )
    return plans


def shards(reached: int, states_per_task: int = STATES_PER_TASK) -> int:
    """The shards of a tier, a power of two."""
    return 1 << max(0, math.ceil(reached / states_per_task) - 1).bit_length()


def sent(moves: int, children: int, count: int) -> int:
    """Of `moves` to so many different children from states in `count` shards: those left when each shard has dropped
    its doubles. Shards are of hashes, so the parents of a child are anywhere."""
    if not children or count == 1:
        return children
    return round(children * count * -math.expm1(moves / children * math.log1p(-1 / count)))


def _phases(
    tier: Tier, later: Tier | None, costs: Costs, cluster: Cluster, kind: Kind, states_per_task: int
) -> Iterator[Phase]:
    """The phases of a tier. Its children are taken to lie in the next one."""
    reached, kept, moves = tier.reached, tier.kept, tier.moves
    into, open_share = (later.reached, later.kept / max(1, later.reached)) if later else (0, 0.0)
    into = min(into, moves)
    mine, theirs = shards(reached, states_per_task), shards(into, states_per_task)
    keys = sent(moves, into, mine)
    asked = round(keys * open_share)
    listing, sorting = kept * costs.listing, moves * costs.sorting

    def phase(name: str, tasks: int, work: float, sent: int, stored: int) -> Phase:
        work += costs.store * stored + costs.send * sent + costs.task * tasks
        return _bounded(name, tasks, work, sent, stored, costs, cluster)

    yield phase("expand", mine, listing + sorting + reached * costs.merge, KEY * keys, KEY * (reached + kept))
    if not into:
        return
    yield phase("gather", theirs, keys * costs.merge, 0, KEY * into)
    yield phase("ask", mine, listing + sorting, KEY * asked, KEY * kept)
    owned = round(into * open_share)
    yield phase("answer", theirs, asked * costs.look, kind.merit_bytes * asked, (KEY + kind.merit_bytes) * owned)
    yield phase("fold", mine, listing + moves * costs.fold, 0, (KEY + kind.merit_bytes) * kept)


def _bounded(name: str, tasks: int, work: float, sent: int, stored: int, costs: Costs, cluster: Cluster) -> Phase:
    """A phase, as long as the resource of it that takes longest; the last tasks of it run beside idle cores."""
    rounds = -(-tasks // (cluster.nodes * cluster.cores))
    away = sent * (1 - 1 / cluster.nodes)  # what stays on its node does not cross the network
    takes = {
        "cores": work / tasks * rounds,
        "network": 8 * away / (cluster.nodes * cluster.network) if cluster.network else 0.0,
        "storage": stored / cluster.storage if cluster.storage else 0.0,
        "driver": costs.drive * tasks,
    }
    bound = max(takes, key=takes.__getitem__)
    return Phase(name, tasks, work, sent, stored, takes[bound] + costs.barrier, bound)


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
    from solver.sweep import sampling

    census = sampling.census(
        game, symmetry=symmetry, seconds=seconds, workers=workers, tiers=True, progress=progress
    )
    if census.cyclic:
        raise MethodError(f"{rules.name} has moves that stay in their tier: a plan for a cluster is made by tiers")
    return planned(census.tiers, measured(rules), cluster, kind_of(rules), census.counted, census.whole)


def measured(rules: Rules) -> Costs:
    """The costs of a game on a core of this machine."""
    from solver.kernels.edges import CompiledMoves
    from solver.sweep import sampling

    bits = max(state.bit_length() for state in check_game(rules.game))
    return Costs(sampling.pace(CompiledMoves(rules)), sampling.sorting(bits))


def kind_of(rules: Rules) -> Kind:
    """What a state of a game takes in the store, and in the book."""
    from solver.sweep import demand

    return Kind(8 if rules.chance is not None else 1, demand.book_bytes(rules, cyclic=False))


def _book_seconds(states: int, costs: Costs, cluster: Cluster, kind: Kind) -> float:
    """The merge of all shard files by the driver, which reads the store alone."""
    read = (KEY + kind.merit_bytes) * states
    links = [rate for rate in (cluster.network / 8, cluster.storage) if rate]
    return max(costs.book * states, read / min(links) if links else 0.0)


def _worker_memory(tiers: Sequence[Tier], states_per_task: int) -> int:
    """The peak of a worker: its states, and their children twice."""
    most = max((min(tier.reached, states_per_task) * tier.moves / max(1, tier.reached) for tier in tiers), default=0)
    return PROCESS + round(KEY * (2 * min(states_per_task, max(tier.reached for tier in tiers)) + 2 * most))


def planned(
    tiers: Sequence[Tier],
    costs: Costs,
    cluster: Cluster,
    kind: Kind = PLAIN,
    counted: bool = True,
    whole: bool = True,
    states_per_task: int = STATES_PER_TASK,
) -> Plan:
    """The plan of a solve whose tiers are known."""
    plans = predict(tiers, costs, cluster, kind, states_per_task)
    states = sum(tier.kept for tier in tiers)
    book = _book_seconds(states, costs, cluster, kind)
    seconds = costs.start + sum(tier.forward + tier.backward for tier in plans) + book
    return Plan(
        tuple(plans),
        counted,
        whole,
        states,
        seconds,
        book,
        _worker_memory(tiers, states_per_task),
        max((KEY + kind.merit_bytes) * states, *(tier.storage for tier in plans)),
        sum(tier.shuffle for tier in plans),
        round(kind.book_bytes * states),
        cluster.price * cluster.nodes * seconds / 3600,
    )


def facts(found: Any) -> dict[str, Any]:
    """A named tuple as JSON has it, and all in it."""
    return {name: _plain(value) for name, value in found._asdict().items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return facts(value)
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
