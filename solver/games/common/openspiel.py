"""A game of OpenSpiel as a graph: breadth first from its start, positions told apart by their text and who moves.

`pip install 'solverbook[openspiel]'`. Games that leave something out of the text of a position (what led there, how
often) would come out wrong: random games, and positions that were met twice, are compared with the graph, and what
differs is an error. A move takes 2 to 5 microseconds in games that OpenSpiel has in C++.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any

from solver.base.errors import GameError, ResourceError
from solver.base.expectations import MOST_WEIGHT
from solver.base.loading import listener
from solver.base.memory import free_memory
from solver.games.common.nodes import MOST_NODES, SPACE, Draft, Nodes, short

INSTALL = "pip install 'solverbook[openspiel]' brings OpenSpiel"
STEP = 4096  # positions between two looks at the memory, or reports
MEASURED = 8 * STEP  # positions after which it is said what they take
GUESS = 1500  # bytes of a position, where the system does not tell
CHANCE, TERMINAL = -1, -4  # in place of a player
PLAYED_SECONDS = 2.0
PLAYOUTS = 200
AGAIN = 1000  # positions met twice that are looked at, at most
SECOND = " (second player to move)"  # behind a text that both sides have
NOTHING_MORE = "take a game whose text says all that matters"


def explored(text: str) -> Nodes:
    """The graph of the game that a text names, `breakthrough(rows=4,columns=4)`.

    Raises GameError for what is no game of two players with perfect information and opposite interests, and where texts
    leave something out, ResourceError for one beyond the memory.
    """
    game = _loaded(text)
    return _Exploration(text, game).run()


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
        raise GameError(f"OpenSpiel does not load {text[:80]}: {reason}: mend its parameters") from None
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


class _Exploration:
    """Positions and moves as they are found, and what a second look at them says."""

    def __init__(self, text: str, game: Any) -> None:
        self.text, self.game = text, game
        self.draft = Draft()
        self.numbers: dict[int, dict[str, int]] = {0: {}, 1: {}, CHANCE: {}, TERMINAL: {}}
        self.again: list[tuple[int, Any]] = []  # some positions that were met twice, and their numbers
        self.chance = random.Random(0)
        self.doubles = 0
        self.listener = listener()
        self.memory = self.listener.memory or free_memory()
        self.begun = _resident()

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
        self._name_twins()
        nodes = self.draft.nodes(True)
        nodes.names[:] = [SPACE.sub("_", name) for name in nodes.names]
        self._compare(nodes)
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
        draft, numbers, mover = self.draft, self.numbers, self.draft.movers[node]
        for action, name, weight in self._moves(state):
            child = state.child(action)
            text, player = str(child), child.current_player()
            found = numbers[player].get(text)
            if found is None:
                found = self._number(child, text, player, mover)
                if player != TERMINAL:
                    behind.append((child, found))
            else:
                self._remember(child, found)
            draft.move(node, name, found, 0, weight)

    def _moves(self, state: Any) -> Iterator[tuple[int, str, int]]:
        """Actions, their names, and weights where chance decides, else 0."""
        player = state.current_player()
        if player >= 0:
            for action in state.legal_actions():
                yield action, state.action_to_string(player, action), 0
        elif player == CHANCE:
            outcomes = state.chance_outcomes()
            shares = [Fraction(share).limit_denominator(MOST_WEIGHT) for _, share in outcomes]
            whole = lcm(*(share.denominator for share in shares))
            if whole > MOST_WEIGHT or sum(shares) != 1:
                raise GameError(f"{self.text[:80]} has chances in more than {MOST_WEIGHT:,} parts: take coarser dice")
            for (action, _), share in zip(outcomes, shares, strict=True):
                yield action, str(action), int(share * whole)

    def _remember(self, state: Any, node: int) -> None:
        """Keep some of the positions that were met twice, each as likely as any other."""
        self.doubles += 1
        place = len(self.again) if len(self.again) < AGAIN else int(self.chance.random() * self.doubles)
        if place == len(self.again):
            self.again.append((node, state))
        elif place < AGAIN:
            self.again[place] = node, state

    def _look(self, done: int) -> None:
        """Say how far it is, and what it takes. Raises ResourceError."""
        size = len(self.draft.texts)
        self.listener.progress("explore", done, None)
        taken = _resident() - self.begun if self.begun else GUESS * size
        if done == MEASURED:
            each = max(1, taken // size)
            self.listener.say(
                f"a position takes about {each:,} bytes of memory: {self.memory / 2**30:.1f} GiB hold"
                f" {self.memory // each:,} of them"
            )
        if taken > self.memory or size > MOST_NODES:
            raise ResourceError(
                f"{self.text[:80]} has more than {size:,} positions, which take {self.memory / 2**30:.1f} GiB of"
                " memory: raise --memory, or take smaller parameters"
            )

    def _name_twins(self) -> None:
        """Equal texts of both sides say which side moves."""
        first, second = self.numbers[0], self.numbers[1]
        for text in first.keys() & second.keys():
            self.draft.texts[second[text]] += SECOND

    def _compare(self, nodes: Nodes) -> None:
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
                action = [action for action, _, _ in self._moves(state)][place - nodes.begins[node]]
                state.apply_action(action)
                node = nodes.children[place]
            if state.is_terminal():
                self._compare_one(nodes, node, state)

    def _compare_one(self, nodes: Nodes, node: int, state: Any) -> None:
        """Compare a position with what the graph has of it."""
        ends = state.is_terminal(), not nodes.moves(node)
        if any(ends):
            if not all(ends) or self._worth(state, nodes.movers[node]) != nodes.worths[node]:
                raise self._forgetful(nodes, node, "in how they end")
            return
        moves = [(SPACE.sub("_", name), weight) for _, name, weight in self._moves(state)]
        listed = nodes.moves(node)
        weights = nodes.weights or bytes(len(nodes.children))
        if moves != [(nodes.names[nodes.labels[place]], weights[place]) for place in listed]:
            raise self._forgetful(nodes, node, "in their moves")
        for (action, _, _), place in zip(self._moves(state), listed, strict=True):
            child = state.child(action)
            if self.numbers[child.current_player()].get(str(child)) != nodes.children[place]:
                raise self._forgetful(nodes, node, "in where moves lead")

    def _forgetful(self, nodes: Nodes, node: int, what: str) -> GameError:
        return GameError(
            f"{self.text[:80]} has positions of one text that differ {what}, {short(nodes.texts[node])} for instance:"
            f" the text leaves out what came before: {NOTHING_MORE}"
        )


def _resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(re.split(r"\s+", file.read())[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
