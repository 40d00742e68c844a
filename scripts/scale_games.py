"""The games of docs/explanation/scale.md: their tiers, by published counts if there are any; sizes of shogi's cousins.

What is published is kept here and not in the package, with its source; shares and moves of each tier are sampled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from solver.base.tiers import SizedTier

# Positions of connect-four 7x6 by ply, not folded: John Tromp, https://tromp.github.io/c4/c4.html; OEIS A212693
SEVEN_BY_SIX = (
    1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186, 1662623, 4568683, 12236101, 30929111, 75437595, 176541259,
    394591391, 858218743, 1763883894, 3568259802, 6746155945, 12673345045, 22010823988, 38263228189, 60830813459,
    97266114959, 140728569039, 205289508055, 268057611944, 352626845666, 410378505447, 479206477733, 488906447183,
    496636890702, 433471730336, 370947887723, 266313901222, 183615682381, 104004465349, 55156010773, 22695896495,
    7811825938, 1459332899,
)  # fmt: skip
# Positions of the smaller boards: the table of the same page
TOTALS = {
    "connect-four:6,5": 2_818_972_642,
    "connect-four:6,6": 69_173_028_785,
    "connect-four:7,5": 112_829_665_923,
    "connect-four": 4_531_985_219_092,
}


def true_to_published(game: str, tiers: Sequence[SizedTier]) -> list[SizedTier]:
    """Sampled tiers, mirror images folded, made as large as the published counts say; a mirror image that is its own is
    neglected, which no tier of more than some thousand states shows."""
    if game == "connect-four":
        return [_of(tier, max(1.0, published / 2)) for tier, published in zip(tiers, SEVEN_BY_SIX, strict=True)]
    factor = TOTALS[game] / 2 / sum(tier.reached for tier in tiers)
    return [_of(tier, factor * tier.reached) for tier in tiers]


def _of(tier: SizedTier, reached: float) -> SizedTier:
    """The tier with so many states reached, its shares and moves as they were."""
    factor = reached / max(1, tier.reached)
    return replace(tier, reached=round(reached), kept=round(tier.kept * factor), moves=round(tier.moves * factor))


class Shogi(NamedTuple):
    """A game of the shogi family: its board, and how many of each kind of piece both sides have together, kings apart;
    `plain` kinds are one thing on the board, `promoting` ones may be two."""

    name: str
    squares: int
    plain: tuple[int, ...]
    promoting: tuple[int, ...]


ANIMAL = Shogi("animal shogi 3x4", 12, (2, 2), (2,))  # giraffes and elephants; chicks
GORO_GORO = Shogi("goro goro animal shogi 5x6", 30, (4,), (4, 6))  # dogs; cats and chicks
ANIMAL_REACHED = 246_803_167  # of animal shogi, the mover's view, mirror images folded: Tanaka, IPSJ SIG-GI 2009
ANIMAL_ARRANGED = 1_567_925_964  # its arrangements, the mover's view, not folded: the same
MINISHOGI_REACHED = 2.38e18  # 5x5, not folded: Ishii and Tanaka, arXiv:2409.00129, from samples


def arrangements(shogi: Shogi) -> int:
    """Ways to put all pieces on the board or into the hands, from the mover's view: an upper bound of the positions,
    since rules forbid some (chicks that could not move)."""
    totals = {shogi.squares - 2: shogi.squares * (shogi.squares - 1)}  # free squares -> ways; the kings are there
    for kinds, faces in ((shogi.plain, 2), (shogi.promoting, 4)):
        for pieces in kinds:
            more: dict[int, int] = {}
            for free, ways in totals.items():
                for placed in range(min(free, pieces) + 1):
                    here = math.comb(free, placed) * faces**placed * (pieces - placed + 1)
                    more[free - placed] = more.get(free - placed, 0) + ways * here
            totals = more
    return sum(totals.values())
