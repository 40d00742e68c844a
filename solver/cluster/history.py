"""What a solve on a cluster has done, as its commits tell it: the same whether they were just made or read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from solver.cluster.store import File
from solver.cluster.tasks import Advanced, Folded, Run, Segment, Shard
from solver.sweep.scale import Scale

SAMPLE = 512  # states of a tier that tell how its states are spread


class Tier(NamedTuple):
    """A tier whose states are all found: its shards, 2**`bits` of them, how many states were reached, the finished ones
    by outcome, the highest tier that its moves lead to, whether some stay in it, and some of its states."""

    number: int
    bits: int
    states: list[File]
    reached: int
    ends: list[int]
    highest: int
    cyclic: bool
    sample: list[int] = []  # noqa: RUF012

    @property
    def stored(self) -> int:
        """Its unfinished states."""
        return sum(file.length for file in self.states)


def tier_of(number: int, bits: int, found: Sequence[Advanced], highest: int, cyclic: bool) -> Tier:
    """The tier of these shards."""
    ends: list[int] = np.sum([one.ends for one in found], axis=0).tolist()
    some = sorted(state for one in found for state in one.sample)
    return Tier(
        number, bits, [one.states for one in found], sum(one.reached for one in found), ends, highest, cyclic,
        some[:: 1 + len(some) // SAMPLE],
    )  # fmt: skip


class Closing(NamedTuple):
    """A tier with cycles that is being closed, breadth first: 2**`bits` shards, for each the files of what it has seen,
    older ones first; the front, what the last generation led to; how many states were seen, and the highest tier that
    they lead to."""

    number: int
    bits: int
    seen: list[list[Segment]]
    front: list[Segment]
    reached: int
    highest: int

    @property
    def names(self) -> set[str]:
        """The files that it needs."""
        return {one.name for one in self.front}.union(*({one.name for one in files} for files in self.seen))


class Resolving(NamedTuple):
    """A tier with cycles that is being resolved by rounds: for each of its shards that have states the arrays that
    `rounds.step` takes, after the round of this distance."""

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


class Course:
    """`tiers` in order, `runs` of what they led to, and from the last tier on their `values`, and `counts` of these by
    outcome; `tally` counts values, or their signs, `slowest` is the smallest merit of a win and its first state, `gap`
    how far apart the bounds of expectations in tiers with cycles are, all of them together."""

    def __init__(self) -> None:
        self.begun = False
        self.runs: list[Run] = []
        self.closing: Closing | None = None
        self.resolving: Resolving | None = None
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
        self.gap = 0

    @property
    def stored(self) -> int:
        return sum(tier.stored for tier in self.tiers)

    @property
    def names(self) -> set[str]:
        """The files that are needed."""
        files = (file.name for some in (*(tier.states for tier in self.tiers), *self.values) for file in some)
        under_way = [one.names for one in (self.closing, self.resolving) if one is not None]
        return {run.name for run in self.runs}.union(files, *under_way)

    def first(self) -> int | None:
        """The tier whose turn it is, forward."""
        return min((min(run.segments) for run in self.runs), default=None)

    def next(self) -> Tier | None:
        """The tier whose turn it is, backward."""
        left = len(self.tiers) - len(self.values)
        return self.tiers[left - 1] if left else None

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
        self.begun = True
        kinds = {
            "forward": self._forward, "closing": self._close,
            "scale": self._scale, "resolving": self._resolve, "backward": self._backward,
        }  # fmt: skip
        return kinds[facts["kind"]](facts)

    def _forward(self, facts: dict[str, Any]) -> list[str]:
        obsolete = []
        if facts["tier"] is not None:
            number, bits, states, *counted = facts["tier"]
            self.tiers.append(Tier(number, bits, [File(*file) for file in states], *counted))
            for run in self.runs:
                run.segments.pop(number, None)
            obsolete = [*self._close({"closing": None}), *(run.name for run in self.runs if not run.segments)]
            self.runs = [run for run in self.runs if run.segments]
        self.largest, self.growth = max(self.largest, facts["largest"]), facts["growth"]
        self.runs += [Run(name, {one[0]: Segment(*one[1:]) for one in segments}) for name, segments in facts["runs"]]
        return obsolete

    def _close(self, facts: dict[str, Any]) -> list[str]:
        before = self.closing.names if self.closing else set()
        self.closing = None
        if facts["closing"] is not None:
            number, bits, seen, front, *counted = facts["closing"]
            self.closing = Closing(number, bits, [_segments(files) for files in seen], _segments(front), *counted)
        return sorted(before)

    def _scale(self, facts: dict[str, Any]) -> list[str]:
        obsolete = [file.name for files in self.values for file in files]
        self.scale = Scale(*facts["scale"])
        self.forget_values()
        return obsolete

    def _resolve(self, facts: dict[str, Any]) -> list[str]:
        before = self.resolving.names if self.resolving else set()
        self.resolving = None
        if facts["resolving"] is not None:
            number, *arrays, distance = facts["resolving"]
            begins, parents, left, merits = ([File(*file) for file in files] for files in arrays)
            self.resolving = Resolving(number, begins, parents, left, merits, distance)
        return sorted(before)

    def _backward(self, facts: dict[str, Any]) -> list[str]:
        self.values.append([File(*file) for file in facts["values"]])
        self.counts.append(facts["counts"])
        self.gap += facts["gap"]
        self.tally.update({int(value): number for value, number in facts["tally"]})
        if facts["slowest"] is not None:
            slowest = tuple(facts["slowest"])
            self.slowest = min(slowest, self.slowest or slowest)
        return self._resolve({"resolving": None})


def owned(segments: Sequence[Segment], bits: int, owner: int) -> list[Segment]:
    """The segments that have states of a shard, perhaps among others."""
    found = []
    for one in segments:
        if one.bits <= bits:
            mine = owner >> bits - one.bits == one.owner
        else:
            mine = one.owner >> one.bits - bits == owner
        if mine:
            found.append(one)
    return found


def _segments(told: list[Any]) -> list[Segment]:
    return [Segment(*one) for one in told]


def told_forward(tier: Tier | None, runs: list[Run], largest: int, growth: float) -> dict[str, Any]:
    """The commit of a tier whose states were found, or of the starts."""
    told = [(run.name, [(number, *segment) for number, segment in run.segments.items()]) for run in runs]
    return {"kind": "forward", "tier": tier, "runs": told, "largest": largest, "growth": growth}


def told_backward(
    values: list[File], folds: list[Folded], tally: Counter[int], counts: list[int], gap: int
) -> dict[str, Any]:
    """The commit of a tier whose values were found."""
    return {
        "kind": "backward",
        "values": values,
        "counts": counts,
        "gap": gap,
        "tally": sorted(tally.items()),
        "slowest": min((fold.slowest for fold in folds if fold.slowest is not None), default=None),
    }
