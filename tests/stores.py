"""Kalah written apart from the package, to hold its rules against: states hold the stores and who is to move."""

from typing import NamedTuple


class Stores(NamedTuple):
    """A state is the digits of a board, the first player's houses and store and then the second's, and who moves."""

    houses: int = 2
    seeds: int = 3
    empty_capture: bool = True

    score_game = True

    def initial(self):
        return self.number(([self.seeds] * self.houses + [0]) * 2, 0)

    def actions(self, state):
        board = self.board(state)
        for house in range(self.houses):
            if board[state % 2 * (self.houses + 1) + house]:
                yield house

    def result(self, state, action):
        board, mover = self.board(state), state % 2
        first = mover * (self.houses + 1)
        place = first + action
        hand, board[place] = board[place], 0
        while hand:
            place = (place + 1) % len(board)
            if place != (1 - mover) * (self.houses + 1) + self.houses:
                board[place] += 1
                hand -= 1
        if place == first + self.houses:
            return self.number(board, mover)
        opposite = 2 * self.houses - place
        if first <= place < first + self.houses and board[place] == 1 and (board[opposite] or self.empty_capture):
            board[first + self.houses] += 1 + board[opposite]
            board[place] = board[opposite] = 0
        return self.number(board, 1 - mover)

    def to_move(self, state):
        return state % 2

    def is_terminal(self, state):
        board = self.board(state)
        return sum(board[: self.houses]) == 0 or sum(board[self.houses + 1 : -1]) == 0

    def utility(self, state):
        board = self.board(state)
        return (sum(board[: self.houses + 1]) - sum(board[self.houses + 1 :])) * (1 - state % 2 * 2)

    def tier(self, state):
        """Seeds never leave a store, and but for a sowing that gets there they only go on in their row."""
        board, side = self.board(state), self.houses + 1
        stored = board[self.houses] + board[-1]
        return stored * self.base() * self.houses + sum([place % side * board[place] for place in range(len(board))])

    def margin(self, state):
        """The store of the side to move, less the other's."""
        board = self.board(state)
        return (board[self.houses] - board[-1]) * (1 - state % 2 * 2)

    def base(self):
        return 2 * self.houses * self.seeds + 1

    def board(self, state):
        return [state // 2 // self.base() ** place % self.base() for place in range(2 * self.houses + 2)]

    def number(self, board, mover):
        number = 0
        for place in range(len(board) - 1, -1, -1):
            number = number * self.base() + board[place]
        return 2 * number + mover
