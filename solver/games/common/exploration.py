"""A game that others play, as a graph: breadth first from its start, positions told apart by their text and who moves.

The games to explore have the methods of OpenSpiel's games: `new_initial_state()` of the game, `child(action)`,
`legal_actions()` and the like of its states. Most of the cost is in those calls.

OpenSpiel's own come with `pip install 'solverbook[openspiel]'`. Games that leave something out of the text of a
position (what led there, how often) would come out wrong: random games, and positions that were met twice, are compared
with the graph, and a difference is an error.
"""

import random
import time
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import repeat
from math import sqrt
from typing import Any

from solver.base.errors import GameError, ResourceError
from solver.base.expectations import MOST_WEIGHT
from solver.base.extras import free_memory
from solver.base.progress import listener
from solver.base.system import resident_memory
from solver.base.text import whole_weights
from solver.games.common.nodes import MOST_NODES, SPACE, Draft, Nodes, short

STEP = 4096  # positions between two looks at the memory, or reports
MEASURED = 8 * STEP  # positions after which it is said what they take
GUESS = 1500  # bytes of a position, where the system does not tell
CHANCE, TERMINAL = -1, -4  # in place of a player
PLAYED_SECONDS = 2.0
PLAYOUTS = 200
HOPELESS_SECONDS = 5.0  # of random games, to see whether there are too many positions
MEASURED_GAMES = 31  # whose lengths say where most positions are, about
LONGEST = 400  # moves of them
SURELY = 10  # equal positions that may have been missed by bad luck
ENOUGH = 100  # of them: there are not so many positions, or more games are needed than there is time for
AGAIN = 1000  # positions met twice that are looked at, at most
SECOND = " (second player to move)"  # behind a text that both sides have
INSTALL = "pip install 'solverbook[openspiel]' brings OpenSpiel"


class Exploration:
    """Positions and moves as they are found, and what a second look at them says."""

    def __init__(self, text: str, game: Any) -> None:
        self.text, self.game = text, game
        self.draft = Draft()
        self.numbers: dict[int, dict[str, int]] = {0: {}, 1: {}, CHANCE: {}, TERMINAL: {}}
        self.again: list[tuple[int, Any]] = []  # some positions that were met twice, and their numbers
        self.chance = random.Random(0)
        self.doubles, self.next, self.stride = 0, 1, 1
        self.listener = listener()
        self.memory = self.listener.memory or free_memory()
        self.begun = resident_memory()

    def run(self) -> Nodes:
        """The graph. Raises GameError, ResourceError."""
        start = self.game.new_initial_state()
        self._number(start, str(start), start.current_player(), 1)
        front, done = [(start, 0)], 0
        while front:
            behind: list[tuple[Any, int]] = []
            front.reverse()
            while front:
                state, node = front.pop()  # and its memory goes
                self._expand(state, node, behind)
                done += 1
                if done % STEP == 0:
                    self._look(done)
            front = behind
        # Equal texts of both sides say which side moves
        for text in self.numbers[0].keys() & self.numbers[1].keys():
            self.draft.texts[self.numbers[1][text]] += SECOND
        nodes = self.draft.nodes(True)
        nodes.names[:] = [SPACE.sub("_", name) for name in nodes.names]
        return nodes

    def _number(self, state: Any, text: str, player: int, before: int) -> int:
        """The number of a new position, which `before` moved to."""
        mover = player if player >= 0 else 1 - before
        worth = self._worth(state, mover) if player == TERMINAL else 0
        node = self.draft.node(text, mover, worth)
        self.numbers[player][text] = node
        return node

    def _worth(self, state: Any, mover: int) -> int:
        worth = state.player_return(mover)
        if worth != int(worth):
            raise GameError(f"{self.text[:80]} has a return of {worth:g}: only whole ones are solved")
        return int(worth)

    def _expand(self, state: Any, node: int, behind: list[tuple[Any, int]]) -> None:
        """Enter the moves of a position; new positions go to `behind`."""
        mover, (actions, names, weights) = self.draft.movers[node], self._moves(state)
        for action, name, weight in zip(actions, names, weights or [0] * len(actions), strict=True):
            child = state.child(action)
            text, player = str(child), child.current_player()
            place = self.numbers[player].get(text)
            if place is None:
                place = self._number(child, text, player, mover)
                if player != TERMINAL:
                    behind.append((child, place))
            else:
                self.doubles += 1
                if self.doubles >= self.next:
                    self._remember(child, place)
            self.draft.move(node, name, place, weight=weight)

    def _moves(self, state: Any) -> tuple[list[int], Iterable[str], list[int] | None]:
        """Actions, their names, and weights where chance decides, else None."""
        player = state.current_player()
        if player >= 0:
            actions = state.legal_actions()
            return actions, map(state.action_to_string, repeat(player), actions), None
        if player == TERMINAL:
            return [], (), None
        outcomes = state.chance_outcomes()
        shares = [Fraction(share).limit_denominator(MOST_WEIGHT) for _, share in outcomes]
        weights = whole_weights(shares, MOST_WEIGHT)
        if weights is None or sum(shares) != 1:
            raise GameError(f"{self.text[:80]} has chances in more than {MOST_WEIGHT:,} parts: take coarser dice")
        actions = [action for action, _ in outcomes]
        return actions, map(str, actions), weights

    def _remember(self, state: Any, node: int) -> None:
        """Keep some of the positions that were met twice, each about as likely as any other."""
        self.again.append((node, state))
        if len(self.again) == 2 * AGAIN:
            self.again = self.chance.sample(self.again, AGAIN)
            self.stride *= 2
        self.next = self.doubles + 1 + int(self.chance.random() * (2 * self.stride - 1))

    def _look(self, done: int) -> None:
        """Report progress and memory. Raises ResourceError."""
        size = len(self.draft.texts)
        self.listener.progress("explore", done, None)
        taken = resident_memory() - self.begun if self.begun else GUESS * size
        if done == MEASURED:
            each = max(1, taken // size)
            self.listener.say(
                f"a position takes about {each:,} bytes of memory: {self.memory / 2**30:.1f} GiB hold"
                f" {self.memory // each:,} of them"
            )
            self._refuse_hopeless(self.memory // each)
        if taken > self.memory or size > MOST_NODES:
            raise ResourceError(
                f"{self.text[:80]} has more than {size:,} positions, which take {self.memory / 2**30:.1f} GiB of"
                " memory: raise --memory, or take smaller parameters"
            )

    def _refuse_hopeless(self, most: int) -> None:
        """Raise ResourceError if random games show that there are more than `most` positions.

        This is the birthday problem: of n positions after equally many moves, n (n - 1) / 2 pairs, a share of at least
        one in so many as there are of them is equal. So few equal pairs prove many positions, however unevenly random
        games meet them. To be wrong once in 20,000 times, none counts as ten.
        """
        chance, deadline = random.Random(0), time.monotonic() + HOPELESS_SECONDS
        ply = sorted(self._walk(chance, LONGEST)[1] for _ in range(MEASURED_GAMES))[MEASURED_GAMES // 2] // 2
        met, equal, count = Counter[str](), 0, 0
        while equal < ENOUGH and time.monotonic() < deadline:
            text, length = self._walk(chance, ply)
            if length < ply:
                continue
            equal, count = equal + met[text], count + 1
            met[text] += 1
            least = int(count * (count - 1) / 2 / (equal + 3 * sqrt(equal) + SURELY))
            if least > most:
                raise ResourceError(
                    f"{self.text[:80]} has more than {least:,} positions, since {count:,} random games are at"
                    f" {len(met):,} different ones after {ply} moves, and {self.memory / 2**30:.1f} GiB of memory hold"
                    f" {most:,}: take smaller parameters, or raise --memory"
                )
            if count % STEP == 0:
                self.listener.progress("random games", count, None)

    def _walk(self, chance: random.Random, most: int) -> tuple[str, int]:
        """The position of a random game after so many moves, or at its end, and its ply."""
        state = self.game.new_initial_state()
        for ply in range(most):
            if state.current_player() == TERMINAL:
                return "", ply
            state = state.child(chance.choice(self._moves(state)[0]))
        return f"{state.current_player()} {state}", most

    def compare(self, nodes: Nodes) -> None:
        """Raise GameError where a second look at a position differs from the graph: its text leaves something out."""
        deadline = time.monotonic() + PLAYED_SECONDS
        self.chance.shuffle(self.again)
        for node, state in self.again:
            if time.monotonic() > deadline:
                break
            self._compare_one(nodes, node, state)
        deadline = time.monotonic() + PLAYED_SECONDS
        for _ in range(PLAYOUTS):
            state, node = self.game.new_initial_state(), 0
            while not state.is_terminal() and time.monotonic() < deadline:
                self._compare_one(nodes, node, state)
                place = self.chance.choice(nodes.moves(node))
                state.apply_action(self._moves(state)[0][place - nodes.begins[node]])
                node = nodes.children[place]
            if state.is_terminal():
                self._compare_one(nodes, node, state)

    def _compare_one(self, nodes: Nodes, node: int, state: Any) -> None:
        """Compare a position with the graph's entry."""
        ends = state.is_terminal(), not nodes.moves(node)
        if any(ends):
            if not all(ends) or self._worth(state, nodes.movers[node]) != nodes.worths[node]:
                raise self._forgetful(nodes, node, "in how they end")
            return
        listed, (actions, names, weights) = nodes.moves(node), self._moves(state)
        shares = nodes.weights[listed.start : listed.stop].tolist()
        known = [nodes.names[nodes.labels[place]] for place in listed]
        if [SPACE.sub("_", name) for name in names] != known or (shares if any(shares) else None) != weights:
            raise self._forgetful(nodes, node, "in their moves")
        for child, place in zip(map(state.child, actions), listed, strict=True):
            if self.numbers[child.current_player()].get(str(child)) != nodes.children[place]:
                raise self._forgetful(nodes, node, "in where moves lead")

    def _forgetful(self, nodes: Nodes, node: int, what: str) -> GameError:
        return GameError(
            f"{self.text[:80]} has positions of one text that differ {what}, {short(nodes.texts[node])} for instance:"
            f" the text leaves out what came before: take a game whose text says all that matters"
        )


def explored(text: str) -> Nodes:
    """The graph of the game that a text names, `breakthrough(rows=4,columns=4)`.

    Raises GameError for what is not a game of two players with perfect information and opposite interests, and where
    texts leave something out, ResourceError for one beyond the memory.
    """
    exploration = Exploration(text, _loaded(text))
    nodes = exploration.run()
    exploration.compare(nodes)
    return nodes


def _loaded(text: str) -> Any:
    try:
        import pyspiel
    except ImportError:
        raise GameError(f"openspiel:{text} is a game of OpenSpiel: {INSTALL}") from None
    kinds, name = pyspiel.GameType, text.partition("(")[0]
    if name not in pyspiel.registered_names():
        raise GameError(f"OpenSpiel has no game {name[:40]!r}: openspiel:breakthrough(rows=4,columns=4), for instance")
    try:
        game = pyspiel.load_game(text)
    except Exception as error:  # of its own class
        reason = " ".join(str(error).split())[:200]
        raise GameError(f"OpenSpiel does not load {text[:80]}: {reason}: fix its parameters") from None
    kind, reasons = game.get_type(), []
    if game.num_players() != 2:
        reasons.append(f"is for {game.num_players()} players")
    if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
        reasons.append("has simultaneous moves")
    if kind.information != kinds.Information.PERFECT_INFORMATION:
        reasons.append("has hidden information")
    if kind.utility not in (kinds.Utility.ZERO_SUM, kinds.Utility.CONSTANT_SUM) or game.utility_sum():
        reasons.append("is not zero-sum")
    if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        reasons.append("does not tell the chances of its throws")
    if kind.reward_model != kinds.RewardModel.TERMINAL:
        reasons.append("has rewards on the way")
    if reasons:
        raise GameError(f"{text[:80]} {' and '.join(reasons)}: what is solved here has two players, who see everything")
    return game
