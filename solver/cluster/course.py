"""What a solve on a cluster has done, as its commits tell it: the same whether they were just made or read again."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from solver.cluster.store import File
from solver.cluster.tasks import Folded, Run, Scale, Segment, Shard


class Tier(NamedTuple):
    """A tier whose states are all found: its shards, 2**`bits` of them, how many states were reached, the finished ones
    by outcome, and the highest tier that its moves lead to."""

    number: int
    bits: int
    states: list[File]
    reached: int
    ends: list[int]
    highest: int

    @property
    def stored(self) -> int:
        """Its unfinished states."""
        return sum(file.length for file in self.states)


class Course:
    """`tiers` in order, `runs` of what they led to, and from the last tier on their `values`, and `counts` of these by
    outcome; `tally` counts values, or their signs, `slowest` is the smallest merit of a win and its first state."""

    def __init__(self) -> None:
        self.commits = 0
        self.runs: list[Run] = []
        self.tiers: list[Tier] = []
        self.largest = 1
        self.growth = 0.0  # states led to, by those that led to them
        self.scale: Scale | None = None
        self.forget_values()

    def forget_values(self) -> None:
        """Begin the pass backward anew."""
        self.values: list[list[File]] = []
        self.counts: list[list[int]] = []
        self.tally: Counter[int] = Counter()
        self.slowest: tuple[int, int] | None = None

    @property
    def begun(self) -> bool:
        return self.commits > 0

    @property
    def stored(self) -> int:
        return sum(tier.stored for tier in self.tiers)

    def first(self) -> int | None:
        """The tier whose turn it is, forward."""
        return min((min(run.segments) for run in self.runs), default=None)

    def pending(self, tier: int) -> list[Segment]:
        """What a tier has been led to."""
        return [run.segments[tier] for run in self.runs if tier in run.segments]

    def later(self, tier: Tier) -> list[Tier]:
        """The solved tiers that moves from a tier may lead to."""
        return [one for one in self.tiers if tier.number < one.number <= tier.highest and one.stored]

    def shards(self, tiers: list[Tier], bits: int, owner: int) -> list[Shard]:
        """Of each of these tiers the shard that has what `owner` of 2**`bits` owns; none has more shards than that."""
        last, found = len(self.tiers) - 1, []
        for tier in tiers:
            place = owner >> bits - tier.bits
            values = self.values[last - self.tiers.index(tier)]
            found.append(Shard(tier.number, tier.bits, place, tier.states[place], values[place]))
        return [shard for shard in found if shard.states.length]

    def apply(self, facts: dict[str, Any]) -> list[str]:
        """Take over what a commit says; the names of files that are not needed any more."""
        self.commits += 1
        return {"forward": self._forward, "scale": self._scale, "backward": self._backward}[facts["kind"]](facts)

    def _forward(self, facts: dict[str, Any]) -> list[str]:
        obsolete = []
        if facts["tier"] is not None:
            number, bits, states, reached, ends, highest = facts["tier"]
            self.tiers.append(Tier(number, bits, [File(*file) for file in states], reached, ends, highest))
            for run in self.runs:
                run.segments.pop(number, None)
            obsolete = [run.name for run in self.runs if not run.segments]
            self.runs = [run for run in self.runs if run.segments]
        self.largest, self.growth = max(self.largest, facts["largest"]), facts["growth"]
        self.runs += [Run(name, {one[0]: Segment(*one[1:]) for one in segments}) for name, segments in facts["runs"]]
        return obsolete

    def _scale(self, facts: dict[str, Any]) -> list[str]:
        obsolete = [file.name for files in self.values for file in files]
        self.scale = Scale(*facts["scale"])
        self.forget_values()
        return obsolete

    def _backward(self, facts: dict[str, Any]) -> list[str]:
        self.values.append([File(*file) for file in facts["values"]])
        self.counts.append(facts["counts"])
        self.tally.update({int(value): number for value, number in facts["tally"]})
        if facts["slowest"] is not None:
            slowest = tuple(facts["slowest"])
            self.slowest = min(slowest, self.slowest or slowest)
        return []


def told_forward(tier: Tier | None, runs: list[Run], largest: int, growth: float) -> dict[str, Any]:
    """The commit of a tier whose states were found, or of the starts."""
    told = [(run.name, [(number, *segment) for number, segment in run.segments.items()]) for run in runs]
    return {"kind": "forward", "tier": tier, "runs": told, "largest": largest, "growth": growth}


def told_backward(folds: list[Folded], tally: Counter[int], counts: list[int]) -> dict[str, Any]:
    """The commit of a tier whose values were found."""
    return {
        "kind": "backward",
        "values": [fold.values for fold in folds],
        "counts": counts,
        "tally": sorted(tally.items()),
        "slowest": min((fold.slowest for fold in folds if fold.slowest is not None), default=None),
    }
