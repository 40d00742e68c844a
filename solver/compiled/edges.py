"""A game's moves as arrays: the only compiled rules that the sweep needs; its passes compile once for all games.

`edges` lists the children of a run of states, `keep` counts and leaves out the finished ones, `list_starts` lists where
play starts. The passes call the first two through their addresses (`list_edges`, `keep_open`), which is as quick as a
call of any other compiled function and leaves their own code in Numba's cache, whatever the game.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types as nb
from numba.extending import intrinsic

from solver.base import value
from solver.base.errors import GameError, UncompiledRules
from solver.base.expectations import MOST_WEIGHT
from solver.base.kinds import MARGIN
from solver.compiled.binding import bind, compiling, inlined, kernel
from solver.compiled.states import Words, folded, more_of, packed, put_in, state_in, unpacked
from solver.rules.game import Rules, own_method
from solver.store.shared import part

lift = part(value.lift)
terminal_merit = part(value.terminal_merit)
game: Any = None  # what follows are constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = TIERS = VANISHING = PROMISES = False
MORE = ()

NOT_TERMINAL = -(1 << 62)  # instead of a merit: the child is not finished
BATCH_MOVES = 512  # moves listed at a time, which stay in the first cache
GROUP_SHIFT = MOST_WEIGHT.bit_length()  # bits of a weight, above which the group stands
MOVES_PER_CALL = 1 << 16  # moves listed at a time
MOVES_PER_STATE = 64  # for which there is room at first
MOST_ACTIONS = 1 << 20  # of one state
MOST_STARTS = 1 << 30  # of a game
MOST_MARGIN = MARGIN.most - 1
MOST_PLIES_LEFT = 1000  # of a finished game

KEPT_COUNT, WINS, DRAWS, LOSSES, LARGEST, ERROR, CULPRIT = range(7)  # slots of the report of `keep`
FIELDS = 7
NO_ACTIONS, NEGATIVE, BAD_UTILITY, UNKNOWN_CHILD, SAME_TIER, TIER_FALLS, BAD_MARGIN, BAD_LEFT, BAD_MOVER = range(1, 10)
CROWDED, BAD_WEIGHT, VANISHES, BAD_VANISHING, BAD_REWARD = range(10, 15)
FAULTS = {
    NO_ACTIONS: "has no actions and is not terminal: is_terminal must say so",
    NEGATIVE: "has a child outside [0, 2**63): states are non-negative 63-bit integers",
    BAD_UTILITY: "is terminal with a utility other than -1, 0, 1: a game of margins says score_game = True",
    UNKNOWN_CHILD: "has a child that was not reached before: rules must be deterministic, canonical consistent",
    TIER_FALLS: "has a child in a lower tier: tier must never decrease along a move",
    BAD_MOVER: "has another player to move than 0 or 1: to_move is for two players",
    BAD_MARGIN: MARGIN.beyond["utility"],
    BAD_REWARD: MARGIN.beyond["reward"],
    BAD_LEFT: f"is terminal with plies left that are not from 0 to {MOST_PLIES_LEFT - 1}: plies_left is a small number",
    CROWDED: f"has more than {MOST_ACTIONS} actions: they must end",
    VANISHES: "vanishes, though not chance alone leads to it: only the choice after a chance node may vanish",
    BAD_VANISHING: "leads by chance to what vanishes and has no actions, is finished, or another player's",
    BAD_WEIGHT: f"has weights below 1, or of more than {MOST_WEIGHT:,} together: write several throws",
}


@kernel
def edges(states: Words, begin: int, end: int, win: int, enough: int, listed: Edges) -> tuple[Any, Any]:
    """List the moves of unfinished states[begin:end], of as many as fit: their number, and the first state left over.

    For each move: the child, folded (keys, int64, as `states`), its tier (int64), and its owner: twice its state's
    place from `begin` on, and one if the same player moves again (int32). Where `win`, the merit of an immediate win,
    is not 0, also the merit that a finished child gives its owner, NOT_TERMINAL for others (merits, int64), and the
    reward (int64; in games with rewards). Of a state that has such a move to a merit of `enough`, if that is not 0, no
    other move is listed. A state without moves ends it, with the number -NO_ACTIONS, and one with a reward beyond the
    limits with -BAD_REWARD.
    """
    keys, tiers, owners, merits, rewards, _ = listed
    count = 0
    for i in range(begin, end):
        state = state_in(states, i, MORE)
        mark = count
        for action in game.actions(state):
            # The arrays are full: drop this state's moves, so that the next call begins with it.
            if count == len(keys):
                return mark, i
            child = game.result(state, action)
            # AGAIN and ALTERNATES are constants of the compiled copy, so one branch is left of the three.
            same_mover = decided = False
            if AGAIN:
                same_mover = game.again(state, action) != 0
            elif ALTERNATES:
                pass
            else:
                same_mover = game.to_move(child) == game.to_move(state)
            # A pass that wants values gets those of finished children at once: they are never looked up.
            if win:
                merit, reward = NOT_TERMINAL, game.reward(state, action) if REWARD else 0
                if REWARD and not -MOST_MARGIN <= reward <= MOST_MARGIN:
                    return -BAD_REWARD, i
                if game.is_terminal(child):
                    merit = terminal_merit(game.utility(child), game.plies_left(child), SCORES, win)
                    merit = lift(merit, same_mover, SCORES) + reward
                    # An immediate win decides the state: forget its other moves.
                    if not SCORES and enough and merit == enough:
                        decided, count = True, mark
                merits[count] = merit
                if REWARD:
                    rewards[count] = reward
            # Tables know one state of each set of symmetric ones.
            key = game.canonical(child) if FOLDS else child
            put_in(keys, count, key, MORE)
            tiers[count] = game.tier(key) if TIERS else 0
            owners[count] = (i - begin) * 2 + same_mover
            count += 1
            if decided:
                break
        if count == mark:
            return -NO_ACTIONS, i
    return count, end


@kernel
def chance_edges(states: Words, begin: int, end: int, win: int, enough: int, listed: Edges) -> tuple[Any, Any]:
    """`edges` of a game of chance: at a chance node the outcomes with their weights (int64), 0 for an action.

    The children of one that vanishes stand in its place, each with its weight, to which 1 << GROUP_SHIFT is added as
    often as the place of their first says, from 1 on. The number is -BAD_WEIGHT where the weights are out of bounds,
    -BAD_VANISHING where a state vanishes that may not.
    """
    weights = listed.weights
    count = 0
    for i in range(begin, end):
        state, mark, total = state_in(states, i, MORE), count, np.int64(0)
        for weight, child in game.chance(state):
            if count == len(weights):
                return mark, i
            # Bounded weights keep sums of products within 64 bits.
            if not 1 <= weight <= MOST_WEIGHT - total:
                return -BAD_WEIGHT, i
            total += weight
            # Skip a position that nobody stores: its player chooses immediately, among children in a group.
            if VANISHING and game.vanishing(child):
                first_edge, slot = count, (i - begin) * 2
                if game.is_terminal(child) or game.to_move(child) != game.to_move(state):
                    return -BAD_VANISHING, i
                for action in game.actions(child):
                    if count == len(weights):
                        return mark, i
                    weights[count] = weight + (first_edge + 1 << GROUP_SHIFT)
                    reward = game.reward(child, action) if REWARD else 0
                    if REWARD and not -MOST_MARGIN <= reward <= MOST_MARGIN:
                        return -BAD_REWARD, i
                    _enter(state, game.result(child, action), reward, slot, win, listed, count)
                    count += 1
                if count == first_edge:
                    return -BAD_VANISHING, i
                continue
            # first: who does not ask for weights gives an array that has another use
            weights[count] = weight
            _enter(state, child, 0, (i - begin) * 2, win, listed, count)
            count += 1
        # No outcome: a player decides here.
        if total == 0:
            for action in game.actions(state):
                if count == len(weights):
                    return mark, i
                weights[count] = 0
                reward = game.reward(state, action) if REWARD else 0
                if REWARD and not -MOST_MARGIN <= reward <= MOST_MARGIN:
                    return -BAD_REWARD, i
                _enter(state, game.result(state, action), reward, (i - begin) * 2, win, listed, count)
                count += 1
        if count == mark:
            return -NO_ACTIONS, i
    return count, end


@inlined
def _enter(state: Any, child: Any, reward: int, owner: int, win: int, listed: Edges, at: int) -> None:
    """List a child, as `edges` does, at a place; `owner` is twice that of its state."""
    same_mover = game.to_move(child) == game.to_move(state)
    if win:
        listed.merits[at], listed.rewards[at] = NOT_TERMINAL, reward
        if game.is_terminal(child):
            listed.merits[at] = lift(game.utility(child), same_mover, True) + reward
    key = game.canonical(child) if FOLDS else child
    put_in(listed.keys, at, key, MORE)
    listed.tiers[at] = game.tier(key) if TIERS else 0
    listed.owners[at] = owner + same_mover


@kernel
def keep(states: Words, begin: int, end: int, kept: Any, report: Words) -> Any:
    """The unfinished ones of states[begin:end] into `kept`; finished ones are counted in report (FIELDS,) int64."""
    for slot in range(FIELDS):
        report[slot] = 0
    count = 0
    for i in range(begin, end):
        state = state_in(states, i, MORE)
        if ALTERNATES or AGAIN:
            pass
        elif not 0 <= game.to_move(state) <= 1:
            report[ERROR], report[CULPRIT] = BAD_MOVER, folded(state)
        if VANISHING and game.vanishing(state):
            report[ERROR], report[CULPRIT] = VANISHES, folded(state)
        if not game.is_terminal(state):
            put_in(kept, count, state, MORE)
            count += 1
            continue
        utility = np.int64(game.utility(state))
        if not -MOST_MARGIN <= utility <= MOST_MARGIN:
            report[ERROR], report[CULPRIT] = BAD_MARGIN, folded(state)
        if not SCORES and not -1 <= utility <= 1:
            report[ERROR], report[CULPRIT] = BAD_UTILITY, folded(state)
        if not 0 <= game.plies_left(state) < MOST_PLIES_LEFT:
            report[ERROR], report[CULPRIT] = BAD_LEFT, folded(state)
        size = utility if utility > 0 else -utility
        if size > report[LARGEST]:
            report[LARGEST] = size
        # WINS, DRAWS and LOSSES are neighbours: one addition instead of three branches.
        report[DRAWS - (utility > 0) + (utility < 0)] += 1
    report[KEPT_COUNT] = count
    return count


@kernel
def endless_margins(states: Words, begin: int, end: int, margins: Words) -> None:
    """Write the value of endless play from states[begin:end] to `margins`, from there on."""
    for i in range(begin, end):
        margins[i] = game.endless(state_in(states, i, MORE))


@kernel
def list_promises(states: Words, promises: Words) -> None:
    """Write the `promise` of each action of the first of some states, 0 without it."""
    state, count = state_in(states, 0, MORE), 0
    for action in game.actions(state):
        promises[count] = game.promise(state, action) if PROMISES else 0
        count += 1


@kernel
def fold(states: Words, images: Words) -> None:
    """Write the canonical state of each of the states (n,) int64, of which negative numbers stay as they are."""
    for i in range(len(states)):
        images[i] = game.canonical(states[i]) if FOLDS and states[i] >= 0 else states[i]


@kernel
def list_starts(begin: int, starts: Words, tiers: Words) -> Any:
    """List the canonical starts from number `begin` on, with duplicates, as many as fit.

    Returns how many were listed; if none, how many starts there are in all. If there are more than MOST_STARTS, only
    those are counted: the rules may yield starts without end.
    """
    count = 1
    for state in game.starts():
        # Generators cannot jump: go through all starts, write those of this part.
        if begin <= count < begin + len(starts):
            key = game.canonical(state) if FOLDS else state
            put_in(starts, count - begin, key, MORE)
            tiers[count - begin] = game.tier(key) if TIERS else 0
        count += 1
        if count > MOST_STARTS or 0 < len(starts) == count - begin:
            break
    return count


@kernel
def list_positions(begin: int, starts: Words, tiers: Words) -> None:
    """List the canonical starts from number `begin` on where all positions are starts: 1 more than the position's."""
    for i in range(1 if begin == 0 else 0, len(starts)):
        state = game.unrank(begin + i - 1)
        starts[i] = game.canonical(state) if FOLDS else state
        tiers[i] = game.tier(starts[i]) if TIERS else 0


class Edges(NamedTuple):
    """Arrays for the moves that `edges` lists."""

    keys: Any
    tiers: Any
    owners: Any
    merits: Any
    rewards: Any
    weights: Any


_NUMBERS = nb.int64[::1]
_LISTED = nb.NamedTuple([_NUMBERS, _NUMBERS, nb.int32[::1], _NUMBERS, _NUMBERS, _NUMBERS], Edges)
EDGES = (_NUMBERS, nb.int64, nb.int64, nb.int64, nb.int64, _LISTED)
KEEP = (_NUMBERS, nb.int64, nb.int64, _NUMBERS, _NUMBERS)


def caller(result: Any, arguments: tuple[Any, ...]) -> Any:
    """The code that calls the compiled function at an address, which takes and returns those types; errors go on."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = context.call_conv.get_function_type(result, arguments)
        function = builder.inttoptr(values[0], kind.as_pointer())
        status, returned = context.call_conv.call_function(builder, function, result, arguments, values[1:])
        with builder.if_then(status.is_error, likely=False):
            context.call_conv.return_status_propagate(builder, status)
        return returned

    return emit


@intrinsic
def _edges_at(
    typingctx: Any, address: Any, states: Any, begin: Any, end: Any, win: Any, enough: Any, listed: Any
) -> Any:
    result = nb.UniTuple(nb.int64, 2)
    return result(nb.int64, states, *EDGES[1:]), caller(result, EDGES)


@intrinsic
def _keep_at(typingctx: Any, address: Any, states: Any, begin: Any, end: Any, kept: Any, report: Any) -> Any:
    return nb.int64(nb.int64, states, *KEEP[1:]), caller(nb.int64, KEEP)


class Moves(NamedTuple):
    """The compiled moves of a game, as kernels over arrays take them.

    Attributes:
        edges, keep: Addresses of the two functions.
        win: Merit of an immediate win. 0 if merits are not asked for.
        enough: Merit at which no further moves are needed. 0 if all moves are.
        scores: Whether values are scores.
        rewarded: Whether moves have rewards.
        weighted: Whether moves have weights.
        alternates: Whether the players strictly alternate.
    """

    edges: Any
    keep: Any
    win: int
    enough: int
    scores: bool
    rewarded: bool
    weighted: bool
    alternates: bool


@part
def new_edges(room: int) -> Any:
    """Room for so many moves."""
    keys, tiers, owners = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int32)
    merits, rewards, weights = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    return Edges(keys, tiers, owners, merits, rewards, weights)


@part
def list_edges(moves: Moves, states: Words, begin: int, end: int, edges: Edges) -> Any:
    """`edges` at its address. The states may be read-only: it does not write to them, and both are laid out alike."""
    return _edges_at(moves.edges, states, begin, end, moves.win, moves.enough, edges)


@part
def keep_open(moves: Moves, states: Words, begin: int, end: int, kept: Any, report: Words) -> Any:
    """`keep` at its address."""
    return _keep_at(moves.keep, states, begin, end, kept, report)


class CompiledMoves:
    """The kernels of this file for one game, compiled when first asked for; `moves` are valid as long as this lives."""

    def __init__(self, rules: Rules, tiers: bool = True) -> None:
        self.rules = rules
        self.kernels: Any = bind(sys.modules[__name__], rules.game, rules.symmetry, outcomes=rules.scores, tiers=tiers)
        self.listing: Any = self.kernels.edges if rules.chance is None else self.kernels.chance_edges
        self.tiered: bool = tiers and rules.tiered
        self.tier = rules.tier if self.tiered else lambda state: 0

    @functools.cached_property
    def moves(self) -> Moves:
        rules = self.rules
        # Another process may be at the other one
        keep, listing = address_of(self.kernels.keep, KEEP), address_of(self.listing, EDGES)
        weighted = self.listing is not self.kernels.edges
        return Moves(listing, keep, 0, 0, rules.scores, rules.reward is not None, weighted, rules.alternates)

    def valued(self, win: int) -> Moves:
        """The moves for a pass that asks for values: beside an immediate win, of that merit, no other move counts."""
        enough = 0 if self.rules.kind.scores else value.lift(win, True, False)
        return self.moves._replace(win=win, enough=enough)

    def listed(self, states: Words) -> Edges:
        """The moves of unfinished states, with their merits. `owners` are the states' places, times 2, as in `edges`.

        Raises UncompiledRules at a state without moves, or with too many.
        """
        begin, room, parts = 0, min(MOVES_PER_CALL, MOVES_PER_STATE * len(states)), list[Edges]()
        while not parts or begin < len(states):
            listed = new_edges(room)
            listed.rewards[:] = listed.weights[:] = 0
            listed = listed._replace(keys=np.zeros((room, *states.shape[1:]), np.int64))
            count, end = self.listing(states, begin, len(states), value.WIN, 0, listed)
            if count < 0 or (end == begin and room > MOST_ACTIONS):
                raise UncompiledRules(f"{self.rules.name}: state {states[end]} has no moves, or too many")
            room = 2 * room if end == begin else room
            listed.owners[:] += 2 * begin
            parts.append(Edges(*(column[:count] for column in listed)))
            begin = end
        return Edges(*map(np.concatenate, zip(*parts, strict=True)))

    def steps(self, states: Sequence[int]) -> list[list[tuple[int, int | None, bool, int]]]:
        """The moves of each of some unfinished states, as `derive.Step` has them. Raises as `listed` does."""
        steps: list[list[tuple[int, int | None, bool, int]]] = [[] for _ in states]
        with compiling(self.rules.game):
            keys, _, owners, merits, rewards, _ = map(unpacked, self.listed(self._packed(states)))
        for key, owner, merit, reward in zip(keys, owners, merits, rewards, strict=True):
            same = owner & 1 == 1
            end = None if merit == NOT_TERMINAL else merit - reward if same else reward - merit
            steps[owner >> 1].append((key, end, same, reward))
        return steps

    def in_order(self, state: int, count: int) -> list[int]:
        """The places of the `count` moves of a state, the most promising first."""
        promises = np.empty(count, np.int64)
        with compiling(self.rules.game):
            self.kernels.list_promises(self._packed([state]), promises)
        return unpacked(np.argsort(-promises, kind="stable"))

    def replies(self, states: Sequence[int]) -> list[int]:
        """How many moves of each of some unfinished states do not end the game. Raises as `listed` does."""
        with compiling(self.rules.game):
            listed = self.listed(self._packed(states))
        return unpacked(np.bincount(listed.owners[listed.merits == NOT_TERMINAL] >> 1, minlength=len(states)))

    def _packed(self, states: Sequence[int]) -> Words:
        return packed(states, more_of(self.rules.bits))

    def endless(self, states: Words) -> Words:
        """Return the value of endless play from each state. Empty if it is always 0.

        Raises GameError if a value is beyond the limits of margins.
        """
        margins = np.empty(len(states) if own_method(self.rules.game, "endless") else 0, np.int64)
        if len(margins):
            self.kernels.endless_margins(states, 0, len(states), margins)
            beyond = (margins < -MOST_MARGIN) | (margins > MOST_MARGIN)
            if beyond.any():
                raise GameError(f"{self.rules.name}: state {states[beyond.argmax()]} {MARGIN.beyond['endless']}")
        return margins


def address_of(function: Any, arguments: tuple[Any, ...]) -> int:
    """Where the machine code of a kernel for these types begins; raises UncompiledRules where Numba does not tell.

    That, and the convention by which `caller` calls it, are Numba's own: tried with 0.68.0 and 0.68.1.
    """
    function.compile(arguments)
    compiled = function.overloads[arguments]
    try:
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    except AttributeError:
        raise UncompiledRules(
            f"Numba {numba.__version__} does not tell where its code lies: install one that was tried, 0.68"
        ) from None
