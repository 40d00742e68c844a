"""Shut the box for two: throw dice, shut tiles that add up to the throw, again and again; the smaller rest wins.

All tiles, 1 to `tiles`, stand open. A turn: throw `dice` dice and shut open tiles whose sum is the throw, one of them
or several, and so on until a throw fits none: the sum of the open tiles then counts. The second player plays after that
with all tiles open again. The smaller sum wins, equal ones are a draw; who shuts all tiles has won immediately, as has
the second player as soon as less is open than the first one left. Pubs play nine tiles and two dice,
`shut-the-box:9,2`; some let one die be thrown when the high tiles are shut, which is left out here.

A state holds, from the lowest bit on, the throw (5 bits; 0: to be thrown, 31: the game is over), the open tiles, the
first player's result (7 bits), and the mover. An action is the tiles to shut, a bit each. Every throw and every move
raise the tier.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from solver.games.common import limits

GROUP = "dice"
OVER = 31


class ShutTheBox(NamedTuple):
    """Shut tiles that add up to the dice; the smaller rest wins; `tiles` tiles, one die or two."""

    tiles: int = 6
    dice: int = 1

    def check(self) -> None:
        limits(self, tiles=(2, 12), dice=(1, 2))

    def initial(self) -> int:
        return self._all() << 5

    def actions(self, state: int) -> Iterator[int]:
        for tiles in range(1, self._all() + 1):
            if not tiles & ~self._open(state) and self._sum(tiles) == self._throw(state):
                yield tiles

    def result(self, state: int, action: int) -> int:
        return state & ~31 ^ action << 5

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if self._throw(state) == 0 and not self.is_terminal(state):
            for throw in range(self.dice, 6 * self.dice + 1):
                yield 1 if self.dice == 1 else 6 - abs(7 - throw), self._thrown(state, throw)

    def is_terminal(self, state: int) -> bool:
        return self._throw(state) == OVER or self._is_won(state)

    def utility(self, state: int) -> int:
        """For who played last, who is still to move."""
        if self._is_won(state):
            return 1
        return 0 if self._sum(self._open(state)) == self._left(state) else -1

    def to_move(self, state: int) -> int:
        return state >> 12 + self.tiles

    def tier(self, state: int) -> int:
        shut = self.tiles - self._open(state).bit_count() + self.to_move(state) * (self.tiles + 1)
        return 2 * shut + (1 if self._throw(state) else 0)

    def format_action(self, state: int, action: int) -> str:
        return "+".join(str(tile + 1) for tile in range(self.tiles) if action >> tile & 1)

    def parse_position(self, text: str) -> int | None:
        """The tiles and the throw, as `show` prints them."""
        matched = re.fullmatch(
            r"([-\d ]+)\nplayer ([12]) (has thrown (\d+)|throws|has \w+)(?:, player 1 left (\d+))?", text
        )
        if matched is None:
            return None
        tiles, mover = matched[1].split(), int(matched[2]) - 1
        if len(tiles) != self.tiles or any(tile not in ("-", str(place + 1)) for place, tile in enumerate(tiles)):
            raise ValueError(f"there are {self.tiles} tiles, each its number or -")
        state = sum(1 << 5 + place for place, tile in enumerate(tiles) if tile != "-")
        state |= int(matched[5] or 0) << 5 + self.tiles | mover << 12 + self.tiles
        if matched[4]:
            return state | int(matched[4])
        return state if matched[3] == "throws" or self._is_won(state) else state | OVER

    def show(self, state: int) -> str:
        mover, throw = self.to_move(state), self._throw(state)
        tiles = [str(tile + 1) if self._open(state) >> tile & 1 else "-" for tile in range(self.tiles)]
        doing = f"player {mover + 1} has thrown {throw}" if throw else f"player {mover + 1} throws"
        if self.is_terminal(state):
            doing = f"player {mover + 1} has {('drawn', 'won', 'lost')[self.utility(state)]}"
        return "\n".join([" ".join(tiles), f"{doing}, player 1 left {self._left(state)}" if mover else doing])

    def cells(self, state: int, mover: int) -> list[str]:
        return ["".join("123456789abc"[tile] if self._open(state) >> tile & 1 else "." for tile in range(self.tiles))]

    def layout(self) -> tuple[str, Iterable[int]]:
        """Open tiles, and sets of tiles whose sum may be thrown."""
        sets = range(1, self._all() + 1)
        return "123456789abc"[: self.tiles], (tiles for tiles in sets if self.dice <= self._sum(tiles) <= 6 * self.dice)

    def place(self, state: int, action: int) -> list[int]:
        return [tile for tile in range(self.tiles) if action >> tile & 1]

    def drawing(self) -> dict[str, Any]:
        men = {"123456789abc"[tile]: [str(tile + 1), 2] for tile in range(self.tiles)}
        dice = [[throw] for throw in range(self.dice, 6 * self.dice + 1)]
        names = [str(tile + 1) for tile in range(self.tiles)]
        sides = ["blue", "red"]
        return {"board": "felt", "sides": sides, "men": men, "names": names, "dice": dice, "free": self.tiles}

    def _all(self) -> int:
        return (1 << self.tiles) - 1

    def _throw(self, state: int) -> int:
        return state & 31

    def _open(self, state: int) -> int:
        return state >> 5 & self._all()

    def _left(self, state: int) -> int:
        """The first player's result."""
        return state >> 5 + self.tiles & 127

    def _sum(self, tiles: int) -> int:
        total = 0
        for tile in range(self.tiles):
            total += (tile + 1) * (tiles >> tile & 1)
        return total

    def _is_won(self, state: int) -> bool:
        """Whether the mover has shut all, or the second player enough."""
        left = self._left(state) if self.to_move(state) else 1
        return self._sum(self._open(state)) < left

    def _thrown(self, state: int, throw: int) -> int:
        """The state after a throw, which ends the turn, or the game, if it fits no tiles."""
        for tiles in range(1, self._all() + 1):
            if not tiles & ~self._open(state) and self._sum(tiles) == throw:
                return state + throw
        if self.to_move(state):
            return state + OVER
        return (self._all() | (self._sum(self._open(state)) | 1 << 7) << self.tiles) << 5
