"""Tiers as every pass over a game sees them, whether files, arrays, shards or a sample hold their states."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier of states.

    Attributes:
        number: Its number, as the rules give it.
        reached: Its states, the finished ones too.
        kept: Its unfinished states.
        cyclic: Whether moves may stay in it.
        highest: The highest tier that moves from it, or from earlier tiers, lead to.
        ends: Its finished states: wins, draws and losses for the side to move.
    """

    number: int
    reached: int
    kept: int
    cyclic: bool = field(default=False, kw_only=True)
    highest: int = field(default=0, kw_only=True)
    ends: tuple[int, int, int] = field(default=(0, 0, 0), kw_only=True)


@dataclass(frozen=True, slots=True)
class SizedTier(Tier):
    """A tier, its size in moves, and how far it reaches.

    Attributes:
        moves: Moves from its unfinished states. Two moves of a state to the same child count once.
        leads: How many tiers the moves lead to.
    """

    moves: int
    leads: int
