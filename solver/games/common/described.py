"""A game in the game description language, played: positions are numbers of bits, one for each atom that may hold.

Cost: every rule without variables once a position, and those that need a move once a move.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from solver.base.text import read_text
from solver.games.common.description import IMPLIED, Ground, Grounding, Rule, Term, read, said
from solver.games.common.exploration import TERMINAL, Exploration
from solver.games.common.nodes import Nodes, short

MOST_BYTES = 1 << 22  # of a description
MOST_RELATIONS = 1000
MOST_ATOMS = 1 << 15  # that a position decides
MOST_MASK_BYTES = 1 << 28  # of all rules' masks
MOST_LOOKS = 1 << 24  # at rules in one position: some 3 s
GOALS = re.compile("[0-9]{1,2}|100", re.ASCII)
NEEDED = ("role", "init", "legal", "next", "terminal", "goal")  # of every game
IDLE = ("noop", "no-op", "nop", "wait", "idle", "skip")  # of who is not to move; asked only where all moves are forced
Masks = tuple[int, int, int]  # of a rule: the bit of its head, the bits that it needs, and those that it must not have
Step = tuple[bool, dict[int, list[Masks]]]


def described(path: str) -> Nodes:
    """The graph of the game that a file describes. Raises ValueError, OSError, ResourceError."""
    nodes = Exploration(path, Play(read(read_text(path, MOST_BYTES)))).run()
    largest = max(map(abs, nodes.worths))
    if {abs(worth) for worth in nodes.worths} <= {0, largest}:  # wins, draws and losses
        for node, worth in enumerate(nodes.worths):
            nodes.worths[node] = (worth > 0) - (worth < 0)
    return nodes


class Play:
    """A description that is played, as OpenSpiel's games are. Raises ValueError for other games than two players'.

    `seen` are steps from the atoms of a position to what else holds there, `moved` those that need its moves, too, the
    last of them to the next position. A step is one relation, or some that need each other and are gone through until
    nothing is new; its rules are by the bit of the move that they need, 0 without.
    """

    def __init__(self, rules: list[Rule]) -> None:
        below = _below(rules)
        groups = _groups(rules, below)
        names = {name for group in groups for name in group}
        ground = [*Grounding([rule for rule in rules if rule.head[0] in names]).rules]
        varying = {"true", "does", "legal", "terminal", "goal", "next"}
        static = [group for group in groups if not varying & group.union(*(below[name] for name in group))]
        self.true = _fixed(static, _by_relation(ground))
        self.static = {name for group in static for name in group}
        self.roles = [rule.head[1] for rule in ground if rule.head in self.true and rule.head[0] == "role"]
        self.roles = [*dict.fromkeys(self.roles)]
        if len(self.roles) != 2:
            raise ValueError(f"a game of {len(self.roles)} roles: what is solved here has two players")
        self.bits: dict[Term, int] = {}
        for rule in ground:
            self._number(rule.head)
            if len(self.bits) > MOST_ATOMS:
                raise ValueError(f"more than {MOST_ATOMS:,} atoms may hold in a position: describe a smaller game")
        kept = [rule for rule in ground if self._may_hold(rule)]
        if 3 * len(kept) * len(self.bits) > 8 * MOST_MASK_BYTES:
            raise ValueError(f"{len(kept):,} rules over {len(self.bits):,} atoms take too much memory: describe less")
        self.seen: list[Step] = []
        self.moved: list[Step] = []
        by_relation = _by_relation(kept)
        for group in groups:
            if group not in static:
                needed = set[str]().union(*(below[name] for name in group))
                after = "does" in needed or "next" in group
                (self.moved if after else self.seen).append(self._step(by_relation, group, group <= needed))
                if after and group & {"legal", "goal", "terminal"}:
                    raise ValueError(f"{min(group)} depends on the moves that are made: let it ask what is true")
        self._ask()

    def _ask(self) -> None:
        """Note the later questions about positions."""
        self.facts = sorted((said(atom[1]), bit) for atom, bit in self.bits.items() if atom[0] == "true")
        self.start = sum(self.bits["true", atom[1]] for atom in self.true if atom[0] == "init")
        self.over = self.bits.get(("terminal",), 0)
        self.moves: list[tuple[str, int]] = []  # the name of each action, and its bit
        self.legal: list[list[tuple[int, int]]] = [[], []]  # of each role bits, and the actions that they allow
        self.goals: list[list[tuple[int, int]]] = [[], []]
        for atom, bit in sorted(self.bits.items(), key=lambda item: said(item[0])):
            if atom[0] == "legal" and atom[1] in self.roles:
                self.legal[self.roles.index(atom[1])].append((bit, len(self.moves)))
                self.moves.append((said(atom[2]), self.bits[("does", *atom[1:])]))
            elif atom[0] == "goal" and atom[1] in self.roles:
                if not isinstance(atom[2], str) or not GOALS.fullmatch(atom[2]):
                    raise ValueError(f"{said(atom)[:60]} is not a goal: they are numbers from 0 to 100")
                self.goals[self.roles.index(atom[1])].append((bit, int(atom[2])))
        self.total: int | None = None
        self.states: dict[int, State] = {}

    def _number(self, head: Term) -> None:
        """Give bits to an atom that the position decides, and to what it makes of the next."""
        implied = IMPLIED.get(head[0])
        if head[0] not in self.static and head[0] != "next":
            self.bits.setdefault(head, 1 << len(self.bits))
        if implied:
            self.bits.setdefault((implied, *head[1:]), 1 << len(self.bits))

    def _may_hold(self, rule: Ground) -> bool:
        """Whether what does not vary lets a rule of what does hold."""
        return (
            rule.head[0] not in self.static
            and all(atom in self.true for atom in rule.needs if atom[0] in self.static)
            and not any(atom in self.true for atom in rule.nots)
        )

    def _step(self, rules: dict[str, list[Ground]], group: frozenset[str], repeats: bool) -> Step:
        step: dict[int, list[Masks]] = {}
        for head, needs, nots in (rule for name in sorted(group) for rule in rules.get(name, ())):
            head = ("true", head[1]) if head[0] == "next" else head
            needed = sum(self.bits[atom] for atom in set(needs) if atom[0] not in self.static)
            never = sum(self.bits.get(atom, 0) for atom in set(nots))
            move = next((self.bits[atom] for atom in needs if atom[0] == "does"), 0)
            step.setdefault(move, []).append((self.bits[head], needed, never))
        return repeats, step

    def new_initial_state(self) -> State:
        return self.at(self.start)

    def at(self, bits: int) -> State:
        """The position in which these atoms are true."""
        state = self.states.get(bits)
        if state is None:
            state = self.states[bits] = State(self, bits)
        return state

    def holding(self, bits: int) -> int:
        """All that holds in a position."""
        for repeats, rules in self.seen:
            bits = _run(repeats, rules.get(0, ()), bits)
        return bits

    def after(self, holding: int, moves: tuple[int, int]) -> int:
        """The atoms that hold after the moves of both, of which one is idle."""
        bits = holding | moves[0] | moves[1]
        for repeats, rules in self.moved[:-1]:
            bits = _run(repeats, [masks for move in (0, *moves) for masks in rules.get(move, ())], bits)
        true = 0
        for move in (0, *moves):
            for head, needed, never in self.moved[-1][1].get(move, ()):
                if bits & needed == needed and not bits & never:
                    true |= head
        return true


def _run(repeats: bool, rules: Any, bits: int) -> int:
    """The bits, and those of the rules that hold. Raises ValueError where that takes too many rounds."""
    looks = 0
    while True:
        before = bits
        looks += len(rules)
        if looks > MOST_LOOKS:
            raise ValueError("what holds in a position takes too many steps to say: describe a smaller game")
        for head, needed, never in rules:
            if bits & needed == needed and not bits & never:
                bits |= head
        if not repeats or bits == before:
            return bits


class State:
    """A position, as OpenSpiel's are. Each is made once. Raises ValueError where both have a choice, or one no move."""

    __slots__ = ("play", "bits", "holding", "player", "actions", "idle")

    def __init__(self, play: Play, bits: int) -> None:
        self.play, self.bits, self.holding = play, bits, play.holding(bits)
        self.player, self.idle = TERMINAL, 0
        self.actions: list[int] = []
        if self.holding & play.over:
            return
        legal = [[action for bit, action in some if self.holding & bit] for some in play.legal]
        for role, some in zip(play.roles, legal, strict=True):
            if not some:
                raise ValueError(f"{role} has no legal move at {short(str(self))}, which is not terminal")
        if min(map(len, legal)) > 1:
            raise ValueError(f"both players may choose at {short(str(self))}: simultaneous moves are not solved here")
        chooses = len(legal[1]) > 1 or (len(legal[0]) == 1 and play.moves[legal[0][0]][0] in IDLE)
        self.player = int(chooses)
        self.actions, self.idle = legal[self.player], play.moves[legal[1 - self.player][0]][1]

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> list[int]:
        return self.actions

    def action_to_string(self, player: int, action: int) -> str:
        return self.play.moves[action][0]

    def child(self, action: int) -> State:
        play = self.play
        return play.at(play.after(self.holding, (self.idle, play.moves[action][1])))

    def player_return(self, player: int) -> int:
        """The value of the end to a player, less its value to the other. Raises ValueError."""
        worths: list[int] = []
        for role, goals in zip(self.play.roles, self.play.goals, strict=True):
            held = {goal for bit, goal in goals if self.holding & bit}
            if len(held) != 1:
                raise ValueError(f"{role} has {len(held)} goals at {short(str(self))}, where it ends: give one")
            worths += held
        total = self.play.total = sum(worths) if self.play.total is None else self.play.total
        if sum(worths) != total:
            raise ValueError(
                f"goals add up to {sum(worths)} at {short(str(self))}, elsewhere to {total}: what is solved here has"
                " players who want the opposite"
            )
        return worths[player] - worths[1 - player]

    def __str__(self) -> str:
        return " ".join(text for text, bit in self.play.facts if self.bits & bit)


def _by_relation(rules: Iterable[Ground]) -> dict[str, list[Ground]]:
    """The rules by the relations of their heads."""
    found: dict[str, list[Ground]] = {}
    for rule in rules:
        found.setdefault(rule.head[0], []).append(rule)
    return found


def _below(rules: list[Rule]) -> dict[str, set[str]]:
    """The relations that each one needs, and those need in turn. Raises ValueError."""
    direct: dict[str, set[str]] = {}
    for rule in rules:
        needed = direct.setdefault(rule.head[0], set())
        needed.update(atom[0] for atom in (*rule.needs, *rule.nots))
    names = [*dict.fromkeys([*direct, *(name for needed in direct.values() for name in sorted(needed))])]
    if len(names) > MOST_RELATIONS:
        raise ValueError(f"more than {MOST_RELATIONS:,} relations: describe a smaller game")
    places = {name: place for place, name in enumerate(names)}
    # Warshall's closure, a row of the matrix in one number
    rows = [sum(1 << places[other] for other in direct.get(name, ())) for name in names]
    for place in range(len(names)):
        for row in range(len(names)):
            if rows[row] >> place & 1:
                rows[row] |= rows[place]
    return {name: {other for other in names if row >> places[other] & 1} for name, row in zip(names, rows, strict=True)}


def _groups(rules: list[Rule], below: dict[str, set[str]]) -> list[frozenset[str]]:
    """Relations that need each other, those of a game that need any other behind it. Raises ValueError."""
    heads = {rule.head[0] for rule in rules}
    for name in NEEDED:
        if name not in heads:
            raise ValueError(f"no rule says what {name} is: a game has role, init, legal, next, terminal and goal")
    if "sees" in heads:
        raise ValueError("it has hidden information (sees): what is solved here has players who see everything")
    wanted = set().union(*(below[name] | {name} for name in NEEDED)) & heads
    for rule in rules:
        if "next" in {atom[0] for atom in rule.needs + rule.nots}:
            raise ValueError(f"line {rule.line}: no position knows its next one: ask what is true in place of next")
        for name in (atom[0] for atom in rule.nots):
            if rule.head[0] in below.get(name, ()):
                raise ValueError(f"line {rule.line}: {rule.head[0]} needs itself negated: that settles nothing")
    order = sorted(wanted, key=lambda name: (len(below[name] | {name}), name))
    groups = [frozenset({name} | {other for other in below[name] & wanted if name in below[other]}) for name in order]
    for name in ("role", "init"):
        if below[name] & {"true", "does"}:
            raise ValueError(f"{name} depends on the position: it holds for all")
    return [group for group in dict.fromkeys(groups) if "next" not in group] + [frozenset({"next"})]


def _fixed(groups: list[frozenset[str]], rules: dict[str, list[Ground]]) -> set[Term]:
    """The atoms that hold in all positions, from the rules by their relations."""
    true: set[Term] = set()
    for group in groups:
        fresh: list[Term] = []
        waiting: dict[Term, list[int]] = {}  # the rules that still need an atom, by their places
        heads: list[Term] = []
        missing: list[int] = []
        for head, needs, nots in (rule for name in sorted(group) for rule in rules.get(name, ())):
            if true.isdisjoint(nots):
                absent = {atom for atom in needs if atom not in true}
                for atom in absent:
                    waiting.setdefault(atom, []).append(len(heads))
                heads.append(head)
                missing.append(len(absent))
                if not absent:
                    fresh.append(head)
        while fresh:
            atom = fresh.pop()
            true.add(atom)
            for place in waiting.pop(atom, ()):
                missing[place] -= 1
                if not missing[place]:
                    fresh.append(heads[place])
    return true
