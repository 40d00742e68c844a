"""Plans, on paper, of games that no one machine can solve: the tables of docs/explanation/scale.md.

python scripts/plan_cluster.py [--publish] [--sample SECONDS] [--runs N]

`--sample` counts and samples the tiers of each game anew on this machine, for so many seconds. It measures how long
listing moves and sorting keys takes. Without it the figures of docs/explanation/scale.json are used. `--publish` puts
the tables into docs/explanation/scale.md, between their markers. Nothing here has run on a cluster.
`scripts/check_plan.py` compares the estimate with two workers of this machine.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import benchmark
import scale_games
from scale_games import ANIMAL, GORO_GORO, Shogi
from schedule import Run, Schedule, Trouble

from solver.base import sharding
from solver.base.tiers import SizedTier
from solver.estimate import planning
from solver.estimate.planning import Cluster, Costs, Plan
from solver.report.searches import duration, size
from solver.rules.game import Rules, load_game
from solver.sweep import projection

DATA = benchmark.ROOT / "docs" / "explanation" / "scale.json"
DOCUMENT = benchmark.ROOT / "docs" / "explanation" / "scale.md"
GAMES = ("connect-four:6,5", "connect-four:6,6", "connect-four:7,5", "connect-four")
NODE = {"cores": 32, "memory": 256 << 30, "network": 25e9, "storage": 40e9, "price": 2.0}
SIZES = (4, 16, 64)
REFERENCE = Cluster(64, **NODE)  # type: ignore[arg-type]
LARGER = 6 << 30  # bytes of a task
INLINE = 100_000  # bytes: Ray keeps smaller results in the driver (max_direct_call_object_size)
HANDLE_BYTES = 38_000  # of the driver, a result in a shuffle: 950 GB at 25 million of them, ray#18333
PLACE_BYTES = 40  # of the driver, where a range is in a file of ordered states
FILED_BYTES = 104  # where a result is in a file, and the handle that stands for it
COMMIT_BYTES = 120  # of a shard in a commit, a run file and its segment


def sampled(seconds: float) -> dict[str, Any]:
    """The tiers of each game from samples, and what its moves and keys cost a core of this machine."""
    games: dict[str, Any] = {}
    for name in GAMES:
        game = load_game(name)
        census = projection.census(game, seconds=seconds, tiers=True)
        costs = [planning.measured(Rules(game)) for _ in range(5)]
        games[name] = {
            "tiers": [(one.number, one.reached, one.kept, one.moves, one.leads, one.cyclic) for one in census.tiers],
            "listing": min(one.listing for one in costs),
            "sorting": min(one.sorting for one in costs),
        }
    return {"machine": benchmark.machine(), "seconds": seconds, "games": games}


def tiers_of(data: dict[str, Any], name: str) -> list[SizedTier]:
    """The tiers of a game, as many states as are published."""
    return scale_games.true_to_published(name, [SizedTier(*row[:5]) for row in data["games"][name]["tiers"]])


def plan_of(data: dict[str, Any], name: str, cluster: Cluster) -> Plan:
    """The plan of a game."""
    facts = data["games"][name]
    return planning.planned(tiers_of(data, name), Costs(facts["listing"], facts["sorting"]), cluster, counted=False)


def changed_plan(data: dict[str, Any], name: str, cluster: Cluster) -> Plan:
    """The plan of a game with larger tasks."""
    return plan_of(data, name, cluster._replace(task=LARGER))


def totals(data: dict[str, Any], plan_for: Callable[[dict[str, Any], str, Cluster], Plan]) -> Iterator[list[str]]:
    """The cost of each game on clusters of several sizes."""
    for name in GAMES:
        for nodes in SIZES:
            cluster = REFERENCE._replace(nodes=nodes)
            plan = plan_for(data, name, cluster)
            tiers = sum(tier.forward + tier.backward for tier in plan.tiers)
            bounds: Counter[str] = Counter()
            for phase in (phase for tier in plan.tiers for phase in tier.phases):
                bounds[phase.bound] += phase.seconds  # type: ignore[assignment]
            bound, share = bounds.most_common(1)[0]
            yield [
                f"`{name}`",
                str(nodes),
                duration(tiers),
                f"{bound}, {share / tiers:.0%}",
                duration(plan.book_seconds),
                f"{plan.price:,.0f}",
            ]


def sizes(data: dict[str, Any]) -> Iterator[list[str]]:
    """The cost of each game on any cluster; the memory of a worker, and what is shuffled, of the reference."""
    for name in GAMES:
        reached, plan = sum(tier.reached for tier in tiers_of(data, name)), plan_of(data, name, REFERENCE)
        work = sum(phase.work for tier in plan.tiers for phase in tier.phases) / 3600
        yield [
            f"`{name}`",
            f"{reached:.3g}",
            f"{plan.states:.3g}",
            f"{work:,.0f}",
            size(plan.storage),
            size(plan.shuffle),
            size(plan.book_bytes),
            size(plan.memory),
        ]


def by_tier(plan: Plan) -> Iterator[list[str]]:
    """Each tier of a plan."""
    for tier in plan.tiers:
        yield [
            str(tier.tier),
            f"{tier.states:,}",
            f"{tier.shards:,}",
            f"{tier.forward:,.1f}",
            f"{tier.backward:,.1f}",
            size(tier.storage),
            size(tier.shuffle),
            tier.bound,
        ]


def by_phase(plan: Plan) -> Iterator[list[str]]:
    """The limit of each phase: the seconds of all tiers by the resource that takes them."""
    for name in ("advance", "split", "gather", "request", "answer", "fold"):
        phases = [phase for tier in plan.tiers for phase in tier.phases if phase.name == name]
        seconds: Counter[str] = Counter()
        for phase in phases:
            seconds[phase.bound] += phase.seconds
        whole = sum(seconds.values())
        yield [
            name,
            f"{sum(phase.tasks for phase in phases):,}",
            f"{sum(phase.work for phase in phases) / 3600:,.0f}",
            f"{whole:,.0f}",
            *(f"{seconds[bound] / whole:.0%}" for bound in ("cores", "network", "store", "driver")),
        ]


def extremes(plan: Plan, cluster: Cluster) -> Iterator[list[str]]:
    """What grows faster than the cluster, at its worst, beside what there is of it."""
    every = [phase for tier in plan.tiers for phase in tier.phases if phase.handles]
    handles = max(phase.handles for phase in every)
    passing = [phase for phase in every if not phase.places]
    small = max((phase.passed for phase in passing if phase.passed < INLINE * phase.handles), default=0)
    flight, places = max(phase.passed for phase in passing), max(phase.places for phase in every)
    arguments = max(phase.arguments // phase.tasks for phase in every)
    block = max(phase.crossing / phase.tasks for phase in passing) * cluster.nodes / (cluster.nodes - 1)
    most = max(tier.shards for tier in plan.tiers)
    objects = sharding.OBJECTS * cluster.memory
    yield ["shards of the largest tier", f"{most:,}", ""]
    yield ["results that a task takes", f"{arguments:,}", "Ray tries 10,000"]
    yield ["results that the driver owns at a time", f"{handles:,}", ""]
    yield ["their metadata in the driver", size(HANDLE_BYTES * handles), size(cluster.memory)]
    yield ["places in files that it knows at a time", f"{places:,}", ""]
    yield ["their bytes in the driver", size(FILED_BYTES * places), size(cluster.memory)]
    yield ["what is in those files", size(max(phase.passed for phase in every if phase.places)), ""]
    yield ["those too small for the object store, in the driver as well", size(small), size(cluster.memory)]
    yield ["blocks in flight", size(flight), f"{size(objects * cluster.nodes)} on all nodes, then their disks"]
    yield ["what a task takes at once", size(block), f"{size(objects)} on a node"]
    yield ["a commit of the largest tier", size(COMMIT_BYTES * most), ""]
    yield ["files that become the book", f"{2 * sum(tier.shards for tier in plan.tiers):,}", ""]
    ordered = [cluster.shards(plan.states, each) for each in (sharding.ARRANGED, sharding.BOUND)]
    yield ["places in ordered files", f"{math.prod(ordered):,}", ""]
    yield ["their bytes in the driver", size(PLACE_BYTES * math.prod(ordered)), size(cluster.memory)]
    yield ["the book", duration(plan.book_seconds), ""]
    yield ["storage", size(plan.storage), ""]


def coded(plan: Plan, bits: int) -> Iterator[list[str]]:
    """The states as what entropy leaves of the differences between sorted ones, of keys of so many bits, and a byte for
    each value."""
    for name, hashed in (("ranges", False), ("hashes, as now", True)):
        total = 0.0
        for tier in plan.tiers:
            if tier.states:
                mean = (1 << bits) / tier.states * (tier.shards if hashed else 1)
                total += tier.states * (1 + _difference(mean) / 8)
        yield [f"storage if states were differences, shards {name}", size(total), ""]


def _difference(mean: float) -> float:
    """Bits of a difference between sorted states: they are geometric, which takes log2 of their mean and 1.44."""
    return math.log2(mean) + 1.44


def schedules(plan: Plan, runs: int) -> Iterator[list[str]]:
    """The plan as simulated, under more and more trouble."""
    calm = Trouble(spread=0.0, stragglers=0.0, between=1e12)
    cases = [
        ("none", calm),
        ("task times spread by 25 %", calm._replace(spread=0.25)),
        ("and one task of 1,000 takes 5 times as long", Trouble(between=1e12)),
        ("and a node dies every 30 days", Trouble()),
        ("every 5 days", Trouble(between=5 * 86_400.0)),
        ("every day", Trouble(between=86_400.0)),
    ]
    for name, trouble in cases:
        found = [Schedule(plan, REFERENCE, trouble, seed).run() for seed in range(runs)]
        yield [name, *_run(found, plan)]


def _run(found: Sequence[Run], plan: Plan) -> list[str]:
    times = [one.seconds - plan.book_seconds for one in found]
    return [
        duration(statistics.mean(times)),
        duration(max(times)),
        f"{statistics.mean(one.idle for one in found):.0%}",
        f"{statistics.mean(one.again for one in found):,.0f}",
        f"{statistics.mean(one.deaths for one in found):.1f}",
        f"{statistics.mean(one.drivers for one in found):.1f}",
    ]


def cousins() -> Iterator[list[str]]:
    """Animal shogi on larger boards, by the share of its arrangements that can be reached, and its larger cousins."""
    share = scale_games.ANIMAL_REACHED / scale_games.ANIMAL_ARRANGED
    boards = [(ANIMAL, share)]
    for name, squares in (("3x5", 15), ("4x4", 16), ("4x5", 20), ("5x5", 25)):
        boards.append((Shogi(f"its pieces on {name}", squares, ANIMAL.plain, ANIMAL.promoting), share))
    boards.append((GORO_GORO, share))
    for shogi, reached in boards:
        arranged = scale_games.arrangements(shogi)
        yield _cousin(shogi.name, f"{arranged:.3g}", arranged * reached, arranged.bit_length())
    yield _cousin("minishogi 5x5", "", scale_games.MINISHOGI_REACHED / 2, 65)


def _cousin(name: str, arranged: str, reached: float, bits: int) -> list[str]:
    packed = 2 + _difference((1 << bits) / reached) / 8
    stored = [size(each * reached) for each in (planning.KEY + 2, packed)]
    return [name, arranged, f"{reached:.3g}", str(bits), *stored, "yes" if bits < 64 else "no"]


LIMITS = ("what", "is", "there is")
PHASES = ("phase", "tasks", "core hours", "seconds", "cores", "network", "store", "driver")
TOTALS = ("game", "nodes", "tiers", "most of it by", "book", "USD")


def tables(data: dict[str, Any], runs: int) -> dict[str, str]:
    """All tables, by name."""
    seven = plan_of(data, "connect-four", REFERENCE)
    wide = plan_of(data, "connect-four:7,5", REFERENCE)
    better = changed_plan(data, "connect-four", REFERENCE)
    columns = ("tier", "states", "shards", "forward s", "backward s", "storage", "shuffle", "binds")
    return {
        "sizes": benchmark.table(
            ("game", "reached", "stored", "core hours", "storage", "shuffle", "book", "a worker"), list(sizes(data))
        ),
        "totals": benchmark.table(TOTALS, list(totals(data, plan_of))),
        "changed": benchmark.table(TOTALS, list(totals(data, changed_plan))),
        "tiers of 7x6": benchmark.table(columns, list(by_tier(seven))),
        "tiers of 7x5": benchmark.table(columns, list(by_tier(wide))),
        "phases": benchmark.table(PHASES, list(by_phase(seven))),
        "limits of 7x5": benchmark.table(LIMITS, [*extremes(wide, REFERENCE), *coded(wide, 42)]),
        "phases changed": benchmark.table(PHASES, list(by_phase(better))),
        "limits of 7x6": benchmark.table(LIMITS, [*extremes(seven, REFERENCE), *coded(seven, 49)]),
        "trouble": benchmark.table(
            ("trouble", "mean", "longest", "idle", "tasks again", "nodes died", "driver died"),
            list(schedules(better, runs)),
        ),
        "cousins": benchmark.table(
            ("game", "arrangements", "reached, folded", "bits of a state", "ten bytes each", "packed", "fits 63 bits"),
            list(cousins()),
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--publish", action="store_true", help="into docs/explanation/scale.md")
    parser.add_argument("--sample", type=float, metavar="SECONDS", help="count and sample each game for so long")
    parser.add_argument("--runs", type=int, default=5, help="of each simulated schedule")
    options = parser.parse_args()
    if options.sample:
        DATA.write_text(json.dumps(sampled(options.sample), indent=None) + "\n")
    found = tables(json.loads(DATA.read_text("utf-8")), options.runs)
    for name, text in found.items():
        print(f"{name}\n\n{text}\n")
    if options.publish:
        benchmark.put(DOCUMENT, found)


if __name__ == "__main__":
    main()
