"""A game of captures and cycles, without tiers: men step along rows and columns and take as they move."""

from typing import NamedTuple


class Skirmish(NamedTuple):
    """Men at both ends of a board step to neighbouring cells, forth and back; who has none left, or no move, loses."""

    width: int = 5
    height: int = 4
    men: int = 4

    def initial(self):
        cells = self.width * self.height
        home = (1 << self.men) - 1
        return home | home << cells - self.men << cells

    def actions(self, state):
        mine = self.side(state, 0)
        for cell in range(self.width * self.height):
            if mine >> cell & 1:
                for way in range(4):
                    target = self.step(cell, way)
                    if target >= 0 and not mine >> target & 1:
                        yield cell * 4 + way

    def result(self, state, action):
        cells = self.width * self.height
        target = 1 << self.step(action // 4, action % 4)
        mine = self.side(state, 0) ^ 1 << action // 4 | target
        return self.side(state, 1) & ~target | mine << cells

    def is_terminal(self, state):
        return self.side(state, 1) == 0 or not any(True for _ in self.actions(state))

    def utility(self, state):
        return 1 if self.side(state, 1) == 0 else -1

    def side(self, state, side):
        """The men of the mover, which are in the low bits, or of the other."""
        return state >> side * self.width * self.height & (1 << self.width * self.height) - 1

    def step(self, cell, way):
        x, y = cell % self.width + (1, -1, 0, 0)[way], cell // self.width + (0, 0, 1, -1)[way]
        return y * self.width + x if 0 <= x < self.width and 0 <= y < self.height else -1
