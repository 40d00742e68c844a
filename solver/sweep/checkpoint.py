"""The checkpoint of a sweep: one record, with a part for each pass that is under way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from solver.base.errors import ResourceError
from solver.base.tiers import Tier
from solver.store import documents
from solver.store.directory import Layer
from solver.store.runs import Waiting
from solver.store.work import Column, Work
from solver.sweep.expansion import LOWEST_TIER
from solver.sweep.scale import Scale, Tally


@dataclass
class ForwardState:
    """Where the pass forward stands; shelves by name.

    Attributes:
        layers: The tiers that are complete.
        largest: The largest margin of a finished state.
        finished: Whether all states are reached.
        position: The states of the current key below it are done.
        closing: The tier with cycles that is under way.
        generations: The unfinished states of each of its generations.
        totals: Of the current tier: its states, and the finished ones by outcome.
        highest: The highest tier that moves lead to so far.
        runs: The runs that wait for their turn.
        seen: Shelves of the states of the tier with cycles, of earlier generations.
        new: A shelf of those of this generation.
    """

    layers: list[Layer] = field(default_factory=list)
    largest: int = 1
    finished: bool = False
    position: int = 0
    closing: int | None = None
    generations: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=lambda: [0] * 4)
    highest: int = LOWEST_TIER
    runs: list[Waiting] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    new: str | None = None


class BackwardState(NamedTuple):
    """The state of the backward pass.

    Attributes:
        merits: Name of the shelf of merits.
        scale: The meaning of the merits.
        tally: Counts of values.
        of_layer: Counts of the tier under way.
    """

    merits: str
    scale: Scale
    tally: Tally
    of_layer: Counter[int]


class ResolverState(NamedTuple):
    """Where the analysis of a tier with cycles stands: a stage, how far it is in it, and columns of its arrays."""

    stage: str
    position: list[int]
    columns: dict[str, str]


@dataclass
class DenseState:
    """The state of a sweep by state.

    Attributes:
        layers: The tiers.
        first_tier: Number of the first tier.
        largest: Largest margin.
        next: Mark of the tier whose turn it is in the forward pass.
        last: Highest mark.
        tally: Counts of values.
        marks, merits: Columns of the two arrays.
    """

    layers: list[Tier] = field(default_factory=list)
    first_tier: int = 0
    largest: int = 1
    next: int = 1
    last: int = 0
    tally: Tally = field(default_factory=Tally)
    marks: str = ""
    merits: str | None = None


@dataclass
class NumberedState:
    """The state of a sweep by number.

    Attributes:
        layers: The tiers that are done.
        tally: Counts of values.
        reached: Whether the pass forward is done.
        finished: How many tiers are done, empty ones too.
        saved: How many of them the column of values has.
        marks: The column of the marks, if there is one.
    """

    layers: list[Tier] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    reached: bool = False
    finished: int = 0
    saved: int = 0
    marks: str = ""


class Checkpoint(NamedTuple):
    """Where a sweep stands."""

    forward: ForwardState | None = None
    backward: BackwardState | None = None
    resolver: ResolverState | None = None
    dense: DenseState | None = None
    numbered: NumberedState | None = None


def resumed(work: Work) -> Checkpoint:
    """Return the last checkpoint of an earlier run, if there was one.

    Raises ResourceError if it is of another version.
    """
    if work.resumed is None:
        return Checkpoint()
    try:
        checkpoint: Checkpoint = documents.read(Checkpoint, work.resumed)
    except (ValueError, TypeError):
        raise ResourceError(f"{work.folder} is of another version: --restart discards it") from None
    return checkpoint


def column_of(work: Work, name: str, array: NDArray[Any]) -> Column:
    """Write an array to a new column."""
    column = work.column(name, array.dtype, numbered=True)
    column.append(array)
    return column
