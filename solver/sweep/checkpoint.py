"""The checkpoint of a sweep: one record, with a part for each pass that is under way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from solver.base.errors import ResourceError
from solver.base.tiers import Tier
from solver.rules.placements import Span
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
class ArrayState:
    """The state of a sweep over arrays.

    Attributes:
        kind: The name of the class of the sweep.
        layers: The tiers that are counted.
        tally: Counts of values.
        spans: The tiers that are known, ascending, and where their numbers lie.
        largest: The largest margin of a finished state of a dense game.
        reached: How many tiers the pass forward has gone through.
        finished: How many the pass backward has, from the last on.
        marked: How many of them had been reached when the marks were saved.
        saved: How many of them the column of values has.
        marks, values: Columns of the two arrays.
    """

    kind: str = ""
    layers: list[Tier] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    spans: list[Span] = field(default_factory=list)
    largest: int = 1
    reached: int = 0
    finished: int = 0
    marked: int = 0
    saved: int = 0
    marks: str = ""
    values: str = ""


class Checkpoint(NamedTuple):
    """Where a sweep stands."""

    forward: ForwardState | None = None
    backward: BackwardState | None = None
    resolver: ResolverState | None = None
    arrays: ArrayState | None = None


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
